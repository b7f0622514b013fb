"""The most probable set of edges, connected or with few parts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from perin.contract.arrays import Bools


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
    component = components(keep)
    count = int(component.max(initial=-1)) + 1
    if count > 1 and least < 0.5:
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
