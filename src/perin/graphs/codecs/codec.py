"""What a codec is: a named text format that graphs can be read from, written to, or both."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TextIO, TypeAlias

from perin.graphs.faults import Report
from perin.graphs.graph import Graph

Lines: TypeAlias = Iterable[str]
"""The lines of a file, without line ends."""

Reader: TypeAlias = Callable[[Lines, str, Report], Iterator[tuple[int, Graph]]]
"""From lines, the name of their source (for messages) and a fault policy to graphs, each with the line it starts at."""

Writer: TypeAlias = Callable[[Iterable[Graph], TextIO], None]
"""Writes graphs one by one, holding none longer than needed."""


@dataclass(frozen=True)
class Codec:
    """A format: ``suffixes`` are the file name endings that tell it, ``frameworks`` what it can carry (empty: all)."""

    name: str
    summary: str
    suffixes: tuple[str, ...]
    frameworks: tuple[str, ...] = ()
    read: Reader | None = None
    write: Writer | None = None
