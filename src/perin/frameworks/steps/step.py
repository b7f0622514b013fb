"""What a step is."""

from __future__ import annotations

from typing import Protocol

from perin.graphs.graph import Graph, Node, Property

FLAG = Property("perin:flag", True)
"""Marks the nodes that the flag head tells apart; only steps put it on a node and take it off."""


class Step(Protocol):
    """A reversible change of a graph.

    ``decode(encode(graph))`` has the same content as ``graph`` (in the normal form of the MRP metric), and ``decode``
    makes something sound of any graph, since the network may predict what no treebank holds.
    """

    def encode(self, graph: Graph) -> Graph:
        """From a treebank's form towards the network's."""

    def decode(self, graph: Graph) -> Graph:
        """From the network's form back."""


def flagged(node: Node) -> bool:
    """Whether a node bears the flag."""
    return FLAG in node.properties
