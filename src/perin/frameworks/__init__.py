"""Graphs to training targets and predictions to graphs, one file a framework; frameworks are found here by their names.

A treebank's graph is changed by reversible :mod:`steps <perin.frameworks.steps>` into one that the network can learn;
:mod:`decoding <perin.frameworks.decoding>` turns scores into such a graph, and the same steps change it back.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from perin.contract.heads import Prediction, Target
from perin.errors import UsageError
from perin.frameworks.framework import Framework
from perin.frameworks.vocabulary import Vocabulary
from perin.lazy import imported_on_use

if TYPE_CHECKING:
    from perin.frameworks.learn import learn_from_treebank, learn_signatures, learn_vocabulary

__all__ = [
    "Framework",
    "Prediction",
    "Target",
    "Vocabulary",
    "framework",
    "learn_from_treebank",
    "learn_signatures",
    "learn_vocabulary",
    "register",
]

NAMES = ["amr", "drg", "eds", "ptg", "ucca", "umr"]
"""The modules of this package that define a framework each, in ``FRAMEWORKS``: by language, None for all others."""

_REGISTERED: dict[str, dict[str | None, Framework]] = {}


def framework(name: str, language: str | None = None) -> Framework:
    """The framework of this name, in the variant of the language if it has one.

    >>> framework("amr").anchoring is None, framework("amr", "zho").anchoring is None
    (True, False)
    """
    if name in NAMES and name not in _REGISTERED:
        _REGISTERED[name] = importlib.import_module(f"perin.frameworks.{name}").FRAMEWORKS
    variants = _REGISTERED.get(name)
    if variants is None:
        raise UsageError(f"unknown framework {name!r}; known are: {', '.join(sorted({*NAMES, *_REGISTERED}))}")
    return variants[language] if language in variants else variants[None]


def register(new: Framework, language: str | None = None) -> None:
    """Make a framework known to everything that looks it up by name; a language gives it a variant of its own."""
    _REGISTERED.setdefault(new.name, {None: new})[language] = new


# These need SciPy, whose import takes longer than all that a parser needs.
__getattr__ = imported_on_use(
    "perin.frameworks",
    dict.fromkeys(("learn_from_treebank", "learn_signatures", "learn_vocabulary"), "perin.frameworks.learn"),
)
