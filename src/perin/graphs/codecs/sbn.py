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

from collections.abc import Iterator
from dataclasses import dataclass, field

from perin.graphs.codecs.codec import Codec, Lines
from perin.graphs.codecs.pmb_documents import Builder, documents, read_documents
from perin.graphs.codecs.sbn_words import CONCEPT, CONCEPT_INDEX, POINTER, ROLE, SEPARATOR, SEPARATOR_INDEX
from perin.graphs.codecs.sbn_writer import UNRELATED, write
from perin.graphs.faults import Report
from perin.graphs.graph import Graph


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


CODEC = Codec("sbn", "sequence notation of the Parallel Meaning Bank 4 and 5", (".sbn",), ("drg",), read, write)
