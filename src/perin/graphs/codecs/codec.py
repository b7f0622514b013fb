"""What a codec is: a named text format that graphs can be read from, written to, or both."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, TextIO, TypeAlias

from perin.errors import UsageError
from perin.files import MAX_LINE, within_limit
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
    """A format: ``suffixes`` are the file name endings that tell it, ``frameworks`` what it can carry (empty: all).

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
