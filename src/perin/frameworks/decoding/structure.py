"""Which nodes and edges a graph has."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from perin.contract.arrays import Bools, Ints
from perin.contract.prediction import Prediction
from perin.frameworks.decoding.connection import joined_edges
from perin.frameworks.decoding.nodes import Nodes


@dataclass(frozen=True)
class Structure:
    """Which nodes are kept, which pairs have edges, and with what attributes."""

    keep: Bools
    """[K]"""
    edges: Ints
    """[M, 2]: pairs of kept nodes."""
    attributes: Ints
    """[M]: attribute classes."""
    anchors: Bools | None
    """[K, T]"""


def free_structure(
    prediction: Prediction, nodes: Nodes, allowed: Bools, *, least_joint: float, owned: bool
) -> Structure:
    """All nodes, and the most probable edges among the allowed ones.

    ``least_joint``: see :class:`Framework`.  ``owned``: each flagged node has exactly one edge, from the node that most
    probably is its parent; the rest is joined among itself.
    """
    presence = prediction.presence
    if not owned or not nodes.flags.any():
        edges = joined_edges(presence, allowed, least_joint)
    else:
        edges = np.zeros_like(allowed)
        rest, own = np.flatnonzero(~nodes.flags), np.flatnonzero(nodes.flags)
        inside = np.ix_(rest, rest)
        edges[inside] = joined_edges(presence[inside], allowed[inside], least_joint)
        edges[rest[presence[np.ix_(rest, own)].argmax(axis=0)], own] = True
    pairs = np.argwhere(edges)
    return Structure(np.ones(len(allowed), dtype=np.bool_), pairs, best_attributes(prediction, pairs), nodes.anchors)


def best_attributes(prediction: Prediction, pairs: Ints, classes: Bools | None = None) -> Ints:
    """[M]: the most probable attribute class of each pair; ``classes``: [M, A], those that are possible."""
    scores = prediction.edge_attributes
    if scores is None or not scores.shape[-1]:
        return np.zeros(len(pairs), dtype=np.int64)
    of_pairs = scores[pairs[:, 0], pairs[:, 1]]
    best: Ints = (of_pairs if classes is None else np.where(classes, of_pairs, -1.0)).argmax(axis=1)
    return best
