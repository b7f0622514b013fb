"""Score graphs of a system, or of several, against gold.

Metrics: mrp (the official MRP score, with the correspondence of nodes solved exactly), mrp-max (the same without the
official search's dependence on node order), smatch (AMR, exact) and smatch-fine (with its fine-grained scores),
edm (EDS), ucca (UCCA), sdp (DM, PSD), umr (mrp, smatch, alignments, triples of the document level).  Graphs are
compared by id, framework and language; oddities are printed on standard error, three of each kind.  Several
frameworks or languages get a line each, means and a total; several systems get tables.
Exit code: 0 scored, 1 no graph of a system belongs to a gold graph, 2 nothing could be done.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from perin.commands import Warnings, add_format, add_threads
from perin.errors import Report, UsageError
from perin.files import check_writable

if TYPE_CHECKING:
    from perin.scoring.result import GraphScore, Result

METRICS = ("mrp", "mrp-max", "smatch", "smatch-fine", "edm", "ucca", "sdp", "umr")
PROGRESS_AFTER = 2.0
"""Seconds after which a progress bar appears."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``perin score``."""
    parser.add_argument("gold", metavar="GOLD", help="file of gold graphs; - for standard input")
    parser.add_argument("systems", metavar="SYSTEM", nargs="+", help="file of a system's graphs")
    parser.add_argument("--metric", choices=METRICS, help="what to count (default: umr for UMR, else mrp)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    parser.add_argument("--per-graph", action="store_true", help="also each graph; in JSON with its correspondence")
    parser.add_argument("--tables", action="store_true", help="F1 by framework and track, and by item type")
    parser.add_argument(
        "--errors", metavar="FILE", help="write missing and surplus items by graph to FILE: JSON, or drawn for .html"
    )
    parser.add_argument(
        "--confidence", metavar="PERCENT", type=float, help="bootstrap intervals of F1; paired tests of several systems"
    )
    add_threads(parser, "processes (default: 1)", 1)
    parser.add_argument(
        "--budget",
        metavar="SECONDS",
        type=float,
        default=10.0,
        help="seconds of search per graph (default: 10)",
    )
    add_format(parser)


def run(arguments: argparse.Namespace) -> int:
    """Score; see the module's text."""
    from perin.scoring.reports import as_json
    from perin.scoring.result import doubts

    _refuse_nonsense(arguments)
    warn = Warnings("perin score")
    results = _scored(arguments, warn)
    for result in results.values():
        for finding in doubts(result, arguments.budget):
            warn(finding)
    warn.close()
    apart = [name for name, result in results.items() if all(graph.missing for graph in result.graphs)]
    for name in apart:
        print(f"perin score: nothing could be compared: no graph of {name} belongs to a gold graph", file=sys.stderr)
    if arguments.json:
        data = as_json(results, per_graph=arguments.per_graph, confidence=arguments.confidence)
        print(json.dumps(data, ensure_ascii=False))
    else:
        print("\n\n".join(_texts(results, arguments)))
    return 1 if apart else 0


def _refuse_nonsense(arguments: argparse.Namespace) -> None:
    """Stop before the work begins if its results could not be given."""
    from perin.scoring import check_limits, find_metric
    from perin.scoring.reports import check_confidence

    check_limits(arguments.threads, arguments.budget)
    if arguments.confidence is not None:
        check_confidence(arguments.confidence)
    if [arguments.gold, *arguments.systems].count("-") > 1:
        raise UsageError("only one of the files can be standard input")
    if arguments.errors:
        if len(arguments.systems) > 1:
            raise UsageError("--errors compares gold with one system; name one SYSTEM only")
        if arguments.metric and not find_metric(arguments.metric).searches:
            raise UsageError(
                f"--errors needs to know which nodes correspond, which {arguments.metric} does not; mrp does"
            )
        if arguments.errors == "-":
            raise UsageError("--errors needs the name of a file; standard output is for the scores")
        check_writable(arguments.errors)


def _scored(arguments: argparse.Namespace, warn: Report) -> dict[str, Result]:
    from perin.scoring import check_fit, find_metric, finished, report_unfit, score_pairs, usual_metric
    from perin.scoring.reading import pair, read_gold, read_system
    from perin.scoring.reports import write_differences
    from perin.scoring.result import Result

    gold = read_gold(arguments.gold, arguments.format, report=warn)
    metric = find_metric(arguments.metric) if arguments.metric else usual_metric(gold)
    check_fit(metric, gold)
    report_unfit(metric, gold, warn)
    results = {}
    for name, path in zip(_names(arguments.systems), arguments.systems, strict=True):
        pairs = pair(gold, read_system(path, arguments.format, report=warn), report=warn)
        stream = score_pairs(pairs, metric, jobs=arguments.threads, budget=arguments.budget)
        graphs = finished(metric, pairs, with_progress(stream, len(pairs)))
        if arguments.errors:
            write_differences(arguments.errors, pairs, graphs)
        results[name] = Result(metric, graphs)
    return results


def _names(paths: Sequence[str]) -> list[str]:
    """What the systems are called: the names of their files, as long as these differ."""
    stems = [Path(path).name.removesuffix(".gz").rsplit(".", 1)[0] for path in paths]
    return stems if len(set(stems)) == len(stems) else list(paths)


def with_progress(graphs: Iterable[GraphScore], total: int) -> Iterable[GraphScore]:
    """A bar on standard error, if that is a terminal and it takes long."""
    if not sys.stderr.isatty():
        return graphs
    from tqdm import tqdm

    return tqdm(graphs, total=total, unit="graph", delay=PROGRESS_AFTER, file=sys.stderr, leave=False)


def _texts(results: Mapping[str, Result], arguments: argparse.Namespace) -> Iterable[str]:
    from perin.scoring import reports
    from perin.scoring.reports import contrasts_to_first, intervals

    if arguments.per_graph:
        for name, result in results.items():
            yield reports.by_graph(result, name if len(results) > 1 else "graph")
    if len(results) == 1 and not arguments.tables:
        (result,) = results.values()
        yield reports.overview(result, arguments.confidence and intervals(result.total, arguments.confidence))
        return
    yield reports.by_framework(results)
    yield reports.by_type(results)
    if arguments.confidence is not None and len(results) > 1:
        yield reports.contrasts(next(iter(results)), contrasts_to_first(results, arguments.confidence))
