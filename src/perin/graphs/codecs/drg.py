"""Discourse representation structures as clauses, the notation of the Parallel Meaning Bank up to release 4.

    %%% Tom sleeps .
    b1 REF x1             % Tom [0...3]
    b1 Name x1 "tom"      % Tom [0...3]
    b1 male "n.02" x1     % Tom [0...3]
    b1 PRESUPPOSITION b2  % Tom [0...3]

Each clause begins with its box: referents (``REF``), concepts (lemma, part of speech and sense, referent), relations to
another box, roles and operators with two arguments.  The places of the words give the sentence; a graph of boxes has no
anchors.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from perin.graphs.codecs.codec import Codec, Lines
from perin.graphs.codecs.pmb import Builder, documents, read_documents
from perin.graphs.faults import Report
from perin.graphs.graph import Graph

_REFERENT = "REF"
_BOX = re.compile("b[0-9]+")
_SENSE = re.compile(r'"([a-z]\.[0-9?]{1,3})"')


@dataclass(frozen=True)
class _Clause:
    line: int
    box: str
    operator: str
    arguments: tuple[str, ...]

    @property
    def is_referent(self) -> bool:
        return self.operator == _REFERENT and len(self.arguments) == 1

    @property
    def is_relation(self) -> bool:
        return self.operator != _REFERENT and len(self.arguments) == 1

    @property
    def sense(self) -> str | None:
        """Part of speech and number where the clause is a concept."""
        match = _SENSE.fullmatch(self.arguments[0]) if len(self.arguments) == 2 else None
        return match[1] if match and not self.arguments[1].startswith('"') else None


class _ClauseBuilder(Builder):
    nothing = "there is no clause"
    box_names: set[str]
    homes: dict[str, list[str]]
    """Referents and the boxes that they are in."""

    def build(self) -> bool:
        clauses = list(self._clauses())
        self._survey(clauses)
        for clause in clauses:
            self._add(clause)
        for name, node in self.boxes.referents.items():
            if self.boxes.labels[node] is None:
                self.fault(f"referent {name} has no concept", self.document.line, "note")
        return bool(clauses)

    def _survey(self, clauses: Iterable[_Clause]) -> None:
        """Tell boxes from referents; one without ``REF`` is in the box of its concept."""
        self.homes = {}
        for clause in clauses:
            if clause.is_referent:
                self.homes.setdefault(clause.arguments[0], []).append(clause.box)
        arguments = {argument for clause in clauses for argument in clause.arguments} - self.homes.keys()
        self.box_names = {clause.box for clause in clauses} | set(filter(_BOX.fullmatch, arguments))
        self.box_names |= {clause.arguments[0] for clause in clauses if clause.is_relation}
        for clause in clauses:
            if clause.sense and clause.arguments[1] not in self.box_names:
                self.homes.setdefault(clause.arguments[1], [clause.box])

    def _clauses(self) -> Iterator[_Clause]:
        for line, words, _ in self.document.body:
            if len(words) in (3, 4) and not any(word.startswith('"') for word in words[:2]):
                yield _Clause(line, words[0], words[1], tuple(words[2:]))
            elif words:
                shown = " ".join(words)[:60]
                self.fault(f"no clause of a box, an operator and one or two arguments: {shown!r}", line)

    def _add(self, clause: _Clause) -> None:
        box = self.boxes.box(clause.box)
        first = clause.arguments[0]
        if len(clause.arguments) == 1 and (first.startswith('"') or (clause.is_referent and first in self.box_names)):
            self.fault(f"{clause.operator} can't stand with {first}", clause.line)
        elif clause.is_referent:
            self.boxes.member(box, self.boxes.referent(first))
        elif clause.is_relation:
            self.boxes.relation(box, clause.operator, self.boxes.box(first))
        elif clause.sense:
            self._concept(clause, f"{clause.operator}.{clause.sense}")
        else:
            source, target = (self._argument(argument, clause.line) for argument in clause.arguments)
            self.boxes.role(box, clause.operator, source, target)

    def _concept(self, clause: _Clause, label: str) -> None:
        referent = clause.arguments[1]
        node = self._argument(referent, clause.line)
        before = "a box" if referent in self.box_names else self.boxes.labels[node]
        if before not in (None, label):
            self.fault(f"{referent} is {before} and can't be {label} too", clause.line)
            return
        self.boxes.labels[node] = label
        homes = self.homes[referent]
        self.boxes.member(self.boxes.box(homes[0]), node)
        if clause.box not in homes:
            message = f"{label} holds in {clause.box}, but {referent} is in {homes[0]}; the graph says the latter only"
            self.fault(message, clause.line, "note")

    def _argument(self, name: str, line: int) -> int:
        if name.startswith('"'):
            return self.boxes.constant(name)
        if name in self.box_names:
            return self.boxes.box(name)
        if name not in self.homes:
            self.fault(f"referent {name} is in no box", line)
            self.homes[name] = []
        return self.boxes.referent(name)


def read(lines: Lines, source: str, report: Report) -> Iterator[tuple[int, Graph]]:
    """Read the graphs of a file of clauses."""
    return read_documents(documents(lines), _ClauseBuilder, source, report)


CODEC = Codec("drg", "clauses of the Parallel Meaning Bank, notation of release 3", (".clf",), ("drg",), read, None)
