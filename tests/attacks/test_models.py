"""Hostile models and texts: one line, exit code 2 (or 1 for a sentence), bounded time and memory."""

from __future__ import annotations

import json
import shutil

import pytest

from perin.errors import ModelError
from perin.model import model_folder
from perin.network.encoders import read_config


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A model with a pretrained encoder, of one treebank."""
    from perin.commands.main import main

    folder = tmp_path_factory.mktemp("model") / "small"
    assert main(["package", str(model_folder("eng")), "-o", str(folder), "--treebanks", "eds-eng"]) == 0
    return folder


@pytest.fixture
def broken(small, tmp_path):
    """A copy without checksums: whoever means harm writes fitting ones."""
    folder = shutil.copytree(small, tmp_path / "broken")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"files": {}}))
    return folder


ABSURD = [10**12, -1, 0, 1.5, "8", None, [], True]


@pytest.mark.parametrize(
    "name", ["hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "vocab_size"]
)
@pytest.mark.parametrize("value", ABSURD, ids=repr)
def test_absurd_sizes_of_an_encoder(broken, name, value):
    path = broken / "encoder" / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {name: value}))
    with pytest.raises(ModelError, match=f"can't be the encoder's {name}"):
        read_config(broken / "encoder")


@pytest.mark.parametrize(
    ("name", "value"),
    [("max_position_embeddings", 10**12), ("type_vocab_size", "x"), ("pad_token_id", -5), ("layer_norm_eps", "0")],
)
def test_absurd_details_of_an_encoder(broken, name, value):
    path = broken / "encoder" / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {name: value}))
    with pytest.raises(ModelError, match=f"can't be the encoder's {name}"):
        read_config(broken / "encoder")


@pytest.mark.parametrize("text", ['{"model_type":' + "[" * 100_000, '{"model_type": ["bert"]}', "[]", "\x00", ""])
def test_encoder_configurations_that_are_none(broken, text):
    (broken / "encoder" / "config.json").write_text(text)
    with pytest.raises(ModelError, match=r"config\.json"):
        read_config(broken / "encoder")


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("network", "buckets"), 10**12),
        (("network", "layers"), 10**9),
        (("network", "width"), 10**9),
        (("network", "heads"), 7),
        (("treebanks", "eds-eng", "queries"), 10**9),
    ],
)
def test_absurd_sizes_of_a_network(broken, limited, place, value):
    config = json.loads((broken / "config.json").read_text())
    inner = config
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    (broken / "config.json").write_text(json.dumps(config))
    done = limited("parse", "--model", broken, "Dogs bark.", gigabytes=3)
    if done.returncode == 0:  # a size that nothing depends on
        assert place == ("network", "buckets")
        return
    assert done.returncode == 2
    assert done.stderr.startswith("perin parse: error: ")
    assert done.stderr.count("\n") == 1


TEXTS = {
    "dots": "." * 90_000,
    "a word": "-" * 5_000_000,
    "words": "word " * 60_000,
    "Chinese": "字" * 50_000,
}


@pytest.mark.parametrize("kind", TEXTS)
def test_sentences_without_end(small, limited, tmp_path, kind):
    (tmp_path / "text.txt").write_text(TEXTS[kind] + "\nDogs bark.\n", encoding="utf-8")
    done = limited("parse", "--model", small, "text.txt", "-o", "graphs.mrp", gigabytes=3)
    assert done.returncode == 1, done.stderr[-300:]
    assert "perin parse: graph 1: " in done.stderr
    assert "more than the limit of" in done.stderr
    assert (tmp_path / "graphs.mrp").read_text().count("\n") == 1


@pytest.mark.parametrize("text", ["x" * 99_000, "\u0301" * 90_000])
def test_long_words_that_are_one_subword(small, limited, tmp_path, text):
    (tmp_path / "text.txt").write_text(text, encoding="utf-8")
    assert limited("parse", "--model", small, "text.txt", "-o", "graphs.mrp", gigabytes=3).returncode == 0


def test_running_text_without_end(small, limited, tmp_path):
    (tmp_path / "text.txt").write_text("word word\n" * 30_000, encoding="utf-8")
    done = limited("parse", "--model", small, "--split", "text.txt", "-o", "graphs.mrp", gigabytes=3)
    assert done.returncode == 1
    assert "more than the limit of" in done.stderr
