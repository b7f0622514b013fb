"""Parse the texts of a treebank with a model and score the graphs against the treebank's, by the exact MRP metric.

The treebank's graphs say which of the model's frameworks and languages are asked for.  A text that can't be parsed is
reported and counts as a missing graph.  With --against, the graphs of another system for the same texts are scored
too, and compared: how much more F1 the model has, the 95 % interval of that (paired bootstrap over graphs) and the
probability of so large a difference by chance (paired permutation).  JSON has the keys of 'perin score'.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from perin.commands import count
from perin.commands.parse import add_speed_options
from perin.errors import Finding, UsageError

if TYPE_CHECKING:
    from perin.graphs.graph import Graph
    from perin.parsing.streaming import Parsed
    from perin.scoring.result import Result

CONFIDENCE = 95.0
"""Percent, of the interval of a difference."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``perin evaluate``."""
    add = parser.add_argument
    add("model", metavar="MODEL", help="folder of a model, name of one in the box, or organisation/name on the hub")
    add("treebank", metavar="TREEBANK", help="file of gold graphs")
    add("--tokens", metavar="FILE", help="CoNLL-U or companion file for the texts (default: our own tokenizer)")
    add("--against", metavar="FILE", help="graphs of another system for the same texts, to compare with")
    add("-o", "--output", metavar="FILE", help="also write the model's graphs")
    add("--calibration", action="store_true", help="also print how far the probabilities of nodes and edges are right")
    add("--json", action="store_true", help="print JSON instead of tables")
    add("--limit", type=count, metavar="N", help="take only the first N gold graphs")
    add_speed_options(parser)
    add("--free", action="store_true", help="graphs need not obey their framework's rules (to study the network)")
    add(
        "--budget",
        metavar="SECONDS",
        type=float,
        default=10.0,
        help="seconds of search per graph (default: 10)",
    )
    add("--revision", metavar="R", help="branch, tag or commit of a model on the hub")
    add("--offline", action="store_true", help="look for a model of the hub in the local cache only")


def run(arguments: argparse.Namespace) -> int:
    """Parse, score and compare."""
    from perin.scoring.reading import read_gold, read_system
    from perin.scoring.reports import as_json
    from perin.scoring.result import doubts

    if not arguments.budget > 0:
        raise UsageError(f"--budget must be positive, found {arguments.budget:g}")
    gold = read_gold(arguments.treebank, report=_warn)
    chosen = gold[: arguments.limit]
    _check_output(arguments, chosen)
    systems: dict[str, list[Graph]] = {}
    if arguments.against is not None:
        left_out = {graph.id for graph in gold} - {graph.id for graph in chosen}
        others = read_system(arguments.against, report=_warn)
        systems[arguments.against] = [graph for graph in others if graph.id not in left_out]
    parsed = _parsed(arguments, chosen)
    systems[arguments.model] = [graph.without_probabilities() for graph in parsed]
    results = {name: _scored(chosen, graphs, arguments) for name, graphs in systems.items()}
    for result in results.values():
        for finding in doubts(result, arguments.budget):
            _warn(finding)
    if arguments.json:
        confidence = CONFIDENCE if arguments.against is not None else None
        found = as_json(results, per_graph=False, confidence=confidence)
        if arguments.calibration:
            found["calibration"] = _calibration(chosen, parsed, arguments.budget)
        print(json.dumps(found, ensure_ascii=False))
    else:
        texts = [*_texts(results)]
        if arguments.calibration:
            texts.append(_calibration_table(_calibration(chosen, parsed, arguments.budget)))
        print("\n\n".join(texts))
    return 0


def _calibration(gold: list[Graph], system: list[Graph], budget: float) -> dict[str, dict[str, float]]:
    """The expected calibration error of each kind of probability, and how many there are."""
    from perin.parsing.calibration import collect_decisions
    from perin.parsing.evaluation import pair_by_id

    found = collect_decisions(pair_by_id(gold, system), budget=budget)
    return {
        kind: {
            "decisions": len(each),
            "probability": float(each.probabilities.mean()),
            "right": float(each.right.mean()),
            "error": each.error,
        }
        for kind, each in found.items()
    }


def _calibration_table(found: dict[str, dict[str, float]]) -> str:
    lines = [f"{'probability of':<16}{'decisions':>10}{'mean':>8}{'right':>8}{'calibration error':>19}"]
    for kind, each in found.items():
        numbers = f"{100 * each['probability']:>8.1f}{100 * each['right']:>8.1f}{100 * each['error']:>19.1f}"
        lines.append(f"{kind.replace('_', ' '):<16}{each['decisions']:>10,.0f}{numbers}")
    return "\n".join(lines)


def _check_output(arguments: argparse.Namespace, gold: list[Graph]) -> None:
    if arguments.output is None:
        return
    from perin.graphs.codecs import guess
    from perin.parsing.writing import checked_format

    checked_format(arguments.output, guess(arguments.output).name, {graph.framework or "" for graph in gold})
    for path in (arguments.treebank, arguments.tokens, arguments.against):
        if path is not None and os.path.realpath(path) == os.path.realpath(arguments.output):
            raise UsageError(f"{path} can't be both read and written")


def _parsed(arguments: argparse.Namespace, gold: list[Graph]) -> list[Graph]:
    """The model's graphs, with probabilities if calibration is asked for, also written to a file if that is wanted."""
    from perin.graphs.codecs import dump
    from perin.parsing.evaluation import parse_treebank
    from perin.parsing.parser import Parser

    parser = Parser.load(
        arguments.model,
        revision=arguments.revision,
        offline=arguments.offline,
        threads=arguments.threads,
        bits=arguments.bits,
        constraints=not arguments.free,
    )

    def progress(results: Iterator[Parsed]) -> Iterable[Parsed]:
        from tqdm import tqdm

        return tqdm(results, "parsing", len(gold), disable=None, leave=False, dynamic_ncols=True)

    graphs = parse_treebank(
        parser, gold, arguments.tokens, report=_warn, probabilities=arguments.calibration, progress=progress
    )
    if arguments.output is not None:
        dump([graph.without_probabilities() for graph in graphs], arguments.output)
    return graphs


def _scored(gold: list[Graph], system: list[Graph], arguments: argparse.Namespace) -> Result:
    from perin.commands.score import with_progress
    from perin.scoring import find_metric, score_pairs
    from perin.scoring.reading import pair
    from perin.scoring.result import Result

    metric = find_metric("mrp")
    pairs = pair(gold, system, report=_warn)
    stream = score_pairs(pairs, metric, jobs=arguments.threads or os.cpu_count() or 1, budget=arguments.budget)
    return Result(metric, list(with_progress(stream, len(pairs))))


def _texts(results: dict[str, Result]) -> Iterator[str]:
    from perin.scoring import reports
    from perin.scoring.reports import contrasts_to_first

    *others, ours = results
    yield reports.overview(results[ours])
    if others:
        yield reports.by_type(results)
        yield reports.contrasts(others[0], contrasts_to_first(results, CONFIDENCE))


def _warn(finding: Finding) -> None:
    from tqdm import tqdm

    tqdm.write(f"perin evaluate: warning: {finding}", file=sys.stderr)
