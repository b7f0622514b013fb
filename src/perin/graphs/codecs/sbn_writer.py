"""Graphs of boxes as SBN, where the sequence notation can say what they say."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TextIO

from perin.errors import InputError
from perin.graphs.codecs import header
from perin.graphs.codecs.boxes import IMPLIED, MEMBER
from perin.graphs.codecs.pmb_documents import COMMENT
from perin.graphs.codecs.sbn_words import CONCEPT, CONCEPT_INDEX, POINTER, ROLE, SEPARATOR
from perin.graphs.graph import Edge, Graph, Node

UNRELATED = "CONTINUATION <0"
"""Opens a box that no relation leads to."""

_NAMING = frozenset(("Name", "Title"))
_BARE = re.compile(r'[^\s"%][^\s"]*')
_QUOTABLE = re.compile(r'[^"\\\x00-\x1f\x7f-\x9f\u2028\u2029]*')


@dataclass
class _Parts:
    """The parts of a graph of boxes, by node id."""

    boxes: dict[int, list[int]] = field(default_factory=dict)
    """Boxes and the concepts in them."""
    opened: dict[int, tuple[int, str]] = field(default_factory=dict)
    """Related boxes: by which box and relation."""
    roles: dict[int, list[tuple[str, int]]] = field(default_factory=dict)
    """Concepts and their roles: label and target."""


def write(graphs: Iterable[Graph], stream: TextIO) -> None:
    """Write graphs, each after its comments and before a blank line."""
    for graph in graphs:
        stream.write(encode(graph) + "\n\n")


def encode(graph: Graph) -> str:
    """A graph as SBN.

    InputError for what the notation can't say: a box with several relations leading to it (as presuppositions have), a
    concept or role in several boxes or in none, roles of constants, labels of another form.
    """
    parts = _parts(graph)
    order = _box_order(parts, graph)
    concepts = [concept for box in order for concept in parts.boxes[box]]
    places = {id: place for place, id in enumerate(concepts)}
    width = max((len(graph.node(id).label or "") for id in concepts), default=0)
    pairs = header.pairs(graph, **IMPLIED)
    lines = [f"{COMMENT} ::{name} {value}" for name, value in pairs.items()]
    for number, box in enumerate(order):
        if number:
            lines.append(" " * (width + 2) + _opening(box, parts, order))
        for id in parts.boxes[box]:
            roles = [f"{label} {_value(graph, label, target, id, places, order)}" for label, target in parts.roles[id]]
            lines.append(f"{graph.node(id).label:<{width}}  {' '.join(roles)}".rstrip())
    return "\n".join(lines)


def _parts(graph: Graph) -> _Parts:
    kinds = {node.id: _kind(node, graph) for node in graph.nodes}
    if len(kinds) < len(graph.nodes):
        raise _unsayable(graph, "several of its nodes have the same id")
    parts = _Parts(
        {id: [] for id, kind in kinds.items() if kind == "box"},
        roles={id: [] for id, kind in kinds.items() if kind == "concept"},
    )
    for edge in graph.edges:
        _place(edge, kinds, parts, graph)
    _place_roles(kinds, parts, graph)
    members = sorted(concept for concepts in parts.boxes.values() for concept in concepts)
    if members != sorted(parts.roles):
        raise _unsayable(graph, "a concept is in several boxes or in none")
    if set(graph.tops) != {id for id in parts.boxes if not graph.incoming(id)} or len(set(graph.tops)) < len(
        graph.tops
    ):
        raise _unsayable(graph, "its tops are not the boxes that nothing points to")
    return parts


def _kind(node: Node, graph: Graph) -> str:
    label = node.label
    if node.properties or node.anchors is not None or node.extra:
        raise _unsayable(graph, f"node {node.id} has properties, anchors or fields of its own")
    if label is None:
        return "box"
    if len(label) > 1 and label[0] == label[-1] == '"' and _QUOTABLE.fullmatch(label[1:-1]):
        return "constant"
    if CONCEPT.fullmatch(label):
        return "concept"
    if ROLE.fullmatch(label):
        return "role"
    raise _unsayable(graph, f"the label {label!r} of node {node.id} is no concept, constant, role or operator")


def _place(edge: Edge, kinds: Mapping[int, str], parts: _Parts, graph: Graph) -> None:
    ends = kinds.get(edge.source), kinds.get(edge.target)
    shown = f"edge {edge.source} -> {edge.target} ({edge.label})"
    if edge.attributes or edge.normal is not None or edge.extra:
        raise _unsayable(graph, f"{shown} has attributes or fields of its own")
    if ends == ("box", "concept") and edge.label == MEMBER:
        parts.boxes[edge.source].append(edge.target)
    elif ends == ("box", "box") and edge.label and SEPARATOR.fullmatch(edge.label):
        if edge.target in parts.opened or edge.source == edge.target:
            raise _unsayable(graph, f"several relations lead to box {edge.target}")
        parts.opened[edge.target] = (edge.source, edge.label)
    elif ends == ("box", "role") and edge.label == MEMBER:
        role = graph.node(edge.target).label
        raise _unsayable(graph, f"the role {role} (node {edge.target}) holds in another box than its source")
    elif edge.label is not None or "role" not in ends or None in ends:
        raise _unsayable(graph, f"{shown} leads from {_a(ends[0])} to {_a(ends[1])}")


def _place_roles(kinds: Mapping[int, str], parts: _Parts, graph: Graph) -> None:
    constants = [graph.node(id).label for id, kind in kinds.items() if kind == "constant"]
    used = set()
    for node in graph.nodes:
        if kinds[node.id] == "role":
            sources = [edge.source for edge in graph.incoming(node.id)]
            targets = [edge.target for edge in graph.outgoing(node.id)]
            if len(sources) != 1 or len(targets) != 1 or sources[0] not in parts.roles or kinds[targets[0]] == "role":
                raise _unsayable(graph, f"the role {node.label} (node {node.id}) does not link a concept to one node")
            parts.roles[sources[0]].append((node.label or "", targets[0]))
            used.add(targets[0])
    if len(set(constants)) < len(constants) or any(kinds[id] == "constant" and id not in used for id in kinds):
        raise _unsayable(graph, "a constant is there twice, or is no value of a role")


def _box_order(parts: _Parts, graph: Graph) -> list[int]:
    """Boxes such that each comes after the one that a relation leads from; the first is one that none leads to."""
    children: dict[int, list[int]] = {box: [] for box in parts.boxes}
    for box, (parent, _) in parts.opened.items():
        children[parent].append(box)
    order = []
    stack = [box for box in reversed(parts.boxes) if box not in parts.opened]
    while stack:
        box = stack.pop()
        order.append(box)
        stack += reversed(children[box])
    if len(order) < len(parts.boxes) or not order:
        raise _unsayable(graph, "its boxes lead round in a circle, or it has none")
    return order


def _opening(box: int, parts: _Parts, order: list[int]) -> str:
    if box not in parts.opened:
        return UNRELATED
    parent, label = parts.opened[box]
    return f"{label} <{order.index(box) - order.index(parent)}"


def _value(graph: Graph, label: str, target: int, source: int, places: Mapping[int, int], order: list[int]) -> str:
    if target in places:
        return f"{places[target] - places[source]:+d}"
    if target in order:
        home = next(edge.source for edge in graph.incoming(source) if edge.label == MEMBER)
        distance = order.index(target) - order.index(home)
        return f"{'>' if distance > 0 else '<'}{abs(distance)}"
    text = (graph.node(target).label or "")[1:-1]
    is_index = CONCEPT_INDEX.fullmatch(text) or POINTER.fullmatch(text)
    return text if _BARE.fullmatch(text) and label not in _NAMING and not is_index else f'"{text}"'


def _a(kind: str | None) -> str:
    return f"a {kind}" if kind else "nothing"


def _unsayable(graph: Graph, why: str) -> InputError:
    return InputError(f"the graph can't be written as SBN: {why}", graph=graph.id)
