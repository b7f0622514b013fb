"""Prepared training data on disk, by the content that they were made from, so that the next run starts at once.

A file holds vocabularies, prepared sentences and targets of all treebanks of a recipe.  Arrays of one kind are
concatenated; nothing in it is executed when it is loaded.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load, save

import perin
from perin.contract.heads import Target
from perin.errors import InputError
from perin.files import read_cached, write_cached
from perin.frameworks import NAMES
from perin.frameworks.vocabulary import Vocabulary
from perin.learning import Recipe
from perin.learning.data.batches import Example
from perin.model.folder import Treebank
from perin.network.encoders import DESCRIPTIONS, encoder_folder
from perin.network.inputs import SentenceInput
from perin.network.settings import CHARACTERS

CODE = ("graphs", "contract", "text", "labels", "frameworks", "network", "learning/data")
"""The parts of this package on whose code prepared data depend."""
PACKAGES = ("lemminflect", "simplemma", "jieba", "numpy", "tokenizers")
WORDS = ("forms", "lemmas")
CLASSES = "property_classes."


@dataclass(frozen=True)
class Problem:
    """A graph that is not used, or only in part: what kind of problem it has, and exactly what."""

    treebank: str
    split: str
    """``train`` or ``dev``."""
    graph: str
    kind: str
    what: str


@dataclass(frozen=True)
class Prepared:
    """The training data: one example of each usable training graph, by treebank."""

    treebanks: list[Treebank]
    examples: dict[str, list[Example]]
    problems: list[Problem]


def content_key(recipe: Recipe) -> str | None:
    """A hash of everything that prepared data depend on, this package's code included.

    None for a framework of somebody else's: we don't know what it depends on.
    """
    if not {treebank.framework for treebank in recipe.treebanks} <= set(NAMES):
        return None
    settings = recipe.network
    content = hashlib.sha256()
    for treebank in recipe.treebanks:
        content.update(f"{treebank.framework} {treebank.language} {treebank.queries} {treebank.limit}\n".encode())
        content.update(f"{treebank.text_case} {treebank.translator or treebank.translation}\n".encode())
        for key, name in treebank.files():
            content.update(key.encode() + _hash(recipe.path(name)) if not key.startswith("dev") else b"")
    content.update(f"{recipe.learning.longest} {settings.character_embeddings} {settings.encoder}\n".encode())
    if settings.encoder != CHARACTERS:
        folder = encoder_folder(settings.encoder)
        content.update(b"".join(_hash(folder / name) for name in DESCRIPTIONS))
    home = Path(perin.__file__).parent
    content.update(b"".join(_hash(home / part) for part in CODE))
    content.update(" ".join(map(_version, PACKAGES)).encode())
    return content.hexdigest()[:32]


def save_prepared(path: Path, prepared: Prepared) -> bool:
    """Keep prepared data; whether that was possible."""
    words: dict[str, int] = {}
    tensors: dict[str, NDArray[Any]] = {}
    for name, examples in prepared.examples.items():
        for key, arrays in _columns(examples, words).items():
            assert len(arrays) == len(examples), f"{name}: some examples have no {key}"
            tensors.update(_joined(f"{name}/{key}", arrays))
    notes = {
        "treebanks": [
            {**vars(treebank), "vocabulary": treebank.vocabulary.to_json()} for treebank in prepared.treebanks
        ],
        "problems": [vars(problem) for problem in prepared.problems],
        "words": list(words),
        "arrays": list(tensors),
    }
    tensors["notes"] = np.frombuffer(json.dumps(notes).encode(), dtype=np.uint8)
    return write_cached(path, save(tensors))


def load_prepared(path: Path) -> Prepared | None:
    """What :func:`save_prepared` wrote; None if the file is missing or damaged."""
    content = read_cached(path)
    if content is None:
        return None
    try:
        tensors = load(content)
        notes = json.loads(tensors["notes"].tobytes())
        tensors = {key: tensors[key] for key in notes["arrays"]}
        treebanks = [
            Treebank(
                Vocabulary.from_json(entry["vocabulary"]), entry["queries"], entry["family"], tuple(entry["shared"])
            )
            for entry in notes["treebanks"]
        ]
        examples = {each.name: list(_examples(each.name, tensors, notes["words"])) for each in treebanks}
        return Prepared(treebanks, examples, [Problem(**entry) for entry in notes["problems"]])
    except (SafetensorError, ValueError, KeyError, IndexError, TypeError, InputError):
        return None


def _columns(examples: Sequence[Example], words: dict[str, int]) -> dict[str, list[NDArray[Any]]]:
    """The arrays of each field of some examples; words are numbered."""
    columns: dict[str, list[NDArray[Any]]] = {}
    for example in examples:
        for key, value in _fields(example):
            if isinstance(value, tuple):
                value = np.array([words.setdefault(word, len(words)) for word in value], dtype=np.int32)
            if value is not None:
                columns.setdefault(key, []).append(np.asarray(value))
    return columns


def _fields(example: Example) -> Iterator[tuple[str, Any]]:
    for part in (example.input, example.target):
        for field in dataclasses.fields(part):
            value = getattr(part, field.name)
            if isinstance(value, Mapping):
                yield from ((CLASSES + name, classes) for name, classes in value.items())
            else:
                yield field.name, value


def _joined(key: str, arrays: Sequence[NDArray[Any]]) -> Iterator[tuple[str, NDArray[Any]]]:
    """Arrays of one kind as two: all their values, truth values as bits, and their shapes."""
    values = np.concatenate([array.reshape(-1) for array in arrays])
    yield f"{key}/shapes", np.array([array.shape for array in arrays], dtype=np.int32)
    yield (f"{key}/bits", np.packbits(values)) if values.dtype == np.bool_ else (f"{key}/values", values)


def _split(key: str, tensors: Mapping[str, NDArray[Any]]) -> list[NDArray[Any]]:
    """The inverse of :func:`_joined`."""
    shapes = tensors[f"{key}/shapes"]
    sizes = shapes.prod(axis=1, dtype=np.int64)
    if f"{key}/bits" in tensors:
        values = np.unpackbits(tensors[f"{key}/bits"], count=int(sizes.sum())).astype(np.bool_)
    else:
        values = tensors[f"{key}/values"].copy()
    parts = np.split(values, np.cumsum(sizes)[:-1])
    return [part.reshape(shape) for part, shape in zip(parts, shapes.tolist(), strict=True)]


def _examples(treebank: str, tensors: Mapping[str, NDArray[Any]], words: Sequence[str]) -> Iterator[Example]:
    start = len(treebank) + 1
    keys = [key[start:].rsplit("/", 1)[0] for key in tensors if key.startswith(f"{treebank}/")]
    columns = {key: _split(f"{treebank}/{key}", tensors) for key in dict.fromkeys(keys)}
    of_input = [field.name for field in dataclasses.fields(SentenceInput)]
    for number in range(len(columns["mask"])):
        values: dict[str, Any] = {key: column[number] for key, column in columns.items()}
        values["tokens"] = int(values["tokens"])
        for key in WORDS:
            if key in values:
                values[key] = tuple(words[word] for word in values[key].tolist())
        classes = {key.removeprefix(CLASSES): values.pop(key) for key in list(values) if key.startswith(CLASSES)}
        given = {key: values.pop(key) for key in of_input if key in values}
        yield Example(SentenceInput(**given), treebank, Target(**values, property_classes=classes))


def _hash(path: Path) -> bytes:
    """A hash of a file, or of all files in a folder except what Python leaves there."""
    if not path.is_dir():
        return hashlib.sha256(path.read_bytes()).digest()
    parts = sorted(part for part in path.iterdir() if part.name != "__pycache__")
    return hashlib.sha256(b"".join(part.name.encode() + _hash(part) for part in parts)).digest()


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "none"
