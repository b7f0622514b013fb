"""The formats that PERIN knows, and the four verbs for all of them: load, loads, dump, dumps."""

from __future__ import annotations

import importlib
import io
import os
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from perin.errors import UsageError
from perin.files import read_lines, source_name, write_text
from perin.graphs.codecs.codec import Codec, Lines
from perin.graphs.faults import Finding, Report, strict
from perin.graphs.graph import Graph
from perin.graphs.validation import structural_findings

FORMATS = ("mrp", "eds", "ucca")
"""Names of the codec modules, in the order that they are listed."""


@cache
def codec(name: str) -> Codec:
    """The codec of this name."""
    if name not in FORMATS:
        raise UsageError(f"unknown format {name!r}; known are: {', '.join(FORMATS)}")
    module = importlib.import_module(f"perin.graphs.codecs.{name}")
    found = module.CODEC
    assert isinstance(found, Codec)
    return found


def guess(path: str | os.PathLike[str]) -> Codec:
    """The codec that the name of a file points to; ``.gz`` at the end does not count."""
    name = Path(path).name.removesuffix(".gz")
    for format in FORMATS:
        if name.endswith(codec(format).suffixes):
            return codec(format)
    raise UsageError(
        f"can't tell the format of {source_name(path)} from its name; say it (--from or --to on the command line)"
    )


def load(path: str | os.PathLike[str], format: str | None = None, *, report: Report = strict) -> Iterator[Graph]:
    """Read graphs one by one from a file (``-``: standard input; gzip is recognised by content).

    The first fault raises :class:`~perin.errors.InputError`; with a ``report`` of your own (for example
    :class:`~perin.graphs.faults.Tolerant`) faults are handed to it and what can be read is kept as it is.
    """
    for _, graph in locate(path, format, report=report):
        yield graph


def locate(
    path: str | os.PathLike[str], format: str | None = None, *, report: Report = strict
) -> Iterator[tuple[int, Graph]]:
    """Like :func:`load`, each graph with the line where it starts."""
    reader = codec(format) if format else guess(path)
    return _read(reader, read_lines(path), source_name(path), report)


def loads(text: str, format: str = "mrp", *, report: Report = strict) -> list[Graph]:
    """Read graphs from a string."""
    lines = io.StringIO(text, newline="\n")
    return [graph for _, graph in _read(codec(format), (line.rstrip("\n") for line in lines), "<string>", report)]


def dump(graphs: Iterable[Graph] | Graph, path: str | os.PathLike[str], format: str | None = None) -> None:
    """Write graphs to a file (``-``: standard output), which appears only when all are written."""
    writer = codec(format) if format else guess(path)
    if writer.write is None:
        raise UsageError(f"the format {writer.name} can be read but not written")
    with write_text(path) as stream:
        writer.write([graphs] if isinstance(graphs, Graph) else graphs, stream)


def dumps(graphs: Iterable[Graph] | Graph, format: str = "mrp") -> str:
    r"""Graphs as a string.

    >>> dumps(Graph("1", framework="amr"))
    '{"id":"1","framework":"amr","tops":[],"nodes":[],"edges":[]}\n'
    """
    writer = codec(format)
    if writer.write is None:
        raise UsageError(f"the format {format} can be read but not written")
    stream = io.StringIO()
    writer.write([graphs] if isinstance(graphs, Graph) else graphs, stream)
    return stream.getvalue()


def _read(reader: Codec, lines: Lines, source: str, report: Report) -> Iterator[tuple[int, Graph]]:
    if reader.read is None:
        raise UsageError(f"the format {reader.name} can be written but not read")
    seen: set[tuple[str | None, str | None, str]] = set()
    for line, graph in reader.read(lines, source, report):
        if graph.key in seen:
            message = "the file has an earlier graph of the same id, framework and language"
            report(Finding(message, source, line, graph.id))
        seen.add(graph.key)
        for finding in structural_findings(graph, source, line):
            report(finding)
        yield line, graph
