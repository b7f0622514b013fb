"""UCCA XML, the standard form of the UCCA corpora: a document a passage, or several passages in a ``<corpus>``.

A unit is a node; the terminals that it spans become its anchors.  The format holds tokens but no text, so the text and
the characters of each token are written as extra attributes; where they are missing,
:mod:`perin.graphs.codecs.spacing` guesses the spaces.  Implicit units are no nodes, as in MRP: a node's ``extra`` lists
those below it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from perin.errors import InputError
from perin.graphs.codecs import header
from perin.graphs.codecs.codec import Codec, Lines
from perin.graphs.codecs.mrp import Malformed
from perin.graphs.codecs.spacing import aligned, spaced
from perin.graphs.codecs.ucca_passage import Arc, Attributes, BrokenXML, Item, Passage, passages
from perin.graphs.codecs.ucca_writer import IMPLIED, TOPS, write
from perin.graphs.faults import Finding, Report, Severity
from perin.graphs.graph import Anchor, Edge, Graph, Node, Property, Scalar

_TERMINALS, _UNITS = "0", "1"
_LINKAGE = "LKG"


def read(lines: Lines, source: str, report: Report) -> Iterator[tuple[int, Graph]]:
    """Read passages; one without an id is called by its number in the file."""
    count = 0
    try:
        for count, passage in enumerate(passages(lines, source), start=1):
            yield passage.line, _Decoder(passage, str(count), source, report).graph()
    except BrokenXML as fault:
        if not count:
            raise InputError(str(fault), source=source, line=fault.line) from None
        report(Finding(str(fault), source, fault.line))


class _Decoder:
    """Turns one passage into a graph."""

    def __init__(self, passage: Passage, number: str, source: str, report: Report) -> None:
        self.passage = passage
        self.id = passage.id or number
        self.source = source
        self.report = report
        self.terminals = passage.layers.get(_TERMINALS, [])
        items = passage.layers.get(_UNITS, [])
        self.implicit = {item.id for item in items if _truth(item.attributes.get("implicit", "")) and not item.arcs}
        self.implicit_numbers: dict[str, int] = {}
        self.units = [item for item in items if item.kind != _LINKAGE and item.id not in self.implicit]
        self.ids = {item.id: id for id, item in reversed(list(enumerate(self.units)))}

    def graph(self) -> Graph:
        self._check()
        graph = self._header()
        spans, text = self._spans(graph.input)
        nodes: list[Node] = []
        edges: list[Edge] = []
        for id, unit in enumerate(self.units):
            anchors: list[Anchor] = []
            implicit: list[dict[str, Any]] = []
            for arc in unit.arcs:
                if arc.target in spans:
                    anchors.append(spans[arc.target])
                elif arc.target in self.implicit:
                    implicit.append(self._implicit_entry(arc))
                elif arc.target in self.ids:
                    edges += _edges(id, self.ids[arc.target], arc)
                else:
                    self._fault(f"edge {unit.id} -> {arc.target} ends at no terminal and no unit", arc.line)
            extra = {"implicit": implicit} if implicit else None
            nodes.append(Node(id, None, (), tuple(sorted(anchors)) or None, extra))
        for name in sorted(self.implicit - self.implicit_numbers.keys()):
            self._fault(f"implicit unit {name} is left out: it has no parent", severity="note")
        return replace(graph, input=text, tops=self._tops(edges), nodes=tuple(nodes), edges=tuple(edges))

    def _check(self) -> None:
        if _UNITS not in self.passage.layers:
            self._fault(f"the passage has no layer {_UNITS}")
        for item in self.passage.layers.get(_UNITS, []):
            if item.kind == _LINKAGE:
                self._fault(f"linkage {item.id} is left out: MRP graphs have none", item.line, "note")
        for layer, items in self.passage.layers.items():
            if items and layer not in (_TERMINALS, _UNITS):
                self._fault(f"layer {layer} is left out", items[0].line, "note")
        seen: set[str] = set()
        for item in (*self.terminals, *self.units):
            if item.id in seen:
                self._fault(f"node {item.id} occurs twice", item.line)
            seen.add(item.id)

    def _header(self) -> Graph:
        pairs = {"id": self.id, **self.passage.extra}
        pairs.pop(TOPS, None)
        try:
            return header.graph(pairs, **IMPLIED)
        except Malformed as fault:
            self._fault(str(fault))
            return header.graph({"id": self.id}, **IMPLIED)

    def _spans(self, text: str | None) -> tuple[dict[str, Anchor], str | None]:
        """The characters of each terminal by its id, and the text, both guessed where the file does not say them."""
        ids = [terminal.id for terminal in self.terminals]
        spans = [span for terminal in self.terminals if (span := _span(terminal))]
        if len(spans) < len(ids):
            tokens = [terminal.attributes.get("text", "") for terminal in self.terminals]
            try:
                spans = aligned(tokens, text or "")
            except ValueError as error:
                if text:
                    self._fault(f"the tokens do not make up the text: {error}")
                text, spans = spaced(tokens)
        return dict(zip(ids, spans, strict=True)), text

    def _tops(self, edges: list[Edge]) -> tuple[int, ...]:
        if TOPS in self.passage.extra:
            names = self.passage.extra[TOPS].split()
            for name in names:
                if name not in self.ids:
                    self._fault(f"top {name} is no unit")
            return tuple(self.ids[name] for name in names if name in self.ids)
        below = {edge.target for edge in edges if not edge.get("remote")}
        return tuple(id for id in range(len(self.units)) if id not in below)

    def _implicit_entry(self, arc: Arc) -> dict[str, Any]:
        """What a node remembers of an implicit unit below it; the number tells whether two nodes share one."""
        number = self.implicit_numbers.setdefault(arc.target, len(self.implicit_numbers))
        entry: dict[str, Any] = {"id": number, "labels": arc.labels or ([arc.kind] if arc.kind else [])}
        if arc.attributes:
            entry["attributes"] = dict(_properties(arc.attributes))
        return entry

    def _fault(self, message: str, line: int | None = None, severity: Severity = "error") -> None:
        self.report(Finding(message, self.source, line or self.passage.line, self.id, severity))


def _edges(source: int, target: int, arc: Arc) -> list[Edge]:
    labels: list[str] | list[str | None] = arc.labels or [arc.kind]
    return [Edge(source, target, label, _properties(arc.attributes)) for label in labels]


def _properties(attributes: Attributes) -> tuple[Property, ...]:
    return tuple(Property(name, _value(value)) for name, value in attributes.items())


def _value(text: str) -> Scalar:
    return {"true": True, "false": False}.get(text.lower(), text)


def _truth(text: str) -> bool:
    return _value(text) is True


def _span(terminal: Item) -> Anchor | None:
    try:
        return Anchor(int(terminal.extra["from"]), int(terminal.extra["to"]))
    except (KeyError, ValueError):
        return None


CODEC = Codec("ucca", "UCCA XML, a passage a document or several in <corpus>", (".xml",), ("ucca",), read, write)
