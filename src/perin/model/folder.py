"""A model's folder without its weights, which take PyTorch or NumPy to read.

    config.json              what the network is made of, its treebanks, the version of this format
    weights.safetensors      the weights, in half or single precision or in eight bits
    vocabularies/NAME.json   rules and classes of each treebank
    encoder/                 configuration and tokenizer of a pretrained encoder
    README.md                the model card

Word embeddings that training left as they were may be left out; they are then taken from the encoder.  A model that is
stored with ``rounded`` has all that it needs in its folder.
No file of a model is code: nothing is ever unpickled.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from perin.errors import InputError, ModelError, UsageError
from perin.frameworks.framework import Framework
from perin.frameworks.registry import framework
from perin.frameworks.vocabulary import Vocabulary
from perin.network.settings import CHARACTERS, NetworkSettings
from perin.network.sizes import NULL_LIMIT, HeadSizes

WEIGHTS = "weights.safetensors"
SCALE = ".scale"
"""What follows the name of a weight in that of its scales."""

FORMAT = 2
"""The version of the folder's form; raised when older code can't read what newer code writes."""


@dataclass(frozen=True)
class Treebank:
    """What a model knows of a treebank: its framework, its vocabulary, and which heads it shares with its family."""

    vocabulary: Vocabulary
    queries: int
    family: str = ""
    shared: tuple[str, ...] = ()
    null_limit: float = NULL_LIMIT
    """A query becomes a node if its probability of null is below this; chosen on dev."""

    @property
    def name(self) -> str:
        """Such as ``eds-eng``."""
        return "-".join(filter(None, (self.vocabulary.framework, self.vocabulary.language)))

    @property
    def framework(self) -> Framework:
        """The framework, in the variant of the language."""
        return framework(self.vocabulary.framework, self.vocabulary.language)

    @property
    def sizes(self) -> HeadSizes:
        """The sizes of the treebank's heads."""
        form, words = self.framework, self.vocabulary
        return HeadSizes(
            queries=self.queries,
            rules=len(words.rules),
            edge_labels=len(words.edge_labels),
            multi_label=form.multilabel,
            anchors=form.anchoring is not None,
            edge_attributes=len(words.edge_attributes) + 1 if words.edge_attributes else 0,
            properties=form.has_flag,
            property_classes=tuple((name, len(values) + 1) for name, values in words.property_classes.items()),
            tops=form.has_tops,
            null_limit=self.null_limit,
            family=self.family,
            shared=frozenset(self.shared),
        )


@dataclass(frozen=True)
class ModelFolder:
    """What the files of a model say, apart from the weights."""

    path: Path
    settings: NetworkSettings
    treebanks: dict[str, Treebank]
    left_out: dict[str, int]
    """The names of the weights that are the encoder's, with their checksums."""
    notes: dict[str, Any]

    @classmethod
    def read(cls, path: Path) -> ModelFolder:
        """Read a folder; :class:`~perin.errors.ModelError` says what is wrong with one that can't be used."""
        config = _read_config(path)
        settings, treebanks = _settings(config, path), _treebanks(config, path)
        return cls(path, settings, treebanks, _left_out(config, path), config.get("notes", {}))

    @property
    def weights(self) -> Path:
        """The file with the weights."""
        return self.path / WEIGHTS

    @property
    def described(self) -> Path:
        """Where configuration and tokenizer of a pretrained encoder are."""
        return self.path / "encoder"

    @property
    def source(self) -> NetworkSettings:
        """The settings with an encoder that needs nothing but this folder."""
        settings = self.settings
        return settings if settings.encoder == CHARACTERS else replace(settings, encoder=str(self.described))

    @property
    def sizes(self) -> dict[str, HeadSizes]:
        """The sizes of the treebanks' heads."""
        return {name: treebank.sizes for name, treebank in self.treebanks.items()}

    @property
    def rounded_heads(self) -> list[str]:
        """The treebanks for whose heads eight bits are enough."""
        noted = self.notes.get("rounded_heads")
        return [name for name in noted if name in self.treebanks] if isinstance(noted, list) else []


def _read_config(folder: Path) -> dict[str, Any]:
    path = folder / "config.json"
    if not folder.is_dir():
        raise ModelError(f"there is no model folder {folder}")
    config = _read_json(path)
    version = config.get("format")
    if not isinstance(version, int):
        raise ModelError(f"{path} is no configuration of a PERIN model: it has no 'format'")
    if version > FORMAT:
        raise ModelError(f"{folder} has format {version}, this PERIN reads up to {FORMAT}; run: pip install -U perin")
    return config


def _settings(config: Mapping[str, Any], folder: Path) -> NetworkSettings:
    path = folder / "config.json"
    try:
        settings = NetworkSettings(**config["network"])
    except (KeyError, TypeError) as error:
        raise ModelError(f"{path}: the network's settings can't be used ({error})") from None
    for option in fields(settings):
        value = getattr(settings, option.name)
        kinds = _KINDS[type(option.default)]
        if type(value) not in kinds or not option.metadata["check"](value):
            raise ModelError(f"{path}: {value!r} can't be the network's {option.name}")
    return settings


_KINDS: dict[type, tuple[type, ...]] = {
    str: (str,),
    bool: (bool,),
    int: (int,),
    float: (int, float),
    type(None): (int, float, type(None)),
}
"""What a setting may be whose default is of some type."""


def _treebanks(config: Mapping[str, Any], folder: Path) -> dict[str, Treebank]:
    treebanks = {}
    path = folder / "config.json"
    try:
        for name, entry in config["treebanks"].items():
            path = folder / "vocabularies" / f"{name}.json"
            vocabulary = Vocabulary.from_json(_read_json(path))
            path = folder / "config.json"
            queries, family, shared = entry["queries"], entry["family"], entry["shared"]
            limit = entry.get("null_limit", NULL_LIMIT)
            if type(queries) is not int or queries < 1 or not isinstance(family, str) or not isinstance(shared, list):
                raise ValueError(f"{name}: {entry}")
            if type(limit) is not float or not 0 < limit <= 1:
                raise ValueError(f"{name}: {entry}")
            treebanks[name] = Treebank(vocabulary, queries, family, tuple(shared), limit)
            _ = treebanks[name].sizes
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise ModelError(f"{path}: the treebanks can't be used ({error!r}); get the model again") from None
    except (InputError, UsageError) as error:
        raise ModelError(f"{path}: {error}; get the model again") from None
    if not treebanks:
        raise ModelError(f"{path} names no treebanks; get the model again")
    return treebanks


def _left_out(config: Mapping[str, Any], folder: Path) -> dict[str, int]:
    left_out = config.get("left_out") or {}
    if not isinstance(left_out, dict):
        raise ModelError(f"{folder / 'config.json'}: left_out can't be {left_out!r}; get the model again")
    return left_out


def _read_json(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ModelError(f"{path} is missing; get the model again") from None
    except (ValueError, OSError) as error:
        raise ModelError(f"{path} can't be read ({error}); get the model again") from None
    if not isinstance(data, dict):
        raise ModelError(f"{path} holds no JSON object; get the model again")
    return data


def write_json(path: Path, data: Mapping[str, Any]) -> None:
    """Write one of the folder's files."""
    path.write_text(json.dumps(data, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
