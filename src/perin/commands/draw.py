"""Draw graphs: as text on the terminal, or to a file (.svg, .html, .png, .pdf, .txt).

Nodes stand over the words that anchor them.  Tops are orange, edges beyond a spanning tree violet, remote edges dashed.
SVG and PNG show several graphs one below the other, PDF one per page, HTML one at a time with a search.
With --diff, FILE is gold and SYSTEM is compared with it: what is missing is red (-), what is surplus is blue (+).
PNG and PDF need the optional package typst: pip install 'perin[draw]'.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from perin.commands import Warnings, add_format
from perin.errors import Finding, InputError, Report, UsageError
from perin.files import source_name
from perin.graphs.codecs import PICTURE_FORMATS, load
from perin.graphs.drawing import save
from perin.graphs.drawing.diff import diff_sketch
from perin.graphs.drawing.sketch import Sketch
from perin.graphs.graph import Graph


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``perin draw``."""
    parser.add_argument("file", metavar="FILE", nargs="?", help="file of graphs; - for standard input")
    parser.add_argument(
        "system", metavar="SYSTEM", nargs="?", help="with --diff: the graphs to compare with those of FILE"
    )
    parser.add_argument("-i", "--input", metavar="FILE", help="the same as FILE")
    parser.add_argument("-o", "--output", metavar="OUT", default="-", help="file to draw to (default: the terminal)")
    parser.add_argument("--to", type=str.lower, choices=PICTURE_FORMATS, help="what to draw (default: by OUT)")
    add_format(parser)
    parser.add_argument(
        "--id", dest="ids", metavar="ID", action="append", help="only the graph of this id; can be repeated"
    )
    parser.add_argument(
        "--n", dest="numbers", metavar="N[-M]", type=_range, help="only graph N, or N to M, counted from 1"
    )
    parser.add_argument("--diff", action="store_true", help="compare the graphs of FILE (gold) with those of SYSTEM")
    parser.add_argument("--theme", choices=("auto", "light", "dark"), help="colours of SVG, PNG and PDF")


def run(arguments: argparse.Namespace) -> int:
    """Draw; see the module's text."""
    given = [path for path in (arguments.input, arguments.file, arguments.system) if path is not None]
    if not given:
        raise UsageError("name the file of graphs: perin draw FILE")
    if len(given) != (2 if arguments.diff else 1):
        raise UsageError("--diff takes two files, and two files need --diff: perin draw --diff GOLD SYSTEM")
    warn = Warnings("perin draw")
    file = given[0]
    source = source_name(file)
    chosen = select(load(file, arguments.format), source, arguments.ids, arguments.numbers)
    title = Path(source).name
    drawn: Iterator[Graph | Sketch] = chosen
    if arguments.diff:
        drawn = differences(chosen, load(given[1], arguments.format), warn)
        title = f"{title} and {Path(source_name(given[1])).name}"
    colour = arguments.output == "-" and sys.stdout.isatty() and "NO_COLOR" not in os.environ
    count = 0

    def counted() -> Iterator[Graph | Sketch]:
        nonlocal count
        for each in drawn:
            count += 1
            yield each

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        save(counted(), arguments.output, arguments.to, theme=arguments.theme, title=title, colour=colour)
    for message in [*(str(warning.message) for warning in caught), *([] if count else [f"{source} is empty"])]:
        warn(Finding(message))
    warn.close()
    return 0


def select(
    graphs: Iterable[Graph], source: str, ids: Sequence[str] | None = None, numbers: range | None = None
) -> Iterator[Graph]:
    """The graphs with one of these ids and, counted from 1, one of these numbers.

    Reads no further than needed; an id or a number that there is no graph for is an error.
    """
    missing = dict.fromkeys(ids or ())
    number = 0
    for number, graph in enumerate(graphs, start=1):
        if (numbers is None or number in numbers) and (ids is None or graph.id in ids):
            missing.pop(graph.id, None)
            yield graph
        if numbers is not None and number >= numbers[-1]:
            break
    if numbers is not None and number < numbers[0]:
        raise InputError(f"has {number} graphs only, so there is no number {numbers[0]}", source=source)
    if missing:
        raise InputError(f"there is no graph of the id {next(iter(missing))} among those chosen", source=source)


def differences(golds: Iterable[Graph], systems: Iterable[Graph], report: Report) -> Iterator[Sketch]:
    """Each gold graph compared with the system's graph for it, or with an empty one if there is none.

    Nodes are paired by the best correspondence under the MRP metric, whose F1 is shown.
    """
    from perin.scoring import BUDGET, find_metric, score_pair
    from perin.scoring.reading import pair

    golds = list(golds)
    ids = {graph.id for graph in golds}
    for gold, system in pair(golds, [graph for graph in systems if graph.id in ids], report=report):
        compared = score_pair((gold, system), find_metric("mrp"), BUDGET).comparison
        system = system or replace(gold, nodes=(), edges=(), tops=())
        yield diff_sketch(gold, system, compared.pairs, f1=compared.tallies["all"].f1)


def _range(text: str) -> range:
    found = re.fullmatch(r"([1-9]\d*)(?:-([1-9]\d*))?", text)
    if not found or int(found[2] or found[1]) < int(found[1]):
        raise argparse.ArgumentTypeError(f"expected a number or two as in 3 or 2-7, found {text!r}")
    return range(int(found[1]), int(found[2] or found[1]) + 1)
