"""What the forms of EDS share: names for nodes, the type of a node, and what no form of EDS can say."""

from __future__ import annotations

import re

from perin.errors import InputError
from perin.graphs.graph import Edge, Graph, Node

IMPLIED = {"framework": "eds", "flavor": 1}
CONSTANT = "CARG"
"""The property that has a place of its own."""
UNSPECIFIC = "u"
"""The type of a node of which no type is known."""
TOPS = "tops"
"""The field that lists the tops where there are several."""


def node_names(graph: Graph) -> dict[int, str]:
    """A name for each node, in the order of nodes: a letter, which is its type if that is one, and a number.

    InputError if the graph has what no form of EDS can say.
    """
    for node in graph.nodes:
        if fault := _node_fault(node):
            raise unsayable(graph, f"node {node.id} has {fault}")
    names = {node.id: f"{_letter(node)}{index}" for index, node in enumerate(graph.nodes)}
    for edge in graph.edges:
        if fault := _edge_fault(edge, names):
            raise unsayable(graph, f"edge {edge.source} -> {edge.target} has {fault}")
    for top in graph.tops:
        if top not in names:
            raise unsayable(graph, f"top {top} is no node")
    return names


def node_type(node: Node) -> str:
    """The type of a node's variable (``e``, ``x``, …), which MRP has no field for; empty where none is known."""
    return str(node.extra["type"]) if node.extra else ""


def unsayable(graph: Graph, message: str) -> InputError:
    """An error about something that the format has no way to say."""
    return InputError(f"{message}, which EDS can't say; mend it or write mrp", graph=graph.id)


def _node_fault(node: Node) -> str | None:
    if node.label is None:
        return "no label"
    if len(node.anchors or ()) > 1:
        return "several anchors"
    if any(value is None for _, value in node.properties):
        return "a property without a value"
    if node.extra and (len(node.extra) > 1 or type(node.extra.get("type")) is not str):
        return f"fields of its own ({', '.join(node.extra)})"
    return None


def _edge_fault(edge: Edge, names: dict[int, str]) -> str | None:
    if edge.source not in names or edge.target not in names:
        return "an end that is no node"
    if edge.label is None:
        return "no label"
    return "attributes" if edge.attributes or edge.normal is not None or edge.extra else None


def _letter(node: Node) -> str:
    kind = node_type(node)
    return kind if re.fullmatch("[a-z]", kind) else "e"
