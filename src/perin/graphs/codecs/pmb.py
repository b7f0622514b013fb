"""The text files of the Parallel Meaning Bank: a block of lines per graph, with comments above and behind its lines."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TextIO

from perin.errors import Finding, InputError, Report, Severity
from perin.graphs.codecs import Lines, header
from perin.graphs.codecs.mrp import Malformed
from perin.graphs.graph import Edge, Graph, Node

IMPLIED = {"framework": "drg", "flavor": 2}
MEMBER = "in"


class BoxGraph:
    """Gathers boxes, referents, constants and roles under their names in the text, and makes a graph of them."""

    def __init__(self) -> None:
        self.labels: list[str | None] = []
        self.referents: dict[str, int] = {}
        self.boxes: dict[str, int] = {}
        self._constants: dict[str, int] = {}
        self._homes: dict[int, int] = {}
        self._edges: dict[tuple[int, int, str], Edge] = {}
        self._roles: list[tuple[int, str, int, int]] = []

    def box(self, name: str) -> int:
        """The node of a box."""
        return self._node(self.boxes, name, None)

    def referent(self, name: str) -> int:
        """The node of a discourse referent, which gets its label later."""
        return self._node(self.referents, name, None)

    def constant(self, label: str) -> int:
        """The node of a constant, one for all its mentions; the label is in quotes."""
        return self._node(self._constants, label, label)

    def member(self, box: int, referent: int) -> None:
        """Put a referent into a box; the first box is its home."""
        self._homes.setdefault(referent, box)
        self.relation(box, MEMBER, referent)

    def relation(self, box: int, label: str, other: int) -> None:
        """An edge from a box; a second one of the same label and ends adds nothing."""
        self._edges.setdefault((box, other, label), Edge(box, other, label))

    def role(self, box: int, label: str, source: int, target: int) -> None:
        """A role or operator that holds in a box."""
        self._roles.append((box, label, source, target))

    def graph(self, pairs: Mapping[str, str]) -> Graph:
        """The graph with this header; its tops are the boxes that no edge enters.  ``Malformed`` for a bad header."""
        nodes = [Node(id, label) for id, label in enumerate(self.labels)]
        edges = list(self._edges.values())
        for box, label, source, target in self._roles:
            id = len(nodes)
            nodes.append(Node(id, label))
            edges += [Edge(source, id), Edge(id, target)]
            if self._homes.get(source) != box:
                edges.append(Edge(box, id, MEMBER))
        entered = {edge.target for edge in edges}
        tops = tuple(id for id in self.boxes.values() if id not in entered)
        return replace(header.graph(pairs, **IMPLIED), tops=tops, nodes=tuple(nodes), edges=tuple(edges))

    def _node(self, group: dict[str, int], name: str, label: str | None) -> int:
        if name not in group:
            group[name] = len(self.labels)
            self.labels.append(label)
        return group[name]


COMMENT = "%%%"
"""Begins a line above a graph.  Behind the words of a line, a single ``%`` begins a comment."""

_WORD = re.compile(r'"(?:[^"\\]|\\.)*"(?=\s|$)|\S+')
_PLACE = re.compile(r"\bp([0-9]{2})/d([0-9]{4})/(?:([a-z]{2})\.)?")
_COMMAND = re.compile(r"This output was generated|\s--[a-z]+\s")
_RANGE = re.compile(r"\s\[([0-9]{1,9})(?:\.\.\.|-)([0-9]{1,9})\]")
_WIDEST_GAP = 100
_LANGUAGES = {"en": "eng", "de": "deu", "it": "ita", "nl": "nld", "ja": "jpn", "zh": "zho"}


@dataclass
class Document:
    """The comments above a graph without their marks, and its numbered lines, each as words and a comment."""

    line: int
    comments: list[str] = field(default_factory=list)
    body: list[tuple[int, list[str], str]] = field(default_factory=list)

    def pairs(self) -> dict[str, str]:
        """The names and values of the header: given ones (``::id 1``), else what path, sentence and alignments say."""
        given: dict[str, str] = {}
        derived: dict[str, str] = {}
        for comment in self.comments:
            if pairs := header.comment_pairs(comment):
                given |= pairs
            elif place := _PLACE.search(comment):
                derived["id"] = place[1] + place[2]
                if place[3] in _LANGUAGES:
                    derived["language"] = _LANGUAGES[place[3]]
            elif not _COMMAND.search(comment):
                derived["snt"] = " ".join(word.replace("~", " ") for word in comment.split() if word != "ø")
        if text := aligned_text(comment for _, _, comment in self.body):
            derived["snt"] = text
        return derived | given


class Builder:
    """Makes a graph of a document; a notation says how in :meth:`build`."""

    nothing: str
    """What to say of a document without a graph."""

    def __init__(self, document: Document, number: int, source: str, report: Report) -> None:
        self.document = document
        self.pairs = {"id": str(number)} | document.pairs()
        self.source = source
        self.report = report
        self.boxes = BoxGraph()

    def build(self) -> bool:
        """Fill ``boxes`` from the document; False if there is nothing."""
        raise NotImplementedError

    def graph(self) -> Graph | None:
        """The graph; None, and a finding, if there is none."""
        if not self.build():
            self.fault(self.nothing, self.document.line)
            return None
        try:
            return self.boxes.graph(self.pairs)
        except Malformed as malformed:
            self.fault(str(malformed), self.document.line)
        return self.boxes.graph({"id": self.pairs["id"]})

    def fault(self, message: str, line: int, severity: Severity = "error") -> None:
        """Report something wrong with the document."""
        self.report(Finding(message, self.source, line, self.pairs["id"], severity))


class BoxWriter:
    """Writes a graph of boxes in a notation, which says what its nodes may be in :meth:`kind_of`."""

    notation: str

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.kinds = {node.id: self._kind(node) for node in graph.nodes}
        """Each node is a box, a concept, a role or a constant."""

    def kind_of(self, node: Node, label: str) -> str:
        """What a node with a label is."""
        raise NotImplementedError

    def lines(self) -> Iterator[str]:
        """The lines of the graph."""
        raise NotImplementedError

    def ends(self, edge: Edge) -> tuple[str | None, str | None]:
        """Where an edge leads from and to; None for anything but a node."""
        if edge.attributes or edge.normal is not None or edge.extra:
            raise self.unsayable(f"{named(edge)} has attributes or fields of its own")
        return self.kinds.get(edge.source), self.kinds.get(edge.target)

    def role_ends(self, node: Node) -> tuple[int, int]:
        """The source and the target of a role."""
        sources = [edge.source for edge in self.graph.incoming(node.id) if edge.label != MEMBER]
        targets = [edge.target for edge in self.graph.outgoing(node.id)]
        if len(sources) != 1 or len(targets) != 1 or "role" in (self.kinds[sources[0]], self.kinds[targets[0]]):
            raise self.unsayable(f"the role {node.label} (node {node.id}) does not link one node to another")
        return sources[0], targets[0]

    def unsayable(self, why: str) -> InputError:
        """The error that says why a graph can't be written."""
        return InputError(f"can't be written as {self.notation}: {why}", graph=self.graph.id)

    def _kind(self, node: Node) -> str:
        if node.properties or node.anchors is not None or node.extra:
            raise self.unsayable(f"node {node.id} has properties, anchors or fields of its own")
        return "box" if node.label is None else self.kind_of(node, node.label)


def named(edge: Edge) -> str:
    """An edge as messages name it."""
    return f"edge {edge.source} -> {edge.target} ({edge.label})"


def write_graphs(graphs: Iterable[Graph], writer: type[BoxWriter], stream: TextIO) -> None:
    """Write graphs, each after its comments and before a blank line."""
    for graph in graphs:
        stream.write("\n".join(writer(graph).lines()) + "\n\n")


def documents(lines: Lines, is_whole: Callable[[list[str]], bool] = lambda words: False) -> Iterator[Document]:
    """Split lines at blank lines and at comments above the next graph.

    A line that ``is_whole`` shows that each line of its block is a graph of its own.
    """
    document: Document | None = None
    has_whole_lines = False
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        is_comment = text.startswith(COMMENT)
        if not text or (is_comment and document and document.body):
            if document and document.body:
                yield document
                document = None
            has_whole_lines = False
        if is_comment:
            document = document or Document(number)
            document.comments.append(text.lstrip("%").strip())
        elif text:
            document = document or Document(number)
            words, comment = _split(text)
            document.body.append((number, words, comment))
            if has_whole_lines or is_whole(words):
                has_whole_lines = True
                yield from _line_by_line(document)
                document = None
    if document and document.body:
        yield document


def read_documents(
    documents: Iterable[Document], builder: type[Builder], source: str, report: Report
) -> Iterator[tuple[int, Graph]]:
    """Read graphs; the id is the one in the document's header, else the document's number in the file."""
    for number, document in enumerate(documents, start=1):
        graph = builder(document, number, source, report).graph()
        if graph is not None:
            yield document.line, graph


def aligned_text(comments: Iterable[str]) -> str | None:
    """The sentence, put together from words with their places; None if they do not fit together.

    >>> aligned_text(["Tom [0...3]", "post~office [6...17] . [17...18]"])
    'Tom   post office.'
    """
    words: dict[int, tuple[int, str]] = {}
    for comment in comments:
        position = 0
        for match in _RANGE.finditer(comment):
            words[int(match[1])] = int(match[2]), comment[position : match.start()].strip()
            position = match.end()
    text = ""
    for start, (end, word) in sorted(words.items()):
        if not len(text) <= start <= len(text) + _WIDEST_GAP or end - start != len(word):
            return None
        text += " " * (start - len(text)) + word.replace("~", " ")
    return text or None


def _line_by_line(document: Document) -> Iterator[Document]:
    comments = document.comments
    for line, words, comment in document.body:
        yield Document(line, comments, [(line, words, comment)])
        comments = []


def _split(text: str) -> tuple[list[str], str]:
    """The words of a line and the comment behind them."""
    words: list[str] = []
    for match in _WORD.finditer(text):
        if match[0].startswith("%"):
            return words, text[match.start() + 1 :].strip()
        words.append(match[0])
    return words, ""
