"""Models as they are shipped: rounded weights, a part of the encoder's vocabulary, nothing needed from elsewhere."""

from __future__ import annotations

import json
import shutil

import pytest
import safetensors.torch
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers

from perin.errors import ModelError, UsageError
from perin.graphs.codecs.registry import dump
from perin.model.model import Model
from perin.model.pieces import needed_pieces, texts_in
from perin.model.weights import WORDS
from perin.network.eightbit import supported
from perin.network.encoders.pruning import pieces_of
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
    """The folder of a model as a training writes it, in half precision."""
    torch.manual_seed(6)
    settings = NetworkSettings(encoder=str(encoder), layers=1, heads=2, feedforward=32, mixture=1, buckets=64)
    model = Model.new(settings, [make_treebank("eds"), make_treebank("ucca")])
    with torch.no_grad():
        for part in (model.network.heads, model.network.queries):
            for parameter in part.parameters():
                parameter.normal_(std=0.6)
    model.notes |= {"bits": 8, "rounded_heads": ["ucca-eng"]}
    folder = tmp_path_factory.mktemp("run")
    model.save(folder)
    return folder


def graphs(folder, texts, bits):
    parser = Parser.load(folder, bits=bits, threads=1)
    return [graph for text in texts for graph in parser.parse(text, "all", time="2026-01-31")]


def test_a_part_of_the_vocabulary_gives_the_same_graphs(run, encoder, texts, tmp_path):
    Model.load(run).save(tmp_path, pieces=set(pieces_of(encoder, texts)))
    whole, pruned = (safetensors.torch.load_file(folder / "weights.safetensors") for folder in (run, tmp_path))
    assert len(pruned[WORDS]) < len(whole[WORDS]) - 20
    found = graphs(tmp_path, texts, 32)
    assert any(graph.nodes for graph in found)
    assert found == graphs(run, texts, 32)


@pytest.mark.skipif(not supported(), reason="there is no kernel for this processor")
def test_rounded_weights_are_those_that_the_network_computes_with(run, texts, tmp_path):
    model = Model.load(run)
    tables = [weight for name, weight in model.network.state_dict().items() if name == WORDS or name.endswith(".table")]
    for table in tables:  # of numbers that eight bits can hold
        table.copy_(torch.randint(-127, 128, table.shape, generator=torch.Generator().manual_seed(0)))
        table[:, 0] = 127
    (plain := tmp_path / "plain").mkdir()
    (rounded := tmp_path / "rounded").mkdir()
    model.save(plain)
    model.save(rounded, rounded=True)
    stored = safetensors.torch.load_file(rounded / "weights.safetensors")
    layers = {name for name in stored if name + ".scale" in stored}
    assert WORDS in layers
    assert any(name.startswith("heads.") and "ucca" in name for name in layers)
    assert not any(name.startswith("heads.") and "eds" in name for name in layers)
    assert {"characters.forms.table", "characters.lemmas.table"} <= layers
    assert all(stored[name].dtype == torch.int8 for name in layers)
    sizes = [(folder / "weights.safetensors").stat().st_size for folder in (rounded, plain)]
    assert sizes[0] < 0.8 * sizes[1]
    assert graphs(rounded, texts, 8) == graphs(plain, texts, 8)


def test_nothing_is_needed_from_elsewhere(run, encoder, texts, tmp_path):
    moved = shutil.copytree(run, tmp_path / "run")
    config = json.loads((moved / "config.json").read_text())
    config["network"]["encoder"] = str(tmp_path / "gone" / "toy")
    (moved / "config.json").write_text(json.dumps(config))
    (target := tmp_path / "target").mkdir()
    Model.load(moved).save(target, rounded=True)
    config = json.loads((target / "config.json").read_text())
    assert config["network"]["encoder"] == "toy"
    assert config["left_out"] == {}
    assert Parser.load(target).parse(texts[0]).nodes


def test_scales_that_do_not_fit(run, tmp_path):
    Model.load(run).save(tmp_path, rounded=True)
    path = tmp_path / "weights.safetensors"
    weights = safetensors.torch.load_file(path)
    safetensors.torch.save_file({**weights, WORDS + ".scale": torch.ones(3)}, path)
    with pytest.raises(ModelError, match=r"scales of encoder\.body\.embeddings\.words\.weight don't fit"):
        Model.load(tmp_path)
    del weights[WORDS + ".scale"]
    safetensors.torch.save_file({**weights, "nonsense.scale": torch.ones(3)}, path)
    with pytest.raises(ModelError, match="does not fit config"):
        Model.load(tmp_path)


def test_pieces_of_a_language(encoder, texts, tmp_path, parser, monkeypatch):
    monkeypatch.setattr("perin.model.pieces.word_forms", lambda language: ["jump", "jump", "boxes"])
    (tmp_path / "eds-eng").mkdir()
    dump(parser.parse(texts[:2], "eds", time="2026-01-31"), tmp_path / "eds-eng" / "dev.mrp.gz", "mrp")
    (tmp_path / "umr-eng").mkdir()
    (tmp_path / "umr-eng" / "dev.umr").write_text(f"Index: 1 2\nWords: {texts[2]}  \n\n")
    (tmp_path / "drg-eng").mkdir()
    (tmp_path / "drg-eng" / "train.sbn-lines").write_text(f"1\n{texts[3]}\nsbn\n\n2\n{texts[4]}\nsbn\n")
    assert sorted(texts_in(tmp_path, "eng")) == sorted(texts)
    assert list(texts_in(tmp_path, "deu")) == []
    needed = needed_pieces(encoder, ["eng"], tmp_path)
    tokenizer = Tokenizer.from_file(str(encoder / "tokenizer.json"))
    assert set(pieces_of(encoder, [*texts, "jump"])) <= needed
    assert tokenizer.token_to_id("q") in needed
    assert tokenizer.token_to_id("ž") in needed
    assert tokenizer.token_to_id("王") not in needed
    assert not set(pieces_of(encoder, OTHERS[2:])) & needed - {tokenizer.token_to_id("▁")}


def test_a_model_of_some_of_the_treebanks(run, texts, tmp_path):
    whole = Model.load(run)
    whole.only({"ucca-eng"}).save(tmp_path, half=False)
    assert list(Model.load(tmp_path).treebanks) == ["ucca-eng"]
    assert not any("eds" in name for name in safetensors.torch.load_file(tmp_path / "weights.safetensors"))
    expected = [graph for graph in graphs(run, texts, 32) if graph.framework == "ucca"]
    assert graphs(tmp_path, texts, 32) == expected
    with pytest.raises(UsageError, match="the model has eds-eng, ucca-eng; drg-eng is none of them"):
        whole.only({"drg-eng"})
    with pytest.raises(UsageError, match="needs a treebank"):
        whole.only(())
