"""A model's folder.

    config.json              what the network is made of, its treebanks, the version of this format, checksums
    weights.safetensors      the weights, in half or single precision or in eight bits
    vocabularies/NAME.json   rules and classes of each treebank
    encoder/                 configuration and tokenizer of a pretrained encoder
    README.md                the model card

Models of version 0.1 may leave out word embeddings that training left as they were; they are then taken from the
encoder.  No file of a model is code: nothing is ever unpickled.
"""

from __future__ import annotations

import hashlib
import json
import re
import zlib
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

import perin
from perin.errors import InputError, ModelError, UsageError
from perin.frameworks import framework
from perin.frameworks.framework import Framework
from perin.frameworks.vocabulary import Vocabulary
from perin.network.encoders import encoder_folder, hub_names, read_json, weights_path
from perin.network.settings import CHARACTERS, NULL_THRESHOLD, HeadSizes, NetworkSettings, owner_name

CONFIG = "config.json"
WEIGHTS = "weights.safetensors"
CARD = "README.md"
VOCABULARIES = "vocabularies"
ENCODER = "encoder"

CALIBRATED = ("node", "label", "top", "edge", "edge_label")
"""The kinds of probabilities in graphs that can have a temperature."""

FORMAT = 3
"""The version of the folder's form; raised when older code can't read what newer code writes."""
SCALE = ".scale"
"""What follows the name of a weight in that of its scales."""
WORDS = "encoder.body.embeddings.words.weight"
"""The word embeddings of a pretrained encoder of the BERT family."""
TABLE = ".table"
"""What the names of tables of character n-grams end in."""

Weights: TypeAlias = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Treebank:
    """What a model knows of a treebank: its framework, its vocabulary, and which heads it shares with its family."""

    vocabulary: Vocabulary
    queries: int
    family: str = ""
    shared: tuple[str, ...] = ()
    null_threshold: float = NULL_THRESHOLD
    """A query becomes a node if its probability of null is below this; chosen on dev."""
    temperatures: Mapping[str, float] = field(default_factory=dict)
    """Of each kind of probability in graphs (:data:`CALIBRATED`), by ``perin.parsing.calibration``; chosen on dev."""

    def __repr__(self) -> str:
        return f"Treebank({self.name}, {len(self.vocabulary.rules)} rules, {self.queries} queries per token)"

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
            null_threshold=self.null_threshold,
            family=self.family,
            shared=frozenset(self.shared),
        )


@dataclass(frozen=True)
class Quantization:
    """What a model computes with unless it is asked for something else; chosen on dev by ``perin package``."""

    bits: int = 32
    """8: encoder, queries and decoder multiply eight-bit integers."""
    heads: tuple[str, ...] = ()
    """The treebanks whose heads do so as well, if any part does."""


@dataclass(frozen=True)
class ModelFolder:
    """What the files of a model say, apart from the weights."""

    path: Path
    settings: NetworkSettings
    treebanks: dict[str, Treebank]
    left_out: dict[str, int]
    """The names of the weights that are the encoder's, with their checksums."""
    quantization: Quantization = field(default_factory=Quantization)
    notes: dict[str, Any] = field(default_factory=dict)
    """What training says of the model: recipe, epoch, dev scores."""

    @classmethod
    def read(cls, path: Path) -> ModelFolder:
        """Read a folder; :class:`~perin.errors.ModelError` says what is wrong with one that can't be used.

        All files that ``config.json`` lists must be there with the checksums it has for them.
        """
        config = _read_config(path)
        _check_files(config, path)
        settings, treebanks = _settings(config, path), _treebanks(config, path)
        notes = config.get("notes", {})
        if not isinstance(notes, dict):
            raise ModelError(f"{path / CONFIG}: notes can't be {notes!r}; get the model again")
        quantization = _quantization(config, treebanks, path)
        read = cls(path, settings, treebanks, _left_out(config, path), quantization, notes)
        if settings.encoder != CHARACTERS and not (read.described / "tokenizer.json").is_file():
            raise ModelError(f"{read.described / 'tokenizer.json'} is missing; get the model again")
        return read

    def only(self, names: Collection[str]) -> ModelFolder:
        """The same without the other treebanks."""
        if unknown := sorted(set(names) - set(self.treebanks)):
            raise UsageError(f"the model has {', '.join(self.treebanks)}; {unknown[0]} is none of them")
        if not names:
            raise UsageError("a model needs at least one treebank")
        return replace(self, treebanks={name: each for name, each in self.treebanks.items() if name in names})

    @property
    def weights(self) -> Path:
        """The file with the weights."""
        return self.path / WEIGHTS

    @property
    def described(self) -> Path:
        """Where configuration and tokenizer of a pretrained encoder are."""
        return self.path / ENCODER

    @property
    def source(self) -> NetworkSettings:
        """The settings with an encoder that needs nothing but this folder."""
        settings = self.settings
        return settings if settings.encoder == CHARACTERS else replace(settings, encoder=str(self.described))

    @property
    def sizes(self) -> dict[str, HeadSizes]:
        """The sizes of the treebanks' heads."""
        return {name: treebank.sizes for name, treebank in self.treebanks.items()}


def write_description(
    folder: Path,
    settings: NetworkSettings,
    treebanks: Mapping[str, Treebank],
    quantization: Quantization,
    notes: Mapping[str, Any],
) -> None:
    """Write vocabularies and ``config.json`` into a folder that has the model's other files already."""
    (folder / VOCABULARIES).mkdir()
    for name, treebank in treebanks.items():
        write_json(folder / VOCABULARIES / f"{name}.json", treebank.vocabulary.to_json())
    config = {
        "format": FORMAT,
        "perin": perin.__version__,
        "network": asdict(settings),
        "treebanks": {name: _entry(treebank) for name, treebank in treebanks.items()},
        "quantization": {"bits": quantization.bits, "heads": list(quantization.heads)},
        "notes": notes,
        "files": {
            path.relative_to(folder).as_posix(): checksum(path)
            for path in sorted(folder.rglob("*"))
            if path.is_file() and path.relative_to(folder).as_posix() not in (CONFIG, CARD)
        },
    }
    write_json(folder / CONFIG, config)


def _entry(treebank: Treebank) -> dict[str, Any]:
    """What ``config.json`` says of a treebank."""
    return {
        "queries": treebank.queries,
        "family": treebank.family,
        "shared": list(treebank.shared),
        "null_threshold": treebank.null_threshold,
        "temperatures": dict(treebank.temperatures),
    }


def rewrite_config(folder: Path, treebanks: Mapping[str, Treebank], notes: Mapping[str, Any]) -> None:
    """Change what ``config.json`` says of the treebanks, and the notes."""
    entries = {name: _entry(treebank) for name, treebank in treebanks.items()}
    write_json(folder / CONFIG, read_json(folder / CONFIG, "model") | {"treebanks": entries, "notes": notes})


def checksum(path: Path) -> str:
    """The SHA-256 of a file, as ``sha256sum`` prints it."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()


def _check_files(config: Mapping[str, Any], folder: Path) -> None:
    files = config.get("files", {})
    if not isinstance(files, dict):
        raise ModelError(f"{folder / CONFIG}: files can't be {files!r}; get the model again")
    for name, expected in files.items():
        path = folder / name
        if Path(name).is_absolute() or ".." in Path(name).parts:
            raise ModelError(f"{folder / CONFIG} names a file outside the model: {name!r}; get the model again")
        try:
            found = checksum(path)
        except FileNotFoundError:
            raise ModelError(f"{path} is missing; get the model again") from None
        except OSError as error:
            raise ModelError(f"{path} can't be read ({error}); get the model again") from None
        if found != expected:
            raise ModelError(
                f"{path} is damaged or was changed: its SHA-256 is not that in {CONFIG}; get the model again"
            )


def _quantization(config: Mapping[str, Any], treebanks: Mapping[str, Treebank], folder: Path) -> Quantization:
    """Older models say this in their notes; there, as everywhere in notes, nonsense is ignored."""
    entry = config.get("quantization")
    if entry is None:
        notes = config.get("notes")
        old: Mapping[str, Any] = notes if isinstance(notes, dict) else {}
        heads = old.get("rounded_heads")
        named = tuple(name for name in heads if name in treebanks) if isinstance(heads, list) else ()
        return Quantization(8 if old.get("bits") == 8 else 32, named)
    try:
        bits, heads = entry["bits"], entry["heads"]
        if type(bits) is not int or bits not in (8, 32) or not isinstance(heads, list):
            raise ValueError(entry)
        return Quantization(bits, tuple(name for name in treebanks if name in heads))
    except (KeyError, TypeError, ValueError) as error:
        raise ModelError(f"{folder / CONFIG}: quantization can't be used ({error!r}); get the model again") from None


def _read_config(folder: Path) -> dict[str, Any]:
    path = folder / CONFIG
    if not folder.is_dir():
        raise ModelError(f"there is no model folder {folder}")
    config = read_json(path, "model")
    version = config.get("format")
    if not isinstance(version, int):
        raise ModelError(f"{path} is no configuration of a PERIN model: it has no 'format'")
    if version > FORMAT:
        raise ModelError(f"{folder} has format {version}, this PERIN reads up to {FORMAT}; run: pip install -U perin")
    return config


def _settings(config: Mapping[str, Any], folder: Path) -> NetworkSettings:
    path = folder / CONFIG
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
    path = folder / CONFIG
    try:
        for name, entry in config["treebanks"].items():
            if not _NAME.fullmatch(name):
                raise ValueError(f"{name!r} is not the name of a treebank")
            path = folder / VOCABULARIES / f"{name}.json"
            vocabulary = Vocabulary.from_json(read_json(path, "model"))
            path = folder / CONFIG
            queries, family, shared = entry["queries"], entry["family"], entry["shared"]
            threshold = entry.get("null_threshold", entry.get("null_limit", NULL_THRESHOLD))  # older models: null_limit
            if type(queries) is not int or queries < 1 or not isinstance(family, str) or not isinstance(shared, list):
                raise ValueError(f"{name}: {entry}")
            if type(threshold) is not float or not 0 < threshold <= 1:
                raise ValueError(f"{name}: {entry}")
            temperatures = entry.get("temperatures", {})
            for kind, temperature in temperatures.items():
                if kind not in CALIBRATED or type(temperature) not in (int, float) or not 0 < temperature < 1000:
                    raise ValueError(f"{name}: {entry}")
            treebanks[name] = Treebank(vocabulary, queries, family, tuple(shared), threshold, temperatures)
            _ = treebanks[name].sizes
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise ModelError(f"{path}: the treebanks can't be used ({error!r}); get the model again") from None
    except (InputError, UsageError) as error:
        raise ModelError(f"{path}: {error}; get the model again") from None
    if not treebanks:
        raise ModelError(f"{path} names no treebanks; get the model again")
    return treebanks


_NAME = re.compile(r"[\w-]+")
"""Names of treebanks are names of files, too."""


def _left_out(config: Mapping[str, Any], folder: Path) -> dict[str, int]:
    left_out = config.get("left_out") or {}
    if not isinstance(left_out, dict):
        raise ModelError(f"{folder / 'config.json'}: left_out can't be {left_out!r}; get the model again")
    return left_out


def write_json(path: Path, data: Mapping[str, Any]) -> None:
    """Write one of the folder's files."""
    path.write_text(json.dumps(data, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


# The weights, as arrays.  A weight is stored in floats, or quantized: its name then stands for eight-bit integers
# [rows, columns], and the name with ``.scale`` for the 32-bit floats [rows] that these are multiplied by.


def read_weights(read: ModelFolder, *, offline: bool = False) -> Weights:
    """All weights of a model as they are stored, including those that its folder leaves to the encoder.

    With ``offline`` that encoder is not looked for on the hub.
    """
    return read_arrays(read.weights) | _left_to_encoder(read, offline)


def read_arrays(path: Path) -> Weights:
    """The weights in a file as they are stored; none is infinite or not a number."""
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    try:
        weights: Weights = load_file(path)
    except FileNotFoundError:
        raise ModelError(f"{path} is missing; get the model again") from None
    except (SafetensorError, OSError, KeyError) as error:
        raise ModelError(f"{path} can't be read ({error}); get the model again") from None
    for name, weight in weights.items():
        if weight.dtype == np.int8 and weights.get(name + SCALE, weight).shape != weight.shape[:1]:
            raise ModelError(f"{path}: the scales of {name} don't fit it; get the model again")
        if weight.dtype.kind == "f" and not np.isfinite(weight).all():
            raise ModelError(f"{path}: {name} contains values that are not finite numbers; get the model again")
    return weights


def write_arrays(weights: Mapping[str, NDArray[Any]], path: Path) -> None:
    """Write weights as they are."""
    from safetensors.numpy import save_file

    save_file({name: np.ascontiguousarray(weight) for name, weight in weights.items()}, path)


def dequantize(weights: Mapping[str, NDArray[Any]]) -> Weights:
    """The same weights in 32-bit floats, without scales."""
    quantized = {name for name, weight in weights.items() if weight.dtype == np.int8 and name + SCALE in weights}
    scales = {name + SCALE for name in quantized}
    return {
        name: weight.astype(np.float32) * weights[name + SCALE].astype(np.float32)[:, None]
        if name in quantized
        else weight.astype(np.float32)
        for name, weight in weights.items()
        if name not in scales
    }


def quantize_rows(table: NDArray[Any]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Embeddings [rows, D] as eight-bit integers, each row with a scale that makes its greatest value 127.

    >>> quantize_rows(np.array([[0.5, -1.0], [0.0, 2.54]]))
    (array([[  64, -127],
           [   0,  127]], dtype=int8), array([0.00787402, 0.02      ], dtype=float32))
    """
    table = table.astype(np.float32)
    scales = np.maximum(np.abs(table).max(-1) / np.float32(127), np.finfo(np.float32).tiny)
    return np.rint(table / scales[:, None]).astype(np.int8), scales


def keep_treebanks(weights: Weights, treebanks: Mapping[str, Treebank], unwanted: Collection[str]) -> Weights:
    """The weights without the queries and heads that only ``unwanted`` ones among the treebanks use."""
    own: set[str] = set()
    others: set[str] = set()
    for name, treebank in treebanks.items():
        sizes = treebank.sizes
        prefixes = {f"queries.{name}.", *(f"heads.{kind}.{owner_name(name, sizes, kind)}." for kind in sizes.kinds)}
        (others if name in unwanted else own).update(prefixes)
    surplus = tuple(others - own)
    return {name: weight for name, weight in weights.items() if not name.startswith(surplus)}


def _left_to_encoder(read: ModelFolder, offline: bool) -> Weights:
    """The weights that the folder leaves to its encoder, which must be those with the checksums."""
    if not read.left_out:
        return {}
    source = read_arrays(weights_path(encoder_folder(read.settings.encoder, offline=offline)))
    found = {}
    for name, checksum in read.left_out.items():
        weight = next((source[other] for other in hub_names(name) if other in source), None)
        if weight is not None and zlib.crc32(np.ascontiguousarray(weight, dtype=np.float16).data) == checksum:
            found[name] = weight
    if missing := sorted(set(read.left_out) - set(found)):
        raise ModelError(
            f"the encoder {read.settings.encoder!r} that is here is not the one that the model was trained with: "
            f"{missing[0]} and {len(missing) - 1} more weights differ; get the encoder again"
        )
    return found
