"""Properties as nodes (the paper's section "Graph Representation")."""

from __future__ import annotations

from dataclasses import dataclass, replace

from perin.frameworks.steps.step import FLAG, flagged
from perin.graphs.graph import Edge, Graph, Node, Property


@dataclass(frozen=True)
class PropertiesAsNodes:
    """Turns each property into a flagged node: label = value, anchors of its owner, edge labelled with the name.

    Properties named in ``kept`` stay properties (they get a classifier each).
    """

    kept: frozenset[str] = frozenset()

    def encode(self, graph: Graph) -> Graph:
        """Property nodes follow all others; a value that is no string is written as its text."""
        free = max((node.id for node in graph.nodes), default=-1) + 1
        owners, values, edges = [], [], list(graph.edges)
        for node in graph.nodes:
            kept = tuple(pair for pair in node.properties if pair.name in self.kept)
            owners.append(node if len(kept) == len(node.properties) else replace(node, properties=kept))
            for name, value in dict.fromkeys(node.properties):
                if name not in self.kept:
                    values.append(Node(free, str(value), (FLAG,), node.anchors))
                    edges.append(Edge(node.id, free, name))
                    free += 1
        return replace(graph, nodes=(*owners, *values), edges=tuple(edges))

    def decode(self, graph: Graph) -> Graph:
        """Flagged leaves with one unflagged parent become its properties; other flagged nodes just lose the flag."""
        owned: dict[int, tuple[int, Property]] = {}
        for node in graph.nodes:
            if flagged(node) and not graph.outgoing(node.id):
                parents = graph.parents(node.id)
                if len(parents) == 1 and not flagged(parents[0]):
                    label = graph.incoming(node.id)[0].label or ""
                    owned[node.id] = parents[0].id, Property(label, node.label)
        pairs: dict[int, list[Property]] = {}
        for owner, pair in owned.values():
            if pair not in pairs.setdefault(owner, []):
                pairs[owner].append(pair)
        nodes = (_finished(node, pairs.get(node.id, ())) for node in graph.nodes if node.id not in owned)
        edges = (edge for edge in graph.edges if edge.target not in owned)
        return replace(graph, nodes=tuple(nodes), edges=tuple(edges), tops=_without(graph.tops, owned))


def _finished(node: Node, pairs: list[Property] | tuple[()]) -> Node:
    if not pairs and not node.properties:
        return node
    return replace(node, properties=(*(pair for pair in node.properties if pair != FLAG), *pairs))


def _without(tops: tuple[int, ...], removed: dict[int, tuple[int, Property]]) -> tuple[int, ...]:
    return tuple(top for top in tops if top not in removed)
