"""The most probable tree, and the structure of UCCA: a tree over the words with remote edges beside it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from perin.contract.heads import Bools, Ints, Prediction, Scores
from perin.frameworks.decoding.structure import Structure, best_attributes

FORBIDDEN = -1e9
"""The weight of an edge that must not be taken."""

_SMALLEST = 1e-9

_IMPLICIT = 0.1
"""A leaf all of whose words are less probable than this has none."""


def tree_structure(prediction: Prediction, inner: Bools, remote: Bools, *, disjoint: bool = False) -> Structure:
    """The most probable tree of primary edges, remote edges that are more probable than not, and everyone's words.

    ``inner``: [K], the nodes that may have children, at least one.  ``remote``: [A], the attribute classes of remote
    edges.  Two nodes have no edge (1 - p), a primary one (p times the probability that it is not remote) or a remote
    one; the tree maximises the product over all pairs exactly.  Remote edges that would close a cycle are left out, the
    least probable first.  Inner units that end up without children and words go.  ``disjoint``: no word has two leaves.
    """
    allowed = np.broadcast_to(inner[:, None], prediction.presence.shape)
    parents, gains = best_tree(prediction.presence, _remoteness(prediction, remote), allowed, inner)
    below = descendants(parents)
    remotes = _remote_edges(gains, parents, below)
    keep, words = np.ones(len(inner), dtype=np.bool_), None
    if prediction.anchors is not None:
        own = owned_words(prediction.anchors, inner, below, disjoint=disjoint)
        keep = _kept_units(own.any(axis=1) | (~inner & (not disjoint)), remotes, below)
        words = own | (below.astype(np.float32) @ own.astype(np.float32) > 0)
    edges = remotes.copy()
    children = np.flatnonzero(parents >= 0)
    edges[parents[children], children] = True
    pairs = np.array((edges & keep & keep[:, None]).nonzero()).T
    classes = np.where(remotes[pairs[:, 0], pairs[:, 1], None], remote, ~remote)
    return Structure(keep, pairs, best_attributes(prediction, pairs, classes), words)


def best_tree(
    presence: Scores, outside: NDArray[np.float64], allowed: Bools, roots: Bools
) -> tuple[Ints, NDArray[np.float64]]:
    """[K], the parents of the most probable tree (-1 for its root), and [K, K], what a further edge gains over none.

    ``outside``: [K, K], the probability that an edge, if there is one, is not part of the tree.  ``roots``: [K].
    """
    present = np.minimum(np.maximum(presence, _SMALLEST, dtype=np.float64), 1 - _SMALLEST)
    outside = np.minimum(np.maximum(outside, _SMALLEST, dtype=np.float64), 1 - _SMALLEST)
    absent, logarithm = np.log1p(-present), np.log(present)
    beside = logarithm + np.log(outside)
    weights = logarithm + np.log1p(-outside) - np.maximum(absent, beside)
    parents = maximum_arborescence(np.where(allowed, weights, FORBIDDEN), roots)
    return parents, np.where(allowed, beside - absent, FORBIDDEN)


def _kept_units(useful: Bools, remotes: Bools, below: Bools) -> Bools:
    """[K]: the useful units, those above them, and those with a remote edge to such a unit."""
    keep: Bools = useful | (below & useful).any(axis=1)
    while (more := ~keep & (remotes & keep).any(axis=1)).any():
        useful = keep | more
        keep = useful | (below & useful).any(axis=1)
    return keep


def descendants(parents: Ints) -> Bools:
    """[K, K]: the nodes (columns) below each node (rows) of a tree; ``parents``: [K], -1 for the root."""
    below = np.zeros((len(parents), len(parents)), dtype=np.bool_)
    nodes, above = np.arange(len(parents)), parents
    while len(nodes):
        nodes, above = nodes[above >= 0], above[above >= 0]
        below[above, nodes] = True
        above = parents[above]
    return below


def leaf_words(scores: Scores, inner: Bools, *, disjoint: bool = False) -> Bools:
    """[K, T]: the words of each leaf: the probable ones, at least one unless that is very improbable (implicit units).

    ``scores``: [K, T].  ``disjoint``: a word belongs to the leaf that most probably has it, and to no other.
    """
    leaf_scores = np.where(inner[:, None], -1.0, scores)
    best = leaf_scores.max(axis=1, keepdims=True)
    own: Bools = (leaf_scores >= np.minimum(best, 0.5)) & (best >= _IMPLICIT)
    if disjoint:
        own &= np.arange(len(own))[:, None] == np.where(own, leaf_scores, -1.0).argmax(axis=0)
    return own


def owned_words(scores: Scores, inner: Bools, below: Bools, *, disjoint: bool = False) -> Bools:
    """[K, T]: the words of each unit beside those of its children; every word belongs to some unit.

    ``scores``: [K, T].  For the words of leaves see :func:`leaf_words`.  A word without a leaf belongs to the
    lowest inner unit that probably has it; if there is none, to the best leaf.
    """
    leaf_scores = np.where(inner[:, None], -1.0, scores)
    own = leaf_words(scores, inner, disjoint=disjoint)
    claims = np.where(inner[:, None] & (scores >= 0.5), below.sum(axis=0)[:, None] + scores / 2, -1.0)
    owner = np.where(claims.max(axis=0) >= 0, claims.argmax(axis=0), leaf_scores.argmax(axis=0))
    free = np.flatnonzero(~own.any(axis=0))
    own[owner[free], free] = True
    return own


def _remoteness(prediction: Prediction, remote: Bools) -> NDArray[np.float64]:
    if prediction.edge_attributes is None or not remote.any():
        return np.zeros(prediction.presence.shape)
    probability: NDArray[np.float64] = prediction.edge_attributes[..., remote].sum(axis=-1).astype(np.float64)
    return probability


def _remote_edges(gains: NDArray[np.float64], parents: Ints, below: Bools) -> Bools:
    """[K, K]: edges of positive gain that are not in the tree and close no cycle, taken in order of gain."""
    taken = np.zeros(gains.shape, dtype=np.bool_)
    possible = gains > 0
    if not possible.any():
        return taken
    reaches = below | np.eye(len(parents), dtype=np.bool_)
    children = np.flatnonzero(parents >= 0)
    possible[parents[children], children] = False
    possible.flat[:: len(parents) + 1] = False
    sources, targets = possible.nonzero()
    for index in np.argsort(-gains[sources, targets], kind="stable").tolist():
        source, target = sources[index], targets[index]
        if not reaches[target, source]:
            taken[source, target] = True
            reaches[reaches[:, source]] |= reaches[target]
    return taken


# Maximum spanning arborescence: the best tree whose edges lead away from one root (Chu and Liu, Edmonds).

_ROOT = -1e6
_TIE = 1e-6
"""Weights that differ by less may be equal."""


def maximum_arborescence(weights: NDArray[np.float64], roots: NDArray[np.bool_]) -> NDArray[np.int64]:
    """[K]: the parent of each node in the tree of the greatest total weight, -1 for its root.

    ``weights``: [K, K], rows are parents; finite, :data:`FORBIDDEN` or of an absolute value far below a million.
    ``roots``: [K], the nodes that may be the root, at least one.

    >>> weights = np.array([[0.0, 5.0, 1.0], [4.0, 0.0, 3.0], [9.0, 0.0, 0.0]])
    >>> maximum_arborescence(weights, np.ones(3, dtype=bool)).tolist()
    [2, 0, -1]
    """
    if (parents := _simple_parents(weights, roots)) is not None:
        return parents
    size = len(weights)
    extended = np.full((size + 1, size + 1), FORBIDDEN)
    extended[1:, 1:] = weights
    extended[0, 1:] = np.where(roots, _ROOT, FORBIDDEN)
    np.fill_diagonal(extended, FORBIDDEN)
    return _parents(extended)[1:] - 1


def _simple_parents(weights: NDArray[np.float64], roots: NDArray[np.bool_]) -> NDArray[np.int64] | None:
    """[K]: the best parent of each node but the root, if that is the best tree; else None.

    No tree is better than all best parents without the one that is worth least, which therefore is the root's.  Where
    there are several possible roots, it must be the only best tree.
    """
    weights = weights.copy()
    weights.flat[:: len(weights) + 1] = 2 * FORBIDDEN
    parents: NDArray[np.int64] = weights.argmax(axis=0)
    best = weights.max(axis=0)
    worth = np.where(roots, best, np.inf)
    root = int(worth.argmin())
    if roots.sum() > 1 and ((worth < worth[root] + _TIE).sum() > 1 or (weights > best - _TIE).sum() > len(weights)):
        return None
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
