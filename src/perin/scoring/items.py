"""A graph taken apart into the items that metrics count, in the normal form in which graphs are compared."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from perin.graphs.graph import Graph
from perin.graphs.normalisation import Characters, folded, normal_anchors, normal_attributes, normal_edge

TYPES = ("tops", "labels", "properties", "anchors", "edges", "attributes")
"""The item types of the MRP metric, in the order in which they are reported."""

Pair: TypeAlias = tuple[str, str]
"""Name and value, both in lower case."""

EdgeItem: TypeAlias = tuple[int, int, str | None]
AttributeItem: TypeAlias = tuple[int, int, str | None, str, str]


@dataclass(frozen=True, slots=True)
class Items:
    """The items of one graph.  Nodes are numbered in file order; ``ids`` gives their ids.

    ``edges`` and ``attributes`` have no duplicates and come in file order (after inverse edges are turned round);
    ``remote`` are the edges with the attribute ``remote`` (UCCA).
    """

    ids: tuple[int, ...]
    tops: frozenset[int]
    labels: tuple[str | None, ...]
    properties: tuple[frozenset[Pair], ...]
    anchors: tuple[Characters | None, ...]
    edges: tuple[EdgeItem, ...]
    attributes: tuple[AttributeItem, ...]
    remote: frozenset[EdgeItem]

    def id_pairs(self, system: Items, pairs: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
        """The ids of pairs of node numbers; where several nodes have one id, only the first pair of it."""
        gold_ids: set[int] = set()
        system_ids: set[int] = set()
        found = []
        for i, j in pairs:
            first, second = self.ids[i], system.ids[j]
            if first not in gold_ids and second not in system_ids:
                gold_ids.add(first)
                system_ids.add(second)
                found.append((first, second))
        return tuple(found)

    def same_content(self, other: Items) -> bool:
        """Whether the other graph has the same items for nodes of the same numbers, whatever their ids."""
        return (
            len(self.ids) == len(other.ids)
            and self.labels == other.labels
            and self.edges == other.edges
            and self.tops == other.tops
            and self.anchors == other.anchors
            and self.properties == other.properties
            and self.attributes == other.attributes
        )

    @property
    def counts(self) -> dict[str, int]:
        """The number of items of each type."""
        return {
            "tops": len(self.tops),
            "labels": sum(label is not None for label in self.labels),
            "properties": sum(map(len, self.properties)),
            "anchors": sum(anchors is not None for anchors in self.anchors),
            "edges": len(self.edges),
            "attributes": len(self.attributes),
        }


_characters = lru_cache(maxsize=2048)(normal_anchors)
"""Gold and system have most anchors in common."""


def items(graph: Graph) -> Items:
    """Take a graph apart.

    Of edges with the same source, target and label (as written) the first is kept, with its attributes; edges that
    become equal only in normal form are one item, with the attributes of all.  Of nodes with the same id, the first
    has the edges.
    """
    index: dict[int, int] = {}
    for number, node in enumerate(graph.nodes):
        index.setdefault(node.id, number)
    text = graph.input
    written: set[tuple[int, int, str | None]] = set()
    edges: dict[EdgeItem, None] = {}
    attributes: dict[AttributeItem, None] = {}
    remote: set[EdgeItem] = set()
    for edge in graph.edges:
        key = edge.source, edge.target, edge.label or None
        if key in written:
            continue
        written.add(key)
        source, target, label = normal_edge(edge)
        item = index[source], index[target], None if label is None else label.lower()
        edges[item] = None
        if edge.attributes:
            for name, value in normal_attributes(edge.attributes):
                attributes[(*item, name, value)] = None
                if name == "remote":
                    remote.add(item)
    return Items(
        ids=tuple([node.id for node in graph.nodes]),
        tops=frozenset([index[top] for top in graph.tops]),
        labels=tuple([None if node.label is None else node.label.lower() for node in graph.nodes]),
        properties=tuple(
            [frozenset([(folded(name), folded(value)) for name, value in node.properties]) for node in graph.nodes]
        ),
        anchors=tuple([_characters(node.anchors, text) for node in graph.nodes]),
        edges=tuple(edges),
        attributes=tuple(attributes),
        remote=frozenset(remote),
    )


def matches(gold: Items, system: Items, pairs: Sequence[tuple[int, int]]) -> dict[str, int]:
    """How many items of each type correspond if these nodes do."""
    image = dict(pairs)
    system_edges, system_attributes = frozenset(system.edges), frozenset(system.attributes)
    found = {
        "tops": sum(image.get(top) in system.tops for top in gold.tops),
        "labels": sum(gold.labels[i] is not None and gold.labels[i] == system.labels[j] for i, j in pairs),
        "properties": sum(len(gold.properties[i] & system.properties[j]) for i, j in pairs),
        "anchors": sum(gold.anchors[i] is not None and gold.anchors[i] == system.anchors[j] for i, j in pairs),
        "edges": sum((image.get(edge[0]), image.get(edge[1]), *edge[2:]) in system_edges for edge in gold.edges),
        "attributes": sum(
            (image.get(item[0]), image.get(item[1]), *item[2:]) in system_attributes for item in gold.attributes
        ),
    }
    return found
