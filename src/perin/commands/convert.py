"""Change the format of graphs: read IN, write OUT.

The formats are those that the file names point to, unless you say otherwise; .gz is (de)compressed, - is standard input
or output (MRP by default), and IN can be a folder of files.  Without OUT, but with --to, graphs go to
standard output.  The first fault in IN, or graph that OUT can't hold, is an error, and then nothing is written; with
--skip-errors such graphs are reported and left out.  A format holds graphs of its own framework only.
Exit code: 0 all graphs converted, 1 some left out, 2 nothing could be done.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Iterator

from perin.commands import graph_format
from perin.errors import Finding, InputError, UsageError
from perin.graphs.codecs import FORMATS, Codec, codec, dump, guess, load, writable
from perin.graphs.graph import Graph


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``perin convert``."""
    parser.add_argument("input", nargs="?", metavar="IN", help="file or folder of graphs; - for standard input")
    parser.add_argument("output", nargs="?", metavar="OUT", help="file to write; - for standard output")
    parser.add_argument("-i", "--input", dest="given_input", metavar="FILE", help="the same as IN")
    parser.add_argument("-o", "--output", dest="given_output", metavar="FILE", help="the same as OUT")
    parser.add_argument(
        "--from", dest="source", type=graph_format, metavar="FORMAT", help="format of IN (default: by its name)"
    )
    parser.add_argument(
        "--to", dest="target", type=graph_format, metavar="FORMAT", help="format of OUT (default: by its name)"
    )
    parser.add_argument(
        "--skip-errors", action="store_true", help="report and leave out graphs that can't be converted"
    )
    parser.add_argument("--list", action="store_true", help="list the formats and what each reads and writes")


def run(arguments: argparse.Namespace) -> int:
    """Convert, or list the formats."""
    if arguments.list:
        print(listing())
        return 0
    source, target = _files(arguments)
    skipped = 0

    def report(error: InputError) -> None:
        nonlocal skipped
        skipped += 1
        print(f"perin convert: skipped: {error}", file=sys.stderr)

    try:
        count = convert(
            source, target, arguments.source, arguments.target, report=report if arguments.skip_errors else None
        )
    except InputError as error:
        hint = "" if error.graph is None else " (--skip-errors leaves such graphs out)"
        raise InputError(f"{error.message}{hint}", error.source, error.line, error.graph) from None
    if skipped:
        print(f"perin convert: {count} converted, {skipped} skipped", file=sys.stderr)
    elif not count:
        print(f"perin convert: warning: {source} is empty", file=sys.stderr)
    return 1 if skipped else 0


def _files(arguments: argparse.Namespace) -> tuple[str, str]:
    """What to read and what to write, by place or by option."""
    places = [path for path in (arguments.input, arguments.output) if path is not None]
    source = arguments.given_input if arguments.given_input is not None else places.pop(0) if places else None
    target = arguments.given_output if arguments.given_output is not None else places.pop(0) if places else None
    if places:
        raise UsageError(f"{places[0]}: one file too many; name the file to read and the file to write once each")
    if target is None and arguments.target is not None:
        target = "-"
    if source is None or target is None:
        raise UsageError("name the file to read and the file to write: perin convert IN OUT (or IN --to FORMAT)")
    return source, target


def convert(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    read: str | None = None,
    write: str | None = None,
    *,
    report: Callable[[InputError], None] | None = None,
) -> int:
    """Read the graphs of one file and write them to another; returns how many were written.

    ``read`` and ``write`` name the formats where the file names don't tell.  With a ``report``, the faults of a
    graph go to it and the graph is left out; without one they are raised.
    """
    count = 0

    def counted(graphs: Iterable[Graph]) -> Iterator[Graph]:
        nonlocal count
        for graph in graphs:
            count += 1
            yield graph

    if report is None:
        dump(counted(load(source, read)), target, write)
    else:
        format = write or guess(target).name
        dump(counted(writable(_sound(source, read, report), format, report)), target, format)
    return count


def _sound(source: str | os.PathLike[str], format: str | None, report: Callable[[InputError], None]) -> Iterator[Graph]:
    """The faultless graphs of a file; the first fault of every other graph is reported."""
    faults: dict[tuple[int | None, str | None], Finding] = {}

    def note(finding: Finding) -> None:
        if finding.severity == "error":
            faults.setdefault((None if finding.graph else finding.line, finding.graph), finding)

    for graph in load(source, format, report=note):
        wrong = any(finding.graph == graph.id for finding in faults.values())
        _flush(faults, report)
        if not wrong:
            yield graph
    _flush(faults, report)


def _flush(faults: dict[tuple[int | None, str | None], Finding], report: Callable[[InputError], None]) -> None:
    for finding in faults.values():
        report(InputError(finding.message, finding.source, finding.line, finding.graph))
    faults.clear()


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
