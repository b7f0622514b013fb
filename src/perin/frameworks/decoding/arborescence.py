"""Maximum spanning arborescence: the best tree whose edges lead away from one root (Chu and Liu, Edmonds)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

FORBIDDEN = -1e9
"""The weight of an edge that must not be taken."""

_ROOT = -1e6


def maximum_arborescence(weights: NDArray[np.float64], roots: NDArray[np.bool_]) -> NDArray[np.int64]:
    """[K]: the parent of each node in the tree of the greatest total weight, -1 for its root.

    ``weights``: [K, K], rows are parents; finite, :data:`FORBIDDEN` or of an absolute value far below a million.
    ``roots``: [K], the nodes that may be the root, at least one.

    >>> weights = np.array([[0.0, 5.0, 1.0], [4.0, 0.0, 3.0], [9.0, 0.0, 0.0]])
    >>> maximum_arborescence(weights, np.ones(3, dtype=bool)).tolist()
    [2, 0, -1]
    """
    size = len(weights)
    if roots.sum() == 1 and (parents := _simple_parents(weights, int(roots.argmax()))) is not None:
        return parents
    extended = np.full((size + 1, size + 1), FORBIDDEN)
    extended[1:, 1:] = weights
    extended[0, 1:] = np.where(roots, _ROOT, FORBIDDEN)
    np.fill_diagonal(extended, FORBIDDEN)
    return _parents(extended)[1:] - 1


def _simple_parents(weights: NDArray[np.float64], root: int) -> NDArray[np.int64] | None:
    """[K]: the best parent of each node if that is a tree; else None."""
    weights = weights.copy()
    np.fill_diagonal(weights, 2 * FORBIDDEN)
    parents: NDArray[np.int64] = weights.argmax(axis=0)
    parents[root] = root
    above = parents
    for _ in range(len(parents).bit_length()):
        above = above[above]
    if (above != root).any():
        return None
    parents[root] = -1
    return parents


class _Contraction(NamedTuple):
    """A cycle made one node, which comes last after the nodes of ``rest``."""

    parents: NDArray[np.int64]
    cycle: NDArray[np.int64]
    rest: NDArray[np.int64]
    entries: NDArray[np.int64]
    """Of each node: which node of the cycle it would enter."""
    exits: NDArray[np.int64]
    """Of each node of the rest: which node of the cycle would be its parent."""


def _parents(weights: NDArray[np.float64]) -> NDArray[np.int64]:
    """[N]: best parents of all nodes but the root, which is node 0 (its own entry is 0)."""
    contractions = []
    while True:
        parents: NDArray[np.int64] = weights.argmax(axis=0)
        parents[0] = 0
        cycle = _cycle(parents)
        if cycle is None:
            break
        contraction, weights = _contracted(weights, parents, cycle)
        contractions.append(contraction)
    for contraction in reversed(contractions):
        parents = _expanded(parents, contraction)
    return parents


def _contracted(
    weights: NDArray[np.float64], parents: NDArray[np.int64], cycle: NDArray[np.int64]
) -> tuple[_Contraction, NDArray[np.float64]]:
    outside = np.ones(len(weights), dtype=np.bool_)
    outside[cycle] = False
    rest = np.flatnonzero(outside)
    entering = weights[:, cycle] - weights[parents[cycle], cycle]
    leaving = weights[np.ix_(cycle, rest)]
    smaller = np.full((len(rest) + 1, len(rest) + 1), 2 * FORBIDDEN)
    smaller[:-1, :-1] = weights[np.ix_(rest, rest)]
    smaller[:-1, -1] = entering[rest].max(axis=1)
    smaller[-1, :-1] = leaving.max(axis=0)
    return _Contraction(parents, cycle, rest, cycle[entering.argmax(axis=1)], cycle[leaving.argmax(axis=0)]), smaller


def _expanded(outer: NDArray[np.int64], contraction: _Contraction) -> NDArray[np.int64]:
    """Parents with the cycle unfolded: it is broken where the parent of the contracted node enters it."""
    parents, rest = contraction.parents.copy(), contraction.rest
    from_cycle = outer[:-1] == len(rest)
    parents[rest] = np.where(from_cycle, contraction.exits, rest[np.where(from_cycle, 0, outer[:-1])])
    parents[0] = 0
    entry = rest[outer[-1]]
    parents[contraction.entries[entry]] = entry
    return parents


def _cycle(parents: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """The nodes of a cycle, ascending, or None: what repeats on the way up from the first node that misses the root."""
    above = parents.copy()
    for _ in range(len(parents).bit_length()):
        above = above[above]
    lost = np.flatnonzero(above != 0)
    if not len(lost):
        return None
    node = start = int(above[lost[0]])
    members = [node]
    while (node := int(parents[node])) != start:
        members.append(node)
    return np.array(sorted(members), dtype=np.int64)
