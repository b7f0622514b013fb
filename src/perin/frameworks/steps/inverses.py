"""Inverse edges: ``ARG0-of`` is turned into ``ARG0`` the other way round, ``mod`` into ``domain``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from perin.graphs.graph import Edge, Graph
from perin.graphs.normalisation import normal_edge


@dataclass(frozen=True)
class NormalEdges:
    """Turns inverse edges round and, on the way back, inverts those without which the top would not reach a node.

    ``domain`` says how an inverted ``domain`` is written: AMR has ``mod`` for it, UMR ``domain-of``.
    """

    domain: str = "mod"

    def encode(self, graph: Graph) -> Graph:
        """All edges in their normal direction; edges that then are equal become one."""
        edges: dict[tuple[int, int, str | None], Edge] = {}
        for edge in graph.edges:
            source, target, label = normal_edge(edge)
            edges.setdefault((source, target, label), Edge(source, target, label, edge.attributes))
        return replace(graph, edges=tuple(edges.values()))

    def decode(self, graph: Graph) -> Graph:
        """Every edge keeps its place in the list; inverted ones say in ``normal`` what they were."""
        edges = list(map(_plain, graph.edges))
        for index in _against_the_arrow(graph):
            if graph.edges[index].label:
                edges[index] = self._inverse(graph.edges[index])
        return replace(graph, edges=tuple(edges))

    def _inverse(self, edge: Edge) -> Edge:
        label = self.domain if edge.label == "domain" else f"{edge.label}-of"
        return replace(edge, source=edge.target, target=edge.source, label=label, normal=edge.label)


def _against_the_arrow(graph: Graph) -> Iterator[int]:
    """The numbers of edges to walk backwards when one walks forward as long as possible, starting from the tops."""
    outgoing: dict[int, list[int]] = {}
    incoming: dict[int, list[int]] = {}
    for index, edge in enumerate(graph.edges):
        outgoing.setdefault(edge.source, []).append(index)
        incoming.setdefault(edge.target, []).append(index)
    reached: set[int] = set()
    forward = list(reversed(graph.tops))
    backward: list[int] = []
    while forward or backward:
        if forward:
            node = forward.pop()
        else:
            index = backward.pop()
            node = graph.edges[index].source
            if node in reached:
                continue
            yield index
        if node not in reached:
            reached.add(node)
            forward.extend(graph.edges[index].target for index in reversed(outgoing.get(node, ())))
            backward.extend(reversed(incoming.get(node, ())))


def _plain(edge: Edge) -> Edge:
    """An edge that is not inverted; an empty ``normal`` says so where its label alone would be misread."""
    misread = normal_edge(edge) != (edge.source, edge.target, edge.label)
    return replace(edge, normal="") if misread else edge
