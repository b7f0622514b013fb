"""How large the heads of a treebank are, which it has, and which it shares with treebanks of its family."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

KINDS = (
    "labels",
    "anchors",
    "presence",
    "edge_labels",
    "edge_attributes",
    "properties",
    "property_classes",
    "tops",
)
"""The kinds of heads; each is one task whose loss is weighed against the others."""

NULL_THRESHOLD = 0.5
"""A query becomes a node if its probability of null is below this, unless the treebank has a limit of its own.

Null competes with all rules together, among which a node's probability may be divided: a query can be a node although
null is its best class.
"""

SHARED_EDGES = frozenset(("presence", "edge_labels", "edge_attributes"))


@dataclass(frozen=True)
class HeadSizes:
    """The heads of a treebank.

    Treebanks of one ``family`` use the same weights for the kinds of heads that each lists in ``shared``.
    """

    queries: int
    """Q: queries a token."""
    rules: int
    """R: the label head has R + 1 classes, class 0 is null."""
    edge_labels: int
    """L"""
    multi_label: bool = False
    """Whether a pair may have several labels, each with a probability of its own."""
    anchors: bool = False
    edge_attributes: int = 0
    """A: attribute classes, of which 0 is none; 0 for no such head."""
    properties: bool = False
    """Whether nodes have a property flag."""
    property_classes: tuple[tuple[str, int], ...] = ()
    """Name and number of classes of each property that has a classifier of its own; class 0 is none."""
    tops: bool = False
    null_threshold: float = NULL_THRESHOLD
    """Queries whose probability of null is below this become nodes."""
    family: str = ""
    shared: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        if unknown := self.shared - set(KINDS):
            raise ValueError(f"no such kinds of heads: {sorted(unknown)}")

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of heads that the treebank has."""
        has = {
            "labels": True,
            "anchors": self.anchors,
            "presence": True,
            "edge_labels": True,
            "edge_attributes": self.edge_attributes > 0,
            "properties": self.properties,
            "property_classes": bool(self.property_classes),
            "tops": self.tops,
        }
        return tuple(kind for kind in KINDS if has[kind])

    def outputs(self, kind: str) -> Any:
        """What two treebanks must agree on to share a head of this kind."""
        return {
            "labels": self.rules,
            "edge_labels": (self.edge_labels, self.multi_label),
            "edge_attributes": self.edge_attributes,
            "property_classes": self.property_classes,
        }.get(kind)


def owner_name(treebank: str, sizes: HeadSizes, kind: str) -> str:
    """Under which name a treebank's head of a kind is kept: its family's if it is shared."""
    return sizes.family if sizes.family and kind in sizes.shared else treebank


@dataclass(frozen=True, eq=False)
class Frequencies:
    """How often each output is right in the training data; the biases of the heads start from it."""

    labels: NDArray[np.float64]
    """[R + 1]: a distribution over null and the rules."""
    anchors: float
    """Share of true cells."""
    presence: float
    """Share of pairs of nodes with an edge."""
    edge_labels: NDArray[np.float64]
    """[L]: share of the connected pairs that have the label."""
    edge_attributes: NDArray[np.float64]
    """[A]: a distribution."""
    properties: float = 0.5
    property_classes: dict[str, NDArray[np.float64]] = field(default_factory=dict)
    """Of each property a distribution over its classes."""
