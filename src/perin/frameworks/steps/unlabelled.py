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
        return _relabelled(graph, None, self.name)

    def decode(self, graph: Graph) -> Graph:
        """Nodes of that name are unlabelled and have no properties."""
        return _relabelled(graph, self.name, None)


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


def _relabelled(graph: Graph, old: str | None, new: str | None) -> Graph:
    def changed(node: Node) -> Node:
        if node.label != old:
            return node
        return replace(node, label=new, properties=node.properties if new is not None else ())

    return replace(graph, nodes=tuple(map(changed, graph.nodes)))
