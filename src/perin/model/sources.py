"""Where a model's folder is: at a path, in the box (that is, in this package), or on the Hugging Face hub."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import perin
from perin.errors import MissingDependencyError, ModelError
from perin.text.languages import LANGUAGES, checked

BOX = Path(perin.__file__).parent / "models"
"""The models that come with the package, each a folder."""

_HUB_NAME = re.compile(r"[\w.-]+/[\w.-]+")
_HUB_FILES = ["config.json", "weights.safetensors", "README.md", "vocabularies/*.json", "encoder/*"]


def bundled(box: Path | None = None) -> list[str]:
    """The names of the models in the box."""
    return sorted(path.parent.name for path in (box or BOX).glob("*/config.json"))


def default_model(framework: str | None, language: str | None) -> str:
    """The name of the model in the box for a framework and a language (English unless said otherwise).

    Of several, the one that is named after both, else the one with the best dev score, or without a framework the one
    that is named after the language.
    """
    spoken = checked(language or "eng")
    wanted = f"{framework}-{spoken}" if framework else spoken
    fitting = [
        name
        for name in bundled()
        if any(wanted in (treebank, treebank.rpartition("-")[2]) for treebank in treebank_names(BOX / name))
    ]
    if not fitting:
        raise ModelError(f"no model in the box is for {wanted}; {_remedy()}")
    return wanted if wanted in fitting else max(fitting, key=lambda name: _dev_score(BOX / name, wanted))


def model_folder(name: str | os.PathLike[str], *, revision: str | None = None, offline: bool = False) -> Path:
    """The folder of a model: ``name`` is a path, the name of a model in the box, or ``organisation/name`` on the hub.

    The code of a language that no model is called after stands for the model in the box that knows it.
    What is on the hub is fetched once and kept in the hub's cache; with ``offline`` only the cache is looked at.
    ``revision`` is a branch, tag or commit on the hub.
    """
    text = os.fspath(name)
    if os.path.isdir(text):
        return Path(text)
    if text in bundled():
        return BOX / text
    if spoken_by_name(text):
        return BOX / default_model(None, text)
    if _HUB_NAME.fullmatch(text) and not text.startswith("."):
        return _hub_folder(text, revision, offline)
    raise ModelError(f"there is no folder {text}, and no model in the box is called so; {_remedy()}")


def spoken_by_name(name: str | os.PathLike[str]) -> str | None:
    """The language whose code stands for a model that has another name; None for all other names."""
    text = os.fspath(name)
    return text if text in LANGUAGES and not os.path.isdir(text) and text not in bundled() else None


def treebank_names(folder: Path) -> list[str]:
    """The names of a model's treebanks, such as ``eds-eng``."""
    return list(json.loads((folder / "config.json").read_text(encoding="utf-8"))["treebanks"])


def _dev_score(folder: Path, treebank: str) -> float:
    """The F1 on dev that a model was chosen by in training; 0 if it is not known."""
    notes = json.loads((folder / "config.json").read_text(encoding="utf-8")).get("notes", {})
    return float(notes.get("dev", {}).get(treebank, {}).get("all", 0.0))


def _remedy() -> str:
    names = ", ".join(f"{name} ({', '.join(treebank_names(BOX / name))})" for name in bundled()) or "none yet"
    return f"in the box are: {names}. Give one of these, the path of a model's folder, or organisation/name on the hub"


def _hub_folder(name: str, revision: str | None, offline: bool) -> Path:
    try:
        import huggingface_hub
        from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError
    except ImportError:
        raise MissingDependencyError("huggingface_hub", f"the model {name}, which is no folder here,") from None
    try:
        folder = huggingface_hub.snapshot_download(
            name, revision=revision, allow_patterns=_HUB_FILES, local_files_only=offline
        )
    except (HfHubHTTPError, HFValidationError, LocalEntryNotFoundError, OSError) as error:
        reason = next(iter(str(error).strip().splitlines()), type(error).__name__)
        where = "is not in the hub's cache" if offline else "can't be had from the Hugging Face hub"
        wanted = f"{name} (revision {revision})" if revision else name
        raise ModelError(f"the model {wanted} is no folder here and {where} ({reason}); {_remedy()}") from None
    return Path(folder)
