"""Quoted constants: ``"speaker"`` becomes a flagged node ``speaker``."""

from __future__ import annotations

from dataclasses import dataclass, replace

from perin.frameworks.steps.step import FLAG, flagged
from perin.graphs.graph import Graph, Node


@dataclass(frozen=True)
class FlaggedConstants:
    """Takes quotes off and flags the node."""

    def encode(self, graph: Graph) -> Graph:
        """Quotes at both ends of a label become the flag."""
        return replace(graph, nodes=tuple(map(_unquoted, graph.nodes)))

    def decode(self, graph: Graph) -> Graph:
        """Flagged nodes get their quotes back, if they have a label at all."""
        return replace(graph, nodes=tuple(map(_quoted, graph.nodes)))


def _unquoted(node: Node) -> Node:
    label = node.label
    if label is None or len(label) < 2 or label[0] != '"' or label[-1] != '"':
        return node
    return replace(node, label=label[1:-1], properties=(*node.properties, FLAG))


def _quoted(node: Node) -> Node:
    if not flagged(node):
        return node
    label = None if node.label is None else f'"{node.label}"'
    return replace(node, label=label, properties=tuple(pair for pair in node.properties if pair != FLAG))
