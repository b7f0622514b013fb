"""Units of UCCA: ``leaf`` and ``inner`` labels, anchors of inner nodes, the top."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from perin.graphs.graph import Graph

LEAF = "leaf"
INNER = "inner"


@dataclass(frozen=True)
class LabelledUnits:
    """Labels units by whether they have children and anchors inner ones to all words below them.

    An inner unit can own words beside those of its children.  They are in its encoded anchors too, and come back as the
    words that no unit below it has: ``decode`` takes from a unit the ranges of the units below it.
    """

    def encode(self, graph: Graph) -> Graph:
        """Adds the labels and the anchors from below; forgets the top, which is the root."""
        below = _below(graph)
        own = {node.id: tuple(node.anchors or ()) for node in graph.nodes}
        nodes = []
        for node in graph.nodes:
            ranges = sorted({anchor for id in (node.id, *below[node.id]) for anchor in own[id]})
            label = INNER if graph.outgoing(node.id) else LEAF
            nodes.append(replace(node, label=label, anchors=tuple(ranges) or None))
        return replace(graph, nodes=tuple(nodes), tops=())

    def decode(self, graph: Graph) -> Graph:
        """Takes the labels off, leaves each unit its own words, and makes the primary root the top."""
        below = _below(graph)
        anchors = {node.id: tuple(node.anchors or ()) for node in graph.nodes}
        nodes = []
        for node in graph.nodes:
            taken = {anchor for id in below[node.id] for anchor in anchors[id]}
            own = tuple(anchor for anchor in anchors[node.id] if anchor not in taken)
            nodes.append(replace(node, label=None, anchors=own or None))
        children = {edge.target for edge in graph.edges if not edge.get("remote")}
        tops = tuple(node.id for node in graph.nodes if node.id not in children)
        return replace(graph, nodes=tuple(nodes), tops=tops[:1])


def _below(graph: Graph) -> Mapping[int, set[int]]:
    """Of each node all others below it over primary edges."""
    below: dict[int, set[int]] = {}
    for node in graph.nodes:
        reached: set[int] = set()
        stack = [node.id]
        while stack:
            for edge in graph.outgoing(stack.pop()):
                if not edge.get("remote") and edge.target not in reached:
                    reached.add(edge.target)
                    stack.append(edge.target)
        below[node.id] = reached - {node.id}
    return below
