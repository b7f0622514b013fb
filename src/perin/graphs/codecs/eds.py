"""Native EDS text: elementary dependency structures as the DELPH-IN tools write them.

    # ::id 1
    # ::snt Abrams barks.
    {e2:
     e0:proper_q<0:6>[BV e1]
     e1:named<0:6>("Abrams"){x PERS 3, NUM sg}[]
     e2:_bark_v_1<7:13>{e TENSE pres}[ARG1 e1]
    }

A node has a name, a label, characters, a constant (the property CARG), a type with properties, and edges; it does not
span lines.  A label that could be mistaken for something else (such as ``a b`` or ``x<0:1>``) is written as a JSON
string, which other tools do not read.  The type of a node, which MRP has no field for, is kept in the node's ``extra``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TextIO

from perin.errors import Finding, InputError, Report
from perin.graphs.codecs import Codec, Lines, header
from perin.graphs.codecs.mrp import Malformed
from perin.graphs.graph import Anchor, Edge, Graph, Node, Property, Scalar

_QUOTED = r'"(?:[^"\\]|\\.)*"'
_NAME = r'[^\s:,<(\[\]{}"|#]+'
_WORD = rf'(?:{_QUOTED}|[^\s,{{}}\[\]"]+)'
_PAIR = rf"{_WORD}[ \t]+{_WORD}"
_PAIRS = rf"{_PAIR}(?:[ \t]*,[ \t]*{_PAIR})*"
_NODE = re.compile(
    rf"(?P<name>{_NAME}):"
    rf'(?P<label>{_QUOTED}|[^\x00-\x20"][^\x00-\x20<({{\[]*(?:[<({{\[][^\x00-\x20<({{\[]*)*?)'
    r"(?:<(?:(?P<start>-?\d+):(?P<end>-?\d+)|(?P<chart>\d+#\d+|@\d+|\d+(?:[ ]\d+)*))>)?"
    rf"(?:\((?P<constant>{_QUOTED})\))?"
    rf"(?:\{{[ \t]*(?P<type>{_WORD})(?:[ \t]+(?P<properties>{_PAIRS}))?[ \t]*\}})?"
    rf"\[[ \t]*(?P<edges>{_PAIRS})?[ \t]*\](?=[ \t}}]|$)"
)
_PAIR_WORDS = re.compile(rf"({_WORD})[ \t]+({_WORD})")
_TOP = re.compile(rf"(?P<name>{_NAME}):(?=[ \t]|$)|:(?=[ \t}}]|$)")
_STATUS = re.compile(r"\((?:cyclic)?[ ]*(?:fragmented)?\)|\|")
_IDENTIFIER = re.compile(r"#([^\s{]+)[ \t]*(?=\{|$)")


@dataclass
class _Draft:
    """A graph that is being read; edges and tops go by the names of nodes in the text."""

    line: int
    pairs: dict[str, str]
    top: str | None = None
    begun: bool = False
    nodes: list[Node] = field(default_factory=list)
    ids: dict[str, int] = field(default_factory=dict)
    edges: list[tuple[int, int, str, str]] = field(default_factory=list)
    """Line, source, label, name of the target."""


class _Reader:
    """Reads line by line; a graph begins at ``{`` and ends at ``}`` wherever they stand."""

    def __init__(self, source: str, report: Report) -> None:
        self.source = source
        self.report = report
        self.pairs: dict[str, str] = {}
        self.draft: _Draft | None = None
        self.count = 0
        self.number = 0
        self.foreign = 0

    def read(self, lines: Lines) -> Iterator[tuple[int, Graph]]:
        for self.number, line in enumerate(lines, start=1):
            if self.draft is None and line.startswith("#"):
                line = self._comment(line)
            position = _skip(line, 0)
            while position < len(line):
                draft = self.draft
                if draft is None:
                    position = self._outside(line, position)
                elif line[position] == "}":
                    self.draft = None
                    yield draft.line, self._finished(draft)
                    position += 1
                else:
                    position = self._inside(draft, line, position)
                position = _skip(line, position)
        if self.draft is not None:
            self._fault("the graph is cut short: no '}' at its end", self.draft)
            yield self.draft.line, self._finished(self.draft)
        if self.foreign and not self.count:
            message = "no EDS: no graph in braces was found; is this another format?"
            raise InputError(message, source=self.source, line=self.foreign)

    def _comment(self, line: str) -> str:
        """Keep what a comment line says; returns the rest of the line (a graph behind ``#ID``)."""
        if identifier := _IDENTIFIER.match(line):
            self.pairs.setdefault("id", identifier[1])
            return line[identifier.end() :]
        self.pairs.update(header.comment_pairs(line))
        return ""

    def _outside(self, line: str, position: int) -> int:
        if line[position] == "{":
            self.count += 1
            self.draft = _Draft(self.number, {"id": str(self.count)} | self.pairs)
            self.pairs = {}
            return position + 1
        self.foreign = self.foreign or self.number
        self._fault(f"expected '{{' or a comment, found {_excerpt(line, position)}")
        return len(line)

    def _inside(self, draft: _Draft, line: str, position: int) -> int:
        if not draft.begun and (top := _TOP.match(line, position)):
            draft.begun, draft.top = True, top["name"]
            return top.end()
        if status := _STATUS.match(line, position):
            return status.end()
        draft.begun = True
        if node := _NODE.match(line, position):
            try:
                self._node(draft, node)
            except ValueError as error:
                self._fault(f"node {node['name']} can't be read: {error}", draft)
            return node.end()
        self._fault(f"expected a node such as e0:label<0:1>[ARG1 e1], found {_excerpt(line, position)}", draft)
        return len(line)

    def _node(self, draft: _Draft, match: re.Match[str]) -> None:
        id = len(draft.nodes)
        name = match["name"]
        if name in draft.ids:
            self._fault(f"node {name} occurs twice", draft)
        if match["chart"] is not None:
            self._fault(f"node {name}: <{match['chart']}> is no range of characters such as <0:1>", draft)
        properties = [Property(CONSTANT, _plain(match["constant"]))] if match["constant"] is not None else []
        properties += [Property(name, value) for name, value in _pairs(match["properties"])]
        anchors = None
        if match["start"] is not None and (match["start"], match["end"]) != ("-1", "-1"):
            anchors = (Anchor(int(match["start"]), int(match["end"])),)
        kind = _plain(match["type"] or UNSPECIFIC)
        extra = {"type": kind} if kind != UNSPECIFIC else None
        edges = [(self.number, id, label, target) for label, target in _pairs(match["edges"])]
        draft.nodes.append(Node(id, _plain(match["label"]), tuple(properties), anchors, extra))
        draft.ids.setdefault(name, id)
        draft.edges += edges

    def _finished(self, draft: _Draft) -> Graph:
        names = draft.pairs.pop(TOPS, draft.top or "").split()
        edges = []
        for line, source, label, target in draft.edges:
            if target in draft.ids:
                edges.append(Edge(source, draft.ids[target], label))
            else:
                self._fault(f"edge {label} of a node points to {target}, which is no node", draft, line)
        for name in names:
            if name not in draft.ids:
                self._fault(f"top {name} is no node", draft)
        try:
            graph = header.graph(draft.pairs, **IMPLIED)
        except Malformed as fault:
            self._fault(str(fault), draft)
            graph = header.graph({"id": draft.pairs["id"]}, **IMPLIED)
        tops = tuple(draft.ids[name] for name in names if name in draft.ids)
        return replace(graph, tops=tops, nodes=tuple(draft.nodes), edges=tuple(edges))

    def _fault(self, message: str, draft: _Draft | None = None, line: int | None = None) -> None:
        self.report(Finding(message, self.source, line or self.number, draft.pairs["id"] if draft else None))


def read(lines: Lines, source: str, report: Report) -> Iterator[tuple[int, Graph]]:
    """Read graphs; one without an id is called by its number in the file."""
    return _Reader(source, report).read(lines)


def write(graphs: Iterable[Graph], stream: TextIO) -> None:
    """Write graphs, each after its comment lines and before a blank line."""
    for graph in graphs:
        stream.write(encode(graph) + "\n\n")


def encode(graph: Graph) -> str:
    """A graph as EDS text; InputError for what the format can't say (edges with attributes, nodes without a label)."""
    names = node_names(graph)
    outgoing: dict[int, list[str]] = {}
    for edge in graph.edges:
        outgoing.setdefault(edge.source, []).append(f"{_word(edge.label or '')} {names[edge.target]}")
    pairs = header.pairs(graph, **IMPLIED)
    if len(graph.tops) > 1:
        pairs[TOPS] = " ".join(names[top] for top in graph.tops)
    lines = list(header.comment_lines(pairs))
    lines.append("{" + (names[graph.tops[0]] + ":" if graph.tops else ""))
    lines += [" " + _node_text(node, names[node.id], outgoing.get(node.id, [])) for node in graph.nodes]
    return "\n".join([*lines, "}"])


def _node_text(node: Node, name: str, edges: list[str]) -> str:
    rest = "".join(f"<{start}:{end}>" for start, end in node.anchors or ())
    constant, others = constant_first(node)
    properties = [(name, _text(value)) for name, value in others]
    if constant is not None:
        rest += f"({_quoted(_text(constant.value))})"
    kind = node_type(node)
    if properties or kind:
        listed = ", ".join(f"{_word(name)} {_word(value)}" for name, value in properties)
        rest += "{" + (_word(kind) if kind else UNSPECIFIC) + (" " + listed if listed else "") + "}"
    rest += f"[{', '.join(edges)}]"
    label = node.label or ""
    text = f"{name}:{label}{rest}"
    match = _NODE.fullmatch(text)
    return text if match and match["label"] == label else f"{name}:{_quoted(label)}{rest}"


def _text(value: Scalar) -> str:
    return value if type(value) is str else json.dumps(value)


def _word(text: str) -> str:
    return text if re.fullmatch(_WORD, text) and not text.startswith('"') else _quoted(text)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _plain(word: str) -> str:
    if not word.startswith('"'):
        return word
    text: str = json.loads(word, strict=False)
    text.encode()  # an unpaired surrogate is a ValueError
    return text


def _pairs(text: str | None) -> list[tuple[str, str]]:
    return [(_plain(name), _plain(value)) for name, value in _PAIR_WORDS.findall(text or "")]


def _skip(line: str, position: int) -> int:
    while position < len(line) and line[position] in " \t\r":
        position += 1
    return position


def _excerpt(line: str, position: int) -> str:
    text = line[position : position + 60]
    return text if len(line) <= position + 60 else text[:57] + "..."


# What the forms of EDS share: names for nodes, the type of a node, and what no form of EDS can say.


IMPLIED = {"framework": "eds", "flavor": 1}
CONSTANT = "CARG"
"""The property that has a place of its own."""
UNSPECIFIC = "u"
"""The type of a node whose type is not known."""
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


def constant_first(node: Node) -> tuple[Property | None, list[Property]]:
    """The constant of a node, wherever it stands among the properties, and the others in their order."""
    others = list(node.properties)
    constant = next((pair for pair in others if pair.name == CONSTANT), None)
    if constant is not None:
        others.remove(constant)
    return constant, others


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


CODEC = Codec("eds", "native EDS text of the DELPH-IN tools", (".eds",), ("eds",), read, write)
