"""Uniform Meaning Representation: documents of sentence blocks, each with words, graph, alignment and document level.

    ################################################################################
    # meta-info :: sent_id = 1
    # :: snt1
    Index: 1    2
    Words: Psi  štěkají

    # sentence level graph:
    (s1s1 / štěkat-001
            :ARG0 (s1p1 / pes
                :refer-number plural)
            :aspect activity)

    # alignment:
    s1s1: 2-2
    s1p1: 1-1

    # document level annotation:
    (s1s0 / sentence)

A file may hold several documents, each after a line ``# document = NAME``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TextIO

from perin.graphs.codecs.codec import Codec, Lines
from perin.graphs.codecs.umr.reader import Block, read_block
from perin.graphs.codecs.umr.writer import encode, own_fields
from perin.graphs.faults import Finding, Report, Severity
from perin.graphs.graph import Graph

SEPARATOR = "#" * 80
_SEPARATOR = re.compile(r"#{20,}\s*")
_DOCUMENT = re.compile(r"#\s*document\s*=\s*(.*?)\s*")
_SECTION = re.compile(r"#\s*(sentence level graph|alignment|document level annotation)\s*:?\s*", re.IGNORECASE)
_SECTIONS = {"sentence level graph": "graph", "alignment": "alignment", "document level annotation": "level"}


def read(lines: Lines, source: str, report: Report) -> Iterator[tuple[int, Graph]]:
    """Read the graphs of all sentences; a sentence of a named document is called ``NAME-s3``."""
    document, count = None, 0
    for block in _blocks(lines):
        count = count + 1 if block.document == document else 1
        document = block.document

        def fault(message: str, severity: Severity, id: str, line: int = block.line) -> None:
            report(Finding(message, source, line, id, severity))

        yield block.line, read_block(block, count, fault)


def _blocks(lines: Lines) -> Iterator[Block]:
    block = Block(1)
    section = block.head
    for number, line in enumerate(lines, start=1):
        if line.startswith("#"):
            document = _DOCUMENT.fullmatch(line)
            if document or _SEPARATOR.fullmatch(line):
                if not block.is_empty:
                    yield block
                block = Block(number, (document[1] or None) if document else block.document)
                section = block.head
                continue
            if found := _SECTION.fullmatch(line):
                section = getattr(block, _SECTIONS[found[1].lower()])
                continue
        section.append(line)
    if not block.is_empty:
        yield block


def write(graphs: Iterable[Graph], stream: TextIO) -> None:
    """Write sentences; those in a row that belong to no named document are one document, numbered from 1."""
    document, count = None, 0
    for graph in graphs:
        own = own_fields(graph).get("document")
        if own != document:
            stream.write(f"# document = {own or ''}".rstrip() + "\n")
            document, count = own, 0
        count += 1
        stream.write(f"{SEPARATOR}\n{encode(graph, count)}\n")


CODEC = Codec("umr", "UMR documents: graphs, alignments and document level", (".umr",), ("umr",), read, write)
