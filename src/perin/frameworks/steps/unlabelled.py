"""Names for nodes without a label: the scopes of DRG and the technical root of PTG."""

from __future__ import annotations

from dataclasses import dataclass, replace

from perin.graphs.graph import Graph, Node


@dataclass(frozen=True)
class NamedUnlabelled:
    """Gives unlabelled nodes a label and takes it away again."""

    name: str

    def encode(self, graph: Graph) -> Graph:
        """No node is unlabelled afterwards."""
        nodes = (replace(node, label=self.name) if node.label is None else node for node in graph.nodes)
        return replace(graph, nodes=tuple(nodes))

    def decode(self, graph: Graph) -> Graph:
        """Nodes of that name (in any case) are unlabelled and have no properties."""
        return replace(graph, nodes=tuple(map(self._unnamed, graph.nodes)))

    def _unnamed(self, node: Node) -> Node:
        named = node.label is not None and node.label.lower() == self.name.lower()
        return replace(node, label=None, properties=()) if named else node


@dataclass(frozen=True)
class TopIsUnlabelled:
    """The unlabelled nodes are the tops, so nobody needs to predict them."""

    def encode(self, graph: Graph) -> Graph:
        """The graph without tops."""
        return replace(graph, tops=())

    def decode(self, graph: Graph) -> Graph:
        """The graph with its unlabelled nodes as tops."""
        return replace(graph, tops=tuple(node.id for node in graph.nodes if node.label is None))


@dataclass(frozen=True)
class TopsAreRootBoxes:
    """The tops are the unlabelled nodes that nothing points to (DRG)."""

    def encode(self, graph: Graph) -> Graph:
        """The graph without tops."""
        return replace(graph, tops=())

    def decode(self, graph: Graph) -> Graph:
        """The graph with its root boxes as tops."""
        return replace(graph, tops=tuple(node.id for node in graph.roots() if node.label is None))
