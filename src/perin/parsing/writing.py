"""Parsed sentences to files.

MRP is written sentence by sentence, so that an interrupted run leaves whole lines and can be gone on with.  Files of
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
from perin.files import check_writable
from perin.graphs.codecs.mrp import encode_line
from perin.graphs.codecs.registry import FORMATS, codec, dump, guess, writable
from perin.graphs.drawing.files import PICTURE_FORMATS, PictureFormat, picture_format, save
from perin.graphs.graph import Graph
from perin.parsing.inference import Parsed
from perin.parsing.reading import Item

Report: TypeAlias = Callable[[InputError], None]


@dataclass
class Tally:
    """How many sentences were parsed, and how many failed."""

    parsed: int = 0
    failed: int = 0


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
    if format in PICTURE_FORMATS:
        return format
    writer = codec(format)
    if writer.write is None:
        raise UsageError(f"the format {writer.name} can be read but not written")
    unfit = [name for name in frameworks if writer.frameworks and name not in writer.frameworks]
    if unfit:
        raise UsageError(f"the format {format} can't hold graphs of {', '.join(unfit)}; write mrp")
    return format


def write_parsed(results: Iterable[Parsed], path: str, format: str, report: Report, *, offset: int | None) -> Tally:
    """Write the graphs of parsed sentences to a file (``-``: standard output); failed ones go to ``report``.

    ``offset``: where an interrupted run of MRP lines is gone on with, None for a new file.
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
            stream.write("".join(encode_line(graph) + "\n" for graph in graphs).encode())
            if path == "-":
                stream.flush()


def _opened(path: str, offset: int | None, stack: contextlib.ExitStack) -> BinaryIO:
    if path == "-":
        sys.stdout.flush()
        return sys.stdout.buffer
    try:
        file = open(path, "wb" if offset is None else "r+b", buffering=0)  # noqa: SIM115 - closed by the stack
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


def unfinished(
    items: Iterable[Item], path: str, format: str, frameworks: Sequence[str]
) -> tuple[Iterable[Item], int | None]:
    """The sentences that an interrupted run has not come to, and the place in its file where to go on.

    Sentences, which all have ids, are compared with what is in the file one by one.  Those that are not in it although
    later ones are had failed.  What does not belong to the sentences is an error.
    """
    if format != "mrp" or path == "-" or path.endswith(".gz"):
        raise UsageError("only a run that writes MRP to a file, not compressed, can be gone on with")
    if not os.path.exists(path):
        return items, None
    items = iter(items)
    written = _written(path, frameworks)
    entry = next(written)
    for item in items:
        if isinstance(entry, int):
            return itertools.chain([item], items), entry
        if (item.graph if isinstance(item, InputError) else item.id) != entry.id:
            continue
        if not isinstance(item, InputError) and item.text != entry.text:
            raise InputError("holds the graph of another text; write to another file", path, graph=entry.id)
        following = next(written)
        if entry.frameworks != frameworks and isinstance(following, int):
            return itertools.chain([item], items), entry.offset
        entry = following
    if isinstance(entry, int):
        return (), entry
    raise InputError("holds a graph that is not of this input; write to another file", path, graph=entry.id)


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
