"""PERIN: permutation-invariant parsing of text to meaning graphs (AMR, DRG, EDS, PTG, UCCA, UMR)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from perin.lazy import imported_on_use

if TYPE_CHECKING:
    from perin.bulk import parse_corpus
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
    "parse_corpus": "perin.bulk",
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

__getattr__ = imported_on_use("perin", {**_EXPORTS, **{name: f"perin.{name}" for name in _PACKAGES}})


def __dir__() -> list[str]:
    return [*__all__, *_PACKAGES]
