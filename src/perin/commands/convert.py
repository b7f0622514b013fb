"""Change the format of graphs: read IN, write OUT.

The formats are those that the file names point to, unless they are said; .gz is (de)compressed, - is standard input
or output (MRP unless said otherwise), and IN can be a folder of files.  The first fault in IN is an error, and then
nothing is written.  A format holds graphs of its own framework only.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator

from perin.errors import UsageError
from perin.graphs.codecs.codec import Codec
from perin.graphs.codecs.registry import FORMATS, codec, dump, load
from perin.graphs.graph import Graph


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``perin convert``."""
    parser.add_argument("input", nargs="?", metavar="IN", help="file or folder of graphs; - for standard input")
    parser.add_argument("output", nargs="?", metavar="OUT", help="file to write; - for standard output")
    parser.add_argument("--from", dest="source", choices=FORMATS, help="format of IN (default: by its name)")
    parser.add_argument("--to", dest="target", choices=FORMATS, help="format of OUT (default: by its name)")
    parser.add_argument("--list", action="store_true", help="list the formats and what each reads and writes")


def run(arguments: argparse.Namespace) -> int:
    """Convert, or list the formats."""
    if arguments.list:
        print(listing())
        return 0
    if arguments.input is None or arguments.output is None:
        raise UsageError("name the file to read and the file to write: perin convert IN OUT")
    count = convert(arguments.input, arguments.output, arguments.source, arguments.target)
    if not count:
        print(f"perin convert: warning: {arguments.input} is empty", file=sys.stderr)
    return 0


def convert(
    source: str | os.PathLike[str], target: str | os.PathLike[str], read: str | None = None, write: str | None = None
) -> int:
    """Read the graphs of one file and write them to another; returns their number.

    ``read`` and ``write`` name the formats where the file names don't tell.
    """
    count = 0

    def counted() -> Iterator[Graph]:
        nonlocal count
        for graph in load(source, read):
            count += 1
            yield graph

    dump(counted(), target, write)
    return count


def listing() -> str:
    """A table of all formats: what each reads and writes, its suffixes, its frameworks, what it is."""
    rows: list[tuple[str, ...]] = [("format", "reads", "writes", "suffixes", "frameworks", "")]
    rows += [_row(codec(name)) for name in FORMATS]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)


def _row(format: Codec) -> tuple[str, ...]:
    return (
        format.name,
        "yes" if format.read else "-",
        "yes" if format.write else "-",
        " ".join(format.suffixes),
        " ".join(format.frameworks) or "all",
        format.summary,
    )
