"""SBN, the sequence notation of the Parallel Meaning Bank from release 4 on: boxes without variables.

    %%% ::id 1
    %%% ::snt Tom did not sleep.
    male.n.02   Name "Tom"
    time.n.08   TPR now
                NEGATION <1
    sleep.v.01  Agent -2 Time -1

A concept is followed by its roles, whose values are constants, indices that count concepts (``-2``: two before) or
boxes (``>1``: the next box).  A role holds in the box of its concept; ``AttributeOf`` is ``Attribute`` seen from its
other end, so that it holds there.  A word in capitals opens a new box and relates it to one before (``<1``, in release
4 ``-1``) or to none (``<0``).  A graph is a block of lines, or one line if that holds several concepts or boxes.

The notation has no presuppositions.  Boxes that only presuppose another one are taken out of the graph, and a comment,
``%%% ::presuppositions 0,2>1``, says that concepts 0 and 2 were in a box that box 1 presupposes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TextIO

from perin.errors import Report
from perin.graphs.codecs import Codec, Lines, header, pmb
from perin.graphs.graph import Graph, Node

CONCEPT = re.compile(r'[^\s"]\S*\.[a-z]\.[0-9]{1,3}')
SEPARATOR = re.compile(r"[A-Z]{4,}")
"""Relates boxes."""
ROLE = re.compile(r"[A-Z](?:[A-Za-z0-9-]*[a-z][A-Za-z0-9-]*|[A-Z0-9]{0,2})")
"""A role (it has a small letter) or an operator (three capitals)."""
CONCEPT_INDEX = re.compile(r"[-+][0-9]{1,4}")
SEPARATOR_INDEX = re.compile(r"([-+<>])([0-9]{1,4})")
POINTER = re.compile(r"([<>])([0-9]{1,4})")
PRESUPPOSITION, PRESUPPOSITIONS = "PRESUPPOSITION", "presuppositions"
FORWARD = frozenset(("Of", "MadeOf", "MemberOf", "PartOf", "SubOf"))
"""Roles that end like inverse ones."""
_NUMBERS = r"[0-9]{1,4}(?:,[0-9]{1,4})*"
_PRESUPPOSED = re.compile(rf"((?:{_NUMBERS})?)>({_NUMBERS})")


def _turned(label: str) -> str | None:
    """The role that an inverse role stands for; None for the others.

    >>> _turned("AttributeOf"), _turned("PartOf"), _turned("Theme")
    ('Attribute', None, None)
    """
    return label.removesuffix("Of") if label.endswith("Of") and label not in FORWARD else None


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


class _SequenceBuilder(pmb.Builder):
    nothing = "there is no concept and no box"

    def build(self) -> bool:
        sequence = self._sequence()
        self._add_boxes(sequence)
        homes = self._homes(sequence)
        for index, concept in enumerate(sequence.concepts):
            node = self.boxes.referent(str(index))
            self.boxes.labels[node] = concept.label
            self.boxes.member(homes[index], node)
        for index, concept in enumerate(sequence.concepts):
            source = self.boxes.referent(str(index))
            for line, label, value in concept.roles:
                target, turned = self._target(sequence, index, line, value), _turned(label)
                if turned and target not in self.boxes.boxes.values():
                    self.boxes.role(homes[index], turned, target, source)
                else:
                    self.boxes.role(homes[index], label, source, target)
        return bool(sequence.concepts or sequence.boxes)

    def _homes(self, sequence: _Sequence) -> list[int]:
        """The box of each concept: that of the text, or the box of a presupposition."""
        homes = [self.boxes.box(str(concept.box)) for concept in sequence.concepts]
        count = len(sequence.boxes) + 1
        given = self.pairs.pop(PRESUPPOSITIONS, "").split()
        for number, text in enumerate(given, start=count):
            match = _PRESUPPOSED.fullmatch(text)
            parts = match.groups() if match else ("", "")
            concepts, boxes = ([int(number) for number in part.split(",") if number] for part in parts)
            if not boxes or max(boxes) >= count + len(given) or any(index >= len(homes) for index in concepts):
                self.fault(f"{text!r} is not a presupposition of existing concepts and boxes", self.document.line)
                continue
            box = self.boxes.box(str(number))
            for other in boxes:
                self.boxes.relation(box, PRESUPPOSITION, self.boxes.box(str(other)))
            for index in concepts:
                homes[index] = box
        return homes

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
                self.fault(f"{label} points to a box that does not exist", line)
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
            self.fault(f"{value} points to a box that does not exist; it is read as a constant", line)
        return self.boxes.constant(value if value.startswith('"') else f'"{value}"')


def read(lines: Lines, source: str, report: Report) -> Iterator[tuple[int, Graph]]:
    """Read the graphs of a file, each a block of lines or each a line."""
    return pmb.read_documents(pmb.documents(lines, _is_whole), _SequenceBuilder, source, report)


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


def write(graphs: Iterable[Graph], stream: TextIO) -> None:
    """Write graphs, each after its comments and before a blank line.

    InputError for what the notation can't say: a box that several relations lead to, a role that holds neither in the
    box of its source nor in that of its target, a concept in several boxes or in none, labels of another form.
    """
    pmb.write_graphs(graphs, _SequenceWriter, stream)


class _SequenceWriter(pmb.BoxWriter):
    """Sorts the nodes of a graph by what they are, takes out presuppositions, and puts the rest in a sequence."""

    notation = "SBN"

    def __init__(self, graph: Graph) -> None:
        super().__init__(graph)
        if len(self.kinds) < len(graph.nodes):
            raise self.unsayable("several of its nodes have the same id")
        self.boxes: dict[int, list[int]] = {id: [] for id, kind in self.kinds.items() if kind == "box"}
        """Boxes and the concepts that are written in them."""
        self.homes: dict[int, int] = {}
        """Concepts and roles that are in a box, and the box."""
        self.related: dict[int, tuple[int, str]] = {}
        """Boxes that a relation leads to: from which box, and its label."""
        self.roles: dict[int, list[tuple[str, int]]] = {id: [] for id, kind in self.kinds.items() if kind == "concept"}
        """Concepts and their roles: label and value."""
        self.presupposed: dict[int, list[int]] = {}
        """Boxes that are taken out, and the boxes that presuppose each."""
        self._sort_edges()
        self._sort_roles()
        tops = {id for id in self.boxes if not graph.incoming(id)}
        if set(graph.tops) != tops or len(graph.tops) > len(tops):
            raise self.unsayable("its tops are not the boxes that nothing points to")
        self.order = self._box_order()
        self.texts = self._take_out_presuppositions()
        self.concepts = [concept for box in self.order for concept in self.boxes[box]]

    def lines(self) -> Iterator[str]:
        pairs = header.pairs(self.graph, **pmb.IMPLIED)
        if PRESUPPOSITIONS in pairs:
            raise self.unsayable(f"it has a field {PRESUPPOSITIONS!r} of its own")
        if self.presupposed:
            pairs[PRESUPPOSITIONS] = " ".join(self._presupposition(box) for box in self.presupposed)
        for name, value in pairs.items():
            yield f"{pmb.COMMENT} ::{name} {value}"
        width = max((len(self.graph.node(id).label or "") for id in self.concepts), default=0)
        for number, box in enumerate(self.order):
            if number:
                yield " " * (width + 2) + self._opening(box)
            for id in self.boxes[box]:
                roles = [f"{label} {self._value(label, target, id)}" for label, target in self.roles[id]]
                yield f"{self.graph.node(id).label:<{width}}  {' '.join(roles)}".rstrip()

    def kind_of(self, node: Node, label: str) -> str:
        if len(label) > 1 and label[0] == label[-1] == '"' and _QUOTABLE.fullmatch(label[1:-1]):
            return "constant"
        if CONCEPT.fullmatch(label):
            return "concept"
        if ROLE.fullmatch(label):
            return "role"
        raise self.unsayable(f"the label {label!r} of node {node.id} is no concept, constant, role or operator")

    def _sort_edges(self) -> None:
        for edge in self.graph.edges:
            ends = self.ends(edge)
            if edge.label == pmb.MEMBER and ends in (("box", "concept"), ("box", "role")):
                if edge.target in self.homes:
                    raise self.unsayable(f"node {edge.target} is in several boxes")
                self.homes[edge.target] = edge.source
            elif ends == ("box", "box") and edge.label and SEPARATOR.fullmatch(edge.label):
                if edge.label == PRESUPPOSITION and self._only_presupposes(edge.source):
                    self.presupposed.setdefault(edge.source, []).append(edge.target)
                elif edge.target in self.related or edge.source == edge.target:
                    raise self.unsayable(f"several relations lead to box {edge.target}, and SBN opens a box by one")
                else:
                    self.related[edge.target] = (edge.source, edge.label)
            elif edge.label is not None or "role" not in ends or None in ends:
                raise self.unsayable(f"{pmb.named(edge)} leads from {_a(ends[0])} to {_a(ends[1])}")

    def _only_presupposes(self, box: int) -> bool:
        """Whether all relations of a box, and all that leads to it, are presuppositions."""
        relations = [edge for edge in self.graph.outgoing(box) if self.kinds.get(edge.target) == "box"]
        return all(edge.label == PRESUPPOSITION for edge in (*relations, *self.graph.incoming(box)))

    def _sort_roles(self) -> None:
        if not self.roles.keys() <= self.homes.keys():
            raise self.unsayable("a concept is in no box")
        for concept in self.roles:
            self.boxes[self.homes[concept]].append(concept)
        constants = [node.label for node in self.graph.nodes if self.kinds[node.id] == "constant"]
        used = set()
        for node in self.graph.nodes:
            if self.kinds[node.id] == "role":
                used |= self._sort_role(node)
        if len(set(constants)) < len(constants) or any(
            kind == "constant" and id not in used for id, kind in self.kinds.items()
        ):
            raise self.unsayable("a constant is there twice, or is no value of a role")

    def _sort_role(self, node: Node) -> set[int]:
        """Give a role to its source, or turned round to its target; its ends."""
        label, shown = node.label or "", f"the role {node.label} (node {node.id})"
        source, target = self.role_ends(node)
        home = self.homes.get(node.id, self.homes.get(source))
        if node.id not in self.homes and source in self.roles:
            if _turned(label) and self.kinds[target] != "box":
                raise self.unsayable(f"{shown} would be read as {_turned(label)} turned round")
            self.roles[source].append((label, target))
        elif self._is_inverse(label, source, target, home):
            self.roles[target].append((f"{label}Of", source))
        elif source not in self.roles and label.isupper():
            raise self.unsayable(f"{shown} begins at no concept, and an operator can't be turned round")
        else:
            raise self.unsayable(f"{shown} is not in the box of a concept that could carry it")
        return {source, target}

    def _is_inverse(self, label: str, source: int, target: int, home: int | None) -> bool:
        """Whether the target can carry a role, turned round: ``AttributeOf``.  Operators have no inverse."""
        has_inverse = not label.isupper() and _turned(f"{label}Of") is not None
        held = home is not None and home == self.homes.get(target) != self.homes.get(source)
        return has_inverse and held and target in self.roles and self.kinds[source] != "box"

    def _box_order(self) -> list[int]:
        """Boxes in an order in which relations lead forward; the first is one that no relation leads to."""
        written = [box for box in self.boxes if box not in self.presupposed]
        children: dict[int, list[int]] = {box: [] for box in self.boxes}
        for box, (parent, _) in self.related.items():
            children[parent].append(box)
        order = []
        stack = [box for box in reversed(written) if box not in self.related]
        while stack:
            box = stack.pop()
            order.append(box)
            stack += reversed(children[box])
        if len(order) < len(written) or not order:
            raise self.unsayable("its boxes lead round in a circle, or it has none")
        return order

    def _take_out_presuppositions(self) -> dict[int, int]:
        """Move what is presupposed to the outermost box around the presupposing one; the box that each box became."""
        texts = {box: box for box in self.order}
        for box in self.presupposed:
            outer, steps = box, 0
            while outer in self.presupposed or outer in self.related:
                outer = self.presupposed[outer][0] if outer in self.presupposed else self.related[outer][0]
                steps += 1
                if steps > len(self.boxes):
                    raise self.unsayable("its boxes lead round in a circle, or it has none")
            texts[box] = outer
        moved: dict[int, list[int]] = {box: [] for box in self.order}
        for box in self.presupposed:
            moved[texts[box]] += self.boxes[box]
        for box, concepts in moved.items():
            self.boxes[box] = concepts + self.boxes[box]
        return texts

    def _presupposition(self, box: int) -> str:
        numbers = {box: number for number, box in enumerate([*self.order, *self.presupposed])}
        members = [str(place) for place, concept in enumerate(self.concepts) if self.homes[concept] == box]
        presupposing = [str(numbers[other]) for other in self.presupposed[box]]
        return f"{','.join(members)}>{','.join(presupposing)}"

    def _opening(self, box: int) -> str:
        if box not in self.related:
            return UNRELATED
        parent, label = self.related[box]
        return f"{label} <{self.order.index(box) - self.order.index(parent)}"

    def _value(self, label: str, target: int, source: int) -> str:
        if self.kinds[target] == "concept":
            return f"{self.concepts.index(target) - self.concepts.index(source):+d}"
        if self.kinds[target] == "box":
            distance = self.order.index(target) - self.order.index(self.texts[self.homes[source]])
            return f"{'>' if distance > 0 else '<'}{abs(distance)}"
        text = (self.graph.node(target).label or "")[1:-1]
        is_index = CONCEPT_INDEX.fullmatch(text) or POINTER.fullmatch(text)
        return text if _BARE.fullmatch(text) and label not in _NAMING and not is_index else f'"{text}"'


def _a(kind: str | None) -> str:
    return f"a {kind}" if kind else "nothing"


CODEC = Codec("sbn", "sequence notation of the Parallel Meaning Bank 4 and 5", (".sbn",), ("drg",), read, write)
