"""SBN, the sequence notation of the Parallel Meaning Bank from release 4 on: boxes without variables.

    %%% ::id 1
    %%% ::snt Tom did not sleep.
    male.n.02   Name "Tom"
    time.n.08   TPR now
                NEGATION <1
    sleep.v.01  Agent -2 Time -1

A concept is followed by its roles, whose values are constants, indices that count concepts (``-2``: two before) or
boxes (``>1``: the next box).  A word in capitals opens a new box and relates it to one before (``<1``, in release 4
``-1``) or to none (``<0``).  A graph is a block of lines, or one line if that holds several concepts or boxes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TextIO

from perin.errors import InputError
from perin.graphs.codecs import Codec, Lines, header
from perin.graphs.codecs.pmb import COMMENT, IMPLIED, MEMBER, Builder, documents, read_documents
from perin.graphs.faults import Report
from perin.graphs.graph import Edge, Graph, Node

CONCEPT = re.compile(r'[^\s"]\S*\.[a-z]\.[0-9]{1,3}')
SEPARATOR = re.compile(r"[A-Z]{4,}")
"""Relates boxes."""
ROLE = re.compile(r"[A-Z](?:[A-Za-z0-9-]*[a-z][A-Za-z0-9-]*|[A-Z0-9]{0,2})")
"""A role (it has a small letter) or an operator (three capitals)."""
CONCEPT_INDEX = re.compile(r"[-+][0-9]{1,4}")
SEPARATOR_INDEX = re.compile(r"([-+<>])([0-9]{1,4})")
POINTER = re.compile(r"([<>])([0-9]{1,4})")


# SBN, the sequence notation of the Parallel Meaning Bank from release 4 on: boxes without variables.
#
#     %%% ::id 1
#     %%% ::snt Tom did not sleep.
#     male.n.02   Name "Tom"
#     time.n.08   TPR now
#                 NEGATION <1
#     sleep.v.01  Agent -2 Time -1
#
# A concept is followed by its roles, whose values are constants, indices that count concepts (``-2``: two before) or
# boxes (``>1``: the next box).  A word in capitals opens a new box and relates it to one before (``<1``, in release 4
# ``-1``) or to none (``<0``).  A graph is a block of lines, or one line if that holds several concepts or boxes.


@dataclass
class _Concept:
    label: str
    box: int
    roles: list[tuple[int, str, str]] = field(default_factory=list)
    """Line, label, value."""


@dataclass
class _Sequence:
    """Boxes and concepts in the order of the text; a box is the line, relation and index that open it."""

    boxes: list[tuple[int, str, int]] = field(default_factory=list)
    concepts: list[_Concept] = field(default_factory=list)


class _SequenceBuilder(Builder):
    nothing = "there is no concept and no box"

    def build(self) -> bool:
        sequence = self._sequence()
        self._add_boxes(sequence)
        for index, concept in enumerate(sequence.concepts):
            node = self.boxes.referent(str(index))
            self.boxes.labels[node] = concept.label
            self.boxes.member(self.boxes.box(str(concept.box)), node)
        for index, concept in enumerate(sequence.concepts):
            box, source = self.boxes.box(str(concept.box)), self.boxes.referent(str(index))
            for line, label, value in concept.roles:
                self.boxes.role(box, label, source, self._target(sequence, index, line, value))
        return bool(sequence.concepts or sequence.boxes)

    def _sequence(self) -> _Sequence:
        sequence = _Sequence()
        for line, words, _ in self.document.body:
            rest = iter(words)
            for word in rest:
                if CONCEPT.fullmatch(word):
                    sequence.concepts.append(_Concept(word, len(sequence.boxes)))
                elif SEPARATOR.fullmatch(word):
                    self._open_box(sequence, line, word, next(rest, ""))
                elif ROLE.fullmatch(word):
                    self._add_role(sequence, line, word, next(rest, None))
                else:
                    self.fault(f"expected a concept, a role or a relation, found {word!r}", line)
        return sequence

    def _open_box(self, sequence: _Sequence, line: int, label: str, index: str) -> None:
        match = SEPARATOR_INDEX.fullmatch(index)
        if match is None:
            self.fault(f"{label} needs an index such as <1, found {index!r}", line)
        number = int(match[2]) if match else 0
        if match and not number and f"{label} {index}" != UNRELATED:
            self.fault(f"{label} {index} relates to no box; its name is not kept", line, "note")
        sequence.boxes.append((line, label, number if match and match[1] in ">+" else -number))

    def _add_role(self, sequence: _Sequence, line: int, label: str, value: str | None) -> None:
        if value is None:
            self.fault(f"{label} has no value", line)
        elif not sequence.concepts:
            self.fault(f"{label} stands before the first concept", line)
        else:
            if value.startswith('"') and (len(value) < 2 or not value.endswith('"')):
                self.fault(f"the quotes of {value} are not closed", line)
            sequence.concepts[-1].roles.append((line, label, value))

    def _add_boxes(self, sequence: _Sequence) -> None:
        for number in range(len(sequence.boxes) + 1):
            self.boxes.box(str(number))
        for number, (line, label, offset) in enumerate(sequence.boxes, start=1):
            if not 0 <= number + offset <= len(sequence.boxes):
                self.fault(f"{label} points to a box that there is not", line)
            elif offset:
                self.boxes.relation(self.boxes.box(str(number + offset)), label, self.boxes.box(str(number)))

    def _target(self, sequence: _Sequence, index: int, line: int, value: str) -> int:
        """The node that the value of a role of the concept number ``index`` stands for."""
        if CONCEPT_INDEX.fullmatch(value):
            if 0 <= index + int(value) < len(sequence.concepts):
                return self.boxes.referent(str(index + int(value)))
            self.fault(f"index {value} counts to no concept; it is read as a constant", line, "note")
        elif pointer := POINTER.fullmatch(value):
            number = sequence.concepts[index].box + int(pointer[2]) * (1 if pointer[1] == ">" else -1)
            if 0 <= number <= len(sequence.boxes):
                return self.boxes.box(str(number))
            self.fault(f"{value} points to a box that there is not; it is read as a constant", line)
        return self.boxes.constant(value if value.startswith('"') else f'"{value}"')


def read(lines: Lines, source: str, report: Report) -> Iterator[tuple[int, Graph]]:
    """Read the graphs of a file, each a block of lines or each a line."""
    return read_documents(documents(lines, _is_whole), _SequenceBuilder, source, report)


def _is_whole(words: list[str]) -> bool:
    """Whether a line holds several concepts or boxes; in a graph of several lines none does."""
    units = 0
    rest = iter(words)
    for word in rest:
        if CONCEPT.fullmatch(word):
            units += 1
        elif SEPARATOR.fullmatch(word) or ROLE.fullmatch(word):
            units += SEPARATOR.fullmatch(word) is not None
            next(rest, None)
    return units > 1


# Graphs of boxes as SBN, where the sequence notation can say what they say.


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


CODEC = Codec("sbn", "sequence notation of the Parallel Meaning Bank 4 and 5", (".sbn",), ("drg",), read, write)
