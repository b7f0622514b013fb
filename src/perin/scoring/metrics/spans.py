"""What identifies a node in the metrics that need no search: the text that it covers."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TypeAlias

from perin.graphs.graph import Graph
from perin.graphs.normalisation import normal_anchors, trimmed_runs

Spans: TypeAlias = tuple[tuple[int, int], ...] | None


def spans(graph: Graph) -> list[Spans]:
    """The ranges of characters of each node, trimmed where the input is known; None for a node without anchors."""
    text = graph.input
    return [
        tuple(trimmed_runs(node.anchors, text)) or None
        if text and node.anchors
        else _ranges(normal_anchors(node.anchors, None))
        for node in graph.nodes
    ]


def identities(gold: Graph, system: Graph) -> tuple[list[Hashable], list[Hashable]]:
    """The sets of characters of the nodes of both graphs; their ranges unless both graphs have an input."""
    if gold.input and system.input:
        first, second = (
            [normal_anchors(node.anchors, graph.input) for node in graph.nodes] for graph in (gold, system)
        )
        return list(first), list(second)
    return list(spans(gold)), list(spans(system))


def _ranges(anchors: Hashable) -> Spans:
    return anchors if isinstance(anchors, tuple) else None
