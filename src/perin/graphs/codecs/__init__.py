"""The formats that PERIN knows, one module or package each, and the four verbs for all: load, loads, dump, dumps."""

from __future__ import annotations

import importlib
import io
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, TextIO, TypeAlias, get_args

from perin.errors import Finding, InputError, Report, UsageError, strict, wrong_type
from perin.files import MAX_LINE, read_lines, source_name, within_limit, write_text
from perin.graphs.graph import Graph
from perin.graphs.validation import structural_findings

# What a codec is: a named text format that graphs can be read from, written to, or both.


Lines: TypeAlias = Iterable[str]
"""The lines of a file, without line ends."""

Reader: TypeAlias = Callable[[Lines, str, Report], Iterator[tuple[int, Graph]]]
"""From lines, the name of their source (for messages) and a fault policy to graphs, each with the line it starts at."""

Writer: TypeAlias = Callable[[Iterable[Graph], TextIO], None]
"""Writes graphs one by one, holding none longer than needed."""


@dataclass(frozen=True)
class Codec:
    """A format: ``suffixes`` are the file name endings that identify it, ``frameworks`` what it can carry (empty: all).

    ``unit`` is what its reader holds at once: a line, a block of lines up to a blank one, a passage (whose
    length the reader checks itself) or the whole file.
    """

    name: str
    summary: str
    suffixes: tuple[str, ...]
    frameworks: tuple[str, ...] = ()
    read: Reader | None = None
    write: Writer | None = None
    unit: Literal["line", "block", "passage", "file"] = "block"

    def graphs(self, lines: Lines, source: str, report: Report) -> Iterator[tuple[int, Graph]]:
        """The graphs of a file, each with its line; one that is too long to be held is an InputError."""
        if self.read is None:
            raise UsageError(f"the format {self.name} can be written but not read")
        if self.unit == "block":
            lines = within_limit(lines, source, "the graph", MAX_LINE, blocks=True)
        elif self.unit == "file":
            lines = within_limit(lines, source, "the file")
        return self.read(lines, source, report)


FORMATS = (
    "mrp",
    "amr",
    "drg",
    "sbn",
    "eds",
    "eds-json",
    "ucca",
    "umr",
    "dot",
    "tikz",
)
"""Names of the codec modules (``-`` for ``_``), in the order that they are listed."""
ALIASES = {"clauses": "drg", "clf": "drg", "graphviz": "dot", "json": "mrp", "latex": "tikz", "penman": "amr"}
"""Other names of formats."""


def canonical(name: str) -> str:
    """The name of a format, given in any case or by another of its names.

    >>> canonical("PENMAN"), canonical("EDS")
    ('amr', 'eds')
    """
    lower = name.lower()
    found = ALIASES.get(lower, lower)
    if found not in FORMATS:
        raise UsageError(f"unknown format {name!r}; known are: {', '.join(FORMATS)}")
    return found


@cache
def codec(name: str) -> Codec:
    """The codec of this name, see :func:`canonical`."""
    name = canonical(name)
    module = importlib.import_module(f"perin.graphs.codecs.{name.replace('-', '_')}")
    found = module.CODEC
    assert isinstance(found, Codec)
    return found


def check_format(format: str, frameworks: Iterable[str] = ()) -> None:
    """Raise an error if a format can't be written, or can't hold graphs of these frameworks."""
    writer = codec(format)
    if writer.write is None:
        raise UsageError(f"the format {writer.name} can be read but not written")
    unfit = [name for name in frameworks if writer.frameworks and name not in writer.frameworks]
    if unfit:
        raise UsageError(f"the format {format} can't hold graphs of {', '.join(unfit)}; write mrp")


def guess(path: str | os.PathLike[str]) -> Codec:
    """The codec that the name of a file points to (``.gz`` at its end does not count), or the files of a folder.

    Standard input and output (``-``) are taken for MRP.
    """
    if os.fspath(path) == "-":
        return codec("mrp")
    names = _names(path) if Path(path).is_dir() else [Path(path).name]
    found = {known.name for name in names if (known := _by_suffix(name)) is not None}
    if len(found) == 1:
        return codec(found.pop())
    why = f", which holds files of several formats ({', '.join(sorted(found))})" if found else " from its name"
    remedy = "name the format (--from or --to, in Python format=…)"
    raise UsageError(f"can't tell the format of {source_name(path)}{why}; {remedy}")


def files(path: str | os.PathLike[str], format: str | None = None) -> tuple[Codec, list[str]]:
    """The codec and the files that a name stands for: itself, or what a folder holds of the format, by name."""
    reader = codec(format) if format else guess(path)
    if not Path(path).is_dir():
        return reader, [os.fspath(path)]
    names = [name for name in _names(path) if name.removesuffix(".gz").endswith(reader.suffixes)]
    if not names:
        message = f"no file in this folder ends in {' or '.join(reader.suffixes)}"
        raise InputError(message, source=os.fspath(path))
    return reader, [os.path.join(path, name) for name in names]


def load(path: str | os.PathLike[str], format: str | None = None, *, report: Report = strict) -> Iterator[Graph]:
    """Read graphs one by one from a file (``-``: standard input; gzip is recognised by content) or a folder of files.

    The first fault raises :class:`~perin.errors.InputError`; with a ``report`` of your own (for example
    :class:`~perin.errors.Tolerant`) faults are handed to it and what can be read is kept as it is.
    """
    for _, _, graph in locate(path, format, report=report):
        yield graph


def locate(
    path: str | os.PathLike[str], format: str | None = None, *, report: Report = strict
) -> Iterator[tuple[str, int, Graph]]:
    """Like :func:`load`, each graph with the file and the line where it starts."""
    if not isinstance(path, (str, os.PathLike)):
        raise wrong_type("load", "the name of a file or folder", path)
    reader, paths = files(path, format)
    return _read(reader, ((source_name(name), read_lines(name)) for name in paths), report)


def loads(text: str, format: str = "mrp", *, report: Report = strict) -> list[Graph]:
    """Read graphs from a string."""
    if not isinstance(text, str):
        raise wrong_type("loads", "a string", text)
    lines = (line.removesuffix("\n").removesuffix("\r") for line in io.StringIO(text, newline="\n"))
    return [graph for _, _, graph in _read(codec(format), [("<string>", lines)], report)]


def dump(graphs: Iterable[Graph] | Graph, path: str | os.PathLike[str], format: str | None = None) -> None:
    """Write graphs to a file (``-``: standard output), which appears only when all are written."""
    writer = codec(format) if format else guess(path)
    with write_text(path) as stream:
        _write(writer, graphs, stream)


def dumps(graphs: Iterable[Graph] | Graph, format: str = "mrp") -> str:
    r"""Graphs as a string.

    >>> dumps(Graph("1", framework="amr"))
    '{"id":"1","framework":"amr","tops":[],"nodes":[],"edges":[]}\n'
    """
    stream = io.StringIO()
    _write(codec(format), graphs, stream)
    return stream.getvalue()


def writable(graphs: Iterable[Graph], format: str, report: Callable[[InputError], None]) -> Iterator[Graph]:
    """The graphs that a format can hold; the reason why it can't hold one of the others is reported."""
    for graph in graphs:
        try:
            dumps(graph, format)
        except InputError as error:
            report(InputError(refusal(format, error), graph=graph.id))
        else:
            yield graph


def refusal(format: str, error: InputError) -> str:
    """The message about a graph that a format can't hold; some codecs say themselves what they can't write."""
    said = error.message.startswith("can't be written as")
    return error.message if said else f"can't be written as {format}: {error.message}"


# Pictures, which :mod:`perin.graphs.drawing` makes: their names are known here, where nothing is drawn.

PictureFormat: TypeAlias = Literal["text", "svg", "html", "png", "pdf"]
PICTURE_FORMATS: tuple[PictureFormat, ...] = get_args(PictureFormat)

_SUFFIXES: dict[str, PictureFormat] = {
    ".txt": "text",
    ".svg": "svg",
    ".html": "html",
    ".htm": "html",
    ".png": "png",
    ".pdf": "pdf",
}


def picture_format(path: str | os.PathLike[str]) -> PictureFormat:
    """The format that the name of a file points to; standard output (``-``) gets text."""
    if os.fspath(path) == "-":
        return "text"
    suffix = Path(path).suffix.lower()
    if suffix not in _SUFFIXES:
        known = ", ".join(_SUFFIXES)
        raise UsageError(f"can't draw to {os.fspath(path)}: its name should end in one of {known} (or say --to)")
    return _SUFFIXES[suffix]


def _read(reader: Codec, sources: Iterable[tuple[str, Lines]], report: Report) -> Iterator[tuple[str, int, Graph]]:
    seen: set[tuple[str | None, str | None, str]] = set()
    for source, lines in sources:
        for line, graph in reader.graphs(lines, source, report):
            if graph.key in seen:
                message = "there is an earlier graph of the same id, framework and language"
                report(Finding(message, source, line, graph.id))
            seen.add(graph.key)
            for finding in structural_findings(graph, source, line):
                report(finding)
            yield source, line, graph


def _write(writer: Codec, graphs: Iterable[Graph] | Graph, stream: TextIO) -> None:
    if writer.write is None:
        raise UsageError(f"the format {writer.name} can be read but not written")
    if not isinstance(graphs, Iterable | Graph):
        raise wrong_type("dump", "a graph or several", graphs)
    writer.write(_fitting(writer, [graphs] if isinstance(graphs, Graph) else graphs), stream)


def _fitting(writer: Codec, graphs: Iterable[Graph]) -> Iterator[Graph]:
    """The graphs, each checked to be of a framework that the format is for."""
    for graph in graphs:
        if not isinstance(graph, Graph):
            raise wrong_type("dump", "a graph or several", graph)
        if writer.frameworks and graph.framework is not None and graph.framework not in writer.frameworks:
            held = " and ".join(writer.frameworks)
            message = f"framework {graph.framework}, but the format {writer.name} holds {held} only; write mrp"
            raise InputError(message, graph=graph.id)
        yield graph if writer.name == "mrp" else graph.without_probabilities()


def _names(folder: str | os.PathLike[str]) -> list[str]:
    return sorted(entry.name for entry in os.scandir(folder) if entry.is_file() and not entry.name.startswith("."))


def _by_suffix(name: str) -> Codec | None:
    stem = name.removesuffix(".gz")
    return next((codec(format) for format in FORMATS if stem.endswith(codec(format).suffixes)), None)
