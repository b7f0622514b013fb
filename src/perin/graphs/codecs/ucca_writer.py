"""Writing UCCA XML: tokens from anchors, units from nodes, and what the format has no place for in extra attributes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, TextIO

from perin.errors import InputError
from perin.graphs.codecs import header
from perin.graphs.codecs.ucca_passage import WRAPPER
from perin.graphs.graph import Anchor, Edge, Graph, Node, Property, Scalar

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
            yield self._edge(name, entry["labels"], _properties(entry.get("attributes", {})))
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
        and all(_is_sayable(Edge(0, 0, label, _properties(attributes))) for label in (*labels, None))
    )


def _properties(attributes: dict[str, Scalar]) -> tuple[Property, ...]:
    return tuple(Property(name, value) for name, value in attributes.items())


def _tag(name: str, end: str = "", /, **attributes: str) -> str:
    return (
        f"<{name}" + "".join(f' {key}="{value.translate(_ESCAPES)}"' for key, value in attributes.items()) + f"{end}>"
    )
