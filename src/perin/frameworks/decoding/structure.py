"""Which nodes and edges a graph has."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from perin.contract.heads import Bools, Ints, Prediction, Scores
from perin.frameworks.decoding.nodes import Nodes

Floats: TypeAlias = NDArray[np.float64]

_SMALLEST = 1e-9

# The most probable set of edges, connected or with few parts.


def joined_edges(presence: NDArray[np.float32], allowed: Bools, least: float = 0.0) -> Bools:
    """[K, K]: the most probable set of edges that connects all nodes, directions ignored.

    ``presence`` and ``allowed``: [K, K], rows are sources.  The result maximises the product of p over edges taken and
    1 - p over edges left out, among all connected sets: all edges of p >= .5 belong to it, and what joins their
    components at the least loss is a spanning tree of the components that is maximal in p, because the loss of an edge
    falls with its p.  Every two nodes must then be linked by a chain of allowed edges.

    With ``least`` > 0 the graph may fall into parts, at the price of the odds of ``least`` for each part but the first:
    only edges of p >= ``least`` join components.
    """
    keep: Bools = (presence >= 0.5) & allowed
    if least >= 0.5:
        return keep
    component = components(keep)
    count = int(component.max(initial=-1)) + 1
    if count > 1:
        weights = np.where(allowed, presence, -1.0)
        for source, target in _joints(weights, component, count):
            if weights[source, target] >= least:
                keep[source, target] = True
    return keep


def components(edges: Bools) -> NDArray[np.int64]:
    """[K]: the number of each node's connected component, directions ignored, in order of their first nodes.

    >>> components(np.array([[0, 0, 1], [0, 0, 0], [0, 0, 0]], dtype=bool)).tolist()
    [0, 1, 0]
    """
    size = len(edges)
    near = edges | edges.T | np.eye(size, dtype=np.bool_)
    first = np.arange(size)
    while True:
        nearest = np.where(near, first, size).min(axis=1, initial=size)
        nearest = nearest[nearest]
        if np.array_equal(nearest, first):
            return np.unique(first, return_inverse=True)[1]
        first = nearest


def _joints(weights: NDArray[np.float64], component: NDArray[np.int64], count: int) -> list[tuple[int, int]]:
    """The edges of a maximum spanning tree of the components (Prim's algorithm); lowest numbers win ties."""
    order = np.argsort(component, kind="stable")
    starts = np.searchsorted(component[order], np.arange(count))
    blocks = np.maximum.reduceat(np.maximum.reduceat(weights[order][:, order], starts, axis=0), starts, axis=1)
    links = np.maximum(blocks, blocks.T)
    joined = np.zeros(count, dtype=np.bool_)
    joined[0] = True
    best, nearest = links[0].copy(), np.zeros(count, dtype=np.int64)
    joints = []
    for _ in range(count - 1):
        near = int(np.where(joined, -np.inf, best).argmax())
        joints.append(_best_edge(weights, component == nearest[near], component == near))
        joined[near] = True
        closer = links[near] > best
        best[closer] = links[near][closer]
        nearest[closer] = near
    return joints


def _best_edge(weights: NDArray[np.float64], first: Bools, second: Bools) -> tuple[int, int]:
    between = np.where((first[:, None] & second) | (second[:, None] & first), weights, -np.inf)
    source, target = np.unravel_index(between.argmax(), between.shape)
    return int(source), int(target)


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
    labels: Bools | None = None
    """[M, L]: the labels of the edges, where they were chosen together with the edges and obey all rules."""


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
        rest, own = np.flatnonzero(~nodes.flags), np.flatnonzero(nodes.flags)
        if least_joint < 0.5:
            inside = np.ix_(rest, rest)
            edges = np.zeros_like(allowed)
            edges[inside] = joined_edges(presence[inside], allowed[inside], least_joint)
        else:
            edges = joined_edges(presence, allowed & ~nodes.flags, least_joint)
        edges[rest[presence[:, own][rest].argmax(axis=0)], own] = True
    pairs = np.array(edges.nonzero()).T
    return Structure(np.ones(len(allowed), dtype=np.bool_), pairs, best_attributes(prediction, pairs), nodes.anchors)


def one_way(structure: Structure, prediction: Prediction, price: float) -> Structure:
    """Without the weaker one of two edges between the same nodes, unless its log odds are worth the price."""
    sources, targets = structure.edges.T
    taken = np.zeros(prediction.presence.shape, dtype=np.bool_)
    taken[sources, targets] = True
    both = (taken & taken.T)[sources, targets]
    if not both.any():
        return structure
    there, back = prediction.presence[sources, targets], prediction.presence[targets, sources]
    odds = np.log(np.maximum(there, _SMALLEST)) - np.log(np.maximum(1 - there, _SMALLEST))
    weaker = (there < back) | ((there == back) & (sources > targets))
    left = ~(both & weaker & (odds < price))
    return replace(structure, edges=structure.edges[left], attributes=structure.attributes[left])


def one_family(prediction: Prediction, structure: Structure, families: list[Bools]) -> Prediction:
    """Without the labels, of edges that have no attributes, that are not of their source's most probable family.

    ``families``: [L] each, the labels that may be beside each other.
    """
    plain = structure.edges[structure.attributes == 0]
    sources, targets = plain.T
    scores = prediction.edge_labels[sources, targets]
    logarithms = np.log(np.maximum(scores, _SMALLEST))
    count = len(structure.keep)
    gains = np.array([np.bincount(sources, logarithms[:, labels].max(axis=1), count) for labels in families])
    edge_labels = prediction.edge_labels.copy(order="K")
    edge_labels[sources, targets] = np.where(np.array(families)[gains.argmax(axis=0)[sources]], scores, 0)
    return replace(prediction, edge_labels=edge_labels)


def best_attributes(prediction: Prediction, pairs: Ints, classes: Bools | None = None) -> Ints:
    """[M]: the most probable attribute class of each pair; ``classes``: [M, A], those that are possible."""
    scores = prediction.edge_attributes
    if scores is None or not scores.shape[-1]:
        return np.zeros(len(pairs), dtype=np.int64)
    of_pairs = scores[pairs[:, 0], pairs[:, 1]]
    best: Ints = (of_pairs if classes is None else np.where(classes, of_pairs, -1.0)).argmax(axis=1)
    return best


def choose_edge_labels(scores: Scores, *, multilabel: bool, markers: Bools, further: Floats | float = 0.5) -> Bools:
    """[M, L]: the labels of M pairs, at least one that is no marker each.

    ``scores``: [M, L].  ``markers``: [L], labels that only stand beside another.  ``further``: [L], how probable a
    label must be that is not the most probable one.
    """
    chosen: Bools = scores >= further if multilabel else np.zeros(scores.shape, dtype=np.bool_)
    if scores.size:
        chosen[np.arange(len(scores)), np.where(markers, -1.0, scores).argmax(axis=1)] = True
    return chosen
