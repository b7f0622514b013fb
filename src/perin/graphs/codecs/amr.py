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

import logging
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TextIO

from perin.graphs.codecs import camr, header
from perin.graphs.codecs.amr_reader import ANCHORS, PATCH, Tree, graph_from_tree
from perin.graphs.codecs.amr_writer import encode
from perin.graphs.codecs.codec import Codec, Lines
from perin.graphs.codecs.mrp import Malformed
from perin.graphs.faults import Finding, Report, Severity
from perin.graphs.graph import Graph

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
        """Take what of a line belongs to the graph; returns where the graph ends, or None if it goes on."""
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
        plain = None if block.pairs.keys() & {ANCHORS, PATCH} else camr.plain(block.body)
        try:
            tree = self._tree(plain or block.body, block)
            if tree is None:
                return None
            is_chinese = plain or (len(tree[1]) == 1 and camr.counts_word(tree[0] or "", block.pairs))
            words = camr.words(block.pairs.get("snt", "")) if is_chinese else None
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


CODEC = Codec(
    "amr", "AMR in PENMAN notation; Chinese AMR is read too", (".amr", ".penman", ".camr"), ("amr",), read, write
)
