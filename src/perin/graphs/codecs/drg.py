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
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TextIO

from perin.errors import Report
from perin.graphs.codecs import Codec, Lines, header, pmb
from perin.graphs.graph import Edge, Graph, Node

_REFERENT = "REF"
_BOX = re.compile("b[0-9]+")
_CONCEPT = re.compile(r"\S+\.[a-z]\.[0-9?]{1,3}")
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


class _ClauseBuilder(pmb.Builder):
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
    return pmb.read_documents(pmb.documents(lines), _ClauseBuilder, source, report)


def write(graphs: Iterable[Graph], stream: TextIO) -> None:
    """Write graphs, each after its comments and before a blank line; InputError for one that is no graph of boxes.

    A referent is in each box that an ``in`` edge leads from; a role or operator is in the box that one leads from, else
    in that of its source.
    """
    pmb.write_graphs(graphs, _ClauseWriter, stream)


class _ClauseWriter(pmb.BoxWriter):
    """Names boxes ``b0``, ``b1``, … and referents ``x0``, ``x1``, …, and tells what holds in which box."""

    notation = "clauses"

    def __init__(self, graph: Graph) -> None:
        super().__init__(graph)
        self.homes: dict[int, list[int]] = {}
        for edge in graph.edges:
            if edge.label == pmb.MEMBER and self.kinds.get(edge.source) == "box":
                self.homes.setdefault(edge.target, []).append(edge.source)
        counts: Counter[str] = Counter()
        self.names: dict[int, str] = {}
        for node in graph.nodes:
            letter = {"box": "b", "concept": "x"}.get(self.kinds[node.id])
            self.names[node.id] = f"{letter}{counts[letter]}" if letter else node.label or ""
            counts[letter or ""] += 1

    def kind_of(self, node: Node, label: str) -> str:
        if label[:1] == '"':
            return "constant"
        if not label or any(character.isspace() for character in label) or "%" in label:
            raise self.unsayable(f"the label {label!r} of node {node.id} is no word")
        return "concept" if _CONCEPT.fullmatch(label) else "role"

    def lines(self) -> Iterator[str]:
        for name, value in header.pairs(self.graph, **pmb.IMPLIED).items():
            yield f"{pmb.COMMENT} ::{name} {value}"
        for node in self.graph.nodes:
            if self.kinds[node.id] == "concept":
                yield from self._concept(node)
            elif self.kinds[node.id] == "role":
                yield self._role(node)
        for edge in self.graph.edges:
            if relation := self._relation(edge):
                yield relation

    def _concept(self, node: Node) -> Iterator[str]:
        homes = self.homes.get(node.id, [])
        if not homes:
            raise self.unsayable(f"the concept {node.label} (node {node.id}) is in no box")
        for home in homes:
            yield f"{self.names[home]} REF {self.names[node.id]}"
        lemma, kind, sense = (node.label or "").rsplit(".", 2)
        yield f'{self.names[homes[0]]} {lemma} "{kind}.{sense}" {self.names[node.id]}'

    def _role(self, node: Node) -> str:
        source, target = self.role_ends(node)
        homes = self.homes.get(node.id) or self.homes.get(source, [])[:1]
        if len(homes) != 1:
            where = "in several boxes" if homes else "in no box, nor is its source"
            raise self.unsayable(f"the role {node.label} (node {node.id}) is {where}")
        return f"{self.names[homes[0]]} {node.label} {self.names[source]} {self.names[target]}"

    def _relation(self, edge: Edge) -> str | None:
        ends = self.ends(edge)
        if ends == ("box", "box") and edge.label and edge.label not in (pmb.MEMBER, _REFERENT):
            return f"{self.names[edge.source]} {edge.label} {self.names[edge.target]}"
        if edge.label == pmb.MEMBER and ends in (("box", "concept"), ("box", "role")):
            return None
        if edge.label is None and "role" in ends and None not in ends:
            return None
        raise self.unsayable(f"{pmb.named(edge)} leads from {ends[0] or 'nothing'} to {ends[1] or 'nothing'}")


CODEC = Codec(
    "drg", "clauses of the Parallel Meaning Bank, notation of release 3", (".clf", ".drg"), ("drg",), read, write
)
