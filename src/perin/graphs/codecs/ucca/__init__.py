"""UCCA XML, the standard form of the UCCA corpora: one document per passage, or several passages in a ``<corpus>``.

A unit is a node; the terminals that it spans become its anchors.  The format holds tokens but no text, so the text and
the characters of each token are written as extra attributes; where they are missing,
:mod:`perin.graphs.codecs.ucca.passage` guesses the spaces.  Implicit units are no nodes, as in MRP: a node's ``extra``
lists those below it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, TextIO

from perin.errors import Finding, InputError, Report, Severity
from perin.graphs.codecs import Codec, Lines, header
from perin.graphs.codecs.mrp import Malformed
from perin.graphs.codecs.ucca.passage import (
    WRAPPER,
    Arc,
    Attributes,
    BrokenXML,
    Item,
    Passage,
    aligned,
    passages,
    spaced,
)
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
        """The characters of each terminal by its id, and the text; both are guessed where the file lacks them."""
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


# Writing UCCA XML: tokens from anchors, units from nodes, and what the format has no place for in extra attributes.


IMPLIED = {"framework": "ucca", "flavor": 1}
TOPS = "tops"
"""The extra attribute that lists the tops where they are not the units without a primary parent."""

_ILLEGAL = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ESCAPES = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\t": "&#9;", "\n": "&#10;", "\r": "&#13;"}
)
_XML_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")


def write(graphs: Iterable[Graph], stream: TextIO) -> None:
    """Write one graph as a plain document, any other number of them inside ``<corpus>``."""
    stream.write('<?xml version="1.0" encoding="UTF-8"?>\n')
    documents = (encode(graph) for graph in graphs)
    first, second = next(documents, None), next(documents, None)
    if first is not None and second is None:
        stream.write(first)
        return
    stream.write(f"<{WRAPPER}>\n")
    for document in (first, second):
        stream.write(document or "")
    stream.writelines(documents)
    stream.write(f"</{WRAPPER}>\n")


def encode(graph: Graph) -> str:
    """A graph as a root element; InputError for what the format can't say (labels and properties of nodes)."""
    return "\n".join(_Encoder(graph).lines()) + "\n"


class _Encoder:
    """Names terminals and units of one graph and writes them line by line."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        tops = set(graph.tops)
        nodes = sorted(graph.nodes, key=lambda node: node.id not in tops)
        self.nodes = nodes
        self.units = {node.id: f"1.{number}" for number, node in enumerate(nodes, start=1)}
        self.spans = _spans(graph)
        self.terminals = {span: f"0.{number}" for number, span in enumerate(self.spans, start=1)}
        self.implicit: dict[int, str] = {}
        self._check()

    def lines(self) -> Iterator[str]:
        fields = header.pairs(self.graph, **IMPLIED)
        yield _tag("root", passageID=fields.pop("id", ""), annotationID="0")
        yield "  <attributes/>"
        below = {edge.target for edge in self.graph.edges if not edge.get("remote")}
        if [node.id for node in self.nodes if node.id not in below] != list(self.graph.tops):
            fields[TOPS] = " ".join(self.units[top] for top in self.graph.tops)
        yield "  " + _tag("extra", "/", **fields)
        yield '  <layer layerID="0">\n    <attributes/>'
        yield from (self._terminal(number, span) for number, span in enumerate(self.spans, start=1))
        yield '  </layer>\n  <layer layerID="1">\n    <attributes/>'
        for node in self.nodes:
            yield from self._unit(node)
        for name in self.implicit.values():
            yield f'    {_tag("node", ID=name, type="FN")}<attributes implicit="True"/></node>'
        yield "  </layer>\n</root>"

    def _terminal(self, number: int, span: Anchor) -> str:
        text = _ILLEGAL.sub("\ufffd", (self.graph.input or "")[span.start : span.end])
        kind = "Word" if any(map(str.isalnum, text)) else "Punctuation"
        attributes = _tag("attributes", "/", text=text, paragraph="1", paragraph_position=str(number))
        extra = _tag("extra", "/", **{"from": str(span.start), "to": str(span.end)})
        return f"    {_tag('node', ID=f'0.{number}', type=kind)}{attributes}{extra}</node>"

    def _unit(self, node: Node) -> Iterator[str]:
        yield f"    {_tag('node', ID=self.units[node.id], type=self._kind(node))}<attributes/>"
        for anchor in node.anchors or ():
            yield self._edge(self.terminals[anchor], ["Terminal"], ())
        labels: dict[tuple[int, tuple[Property, ...]], list[str]] = {}
        for edge in self.graph.outgoing(node.id):
            if edge.label is None:
                yield self._edge(self.units[edge.target], [], edge.attributes)
            else:
                labels.setdefault((edge.target, edge.attributes), []).append(edge.label)
        for (target, attributes), tags in labels.items():
            yield self._edge(self.units[target], tags, attributes)
        for entry in (node.extra or {}).get("implicit", ()):
            name = self.implicit.setdefault(entry["id"], f"1.{len(self.units) + len(self.implicit) + 1}")
            yield self._edge(name, entry["labels"], _edge_properties(entry.get("attributes", {})))
        yield "    </node>"

    def _edge(self, target: str, tags: list[str], attributes: tuple[Property, ...]) -> str:
        kind = {"type": tags[0]} if tags else {}
        values = {name: str(value) for name, value in attributes}
        categories = "".join(_tag("category", "/", tag=tag) for tag in tags)
        return f"      {_tag('edge', toID=target, **kind)}{_tag('attributes', '/', **values)}{categories}</edge>"

    def _kind(self, node: Node) -> str:
        """``PNCT`` for a leaf of punctuation that is one by its edges, else ``FN``."""
        incoming = self.graph.incoming(node.id)
        punctuation = bool(incoming) and all(edge.label == "U" for edge in incoming)
        return "PNCT" if punctuation and not self.graph.outgoing(node.id) else "FN"

    def _check(self) -> None:
        for node in self.graph.nodes:
            if node.label is not None or node.properties:
                raise self._unsayable(f"node {node.id} has a label or properties")
            if node.extra and not _is_implicit_list(node.extra):
                raise self._unsayable(f"node {node.id} has fields of its own ({', '.join(node.extra)})")
        for edge in self.graph.edges:
            if edge.source not in self.units or edge.target not in self.units:
                raise self._unsayable(f"edge {edge.source} -> {edge.target} has an end that is no node")
            if not _is_sayable(edge):
                raise self._unsayable(f"edge {edge.source} -> {edge.target} has a label or attributes unfit for XML")
        for top in self.graph.tops:
            if top not in self.units:
                raise self._unsayable(f"top {top} is no node")

    def _unsayable(self, message: str) -> InputError:
        return InputError(f"{message}, which UCCA XML can't say; mend it or write mrp", graph=self.graph.id)


def _spans(graph: Graph) -> list[Anchor]:
    """All anchors, each once, in order; words that no node is anchored to stand in between."""
    spans = {anchor for node in graph.nodes for anchor in node.anchors or ()}
    text = graph.input or ""
    covered = {position for start, end in spans for position in range(max(start, 0), min(end, len(text)))}
    free = "".join(" " if position in covered else character for position, character in enumerate(text))
    spans |= {Anchor(*word.span()) for word in re.finditer(r"\S+", free)}
    return sorted(spans)


def _is_sayable(edge: Edge) -> bool:
    names = [name for name, _ in edge.attributes]
    return (
        not (edge.extra or edge.normal is not None or _ILLEGAL.search(edge.label or ""))
        and len(set(names)) == len(names)
        and all(_XML_NAME.fullmatch(name) for name in names)
        and all(value is not None and not _ILLEGAL.search(str(value)) for _, value in edge.attributes)
    )


def _is_implicit_list(extra: Any) -> bool:
    """Whether a node's own fields are the list of implicit units that the reader makes."""
    entries = extra.get("implicit")
    return len(extra) == 1 and type(entries) is list and all(map(_is_implicit, entries))


def _is_implicit(entry: Any) -> bool:
    if type(entry) is not dict or not {"id", "labels"} <= entry.keys() <= {"id", "labels", "attributes"}:
        return False
    labels, attributes = entry["labels"], entry.get("attributes", {})
    return (
        type(entry["id"]) is int
        and type(labels) is list
        and all(type(label) is str for label in labels)
        and type(attributes) is dict
        and all(_is_sayable(Edge(0, 0, label, _edge_properties(attributes))) for label in (*labels, None))
    )


def _edge_properties(attributes: dict[str, Scalar]) -> tuple[Property, ...]:
    return tuple(Property(name, value) for name, value in attributes.items())


def _tag(name: str, end: str = "", /, **attributes: str) -> str:
    return (
        f"<{name}" + "".join(f' {key}="{value.translate(_ESCAPES)}"' for key, value in attributes.items()) + f"{end}>"
    )


CODEC = Codec("ucca", "UCCA XML, one passage or several in <corpus>", (".xml",), ("ucca",), read, write, "passage")
