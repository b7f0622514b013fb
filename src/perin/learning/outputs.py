"""What the heads say in training, before and after the matching."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from torch import Tensor


@dataclass(frozen=True, eq=False)
class QueryOutputs:
    """What decides the matching: of all queries of a batch."""

    labels: Tensor
    """[queries, R + 1]: log-probabilities."""
    anchors: Tensor | None = None
    """[B, queries, T]: logits."""


@dataclass(frozen=True, eq=False)
class NodeOutputs:
    """What is asked only of matched queries, the slots of a :class:`~perin.learning.matching.Matching`.

    All are logits; ``None`` where the treebank has no such head.
    """

    presence: Tensor
    """[B, S, S]: rows are sources."""
    edge_labels: Tensor
    """[B, S, S, L]"""
    multi_label: bool = False
    """Whether each label has a probability of its own."""
    edge_attributes: Tensor | None = None
    """[B, S, S, A]"""
    properties: Tensor | None = None
    """[slots]"""
    property_classes: Mapping[str, Tensor] = field(default_factory=dict)
    """[slots, C] of each property."""
    tops: Tensor | None = None
    """[slots]: to be normalised over the slots of a sentence."""
