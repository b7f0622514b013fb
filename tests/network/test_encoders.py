from __future__ import annotations

import json
import shutil

import pytest
import safetensors.torch
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from perin.errors import MissingDependencyError, ModelError
from perin.network import encoders
from perin.network.encoders import in_family, longest_input
from perin.network.encoders.encoder import Bert, HuggingFaceEncoder, LayerMixture, TokenPooling, build_encoder
from perin.network.inputs import Preparation
from perin.network.layers import InputTensors, Layout, SubwordTensors

FAMILIES = ["bert_folder", "roberta_folder", "electra_folder"]


@pytest.mark.parametrize("family", FAMILIES[:2])
def test_packed_encoder_computes_what_the_library_does(family, request):
    from transformers import AutoModel

    folder = request.getfixturevalue(family)
    config = encoders.read_config(folder)
    assert in_family(config)
    ours = Bert(config, dropout=None).eval()
    ours.load(encoders.weights_path(folder))
    theirs = AutoModel.from_pretrained(folder).eval()
    layout = Layout([5, 2, 7])
    ids = torch.randint(4, config["vocab_size"], (layout.rows,), generator=torch.Generator().manual_seed(0))
    padded = layout.pad(ids + 0)
    padded[~layout.mask] = config.get("pad_token_id", 0)
    expected = theirs(padded, attention_mask=layout.mask.long(), output_hidden_states=True).hidden_states[1:]
    states = ours(ids, layout)
    assert len(states) == len(expected) == 3
    for state, other in zip(states, expected, strict=True):
        torch.testing.assert_close(state, layout.pack(other), rtol=1e-3, atol=1e-4)


def test_weights_of_older_names_and_with_a_prefix(bert_folder, tmp_path):
    weights = safetensors.torch.load_file(bert_folder / "model.safetensors")
    old = {
        "bert." + name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): value
        for name, value in weights.items()
    }
    safetensors.torch.save_file({**old, "cls.predictions.bias": torch.zeros(3)}, tmp_path / "model.safetensors")
    config = encoders.read_config(bert_folder)
    one, other = Bert(config, None), Bert(config, None)
    one.load(bert_folder / "model.safetensors")
    other.load(tmp_path / "model.safetensors")
    for name, value in one.state_dict().items():
        assert torch.equal(value, other.state_dict()[name]), name


def test_missing_or_broken_weights(bert_folder, tmp_path):
    config = encoders.read_config(bert_folder)
    weights = safetensors.torch.load_file(bert_folder / "model.safetensors")
    del weights["encoder.layer.2.output.dense.bias"]
    safetensors.torch.save_file(weights, tmp_path / "model.safetensors")
    with pytest.raises(ModelError, match=r"lacks the weights layers\.2\.feedforward\.2\.bias"):
        Bert(config, None).load(tmp_path / "model.safetensors")
    (tmp_path / "model.safetensors").write_bytes(b"nonsense")
    with pytest.raises(ModelError, match="can't be read"):
        Bert(config, None).load(tmp_path / "model.safetensors")
    with pytest.raises(ModelError, match=r"has no model\.safetensors"):
        encoders.weights_path(tmp_path / "elsewhere")


def test_longest_input_leaves_out_positions_that_are_not_used(bert_folder, roberta_folder):
    assert longest_input(encoders.read_config(bert_folder)) == 40
    assert longest_input(encoders.read_config(roberta_folder)) == 38


def encoded(encoder, preparation, sentences):
    batch = InputTensors.of(preparation.collate(preparation(sentences)))
    return encoder(batch).split(batch.tokens.lengths.tolist())


@pytest.mark.parametrize("family", [*FAMILIES, "characters"])
def test_neighbours_in_the_batch_change_nothing(family, request, small_settings, sentences):
    # In the original the padding of shorter sentences was added to their first word.
    folder = family if family == "characters" else request.getfixturevalue(family)
    torch.manual_seed(0)
    settings = small_settings(folder)
    encoder, preparation = build_encoder(settings, pretrained=True).eval(), Preparation(settings)
    together = encoded(encoder, preparation, sentences)
    for words, vectors in zip(sentences, together, strict=True):
        assert vectors.shape == (len(words), encoder.width)
        if len(words):
            (alone,) = encoded(encoder, preparation, [words])
            torch.testing.assert_close(vectors, alone, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("family", [*FAMILIES, "characters"])
def test_input_beyond_the_limit_is_neither_cut_nor_a_crash(family, request, small_settings, make_words):
    folder = family if family == "characters" else request.getfixturevalue(family)
    torch.manual_seed(0)
    settings = small_settings(folder)
    encoder, preparation = build_encoder(settings, pretrained=True).eval(), Preparation(settings)
    long, changed = (make_words("The cat sat on the mat . " * 30 + last) for last in ("dogs", "again"))
    short = make_words("The cat sat")
    vectors, other, changed_vectors = encoded(encoder, preparation, [long, short, changed])
    assert len(vectors) == 211
    assert torch.isfinite(vectors).all()
    assert (vectors[-1] - changed_vectors[-1]).abs().max() > 1e-3
    torch.testing.assert_close(other, encoded(encoder, preparation, [short])[0], rtol=1e-3, atol=1e-4)


def test_far_away_words_do_not_matter_across_windows(bert_folder, small_settings, make_words):
    settings = small_settings(bert_folder)
    encoder, preparation = build_encoder(settings, pretrained=True).eval(), Preparation(settings)
    one = make_words("cat " * 90 + "dogs")
    other = make_words("cat " * 90 + "mat .")
    first, second = (encoded(encoder, preparation, [words])[0] for words in (one, other))
    torch.testing.assert_close(first[:10], second[:10], rtol=1e-3, atol=1e-4)
    assert (first[85] - second[85]).abs().max() > 1e-3


def test_other_families_are_left_to_the_library(electra_folder, small_settings):
    encoder = build_encoder(small_settings(electra_folder), pretrained=True)
    assert isinstance(encoder.body, HuggingFaceEncoder)
    assert encoder.body.depth == 3
    assert not [module for module in encoder.modules() if type(module) is torch.nn.Dropout]


@pytest.mark.parametrize("family", FAMILIES)
def test_frozen_embeddings_and_dropout_settings(family, request, small_settings):
    from dataclasses import replace

    settings = replace(small_settings(request.getfixturevalue(family)), encoder_dropout=0.35, layer_dropout=0.45)
    encoder = build_encoder(settings, pretrained=False)
    assert encoder.mixture.rate == 0.45
    embeddings = encoder.body.embeddings
    assert not any(parameter.requires_grad for parameter in embeddings.parameters())
    assert any(parameter.requires_grad for parameter in encoder.body.parameters())
    assert {module.p for module in encoder.modules() if type(module).__name__ == "Dropout"} == {0.35}
    thawed = build_encoder(replace(settings, freeze_embeddings=False), pretrained=False)
    assert all(parameter.requires_grad for parameter in thawed.parameters())


def test_description_alone_makes_an_encoder_without_weights(bert_folder, small_settings, tmp_path, make_words):
    encoders.copy_description(bert_folder, tmp_path / "encoder")
    assert not (tmp_path / "encoder" / "model.safetensors").exists()
    settings = small_settings(tmp_path / "encoder")
    encoder = build_encoder(settings, pretrained=False)
    encoder.load_state_dict(build_encoder(small_settings(bert_folder), pretrained=True).state_dict())
    assert len(encoded(encoder.eval(), Preparation(settings), [make_words("a cat")])[0]) == 2


def test_names_that_lead_nowhere(tmp_path, monkeypatch, bert_folder):
    with pytest.raises(ModelError, match=r"there is no folder \./nowhere"):
        encoders.encoder_folder("./nowhere")
    with pytest.raises(ModelError, match=r"no config\.json"):
        encoders.read_config(tmp_path)
    (tmp_path / "config.json").write_text("[]")
    with pytest.raises(ModelError, match="contains no JSON object"):
        encoders.read_config(tmp_path)
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(ModelError, match="what kind of encoder"):
        encoders.read_config(tmp_path)
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(ModelError, match="can't be read"):
        encoders.read_config(tmp_path)
    assert encoders.encoder_folder(str(bert_folder)) == bert_folder


def test_minilm_is_had_from_the_hub_where_its_package_is_missing(monkeypatch, tmp_path):
    import huggingface_hub
    from huggingface_hub.errors import LocalEntryNotFoundError

    def refuse(name, **_):
        raise LocalEntryNotFoundError(f"no connection for {name}")

    monkeypatch.setitem(encoders.PACKAGES, "minilm", ("no_such_module_at_all", "model"))
    monkeypatch.setattr(huggingface_hub, "snapshot_download", lambda name, **_: tmp_path / name)
    assert encoders.encoder_folder("minilm") == tmp_path / "sentence-transformers/all-MiniLM-L6-v2"
    monkeypatch.setattr(huggingface_hub, "snapshot_download", refuse)
    with pytest.raises(MissingDependencyError, match=r"hub now, needs the package no-such-.*perin\[minilm\]"):
        encoders.encoder_folder("minilm")


def test_hub_without_network(monkeypatch):
    import huggingface_hub
    from huggingface_hub.errors import LocalEntryNotFoundError

    def refuse(name, **_):
        raise LocalEntryNotFoundError(f"no connection for {name}")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", refuse)
    with pytest.raises(ModelError, match=r"'xlm-roberta-base' is no folder here .*no connection.*give the path"):
        encoders.encoder_folder("xlm-roberta-base")


def test_hub_folder_is_used_as_it_is(monkeypatch, bert_folder, tmp_path):
    import huggingface_hub

    folder = tmp_path / "snapshot"
    shutil.copytree(bert_folder, folder)
    monkeypatch.setattr(huggingface_hub, "snapshot_download", lambda name, **_: str(folder))
    assert json.loads((encoders.encoder_folder("org/name") / "config.json").read_text())["model_type"] == "bert"


def test_offline_reaches_the_hub_and_the_revision_is_said(monkeypatch, bert_folder, caplog):
    import huggingface_hub

    asked = []

    def snapshot(name, **options):
        asked.append((name, options["local_files_only"]))
        return str(bert_folder)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot)
    with caplog.at_level("INFO", "perin.hub"):
        encoders.encoder_folder("org/encoder", offline=True)
        encoders.encoder_folder("org/encoder")
    assert asked == [("org/encoder", True), ("org/encoder", False)]
    assert caplog.messages == [f"org/encoder of the Hugging Face hub is at revision {bert_folder.name}"] * 2


def pieces(rows, tokens, pairs):
    first, second = zip(*pairs, strict=True)
    return SubwordTensors(
        torch.zeros(rows, dtype=torch.long),
        Layout([rows]),
        torch.zeros(rows, dtype=torch.long),
        torch.tensor(first),
        torch.tensor(second),
    )


@given(st.lists(st.lists(st.booleans(), min_size=3, max_size=3), min_size=1, max_size=6))
@settings(max_examples=40, deadline=None)
def test_weights_are_distributions_whichever_layers_are_left_out(left_out):
    # In the original a sentence could lose all its layers, which made everything undefined.
    mixture = LayerMixture(3, rate=0.5)
    with torch.no_grad():
        mixture.scores.copy_(torch.tensor([0.3, -1.0, 2.0]))
    weights = mixture.weights(torch.tensor(left_out))
    torch.testing.assert_close(weights.sum(-1), torch.ones(len(left_out)))
    for row, gone in zip(weights, left_out, strict=True):
        expected = mixture.scores.detach().exp() * torch.tensor([all(gone) or not one for one in gone])
        torch.testing.assert_close(row.detach(), expected / expected.sum())


def test_sum_of_layers_outside_training():
    mixture = LayerMixture(2, rate=0.5).eval()
    with torch.no_grad():
        mixture.scores.copy_(torch.tensor([0.0, 1.0]))
    states = [torch.randn(4, 3), torch.randn(4, 3)]
    weights = torch.tensor([0.0, 1.0]).softmax(-1)
    expected = weights[0] * states[0] + weights[1] * states[1]
    torch.testing.assert_close(mixture(states, torch.zeros(4, dtype=torch.long), 1), expected)


def test_layers_are_left_out_of_whole_sentences():
    torch.manual_seed(0)
    mixture = LayerMixture(3, rate=0.4)
    states = [torch.full((60, 1), float(10**layer)) for layer in range(3)]
    sentences = torch.arange(60) // 3
    mixed = mixture(states, sentences, 20).detach().view(20, 3)
    assert (mixed == mixed[:, :1]).all()
    assert len(mixed[:, 0].unique()) > 3
    assert torch.isfinite(mixed).all()


def test_subwords_are_summed_and_then_normalised():
    torch.manual_seed(0)
    pooling = TokenPooling(6)
    subwords = torch.randn(5, 6)
    batch = pieces(5, 3, [(1, 0), (2, 1), (3, 1), (3, 2)])
    expected = pooling.norm(torch.stack((subwords[1], subwords[2] + subwords[3], subwords[3])))
    torch.testing.assert_close(pooling(subwords, batch, 3), expected)


def test_sum_and_mean_are_the_same_after_normalisation():
    """The paper's footnote, which holds only in this order."""
    torch.manual_seed(0)
    pooling = TokenPooling(6)
    subwords = torch.randn(4, 6)
    batch = pieces(4, 1, [(row, 0) for row in range(4)])
    torch.testing.assert_close(pooling(subwords, batch, 1)[0], pooling.norm(subwords.mean(0)), rtol=1e-3, atol=1e-3)


def test_token_without_subwords_has_a_learned_vector():
    torch.manual_seed(0)
    pooling = TokenPooling(6)
    batch = pieces(2, 2, [(0, 0), (1, 0), (2, 1)])
    vectors = pooling(torch.randn(2, 6), batch, 2)
    torch.testing.assert_close(vectors[1], pooling.norm(pooling.bare))
    vectors[1, 0].backward()
    assert pooling.bare.grad.abs().sum() > 0


def test_a_mixture_can_start_at_the_middle_layers():
    even = LayerMixture(12, rate=0.0).scores.softmax(-1)
    middle = LayerMixture(12, rate=0.0, middle=True).scores.softmax(-1)
    torch.testing.assert_close(even, torch.full((12,), 1 / 12))
    torch.testing.assert_close(middle, middle.flip(0))
    assert middle.argmax() in (5, 6)
    assert middle[-1] < middle[5] / 30
