r"""Read the sentences of a corpus, from any part of its files.

A sentence is a line of text, an object of JSON lines (``.jsonl``, ``.json``, ``.mrp``), a block of CoNLL-U or a row of
Parquet.  All but Parquet may be gzipped, which is seen by content, not by name.  A part of a file is a range of its
bytes (before compression) or of its rows.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import os
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, BinaryIO, TypeAlias, cast

from perin.bulk.storage import open_file, size_of
from perin.contract import Sentence
from perin.errors import InputError, MissingDependencyError
from perin.files import GZIP_MAGIC
from perin.text.adapters import read_conllu

LONGEST = 1 << 24
"""Bytes of the longest line and of the longest CoNLL-U block; a longer one is an error for this sentence."""
MOST_MARKS = 1 << 16
"""Places in a file that are remembered, at which shards may begin."""
ROWS = 1024
"""Rows of a Parquet file that are read at once."""
_HEAD = 4096
_CHUNK = 1 << 20
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_SUFFIXES = {".jsonl": "jsonl", ".json": "jsonl", ".mrp": "jsonl", ".conllu": "conllu", ".parquet": "parquet"}


Content: TypeAlias = str | Sentence | InputError
_Found: TypeAlias = tuple[str | None, Content]
"""Its own id, if it has one, and what to parse."""


@dataclass(frozen=True)
class Part:
    """A range of bytes or rows of the file with this number; ``line`` is its first line or row, counted from 1.

    ``stop`` None: to the end of the file, which could not be reached when shards were laid out.
    """

    file: int
    start: int
    stop: int | None
    line: int


@dataclass(frozen=True)
class Record:
    """A sentence of a corpus, or why it can't be read."""

    id: str
    file: str
    line: int
    content: Content


@dataclass(frozen=True)
class Extent:
    """What a file holds: its size as it is stored, its sentences, and where shards may begin in it.

    ``marks[m]`` is the byte and line (or row and row) of sentence ``m * stride``; ``end`` is where the last one ends.
    ``error``: why the file could not be read to its end.
    """

    bytes: int
    sentences: int
    end: int
    marks: list[tuple[int, int]]
    stride: int = 1
    error: str | None = None


@dataclass(frozen=True)
class _Unit:
    """The lines of one sentence: the bytes they take, the number of the first, and what they hold (None: too much)."""

    start: int
    stop: int
    line: int
    lines: list[bytes] | None


def kind(path: str) -> str:
    """The format that the name of a file points to.

    >>> [kind(name) for name in ("a.txt", "a.jsonl.gz", "b/a.conllu", "a.parquet")]
    ['text', 'jsonl', 'conllu', 'parquet']
    """
    return _SUFFIXES.get(PurePosixPath(path.replace(os.sep, "/").removesuffix(".gz")).suffix, "text")


def measure(path: str, column: str | None = None) -> Extent:
    """Read through a file once (of Parquet only the footer) and see what it holds."""
    size = size_of(path)
    marks: list[tuple[int, int]] = []
    stride, sentences, end = 1, 0, 0
    try:
        if kind(path) == "parquet":
            with _parquet(path, column) as (file, _):
                rows: int = file.metadata.num_rows
            stride = max(1, -(-rows // MOST_MARKS))
            return Extent(size, rows, rows, [(row, row + 1) for row in range(0, rows, stride)], stride)
        for unit in _units(path, Part(0, 0, None, 1)):
            if sentences % stride == 0:
                marks.append((unit.start, unit.line))
            sentences, end = sentences + 1, unit.stop
            if len(marks) > MOST_MARKS:
                marks, stride = marks[::2], 2 * stride
    except InputError as error:
        return Extent(size, sentences, end, [(0, 1)], error=str(error))
    return Extent(size, sentences, end, marks, stride)


def read_part(path: str, name: str, part: Part, *, column: str | None, language: str | None) -> Iterator[Record]:
    """The sentences of a part of a file.

    What has no id of its own gets the short name of its file and its line, such as ``a/1.txt:17``.  ``column`` is the
    field of the text in JSON lines and Parquet.
    """
    if kind(path) == "parquet":
        yield from _rows(path, name, part, column)
        return
    read = {"text": _text, "jsonl": _object, "conllu": _block}[kind(path)]
    field = column or ("input" if ".mrp" in PurePosixPath(path).suffixes else "text")
    for unit in _units(path, part):
        found: _Found = None, _decoded(unit, path)
        if isinstance(found[1], str):
            found = read(found[1], path, unit.line, field, language)
        id, content = found
        yield Record(id or f"{name}:{unit.line}", name, unit.line, content)


def _decoded(unit: _Unit, path: str) -> Content:
    if unit.lines is None:
        return InputError(f"longer than {LONGEST >> 20} MB; a sentence is expected here", path, unit.line)
    for number, line in enumerate(unit.lines, start=unit.line):
        try:
            line.decode()
        except UnicodeDecodeError as error:
            return InputError(f"byte {error.start + 1} of the line is not UTF-8", path, number)
    return "\n".join(line.decode() for line in unit.lines)


def _text(content: str, path: str, line: int, field: str, language: str | None) -> _Found:
    return None, content


def _object(content: str, path: str, line: int, field: str, language: str | None) -> _Found:
    try:
        data = json.loads(content)
    except (ValueError, RecursionError):
        return None, InputError("the line is no JSON", path, line)
    if not isinstance(data, dict):
        return None, InputError("the line is no JSON object", path, line)
    id, text = data.get("id"), data.get(field)
    if not isinstance(text, str):
        text = InputError(f"the object has no text in its field {field!r}", path, line)
    return (str(id) if isinstance(id, (str, int)) else None), text


def _block(content: str, path: str, line: int, field: str, language: str | None) -> _Found:
    try:
        sentences = list(read_conllu(content.split("\n"), path, language))
    except InputError as error:
        where = None if error.line is None else error.line + line - 1
        return error.graph, InputError(error.message, path, where)
    return (sentences[0].id, sentences[0]) if sentences else (None, InputError("a block without tokens", path, line))


def _units(path: str, part: Part) -> Iterator[_Unit]:
    """The sentences that begin in a range of bytes, as raw lines."""
    line, position = part.line, part.start
    with contextlib.closing(open_file(path)) as raw:
        try:
            stream = _at(raw, part.start, path)
            pieces = _blocks(stream, position, line) if kind(path) == "conllu" else _lines(stream, position, line)
            for unit in pieces:
                if part.stop is not None and unit.start >= part.stop:
                    return
                line, position = unit.line + 1, unit.stop
                yield unit
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            message = f"the gzip stream is cut short or damaged ({error}); get the file again"
            raise InputError(message, path, line) from None
        except OSError as error:
            raise InputError(f"can't be read: {error.strerror or error}", path, line) from None
    if part.stop is not None and position < part.stop:
        raise InputError("is shorter than it was when the shards were laid out", path, line)


def _at(raw: BinaryIO, start: int, path: str) -> io.BufferedReader:
    """What a file holds from a byte on, decompressed."""
    head = raw.read(len(GZIP_MAGIC))
    raw.seek(0)
    if head == GZIP_MAGIC:
        stream: io.BufferedReader = io.BufferedReader(cast(Any, gzip.GzipFile(fileobj=raw)), _CHUNK)
        while start and (skipped := len(stream.read(min(start, _CHUNK)))):
            start -= skipped
    else:
        raw.seek(start)
        stream = raw if isinstance(raw, io.BufferedReader) else io.BufferedReader(cast(Any, raw), _CHUNK)
    if b"\0" in stream.peek(_HEAD)[:_HEAD]:
        raise InputError("is no text but binary data (or text that is not UTF-8)", path, 1)
    return stream


def _lines(stream: io.BufferedReader, position: int, line: int) -> Iterator[_Unit]:
    """Lines that are not blank."""
    while raw := stream.readline(LONGEST):
        length, whole = len(raw), True
        while not raw.endswith(b"\n") and len(raw) == LONGEST and (rest := stream.readline(LONGEST)):
            length, whole, raw = length + len(rest), False, rest if len(rest) == LONGEST else b"\n"
        if not whole:
            yield _Unit(position, position + length, line, None)
        else:
            text = raw.removesuffix(b"\n").removesuffix(b"\r")
            text = text.removeprefix(_BYTE_ORDER_MARK) if position == 0 else text
            if text and not text.isspace():
                yield _Unit(position, position + length, line, [text])
        position, line = position + length, line + 1


def _blocks(stream: io.BufferedReader, position: int, line: int) -> Iterator[_Unit]:
    """Paragraphs that are not comments only."""
    block: list[_Unit] = []
    for unit in _lines(stream, position, line):
        if block and unit.line != block[-1].line + 1:
            yield from _joined(block)
            block = []
        block.append(unit)
    yield from _joined(block)


def _joined(block: list[_Unit]) -> Iterator[_Unit]:
    lines = [line for unit in block for line in unit.lines or ()]
    if any(not line.startswith(b"#") for line in lines) or any(unit.lines is None for unit in block):
        whole = all(unit.lines for unit in block) and block[-1].stop - block[0].start <= LONGEST
        yield _Unit(block[0].start, block[-1].stop, block[0].line, lines if whole else None)


@contextlib.contextmanager
def _parquet(path: str, column: str | None) -> Iterator[tuple[Any, str]]:
    """A Parquet file and the name of its column of texts."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingDependencyError("pyarrow", f"reading {path}", "bulk") from None
    name = column or "text"
    with contextlib.closing(open_file(path)) as raw:
        try:
            file = pyarrow.parquet.ParquetFile(raw)
            if name not in file.schema_arrow.names:
                known = ", ".join(file.schema_arrow.names)
                raise InputError(f"has no column {name!r} but {known}; say which one holds the sentences", path)
            field = file.schema_arrow.field(name).type
            if not (pyarrow.types.is_string(field) or pyarrow.types.is_large_string(field)):
                raise InputError(f"its column {name!r} holds {field}, not strings", path)
            yield file, name
        except (pyarrow.ArrowException, OSError) as error:
            raise InputError(f"is no Parquet file, or damaged ({error})", path) from None


def _rows(path: str, name: str, part: Part, column: str | None) -> Iterator[Record]:
    with _parquet(path, column) as (file, texts):
        stop = file.metadata.num_rows if part.stop is None else part.stop
        if stop > file.metadata.num_rows:
            raise InputError("is shorter than it was when the shards were laid out", path)
        columns = [texts, "id"] if "id" in file.schema_arrow.names else [texts]
        groups, first, row = [], None, 0
        for group in range(file.num_row_groups):
            count = file.metadata.row_group(group).num_rows
            if row < stop and row + count > part.start:
                groups.append(group)
                first = row if first is None else first
            row += count
        row = first or 0
        for batch in file.iter_batches(ROWS, row_groups=groups, columns=columns) if groups else ():
            for values in batch.to_pylist():
                row += 1
                if part.start < row <= stop:
                    id, text = values.get("id"), values[texts]
                    content = text if text is not None else InputError("the row has no text", path, row)
                    yield Record(f"{name}:{row}" if id is None else str(id), name, row, content)
