"""Relation nodes of DRG as labelled edges.

A binary relation is a node between two others, ``source -> Agent -> target`` with unlabelled edges.  It becomes one
edge labelled ``@Agent``.  A relation lies in the box of its source unless an ``in`` edge of its own says otherwise; if
that is the box of its target (four of five such cases), the pair of nodes also has an edge labelled ``@``.  Relations
that still can't be told from edges stay nodes: those in another box, the same relation twice between two nodes,
relations of different boxes between two nodes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

from perin.graphs.graph import Edge, Graph, Node

RELATION = "@"
"""The first character of a relation's edge label; alone it says: in the box of the target."""

MEMBER = "in"
_ESCAPE = "="
_CONCEPT = re.compile(r'".*"|.+\.[a-z]\.\d+', re.DOTALL)


class _Relation(NamedTuple):
    node: int
    source: int
    target: int
    label: str
    with_target: bool


@dataclass(frozen=True)
class RelationsAsEdges:
    """Folds relation nodes into edges and unfolds them."""

    def encode(self, graph: Graph) -> Graph:
        """Foldable relations leave the nodes; their edges follow all others."""
        folded = list(_foldable(graph))
        gone = {relation.node for relation in folded}
        edges = [
            replace(edge, label=_escaped(edge.label))
            for edge in graph.edges
            if edge.source not in gone and edge.target not in gone
        ]
        edges += [Edge(relation.source, relation.target, RELATION + relation.label) for relation in folded]
        marked = {(relation.source, relation.target): None for relation in folded if relation.with_target}
        edges += [Edge(source, target, RELATION) for source, target in marked]
        return replace(graph, nodes=tuple(node for node in graph.nodes if node.id not in gone), edges=tuple(edges))

    def decode(self, graph: Graph) -> Graph:
        """Unfolded relations follow all other nodes; a lone ``@`` has nothing to mark and goes."""
        marked = {(edge.source, edge.target) for edge in graph.edges if edge.label == RELATION}
        nodes, edges, relations = list(graph.nodes), [], []
        free = max((node.id for node in graph.nodes), default=-1) + 1
        for edge in graph.edges:
            if edge.label is None or not edge.label.startswith(RELATION):
                edges.append(replace(edge, label=_plain(edge.label)))
            elif edge.label != RELATION:
                nodes.append(Node(free, edge.label[len(RELATION) :], extra=edge.extra))
                relations += [Edge(edge.source, free, extra=edge.extra), Edge(free, edge.target, extra=edge.extra)]
                box = _only_box(graph, edge.target) if (edge.source, edge.target) in marked else None
                if box is not None:
                    relations.append(Edge(box, free, MEMBER, extra=edge.extra))
                free += 1
        return replace(graph, nodes=tuple(nodes), edges=(*edges, *relations))


def relations(graph: Graph) -> list[Node]:
    """The nodes that stand for relations: those that are neither scope nor concept nor constant."""
    return [node for node in graph.nodes if node.label and not _CONCEPT.fullmatch(node.label)]


def _foldable(graph: Graph) -> Iterator[_Relation]:
    binary = [relation for node in relations(graph) if (relation := _relation(graph, node)) is not None]
    nodes = {relation.node for relation in binary}
    pairs: dict[tuple[int, int], list[_Relation]] = {}
    for relation in binary:
        if relation.source not in nodes and relation.target not in nodes:
            pairs.setdefault((relation.source, relation.target), []).append(relation)
    for between in pairs.values():
        with_target = all(relation.with_target for relation in between)
        labels: set[str] = set()
        for relation in between:
            if relation.with_target == with_target and relation.label not in labels:
                labels.add(relation.label)
                yield relation


def _relation(graph: Graph, node: Node) -> _Relation | None:
    """The relation that a node stands for; None if an edge couldn't carry it."""
    if not node.label or node.properties:
        return None
    incoming, outgoing = graph.incoming(node.id), graph.outgoing(node.id)
    boxes = [edge.source for edge in incoming if edge.label == MEMBER]
    sources = [edge.source for edge in incoming if edge.label is None]
    targets = [edge.target for edge in outgoing if edge.label is None]
    if len(sources) != 1 or len(targets) != 1 or len(boxes) + 1 != len(incoming) or len(outgoing) != 1:
        return None
    if len({node.id, *sources, *targets}) < 3 or (boxes and boxes != [_only_box(graph, targets[0])]):
        return None
    return _Relation(node.id, sources[0], targets[0], node.label, bool(boxes))


def _only_box(graph: Graph, node: int) -> int | None:
    boxes = [edge.source for edge in graph.incoming(node) if edge.label == MEMBER]
    return boxes[0] if len(boxes) == 1 else None


def _escaped(label: str | None) -> str | None:
    return _ESCAPE + label if label and label[0] in (RELATION, _ESCAPE) else label


def _plain(label: str | None) -> str | None:
    return label[len(_ESCAPE) :] if label and label[0] == _ESCAPE else label
