"""Dependency trees with coordination, and edges beside the tree: coreference and effective edges (PTG).

The tree comes first, then coordinations, then labels, each the most probable given what was chosen before.
"""

from __future__ import annotations

import numpy as np

from perin.contract.heads import Bools, Ints, Prediction, Scores
from perin.frameworks.decoding.nodes import Nodes
from perin.frameworks.decoding.repair import assign_labels
from perin.frameworks.decoding.structure import Structure
from perin.frameworks.decoding.tree import best_tree
from perin.frameworks.rulebook import BARRED, Floats, Grammar
from perin.graphs.constraints import shared_roles

_SMALLEST = 1e-9


def dependency_structure(
    prediction: Prediction, nodes: Nodes, allowed: Bools, root: int, grammar: Grammar
) -> Structure:
    """The most probable tree below the root, and the edges beside it that are more probable than not.

    ``allowed``: [K, K], the pairs that may have an edge.  An edge that is marked as shared must follow from the tree
    and its coordinations, and has the label of its target's edge in the tree.
    """
    count = len(prediction)
    attributes = prediction.edge_attributes
    if attributes is None or not attributes.shape[-1]:
        attributes = np.ones((count, count, 1), dtype=np.float32)
    coreferent = prediction.edge_labels.take(grammar.beside.nonzero()[0], axis=-1).sum(axis=-1)
    shared = attributes[..., grammar.shared] if grammar.shared else np.zeros_like(coreferent)
    roots = np.zeros(count, dtype=np.bool_)
    roots[root] = True
    outside = 1 - (1 - coreferent.astype(np.float64)) * (1 - shared.astype(np.float64))
    parents, _ = best_tree(prediction.presence, outside, allowed, roots)
    children = np.flatnonzero(parents >= 0)
    heads = parents[children]
    scores = np.log(np.maximum(prediction.edge_labels[heads, children].astype(np.float64), _SMALLEST))
    scores[:, grammar.beside] = 4 * BARRED
    members = _coordinate(heads, children, scores, attributes[heads, children], grammar)
    labels = _label_tree(heads, members, scores, grammar)
    below, above, are_members = children.tolist(), heads.tolist(), members.tolist()
    marks = [grammar.member if is_member else 0 for is_member in are_members]
    edges = list(zip(above, below, labels, marks, strict=True))
    if grammar.shared and any(are_members):
        tree = dict(zip(below, above, strict=True))
        links = {child: row for row, child in enumerate(below)}
        following = shared_roles(tree, set(children[members].tolist()))
        edges += [
            (head, child, labels[links[child]], grammar.shared)
            for head, child in sorted(following)
            if prediction.presence[head, child] >= 0.5 and head != child and tree[child] != head
        ]
    edges += _corefer(prediction, coreferent, {edge[:2] for edge in edges}, allowed, grammar)
    return _structure(sorted(edges), nodes, len(grammar.once))


def _structure(edges: list[tuple[int, int, int, int]], nodes: Nodes, width: int) -> Structure:
    table = np.array(edges, dtype=np.int64).reshape(-1, 4)
    labels = np.zeros((len(table), width), dtype=np.bool_)
    labels[np.arange(len(table)), table[:, 2]] = True
    return Structure(np.ones(len(nodes.labels), dtype=np.bool_), table[:, :2], table[:, 3], nodes.anchors, labels)


def _coordinate(heads: Ints, children: Ints, scores: Floats, attributes: Scores, grammar: Grammar) -> Bools:
    """[M]: which children are members; the scores of labels that do not go with that are barred in ``scores`` [M, L].

    Whether a node is a coordination, and who its members are, depends on no other node.
    """
    members = np.zeros(len(heads), dtype=np.bool_)
    if not grammar.member or not grammar.coordinating.any():
        return members
    likely = np.maximum(attributes[:, grammar.member], _SMALLEST) / np.maximum(attributes[:, 0], _SMALLEST)
    gains: list[float] = np.log(likely).tolist()
    whole = scores[:, grammar.coordinating].max(axis=1) - scores[:, ~grammar.coordinating].max(axis=1)
    below: dict[int, list[int]] = {}
    for row, head in enumerate(heads.tolist()):
        below.setdefault(head, []).append(row)
    coordinations = np.zeros(len(heads), dtype=np.bool_)
    for row, (child, gain) in enumerate(zip(children.tolist(), whole.tolist(), strict=True)):
        more, chosen = _best_members(gains, below.get(child, []), grammar.lonely)
        if gain + more > 0:
            members[chosen] = coordinations[row] = True
    scores[coordinations[:, None] != grammar.coordinating] = 4 * BARRED
    return members


def _best_members(gains: list[float], rows: list[int], lonely: float) -> tuple[float, list[int]]:
    """What it gains that the parent of these edges is a coordination, and which of them lead to its members."""
    chosen = [row for row in rows if gains[row] > 0]
    gain = sum([gains[row] for row in chosen])
    if len(chosen) >= 2:
        return gain, chosen
    if len(rows) >= 2:
        two = sorted(rows, key=lambda row: -gains[row])[:2]
        pair = gains[two[0]] + gains[two[1]]
        if pair > gain - lonely:
            return pair, two
    return gain - lonely, chosen


def _label_tree(heads: Ints, members: Bools, scores: Floats, grammar: Grammar) -> list[int]:
    """The labels of the tree's edges; what is unique is assigned among the edges of a head that lead to no member."""
    labels: list[int] = scores.argmax(axis=1).tolist()
    once = grammar.once.tolist()
    taken: dict[tuple[int, int], int] = {}
    crowded: set[int] = set()
    for row, (head, label) in enumerate(zip(heads.tolist(), labels, strict=True)):
        if once[label] and not members[row] and taken.setdefault((head, label), row) != row:
            crowded.add(head)
    for head in crowded:
        rows = np.flatnonzero((heads == head) & ~members)
        for row, label in zip(rows.tolist(), assign_labels(scores[rows], grammar.once, 8 * BARRED), strict=True):
            labels[row] = label
    return labels


def _corefer(
    prediction: Prediction, coreferent: Scores, linked: set[tuple[int, int]], allowed: Bools, grammar: Grammar
) -> list[tuple[int, int, int, int]]:
    """Edges of coreference between nodes without another edge; a second of a kind must be worth its cost."""
    found = []
    sure = (prediction.presence * coreferent >= 0.5) & allowed
    used: set[tuple[int, int]] = set()
    ends = [pair for pair in zip(*(each.tolist() for each in np.nonzero(sure)), strict=True) if pair not in linked]
    for source, target in sorted(ends, key=lambda pair: -prediction.presence[pair]):
        label = int(np.where(grammar.beside, prediction.edge_labels[source, target], -1.0).argmax())
        present = float(prediction.presence[source, target])
        odds = np.log(max(present, _SMALLEST)) - np.log(max(1 - present, _SMALLEST))
        if (source, label) not in used or odds > grammar.once[label]:
            used.add((source, label))
            found.append((source, target, label, 0))
    return found
