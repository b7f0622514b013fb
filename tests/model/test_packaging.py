"""Models as they are shipped: quantized weights, a part of the encoder's vocabulary, nothing needed from elsewhere."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers

import perin
from perin.errors import ModelError, UsageError
from perin.graphs.codecs import dump
from perin.model.folder import WORDS, ModelFolder, Quantization
from perin.model.model import Model
from perin.model.packaging import pieces_for, texts_in, write_package, write_wheel
from perin.network.encoders import pieces_of
from perin.network.settings import NetworkSettings
from perin.parsing.parser import Parser

OTHERS = ["Zebras quietly jump over hexagonal boxes", "Vždyť příliš žluťoučký kůň úpěl ďábelské ódy", "小王子"]


@pytest.fixture(scope="module")
def encoder(texts, tmp_path_factory):
    """BERT with a Unigram vocabulary, as e5 is."""
    from transformers import BertConfig, BertModel

    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    marks = ["<s>", "<pad>", "</s>", "<unk>"]
    trainer = trainers.UnigramTrainer(vocab_size=300, special_tokens=marks, unk_token="<unk>", show_progress=False)
    tokenizer.train_from_iterator([*texts, *OTHERS] * 5, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=tokenizer.get_vocab_size() + 5,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=48,
        max_position_embeddings=100,
    )
    folder = tmp_path_factory.mktemp("encoders") / "toy"
    BertModel(config).save_pretrained(folder)
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


@pytest.fixture(scope="module")
def run(encoder, make_treebank, tmp_path_factory):
    """The folder of a model as a training writes it, in half precision; its tables are numbers that fit eight bits."""
    torch.manual_seed(6)
    settings = NetworkSettings(encoder=str(encoder), layers=1, heads=2, feedforward=32, mixture=1, buckets=64)
    model = Model.new(settings, [make_treebank("eds"), make_treebank("ucca")])
    with torch.no_grad():
        for part in (model.network.heads, model.network.queries):
            for parameter in part.parameters():
                parameter.normal_(std=0.6)
        for name, table in model.network.state_dict().items():
            if name == WORDS or name.endswith(".table"):
                table.copy_(torch.randint(-127, 128, table.shape, generator=torch.Generator().manual_seed(0)))
                table[:, 0] = 127
    folder = tmp_path_factory.mktemp("run")
    model.save(folder)
    return folder


def described(folder, bits=32, heads=(), treebanks=None):
    read = replace(ModelFolder.read(folder), quantization=Quantization(bits, heads))
    return read if treebanks is None else read.only(treebanks)


def graphs(folder, texts, bits=None):
    parser = Parser.load(folder, bits=bits, threads=1)
    return [graph for text in texts for graph in parser.parse(text, "all", time="2026-01-31")]


def test_a_part_of_the_vocabulary_gives_the_same_graphs(run, encoder, texts, tmp_path):
    write_package(described(run), tmp_path, set(pieces_of(encoder, texts)))
    whole, pruned = (safetensors.numpy.load_file(folder / "weights.safetensors") for folder in (run, tmp_path))
    assert len(pruned[WORDS]) < len(whole[WORDS]) - 20
    found = graphs(tmp_path, texts, 32)
    assert any(graph.nodes for graph in found)
    assert found == graphs(run, texts, 32)


def test_stored_integers_are_those_that_the_network_computes_with(run, texts, tmp_path):
    write_package(described(run, 8, ("ucca-eng",)), tmp_path)
    stored = safetensors.numpy.load_file(tmp_path / "weights.safetensors")
    layers = {name for name in stored if name + ".scale" in stored}
    assert WORDS in layers
    assert any(name.startswith("heads.") and "ucca" in name for name in layers)
    assert not any(name.startswith("heads.") and "eds" in name for name in layers)
    assert {"characters.forms.table", "characters.lemmas.table"} <= layers
    assert all(stored[name].dtype == np.int8 for name in layers)
    sizes = [(folder / "weights.safetensors").stat().st_size for folder in (tmp_path, run)]
    assert sizes[0] < 0.8 * sizes[1]
    config = json.loads((tmp_path / "config.json").read_text())
    assert config["quantization"] == {"bits": 8, "heads": ["ucca-eng"]}
    noted = shutil.copytree(run, tmp_path / "noted")
    config = json.loads((noted / "config.json").read_text())
    del config["quantization"]
    config["notes"] = {"bits": 8, "rounded_heads": ["ucca-eng"]}  # as older models have it
    (noted / "config.json").write_text(json.dumps(config))
    assert graphs(tmp_path, texts) == graphs(noted, texts)


def test_packaging_again_changes_nothing(run, texts, tmp_path):
    (first := tmp_path / "first").mkdir()
    (second := tmp_path / "second").mkdir()
    (third := tmp_path / "third").mkdir()
    write_package(described(run, 8, ("eds-eng",)), first)
    write_package(ModelFolder.read(first), second)
    assert (first / "weights.safetensors").read_bytes() == (second / "weights.safetensors").read_bytes()
    assert json.loads((first / "config.json").read_text()) == json.loads((second / "config.json").read_text())
    write_package(described(first, 32), third)
    stored = safetensors.numpy.load_file(third / "weights.safetensors")
    assert {name for name, weight in stored.items() if weight.dtype == np.int8} == {
        WORDS,
        "characters.forms.table",
        "characters.lemmas.table",
    }


def test_nothing_is_needed_from_elsewhere(run, texts, tmp_path):
    moved = shutil.copytree(run, tmp_path / "run")
    config = json.loads((moved / "config.json").read_text())
    config["network"]["encoder"] = str(tmp_path / "gone" / "toy")
    (moved / "config.json").write_text(json.dumps(config))
    (target := tmp_path / "target").mkdir()
    write_package(ModelFolder.read(moved), target)
    assert json.loads((target / "config.json").read_text())["network"]["encoder"] == "toy"
    assert Parser.load(target).parse(texts[0]).nodes


def test_scales_that_do_not_fit(run, tmp_path):
    write_package(described(run, 8), tmp_path)
    path, config = tmp_path / "weights.safetensors", json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps(config | {"files": {}}))
    weights = safetensors.numpy.load_file(path)
    safetensors.numpy.save_file({**weights, WORDS + ".scale": np.ones(3, np.float32)}, path)
    for load in (Model.load, Parser.load):
        with pytest.raises(ModelError, match=r"scales of encoder\.body\.embeddings\.words\.weight don't fit"):
            load(tmp_path)
    safetensors.numpy.save_file({**weights, "nonsense.scale": np.ones(3, np.float32)}, path)
    with pytest.raises(ModelError, match="does not fit config"):
        Model.load(tmp_path)


def test_pieces_of_a_language(encoder, texts, tmp_path, parser, monkeypatch):
    monkeypatch.setattr("perin.model.packaging.word_forms", lambda language: ["jump", "jump", "boxes"])
    (tmp_path / "eds-eng").mkdir()
    dump(parser.parse(texts[:2], "eds", time="2026-01-31"), tmp_path / "eds-eng" / "dev.mrp.gz", "mrp")
    (tmp_path / "umr-eng").mkdir()
    (tmp_path / "umr-eng" / "dev.umr").write_text(f"Index: 1 2\nWords: {texts[2]}  \n\n")
    (tmp_path / "drg-eng").mkdir()
    (tmp_path / "drg-eng" / "train.sbn-lines").write_text(f"1\n{texts[3]}\nsbn\n\n2\n{texts[4]}\nsbn\n")
    assert sorted(texts_in(tmp_path, "eng")) == sorted(texts)
    assert list(texts_in(tmp_path, "deu")) == []
    needed = pieces_for(encoder, ["eng"], tmp_path)
    tokenizer = Tokenizer.from_file(str(encoder / "tokenizer.json"))
    assert set(pieces_of(encoder, [*texts, "jump"])) <= needed
    assert tokenizer.token_to_id("q") in needed
    assert tokenizer.token_to_id("ž") in needed
    assert tokenizer.token_to_id("王") not in needed
    assert not set(pieces_of(encoder, OTHERS[2:])) & needed - {tokenizer.token_to_id("▁")}


def test_a_model_of_some_of_the_treebanks(run, texts, tmp_path):
    write_package(described(run, treebanks={"ucca-eng"}), tmp_path)
    assert list(Model.load(tmp_path).treebanks) == ["ucca-eng"]
    assert not any("eds" in name for name in safetensors.numpy.load_file(tmp_path / "weights.safetensors"))
    assert [path.name for path in (tmp_path / "vocabularies").iterdir()] == ["ucca-eng.json"]
    expected = [graph for graph in graphs(run, texts, 32) if graph.framework == "ucca"]
    assert graphs(tmp_path, texts, 32) == expected
    with pytest.raises(UsageError, match="the model has eds-eng, ucca-eng; drg-eng is none of them"):
        described(run, treebanks={"drg-eng"})
    with pytest.raises(UsageError, match="needs at least one treebank"):
        described(run, treebanks=())


def test_a_wheel_is_installed_and_found(run, texts, tmp_path):
    (folder := tmp_path / "toy_model").mkdir()
    write_package(described(run, 8), folder)
    wheel = write_wheel(folder, tmp_path, "1.2")
    assert wheel.name == "perin_toy_model-1.2-py3-none-any.whl"
    content = wheel.read_bytes()
    assert write_wheel(folder, tmp_path, "1.2").read_bytes() == content
    place = tmp_path / "site"
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", str(place)]
    subprocess.run([*command, str(wheel)], check=True, capture_output=True)
    assert (place / "perin_models" / "toy_model" / "config.json").is_file()
    source = str(Path(perin.__file__).parents[1])
    child = "import perin; p = perin.load('toy_model', threads=1); print(p, len(p.parse('Rain!').nodes) > 0)"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((source, str(place))), "OMP_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, "-c", child], check=True, capture_output=True, text=True, env=environment)
    assert done.stdout == "Parser(eds-eng, ucca-eng) True\n"


@pytest.mark.parametrize(("name", "version"), [("to-y", "1"), ("_toy", "1"), ("toy", "x"), ("toy", "")])
def test_names_and_versions_that_wheels_can_t_have(tmp_path, name, version):
    (tmp_path / name).mkdir()
    with pytest.raises(UsageError, match=r"package|version"):
        write_wheel(tmp_path / name, tmp_path, version)


def test_the_wheel_of_this_package_stays_below_the_limit_of_pypi():
    """Of the models only eng is inside; the others have to be left out by name patterns."""
    box = Path(perin.__file__).parent
    size = sum(path.stat().st_size for path in box.rglob("*") if path.is_file() and _is_in_the_wheel(path, box))
    assert size < 95e6


def _is_in_the_wheel(path, box):
    inside = path.relative_to(box).parts
    return "__pycache__" not in inside and (inside[0] != "models" or inside[1] == "eng")
