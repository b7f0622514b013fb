"""Graphs of boxes, as the Parallel Meaning Bank has them.

A box is a node without a label, a concept one such as ``dog.n.01``, a constant one in quotes; roles and operators are
nodes, too, placed after all others.  Edges: ``in`` from a box to what belongs to it, relations such as ``NEGATION``
between boxes, edges without a label from a role's source to the role and from there to its target.  A role is in the
box of its source unless an ``in`` edge says otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from perin.graphs.codecs import header
from perin.graphs.graph import Edge, Graph, Node

IMPLIED = {"framework": "drg", "flavor": 2}
MEMBER = "in"


class BoxGraph:
    """Gathers boxes, referents, constants and roles under their names in the text, and makes a graph of them."""

    def __init__(self) -> None:
        self.labels: list[str | None] = []
        self.referents: dict[str, int] = {}
        self.boxes: dict[str, int] = {}
        self._constants: dict[str, int] = {}
        self._homes: dict[int, int] = {}
        self._edges: dict[tuple[int, int, str], Edge] = {}
        self._roles: list[tuple[int, str, int, int]] = []

    def box(self, name: str) -> int:
        """The node of a box."""
        return self._node(self.boxes, name, None)

    def referent(self, name: str) -> int:
        """The node of a discourse referent, which gets its label later."""
        return self._node(self.referents, name, None)

    def constant(self, label: str) -> int:
        """The node of a constant, one for all its mentions; the label is in quotes."""
        return self._node(self._constants, label, label)

    def member(self, box: int, referent: int) -> None:
        """Put a referent into a box; the first box is its home."""
        self._homes.setdefault(referent, box)
        self.relation(box, MEMBER, referent)

    def relation(self, box: int, label: str, other: int) -> None:
        """An edge from a box; a second one of the same label and ends adds nothing."""
        self._edges.setdefault((box, other, label), Edge(box, other, label))

    def role(self, box: int, label: str, source: int, target: int) -> None:
        """A role or operator that holds in a box."""
        self._roles.append((box, label, source, target))

    def graph(self, pairs: Mapping[str, str]) -> Graph:
        """The graph with this header; its tops are the boxes that no edge enters.  ``Malformed`` for a bad header."""
        nodes = [Node(id, label) for id, label in enumerate(self.labels)]
        edges = list(self._edges.values())
        for box, label, source, target in self._roles:
            id = len(nodes)
            nodes.append(Node(id, label))
            edges += [Edge(source, id), Edge(id, target)]
            if self._homes.get(source) != box:
                edges.append(Edge(box, id, MEMBER))
        entered = {edge.target for edge in edges}
        tops = tuple(id for id in self.boxes.values() if id not in entered)
        return replace(header.graph(pairs, **IMPLIED), tops=tops, nodes=tuple(nodes), edges=tuple(edges))

    def _node(self, group: dict[str, int], name: str, label: str | None) -> int:
        if name not in group:
            group[name] = len(self.labels)
            self.labels.append(label)
        return group[name]
