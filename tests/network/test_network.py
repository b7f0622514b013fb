from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from perin.errors import UsageError
from perin.network.inputs import Preparation
from perin.network.layers import InputTensors, Layout, Unfilled
from perin.network.network import Decoder, Network, Queries, predict
from perin.network.settings import NULL_THRESHOLD


@pytest.fixture(scope="module")
def network(make_network):
    return make_network()


@pytest.fixture(scope="module")
def preparation(small_settings):
    return Preparation(small_settings())


def batch_of(preparation, sentences):
    return preparation.batch(sentences)


def accepted(labels):
    """The contract: those that are null by less than the limit; if there are none, the one with the lowest null."""
    best = [number for number, row in enumerate(labels) if row[0] < NULL_THRESHOLD]
    return best if best or not len(labels) else [int(labels[:, 0].argmin())]


@torch.inference_mode()
def all_labels(network, batch, treebank):
    """Of each sentence the distributions of all its queries, as training sees them."""
    hidden = network(batch, {treebank: None})[treebank]
    labels = network.heads_of(treebank).labels(hidden.queries).exp().numpy()
    return np.split(labels, np.cumsum(hidden.query_layout.lengths)[:-1])


FIELDS = ["labels", "accepted", "presence", "edge_labels", "anchors", "edge_attributes", "properties", "tops"]


@pytest.mark.parametrize("group", [1, 5, 256])
@pytest.mark.parametrize("treebank", ["eds", "ptg", "drg"])
def test_same_output_alone_and_in_a_batch(network, preparation, sentences, treebank, group, monkeypatch):
    monkeypatch.setattr("perin.network.network.GROUP", group)
    together = predict(network, batch_of(preparation, sentences), [treebank])[treebank]
    for words, output in zip(sentences, together, strict=True):
        ((alone,),) = predict(network, batch_of(preparation, [words]), [treebank]).values()
        for field in FIELDS:
            one, other = getattr(output, field), getattr(alone, field)
            assert (one is None) == (other is None), field
            if one is not None:
                np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-5, err_msg=field)
        assert output.property_classes.keys() == alone.property_classes.keys()


@pytest.mark.parametrize("treebank", ["eds", "ptg", "drg"])
def test_shapes_and_distributions_are_those_of_the_contract(network, preparation, sentences, treebanks, treebank):
    sizes = treebanks[treebank]
    batch = batch_of(preparation, sentences)
    outputs = predict(network, batch, [treebank])[treebank]
    for words, output, labels in zip(sentences, outputs, all_labels(network, batch, treebank), strict=True):
        t, k = len(words), len(output.accepted)
        assert len(labels) == t * sizes.queries
        assert output.accepted.tolist() == accepted(labels)
        assert output.labels.shape == (k, sizes.rules + 1)
        np.testing.assert_allclose(output.labels, labels[output.accepted], rtol=1e-4, atol=1e-6)
        assert output.presence.shape == (k, k)
        assert output.edge_labels.shape == (k, k, sizes.edge_labels)
        if not sizes.multi_label:
            np.testing.assert_allclose(output.edge_labels.sum(-1), 1, rtol=1e-4)
        assert output.anchors is None if not sizes.anchors else output.anchors.shape == (k, t)
        assert (output.tops is None) == (not sizes.tops)
        if output.tops is not None and k:
            assert output.tops.shape == (k,)
            assert output.tops.sum() == pytest.approx(1, rel=1e-4)
        for name, classes in sizes.property_classes:
            assert output.property_classes[name].shape == (k, classes)
            np.testing.assert_allclose(output.property_classes[name].sum(-1), 1, rtol=1e-4)


def test_sentence_of_null_queries_only_keeps_the_least_certain(small_settings, treebanks, preparation, sentences):
    torch.manual_seed(0)
    network = Network(small_settings(), treebanks).eval()
    with torch.no_grad():
        network.heads_of("eds").heads["labels"].output.bias[0] = 9.0
        network.heads_of("eds").heads["labels"].prior.weight.normal_(std=2.0)
    batch = batch_of(preparation, sentences)
    outputs = predict(network, batch, ["eds"])["eds"]
    assert [len(output.accepted) for output in outputs] == [min(1, len(words)) for words in sentences]
    for output, labels in zip(outputs, all_labels(network, batch, "eds"), strict=True):
        assert output.accepted.tolist() == accepted(labels)
        np.testing.assert_allclose(output.labels, labels[output.accepted], rtol=1e-4, atol=1e-30)


def test_one_pass_of_the_encoder_serves_all_treebanks(network, preparation, sentences, monkeypatch):
    batch = batch_of(preparation, sentences)
    calls = []
    forward = network.encoder.forward
    monkeypatch.setattr(network.encoder, "forward", lambda batch: calls.append(1) or forward(batch))
    together = predict(network, batch, ["eds", "ptg", "drg"])
    assert len(calls) == 1
    for treebank, outputs in together.items():
        for one, other in zip(outputs, predict(network, batch, [treebank])[treebank], strict=True):
            np.testing.assert_allclose(one.labels, other.labels, rtol=1e-4, atol=1e-6)


def test_treebanks_of_a_mixed_batch_see_their_sentences_only(network, preparation, sentences):
    batch = batch_of(preparation, sentences)
    chosen = {"eds": np.array([0, 3]), "drg": np.array([4, 2])}
    hidden = network(batch, chosen)
    full = network(batch)
    for treebank, numbers in chosen.items():
        rows = torch.from_numpy(full[treebank].query_layout.rows_of(numbers))
        torch.testing.assert_close(hidden[treebank].queries, full[treebank].queries[rows], rtol=1e-3, atol=1e-5)
        assert hidden[treebank].token_layout.lengths.tolist() == [len(sentences[number]) for number in numbers]


def test_word_dropout_hides_words_from_the_decoder_not_from_queries(small_settings, treebanks, preparation, sentences):
    torch.manual_seed(0)
    settings = replace(small_settings(), word_dropout=0.5, dropout=0.0, attention_dropout=0.0)
    network = Network(settings, treebanks).train()
    batch = batch_of(preparation, sentences)
    encoding, given = network.encode(batch), InputTensors.of(batch)
    characters = network.characters["forms"](*given.forms) + network.characters["lemmas"](*given.lemmas)
    hidden = ((encoding.tokens - characters).abs() < 1e-5).all(-1)
    assert 0 < hidden.sum() < len(hidden)
    assert not (encoding.contextual.abs() < 1e-5).all(-1).any()
    torch.testing.assert_close(encoding.tokens[~hidden], (encoding.contextual + characters)[~hidden])


def test_lemmas_count_only_with_character_embeddings(small_settings, treebanks, make_words):
    words = make_words("Cats sat")
    lemmas = zip(words.tokens, ("dog", "stand"), strict=True)
    other = replace(words, tokens=tuple(replace(token, lemma=lemma) for token, lemma in lemmas))
    for characters in (True, False):
        torch.manual_seed(0)
        settings = replace(small_settings(), character_embeddings=characters)
        network, preparation = Network(settings, treebanks).eval(), Preparation(settings)
        one, two = (network.encode(batch_of(preparation, [item])).tokens for item in (words, other))
        assert torch.equal(one, two) != characters


def test_decoder_of_another_width_than_the_encoder(small_settings, treebanks, preparation, sentences):
    network = Network(replace(small_settings(), width=12), treebanks).eval()
    outputs = predict(network, batch_of(preparation, sentences), ["eds"])["eds"]
    assert len(outputs) == len(sentences)


def test_names_that_weights_can_not_have(small_settings, treebanks):
    with pytest.raises(UsageError, match="name of a treebank"):
        Network(small_settings(), {"eds.eng": treebanks["eds"]})


def test_batch_moves_whole(preparation, sentences):
    batch = batch_of(preparation, sentences)
    moved = InputTensors.of(batch, "meta")
    assert moved.tokens.device.type == "meta"
    assert moved.forms is not None
    assert moved.forms[0].device.type == "meta"


def small_decoder():
    torch.manual_seed(0)
    return Decoder(width=8, layers=2, heads=2, feedforward=16, dropout=0.1, attention_dropout=0.1).eval()


@given(st.integers(0, 10**6), st.integers(1, 9), st.integers(1, 4))
@settings(max_examples=40, deadline=None)
def test_permuted_queries_give_permuted_results(seed, queries, tokens):
    decoder = small_decoder()
    generator = torch.Generator().manual_seed(seed)
    q = torch.randn(queries, 8, generator=generator)
    memory = torch.randn(tokens, 8, generator=generator)
    order = torch.randperm(queries, generator=generator)
    plain = decoder(q, Layout([queries]), memory, Layout([tokens]))
    permuted = decoder(q[order], Layout([queries]), memory, Layout([tokens]))
    torch.testing.assert_close(permuted, plain[order], rtol=1e-4, atol=1e-5)


def test_neighbours_in_the_batch_change_nothing():
    decoder = small_decoder()
    lengths = [2, 5, 1]
    layout = Layout(lengths)
    q, memory = torch.randn(layout.rows * 3, 8), torch.randn(layout.rows, 8)
    together = decoder(q, layout.repeated(3), memory, layout)
    parts = zip(q.split([3 * length for length in lengths]), memory.split(lengths), lengths, strict=True)
    alone = [decoder(own, Layout([3 * length]), words, Layout([length])) for own, words, length in parts]
    torch.testing.assert_close(together, torch.cat(alone), rtol=1e-4, atol=1e-5)


def test_query_q_is_made_from_token_q_over_queries():
    torch.manual_seed(0)
    queries = Queries(source=6, width=4, queries=3)
    tokens = torch.randn(5, 6)
    made = queries(tokens)
    assert made.shape == (15, 4)
    for number in range(15):
        part = slice(number % 3 * 4, number % 3 * 4 + 4)
        weight, bias = queries.linear.weight[part], queries.linear.bias[part]
        torch.testing.assert_close(made[number], torch.tanh(weight @ tokens[number // 3] + bias))


def test_no_random_numbers_are_drawn():
    before = torch.get_rng_state()
    with Unfilled():
        layers = nn.ModuleList([nn.Embedding(3, 4), nn.Linear(4, 5), nn.LayerNorm(5)])
        layers.register_parameter("own", nn.Parameter(torch.randn(7)))
    assert torch.equal(torch.get_rng_state(), before)
    filled = {name: torch.ones(weight.shape) for name, weight in layers.state_dict().items()}
    layers.load_state_dict(filled, assign=True)
    assert torch.equal(layers[1](layers[0](torch.tensor([2]))), torch.full((1, 5), 5.0))
    assert layers.own.shape == (7,)


def test_outside_everything_is_as_ever():
    with Unfilled():
        pass
    torch.manual_seed(0)
    assert nn.Linear(2, 3).weight.abs().sum() > 0
    assert torch.randn(3).abs().sum() > 0
