"""A spanning forest of a graph: which edge a node hangs from, and which edges are left over as reentrancies.

The tree that a reader sees in a graph starts at the tops, follows edges forward, and turns an edge round only to reach
what hangs by an outgoing edge alone (an EDS quantifier).  Edges that a framework itself calls extra are used last.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from perin.graphs.graph import Edge
from perin.graphs.normalisation import folded


class Arc(NamedTuple):
    """An edge between nodes that are named by their numbers; the tree uses those that are not ``primary`` last."""

    source: int
    target: int
    primary: bool = True


class Branch(NamedTuple):
    """``child`` hangs from ``parent`` by the arc of this number, against its direction if ``inverse``."""

    parent: int
    arc: int
    child: int
    inverse: bool


class Forest(NamedTuple):
    """Roots in order, and the branches below each node in the order of the arcs."""

    roots: list[int]
    branches: list[list[Branch]]

    def arcs(self) -> set[int]:
        """The numbers of the arcs that the forest uses."""
        return {branch.arc for below in self.branches for branch in below}

    def depth_first(self) -> list[int]:
        """All nodes, each after the one that it hangs from."""
        order = []
        stack = self.roots[::-1]
        while stack:
            node = stack.pop()
            order.append(node)
            stack.extend(branch.child for branch in reversed(self.branches[node]))
        return order


_EXTRA_ATTRIBUTES = ("remote", "effective")


def is_primary(edge: Edge) -> bool:
    """Whether an edge belongs to the graph's backbone: not remote (UCCA), effective or coreferential (PTG)."""
    if (edge.label or "").startswith("coref"):
        return False
    return not any(folded(edge.get(name)) == "true" for name in _EXTRA_ATTRIBUTES)


def spanning_forest(count: int, arcs: Sequence[Arc], tops: Iterable[int]) -> Forest:
    """The forest over nodes 0 to ``count - 1``, grown from the tops breadth first.

    As long as a primary arc leads on, no other arc is used, and as long as any leads on, none is turned round.  A
    component without a top grows from its first node that nothing enters, or else from its first node.
    """
    steps = _steps(count, arcs)
    entered = {arc.target for arc in arcs if arc.source != arc.target}
    forest = Forest([], [[] for _ in range(count)])
    seen: set[int] = set()
    singles = [[node] for node in (*(node for node in range(count) if node not in entered), *range(count))]
    for group in [list(dict.fromkeys(tops)), *singles]:
        roots = [node for node in group if node not in seen]
        forest.roots.extend(roots)
        _grow(forest, steps, seen, roots)
    for below in forest.branches:
        below.sort(key=lambda branch: branch.arc)
    return forest


def _grow(forest: Forest, steps: list[list[tuple[Branch, bool]]], seen: set[int], roots: list[int]) -> None:
    """Add to the forest what can be reached from the roots."""
    queue: list[tuple[bool, bool, int, int, Branch]] = []
    reached = [(root, 0) for root in roots]
    seen.update(roots)
    pushed = 0
    while reached:
        for node, depth in reached:
            for branch, primary in steps[node]:
                heapq.heappush(queue, (branch.inverse, not primary, depth + 1, pushed, branch))
                pushed += 1
        reached = []
        while queue and not reached:
            _, _, depth, _, branch = heapq.heappop(queue)
            if branch.child not in seen:
                seen.add(branch.child)
                forest.branches[branch.parent].append(branch)
                reached = [(branch.child, depth)]


def _steps(count: int, arcs: Sequence[Arc]) -> list[list[tuple[Branch, bool]]]:
    steps: list[list[tuple[Branch, bool]]] = [[] for _ in range(count)]
    for number, arc in enumerate(arcs):
        if arc.source != arc.target:
            steps[arc.source].append((Branch(arc.source, number, arc.target, inverse=False), arc.primary))
            steps[arc.target].append((Branch(arc.target, number, arc.source, inverse=True), arc.primary))
    return steps
