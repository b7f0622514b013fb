"""Queries that a sieve leaves out are as if they had never been; the others keep their numbers."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from perin.network.inputs import Preparation
from perin.network.layout import Layout
from perin.network.predict import predict
from perin.network.sieve import Sieve


class Scores(Sieve):
    """Takes the tokens' embeddings themselves for the scores."""

    def forward(self, tokens):
        return tokens


@given(st.lists(st.integers(0, 5), min_size=1, max_size=5), st.integers(1, 3), st.integers(0, 99))
@settings(max_examples=100)
def test_what_passes(lengths, queries, seed):
    scores = torch.randn(sum(lengths), queries, generator=torch.Generator().manual_seed(seed)) - 1
    layout = Layout(lengths).repeated(queries)
    passed = Scores(4, queries).passed(scores, layout)
    expected, start = [], 0
    for length in lengths:
        own = scores.view(-1)[start : start + length * queries].tolist()
        above = [number for number, score in enumerate(own) if score > 0]
        above = above or [own.index(max(own))] if own else []
        expected += [start + number for number in above]
        start += len(own)
    assert passed.tolist() == expected


@pytest.fixture
def network(make_network):
    return make_network()


@pytest.fixture
def batch(small_settings, sentences):
    preparation = Preparation(small_settings())
    return preparation.collate(preparation(sentences))


def with_scores(network, treebank, scores):
    """A sieve whose scores for tokens are given."""
    sieve = network.add_sieve(treebank)
    sieve.forward = lambda tokens: scores
    return sieve


def test_a_sieve_that_lets_all_pass_changes_nothing(network, batch):
    before = predict(network, batch, ["eds"])["eds"]
    with_scores(network, "eds", torch.ones(batch.tokens.rows, network.treebanks["eds"].queries))
    for one, other in zip(before, predict(network, batch, ["eds"])["eds"], strict=True):
        assert one.accepted.tolist() == other.accepted.tolist()
        np.testing.assert_array_equal(one.labels, other.labels)
        np.testing.assert_array_equal(one.presence, other.presence)


@pytest.mark.parametrize("treebank", ["eds", "ptg", "drg"])
@torch.inference_mode()
def test_the_decoder_sees_what_passes_and_nothing_else(network, batch, treebank):
    queries = network.treebanks[treebank].queries
    scores = torch.randn(batch.tokens.rows, queries, generator=torch.Generator().manual_seed(1))
    sieve = with_scores(network, treebank, scores)
    encoding = network.encode(batch)
    hidden = network.decode(encoding, treebank)
    layout = encoding.layout.repeated(queries)
    passed = sieve.passed(encoding.contextual, layout)
    assert 0 < len(passed) < layout.rows
    assert hidden.passed.tolist() == passed.tolist()
    made = network.queries[treebank](encoding.contextual)[torch.from_numpy(passed)]
    h = network.decoder(made, hidden.query_layout, encoding.tokens, encoding.layout)
    torch.testing.assert_close(hidden.queries, h)

    labels = network.heads_of(treebank).label_probabilities(h).numpy()
    ends = np.cumsum(hidden.query_layout.lengths)
    for number, output in enumerate(predict(network, batch, [treebank])[treebank]):
        own = labels[ends[number] - hidden.query_layout.lengths[number] : ends[number]]
        numbers = passed[layout.sequences[passed] == number] - layout.starts[number]
        places = [numbers.tolist().index(accepted) for accepted in output.accepted]
        np.testing.assert_allclose(output.labels, own[places], rtol=1e-4, atol=1e-6)


def test_training_sees_all_queries(network, batch):
    with_scores(network, "eds", -torch.ones(batch.tokens.rows, network.treebanks["eds"].queries))
    assert len(network(batch, {"eds": None})["eds"].queries) < batch.tokens.rows * network.treebanks["eds"].queries
    hidden = network.train()(batch, {"eds": None})["eds"]
    assert len(hidden.queries) == batch.tokens.rows * network.treebanks["eds"].queries
    assert hidden.passed is None
