"""Senses of concepts: ``jít-021`` becomes ``jít`` with a property ``sense``, which a lexicon lists by label."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from perin.graphs.graph import Graph, Node, Property

SENSE = "sense"
_CONCEPT = re.compile(r"(.*[^\W\d_])-([0-9]{2,3})", re.DOTALL)


@dataclass(frozen=True)
class SensesAsProperties:
    """Parts labels from their senses and puts them together again."""

    def encode(self, graph: Graph) -> Graph:
        """Labels that end in a number of two or three digits lose it."""
        return replace(graph, nodes=tuple(map(_parted, graph.nodes)))

    def decode(self, graph: Graph) -> Graph:
        """Labels get their senses back."""
        return replace(graph, nodes=tuple(map(_whole, graph.nodes)))


def _parted(node: Node) -> Node:
    match = _CONCEPT.fullmatch(node.label or "")
    if match is None:
        return node
    return replace(node, label=match[1], properties=(*node.properties, Property(SENSE, match[2])))


def _whole(node: Node) -> Node:
    sense = node.get(SENSE)
    if sense is None:
        return node
    label = None if node.label is None else f"{node.label}-{sense}"
    return replace(node, label=label, properties=tuple(pair for pair in node.properties if pair.name != SENSE))
