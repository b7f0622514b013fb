"""AMR as PENMAN text, through the library ``penman``; Chinese AMR is read too.

    # ::id 1
    # ::snt The dog wants to bark.
    (w / want-01
          :ARG0 (d / dog)
          :ARG1 (b / bark-01
                :ARG0 d))

A blank line or a comment ends a graph.  What PENMAN has no words for travels in two more comment lines, which other
tools skip: ``# ::anchors d=4:7`` and ``# ::mrp {…}``.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TextIO, TypeAlias

from perin.errors import Finding, InputError, Report, Severity
from perin.graphs.codecs import Codec, Lines, header, mrp
from perin.graphs.codecs.amr import chinese
from perin.graphs.codecs.amr.reader import ANCHORS, IMPLIED, PATCH, Tree, graph_from_tree
from perin.graphs.codecs.mrp import Malformed
from perin.graphs.codecs.penman_text import ALIGNMENT, concept, constant, inverse_role, role
from perin.graphs.graph import Edge, Graph, Node
from perin.graphs.normalisation import normal_edge

_BRACKETS = re.compile(r'[()]|"(?:[^"\\]|\\.)*(?P<closed>")?')
_NO_SPACE = re.compile(r"\S")
_WHOLE_LINE = re.compile(r"#+\s*::(snt|tok)(?:\s+(.*))?")

logging.getLogger("penman").addHandler(logging.NullHandler())  # its warnings are findings here


@dataclass
class _Block:
    """The text of one graph: from its first parenthesis to the one that closes it."""

    line: int
    pairs: dict[str, str]
    body: list[str] = field(default_factory=list)
    depth: int = 0
    unclosed: int | None = None
    """The line of a string without an end."""

    def take(self, line: str, start: int) -> int | None:
        """Take the part of a line that belongs to the graph; returns where the graph ends, or None if it goes on."""
        for match in _BRACKETS.finditer(line, start):
            if match[0].startswith('"'):
                self.unclosed = self.unclosed or (None if match["closed"] else self.line + len(self.body))
                continue
            self.depth += 1 if match[0] == "(" else -1
            if not self.depth:
                self.body.append(line[start : match.end()])
                return match.end()
        self.body.append(line[start:])
        return None


class _Reader:
    """Reads graph by graph."""

    def __init__(self, source: str, report: Report) -> None:
        self.source = source
        self.report = report
        self.pairs: dict[str, str] = {}
        self.count = 0

    def read(self, lines: Lines) -> Iterator[tuple[int, Graph]]:
        for block in self._blocks(lines):
            graph = self._graph(block)
            if graph is not None:
                yield block.line, graph

    def _blocks(self, lines: Lines) -> Iterator[_Block]:
        block: _Block | None = None
        number = 0
        for number, line in enumerate(lines, start=1):
            text = line.strip()
            if block and (not text or text.startswith("#")):
                self._cut_short(block)
                block = None
            if text.startswith("#"):
                self._comment(text, number)
                continue
            position: int | None = 0
            while position is not None and (start := _NO_SPACE.search(line, position)):
                if block is None:
                    if start[0] != "(":
                        self._fault(f"expected '(' or a comment, found {_shown(line[start.start() :])}", number)
                        break
                    self.count += 1
                    block = _Block(number, {"id": str(self.count)} | self.pairs)
                    self.pairs = {}
                position = block.take(line, start.start())
                if position is not None:
                    yield block
                    block = None
        if block:
            self._cut_short(block)
        self._expect_no_pairs(number)

    def _comment(self, text: str, number: int) -> None:
        whole = _WHOLE_LINE.fullmatch(text)
        pairs = {whole[1]: whole[2] or ""} if whole else header.comment_pairs(text)
        if "id" in pairs:
            self._expect_no_pairs(number)
        self.pairs.update(pairs)

    def _expect_no_pairs(self, number: int) -> None:
        if "id" in self.pairs:
            id = self.pairs["id"]
            self.pairs = {}
            self._fault("no graph stands below its comment lines", number, id)

    def _graph(self, block: _Block) -> Graph | None:
        def fault(message: str, severity: Severity) -> None:
            self._fault(message, block.line, block.pairs["id"], severity)

        if block.unclosed:
            self._fault("a string is not closed in its line", block.unclosed, block.pairs["id"])
            return None
        plain = None if block.pairs.keys() & {ANCHORS, PATCH} else chinese.plain(block.body)
        try:
            tree = self._tree(plain or block.body, block)
            if tree is None:
                return None
            is_chinese = plain or (len(tree[1]) == 1 and chinese.counts_word(tree[0] or "", block.pairs))
            words = chinese.words(block.pairs.get("snt", "")) if is_chinese else None
            return graph_from_tree(tree, block.pairs, fault, words)
        except Malformed as malformed:
            fault(str(malformed), "error")
        return None

    def _tree(self, body: Sequence[str], block: _Block) -> Tree | None:
        import penman

        try:
            return next(penman.iterparse(body)).node  # type: ignore[no-any-return]
        except penman.DecodeError as error:
            found = _shown((error.text or "")[error.offset or 0 :])
            message = f"no PENMAN at {found}: {error.message}"
            self._fault(message, block.line + (error.lineno or 1) - 1, block.pairs["id"])
        except RecursionError:
            self._fault("the graph is nested too deeply", block.line, block.pairs["id"])
        return None

    def _cut_short(self, block: _Block) -> None:
        what = "a string is" if block.unclosed else f"{block.depth} parentheses are"
        self._fault(f"the graph is cut short: {what} not closed", block.unclosed or block.line, block.pairs["id"])

    def _fault(self, message: str, line: int, id: str | None = None, severity: Severity = "error") -> None:
        self.report(Finding(message, self.source, line, id, severity))


def read(lines: Lines, source: str, report: Report) -> Iterator[tuple[int, Graph]]:
    """Read graphs; one without an id is called by its number in the file."""
    return _Reader(source, report).read(lines)


def write(graphs: Iterable[Graph], stream: TextIO) -> None:
    """Write graphs, each after its comment lines and before a blank line."""
    for graph in graphs:
        stream.write(encode(graph) + "\n\n")


def _shown(text: str) -> str:
    text = text.strip()
    return repr(text if len(text) <= 40 else text[:37] + "...")


# From a graph to PENMAN: a tree is laid over the graph, and what it can't say goes into comment lines.


INDENT = 6


Branch: TypeAlias = tuple[int, bool]
"""The number of an edge of the graph, and whether it is written at its target."""


@dataclass
class _PenmanTree:
    """A tree over a graph, and in the order of its text the nodes with their variables and the edges."""

    tree: Tree
    variables: dict[int, str] = field(default_factory=dict)
    edges: list[Branch] = field(default_factory=list)


def encode(graph: Graph) -> str:
    """A graph as PENMAN with its comment lines; InputError for one that is empty or in pieces."""
    check(graph)
    layout = _lay_out(graph)
    pairs = header.pairs(graph, **IMPLIED)
    for name in (ANCHORS, PATCH):
        if name in pairs:
            raise unsayable(graph, f"it has a field '{name}', which is a name that comment lines use; rename the field")
    if any(node.anchors is not None for node in graph.nodes):
        pairs[ANCHORS] = _anchors(graph, layout)
    patch = _patch(graph, layout, graph_from_tree(layout.tree, pairs, _raise))
    if patch:
        pairs[PATCH] = json.dumps(patch, ensure_ascii=True).replace("::", ":\\u003a")
    return "\n".join([*header.comment_lines(pairs), _formatted(layout.tree, graph)])


def check(graph: Graph) -> None:
    """InputError for a graph without nodes, or with tops, edges or ids that are unsound."""
    if not graph.nodes:
        raise unsayable(graph, "it has no nodes")
    ids = {node.id for node in graph.nodes}
    if len(ids) < len(graph.nodes):
        raise unsayable(graph, "several of its nodes have the same id")
    for id in graph.tops:
        if id not in ids:
            raise unsayable(graph, f"top {id} is no node")
    for edge in graph.edges:
        if edge.source not in ids or edge.target not in ids:
            raise unsayable(graph, f"edge {edge.source} -> {edge.target} has an end that is no node")


def _lay_out(graph: Graph) -> _PenmanTree:
    top = graph.tops[0] if graph.tops else (graph.roots() or graph.nodes)[0].id
    branches = oriented(graph, top)
    names = _variables(graph.nodes)
    layout = _PenmanTree(_node_tree(graph.node(top), names))
    layout.variables[top] = names[top]
    stack: list[tuple[Tree, Iterator[Branch]]] = [(layout.tree, iter(branches[top]))]
    while stack:
        tree, rest = stack[-1]
        for number, is_inverse in rest:
            layout.edges.append((number, is_inverse))
            edge = graph.edges[number]
            other = edge.source if is_inverse else edge.target
            name = inverse_role(edge) if is_inverse else role(edge.label)
            if other in layout.variables:
                tree[1].append((name, names[other]))
                continue
            layout.variables[other] = names[other]
            child = _node_tree(graph.node(other), names)
            tree[1].append((name, child))
            stack.append((child, iter(branches[other])))
            break
        else:
            stack.pop()
    return layout


def oriented(graph: Graph, top: int) -> dict[int, list[Branch]]:
    """The edges to write at each node so that all nodes can be reached from the top.

    An edge stays at its source unless its source could not be reached otherwise.
    """
    branches: dict[int, list[Branch]] = {node.id: [] for node in graph.nodes}
    incoming: dict[int, list[int]] = {node.id: [] for node in graph.nodes}
    for number, edge in enumerate(graph.edges):
        branches[edge.source].append((number, False))
        incoming[edge.target].append(number)
    order = [node.id for node in graph.depth_first([top])]
    reached = set(order)
    for id in order:  # grows on the way
        for number in incoming[id]:
            source = graph.edges[number].source
            if source not in reached:
                branches[source].remove((number, False))
                branches[id].append((number, True))
                fresh = [node.id for node in graph.depth_first([source]) if node.id not in reached]
                order += fresh
                reached.update(fresh)
    if len(reached) < len(graph.nodes):
        raise unsayable(graph, f"it falls into {len(graph.components())} parts")
    return branches


def _variables(nodes: Sequence[Node]) -> dict[int, str]:
    """The first letter of the label, numbered from the second such node on, as is the custom."""
    counts: dict[str, int] = {}
    names = {}
    for node in nodes:
        letter = (node.label or "")[:1].lower()
        letter = letter if letter.isascii() and letter.isalpha() else "x"
        counts[letter] = counts.get(letter, 0) + 1
        names[node.id] = letter + (str(counts[letter]) if counts[letter] > 1 else "")
    return names


def _node_tree(node: Node, names: dict[int, str]) -> Tree:
    branches = [("/", concept(node.label) + _alignment(node))]
    branches += [(role(name), constant(name, value, node.label)) for name, value in node.properties]
    return names[node.id], branches


def _alignment(node: Node) -> str:
    alignment = node.extra.get("alignment") if node.extra else None
    return f"~{alignment}" if type(alignment) is str and ALIGNMENT.fullmatch(alignment) else ""


def _anchors(graph: Graph, layout: _PenmanTree) -> str:
    items = []
    for id, variable in layout.variables.items():
        anchors = graph.node(id).anchors
        if anchors is not None:
            items.append(f"{variable}=" + ",".join(f"{start}:{end}" for start, end in anchors))
    return " ".join(items)


def _patch(graph: Graph, layout: _PenmanTree, read: Graph) -> dict[str, Any]:
    """What a graph loses when its text is read back without a patch."""
    wanted, found = mrp.encode(graph), mrp.encode(read)
    names = layout.variables
    patch = _differing(wanted, found, ("tops", "nodes", "edges"))
    if graph.tops != (next(iter(names)),):
        patch["tops"] = [names[top] for top in graph.tops]
    by_id = {node["id"]: node for node in wanted["nodes"]}
    nodes, edges = {}, {}
    for id, other in zip(names, found["nodes"], strict=True):
        if fields := _differing(by_id[id], other, ("id",)):
            nodes[names[id]] = fields
    for place, (number, is_inverse) in enumerate(layout.edges):
        edge = graph.edges[number]
        ignored = ("id", "source", "target", "label", "normal")
        fields = _differing(wanted["edges"][number], found["edges"][place], ignored)
        if not _same(edge, read.edges[place], is_inverse, list(names)):
            ends = {"source": names[edge.source], "target": names[edge.target]} if is_inverse else {}
            fields |= {"label": edge.label, "normal": edge.normal} | ends
        if fields:
            edges[str(place)] = fields
    return patch | ({"nodes": nodes} if nodes else {}) | ({"edges": edges} if edges else {})


def _same(edge: Edge, read: Edge, is_inverse: bool, ids: list[int]) -> bool:
    """Whether an edge as it is read back has the same label, or if it was turned round the same normal form."""
    source, target, label = normal_edge(read)
    is_normal = normal_edge(edge) == (ids[source], ids[target], label)
    return is_normal and (is_inverse or edge.label == read.label)


def _differing(wanted: dict[str, Any], found: dict[str, Any], ignored: tuple[str, ...]) -> dict[str, Any]:
    names = [name for name in {**wanted, **found} if name not in ignored]
    return {name: wanted.get(name) for name in names if _json(wanted, name) != _json(found, name)}


def _json(data: dict[str, Any], name: str) -> str | None:
    return json.dumps(data[name], sort_keys=True) if name in data else None


def _formatted(tree: Tree, graph: Graph) -> str:
    import penman

    try:
        return penman.format(penman.Tree(tree), indent=INDENT)  # type: ignore[no-any-return]
    except RecursionError:
        raise unsayable(graph, "its nodes stand too deep below each other") from None


def unsayable(graph: Graph, why: str) -> InputError:
    """The error that says why a graph has no text."""
    return InputError(f"can't be written as PENMAN: {why}", graph=graph.id)


def _raise(message: str, severity: str) -> None:
    raise AssertionError(message)


CODEC = Codec(
    "amr", "AMR in PENMAN notation; Chinese AMR is read too", (".amr", ".penman", ".camr"), ("amr",), read, write
)
