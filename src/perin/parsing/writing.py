"""Parsed sentences to files.

MRP is written sentence by sentence, so that an interrupted run leaves whole lines and can be resumed.  Files of
other formats appear when all sentences are parsed.
"""

from __future__ import annotations

import contextlib
import gzip
import itertools
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO, TypeAlias

from perin.errors import InputError, UsageError
from perin.files import check_writable, write_bytes
from perin.graphs.codecs import (
    FORMATS,
    PICTURE_FORMATS,
    PictureFormat,
    check_format,
    dump,
    guess,
    picture_format,
    writable,
)
from perin.graphs.codecs.mrp import encode_line
from perin.graphs.graph import Graph
from perin.parsing.reading import Item
from perin.parsing.streaming import Parsed

_CHUNK = 1 << 20

Report: TypeAlias = Callable[[InputError], None]


@dataclass
class Tally:
    """How many sentences were parsed, and how many failed."""

    parsed: int = 0
    failed: int = 0

    def __add__(self, other: Tally) -> Tally:
        return Tally(self.parsed + other.parsed, self.failed + other.failed)


def format_of(path: str) -> str:
    """The format that the name of a file points to, of graphs or of pictures; MRP for standard output."""
    if path == "-":
        return "mrp"
    try:
        return picture_format(path)
    except UsageError:
        return guess(path).name


def checked_format(path: str, format: str | None, frameworks: Iterable[str], *, probabilities: bool = False) -> str:
    """The format to write to a file, by default what its name says.

    Complains, before anything is parsed, if graphs of these frameworks can't be written there.
    """
    check_writable(path)
    format = format or format_of(path)
    if probabilities and format != "mrp":
        raise UsageError(f"the format {format} can't hold probabilities; write mrp")
    if format not in PICTURE_FORMATS:
        check_format(format, frameworks)
    return format


def write_parsed(results: Iterable[Parsed], path: str, format: str, report: Report, *, offset: int | None) -> Tally:
    """Write the graphs of parsed sentences to a file (``-``: standard output); failed ones go to ``report``.

    ``offset``: where an interrupted run of MRP lines is resumed, None for a new file.
    """
    tally = Tally()
    if format == "mrp":
        _write_lines(_graphs(results, tally, report), path, offset)
        return tally
    graphs = (graph for of_sentence in _graphs(results, tally, report) for graph in of_sentence)
    if format in FORMATS:

        def failed(error: InputError) -> None:
            tally.failed, tally.parsed = tally.failed + 1, tally.parsed - 1
            report(error)

        dump(writable(graphs, format, failed), path, format)
    else:
        from perin.graphs.drawing import save  # slow to import, and most files hold graphs

        picture: PictureFormat = next(name for name in PICTURE_FORMATS if name == format)
        colour = path == "-" and sys.stdout.isatty() and "NO_COLOR" not in os.environ
        save(graphs, path, picture, colour=colour)
    return tally


def _graphs(results: Iterable[Parsed], tally: Tally, report: Report) -> Iterator[tuple[Graph, ...]]:
    for parsed in results:
        if parsed.error is None:
            tally.parsed += 1
        else:
            tally.failed += 1
            report(parsed.error)
        yield parsed.graphs


def _write_lines(sentences: Iterable[tuple[Graph, ...]], path: str, offset: int | None) -> None:
    """Write MRP, all graphs of a sentence at once; the file is touched only when the first sentence is parsed."""
    sentences = iter(sentences)
    first = list(itertools.islice(sentences, 1))
    with contextlib.ExitStack() as stack:
        stream = _opened(path, offset, stack)
        for graphs in itertools.chain(first, sentences):
            _write(stream, _lines(graphs), path)
            if path == "-":
                stream.flush()


def _write(stream: BinaryIO, lines: bytes, path: str) -> None:
    """Write all of it: a stream without a buffer may take a part only, for example of a disk that is almost full."""
    rest = memoryview(lines)
    try:
        while rest:
            rest = rest[stream.write(rest) :]
    except BrokenPipeError:
        raise
    except OSError as error:
        remedy = "start again" if path == "-" or path.endswith(".gz") else "go on with --resume"
        place = "standard output" if path == "-" else path
        raise UsageError(f"can't write {place}: {error.strerror or error}; make room, then {remedy}") from None


def _lines(graphs: Iterable[Graph]) -> bytes:
    return "".join(encode_line(graph) + "\n" for graph in graphs).encode()


def _opened(path: str, offset: int | None, stack: contextlib.ExitStack) -> BinaryIO:
    if path == "-":
        sys.stdout.flush()
        return sys.stdout.buffer
    try:
        buffering = -1 if path.endswith(".gz") else 0  # every line is seen at once, but compression writes bit by bit
        file = open(path, "wb" if offset is None else "r+b", buffering)  # noqa: SIM115 - closed by the stack
    except OSError as error:
        raise UsageError(f"can't write {path}: {error.strerror or error}") from None
    stack.enter_context(file)
    if offset is not None:
        file.seek(offset)
        file.truncate()
    if path.endswith(".gz"):
        return stack.enter_context(gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0))  # type: ignore[return-value]
    return file


@dataclass(frozen=True)
class _Written:
    """The graphs of one sentence in a file of MRP lines, and where they begin there."""

    offset: int
    id: str
    text: str | None
    frameworks: list[str]


@dataclass(frozen=True)
class Unfinished:
    """What an interrupted run has left to do.

    ``gaps`` are sentences whose graphs are not in its file although those of later ones are, each with the place where
    they belong: they failed, or were lost.  ``rest`` are the sentences that the run has not come to, and ``offset`` is
    the place where it is resumed (None: there is no file).
    """

    gaps: list[tuple[int, Item]]
    rest: Iterable[Item]
    offset: int | None


def unfinished(items: Iterable[Item], path: str, format: str, frameworks: Sequence[str]) -> Unfinished:
    """Compare sentences, which all have ids, with what is in the file of an interrupted run, one by one.

    What does not belong to the sentences is an error.
    """
    if format != "mrp" or path == "-" or path.endswith(".gz"):
        raise UsageError("only a run that writes MRP to an uncompressed file can be resumed")
    if not os.path.exists(path):
        return Unfinished([], items, None)
    gaps: list[tuple[int, Item]] = []
    items = iter(items)
    written = _written(path, frameworks)
    entry = next(written)
    for item in items:
        if isinstance(entry, int):
            return Unfinished(gaps, itertools.chain([item], items), entry)
        if (item.graph if isinstance(item, InputError) else item.id) != entry.id:
            gaps.append((entry.offset, item))
            continue
        if not isinstance(item, InputError) and item.text != entry.text:
            raise InputError("holds the graph of another text; write to another file", path, graph=entry.id)
        following = next(written)
        if sorted(entry.frameworks) != sorted(frameworks):
            if not isinstance(following, int):
                raise InputError("lacks graphs of some frameworks; write to another file", path, graph=entry.id)
            return Unfinished(gaps, itertools.chain([item], items), entry.offset)
        entry = following
    if isinstance(entry, int):
        return Unfinished(gaps, (), entry)
    raise InputError("holds a graph that is not of this input; write to another file", path, graph=entry.id)


def fill_gaps(path: str, left: Unfinished, results: Iterable[Parsed], report: Report) -> tuple[Tally, Unfinished]:
    """Put the graphs of sentences that were lost where they belong; those that fail, again, go to ``report``.

    The file is replaced as a whole.  Also returns what is then left to do.
    """
    tally = Tally()
    found = [_lines(graphs) for graphs in _graphs(results, tally, report)]
    if any(found) and left.offset is not None:
        with open(path, "rb") as old, write_bytes(path) as new:
            for (place, _), lines in zip(left.gaps, found, strict=True):
                _copy(old, new, place - old.tell())
                new.write(lines)
            _copy(old, new, left.offset - old.tell())
    offset = None if left.offset is None else left.offset + sum(map(len, found))
    return tally, Unfinished([], left.rest, offset)


def _copy(source: BinaryIO, target: BinaryIO, count: int) -> None:
    while count:
        chunk = source.read(min(count, _CHUNK))
        target.write(chunk)
        count -= len(chunk)


def _written(path: str, frameworks: Sequence[str]) -> Iterator[_Written | int]:
    """What a file holds, sentence by sentence, and at last the place where its last whole line ends."""
    with open(path, "rb") as file:
        offset = 0
        entry: _Written | None = None
        for number, line in enumerate(file, start=1):
            if not line.endswith(b"\n"):
                break
            id, text, framework = _head(line, path, number)
            if framework not in frameworks:
                raise InputError(f"holds graphs of {framework}; write to another file", path, number, id)
            if entry is not None and entry.id == id and framework not in entry.frameworks:
                entry.frameworks.append(framework)
            else:
                if entry is not None:
                    yield entry
                entry = _Written(offset, id, text, [framework])
            offset += len(line)
        if entry is not None:
            yield entry
        yield offset


def _head(line: bytes, path: str, number: int) -> tuple[str, str | None, str]:
    try:
        data = json.loads(line)
        return data["id"], data.get("input"), data["framework"]
    except (ValueError, TypeError, KeyError):
        raise InputError("is no graph of an earlier run; write to another file", path, number) from None
