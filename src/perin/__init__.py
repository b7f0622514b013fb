"""PERIN: permutation-invariant parsing of text to meaning graphs (AMR, DRG, EDS, PTG, UCCA, UMR)."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from perin.bulk.corpus import parse_corpus
    from perin.errors import InputError, MissingDependencyError, ModelError, PerinError, UsageError
    from perin.graphs import Anchor, Edge, Graph, Node, Property
    from perin.parsing.parser import Parser, load
    from perin.scoring import correspondence, score

__version__ = "0.1.0"

_EXPORTS = {
    "Anchor": "perin.graphs",
    "Edge": "perin.graphs",
    "Graph": "perin.graphs",
    "InputError": "perin.errors",
    "MissingDependencyError": "perin.errors",
    "ModelError": "perin.errors",
    "Node": "perin.graphs",
    "Parser": "perin.parsing.parser",
    "PerinError": "perin.errors",
    "Property": "perin.graphs",
    "UsageError": "perin.errors",
    "correspondence": "perin.scoring",
    "load": "perin.parsing.parser",
    "parse_corpus": "perin.bulk.corpus",
    "score": "perin.scoring",
}

__all__ = [
    "Anchor",
    "Edge",
    "Graph",
    "InputError",
    "MissingDependencyError",
    "ModelError",
    "Node",
    "Parser",
    "PerinError",
    "Property",
    "UsageError",
    "__version__",
    "correspondence",
    "load",
    "parse_corpus",
    "score",
]


_PACKAGES = ("frameworks", "graphs", "labels", "scoring", "text")
"""Packages that need no ``import`` of their own."""


def __getattr__(name: str) -> Any:
    """Import public names on first use, so that ``import perin`` costs nothing."""
    if name in _PACKAGES:
        return importlib.import_module(f"perin.{name}")
    if name in _EXPORTS:
        value = getattr(importlib.import_module(_EXPORTS[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'perin' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, *_PACKAGES]
