"""What a graph leaves out and what it says twice, without gold: words without a node, nodes that repeat another.

Scores on dev do not show whether a parser loses whole words of other texts; these counts do.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from perin.graphs.graph import Graph, Node

_SENSE = re.compile(r"(?<=\w)[-_.][^-_.]*$")


def without_node(graph: Graph, ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Those ranges of characters that no node is anchored to, not even in part."""
    covered = {
        place for node in graph.nodes for anchor in node.anchors or () for place in range(anchor.start, anchor.end)
    }
    return [(start, end) for start, end in ranges if covered.isdisjoint(range(start, end))]


def repeated_nodes(graph: Graph) -> int:
    """How many nodes have the anchors of another node and its label up to the sense.

    Nodes without anchors say nothing of a token; leaves of UCCA have no labels, so that the anchors alone count.
    """
    kinds = Counter(_kind(node) for node in graph.nodes if node.anchors)
    return sum(count - 1 for count in kinds.values())


def _kind(node: Node) -> tuple[object, ...]:
    """A node without its sense: ``_leave_v_1`` and ``_leave_v_cause`` are of a kind."""
    label = node.label if node.label is None else _SENSE.sub("", node.label)
    return frozenset(node.anchors or ()), label
