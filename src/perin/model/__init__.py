"""What a trained model is, in memory and on disk: shared by parsing and learning.

Here is where a model's folder is found: at a path, installed (in this package or one of its own), or on the Hugging
Face hub.  A package with a model has nothing but the folder ``perin_models/NAME``, in no package in particular (a
namespace package, PEP 420), so that any number of them can be installed side by side.  ``perin package --wheel`` makes
one.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

import perin
from perin.errors import ModelError
from perin.network.encoders import fetch_from_hub
from perin.text.languages import LANGUAGES, checked

BOX = Path(perin.__file__).parent / "models"
"""The models that come with this package, each a folder."""
NAMESPACE = "perin_models"
"""The folder with a model in a package of its own."""

_HUB_NAME = re.compile(r"[\w.-]+/[\w.-]+")
_HUB_FILES = ["config.json", "weights.safetensors", "README.md", "vocabularies/*.json", "encoder/*"]


def installed() -> dict[str, Path]:
    """The folders of the models that are in the box, by name; those of this package go first."""
    found: dict[str, Path] = {}
    for box in _boxes():
        for path in sorted(box.glob("*/config.json")):
            found.setdefault(path.parent.name, path.parent)
    return dict(sorted(found.items()))


def _boxes() -> Iterator[Path]:
    yield BOX
    spec = importlib.util.find_spec(NAMESPACE)
    if spec is not None:
        yield from map(Path, spec.submodule_search_locations or ())


def bundled() -> list[str]:
    """The names of the models that are in the box."""
    return list(installed())


def default_model(framework: str | None, language: str | None) -> str:
    """The name of the model in the box for a framework and a language (English unless said otherwise).

    Of several, the one that is named after both, else the one with the best dev score, or without a framework the one
    that is named after the language.
    """
    spoken = checked(language or "eng")
    wanted = f"{framework}-{spoken}" if framework else spoken
    folders = installed()
    fitting = [
        name
        for name, folder in folders.items()
        if any(wanted in (treebank, treebank.rpartition("-")[2]) for treebank in treebank_names(folder))
    ]
    if not fitting:
        raise ModelError(f"no model in the box is for {wanted}; {_remedy()}")
    return wanted if wanted in fitting else max(fitting, key=lambda name: _dev_score(folders[name], wanted))


def model_folder(name: str | os.PathLike[str], *, revision: str | None = None, offline: bool = False) -> Path:
    """The folder of a model: ``name`` is a path, the name of a model in the box, or ``organisation/name`` on the hub.

    The code of a language that no model is called after stands for the model in the box that knows it.
    What is on the hub is fetched once and kept in the hub's cache; with ``offline`` only the cache is looked at.
    ``revision`` is a branch, tag or commit on the hub.
    """
    text = os.fspath(name)
    if os.path.isdir(text):
        return _checked_folder(Path(text))
    folders = installed()
    if text in folders:
        return folders[text]
    if spoken_by_name(text):
        return folders[default_model(None, text)]
    if _HUB_NAME.fullmatch(text) and not text.startswith("."):
        return _hub_folder(text, revision, offline)
    raise ModelError(f"there is no folder {text}, and no model in the box has this name; {_remedy()}")


def _checked_folder(folder: Path) -> Path:
    """The folder, if it can be a model's: people name that of a training run, which has the model in it."""
    if not (folder / "config.json").exists():
        inner = folder / "model"
        hint = f"; did you mean {inner}?" if (inner / "config.json").exists() else f"; {_remedy()}"
        raise ModelError(f"{folder} is not the folder of a model: config.json is missing{hint}")
    return folder


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
    names = ", ".join(f"{name} ({', '.join(treebank_names(folder))})" for name, folder in installed().items())
    return (
        f"in the box are: {names or 'none yet'}. Give one of these, the path of a model's folder, or organisation/name "
        "on the hub; more models are packages of their own, such as perin-multi"
    )


def _hub_folder(name: str, revision: str | None, offline: bool) -> Path:
    return fetch_from_hub(name, f"the model {name}", _HUB_FILES, _remedy(), revision=revision, offline=offline)
