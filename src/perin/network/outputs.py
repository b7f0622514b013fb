"""What the heads say about a sentence, as arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Scores: TypeAlias = NDArray[np.float32]
Ints: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Output:
    """The probabilities that the heads give for one sentence of T tokens, K of whose queries are accepted.

    ``None`` where the treebank has no such head.
    """

    labels: Scores
    """[K, R + 1]: of the accepted queries."""
    accepted: Ints
    """[K]: ascending numbers of the queries that are not likely null; if there are none, the least likely null."""
    presence: Scores
    """[K, K]: rows are sources."""
    edge_labels: Scores
    """[K, K, L]: each in 0 … 1 if multi-label, else distributions."""
    anchors: Scores | None = None
    """[K, T]"""
    edge_attributes: Scores | None = None
    """[K, K, A]: distributions."""
    properties: Scores | None = None
    """[K]"""
    property_classes: Mapping[str, Scores] = field(default_factory=dict)
    """[K, C] of each property: distributions."""
    tops: Scores | None = None
    """[K]: a distribution."""
