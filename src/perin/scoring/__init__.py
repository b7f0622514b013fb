"""Exact scores of meaning graphs, gold against a system's: the MRP metric, Smatch, EDM, UCCA, SDP."""

from __future__ import annotations

import importlib
import multiprocessing
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace

from perin.errors import Finding, Report, Tolerant, UsageError, wrong_type
from perin.graphs.graph import Graph
from perin.scoring.metrics import METRICS
from perin.scoring.reading import Source, pair, read_gold, read_system
from perin.scoring.result import Block, GraphScore, Metric, Result, Tally

__all__ = ["Block", "GraphScore", "Result", "Tally", "correspondence", "score"]

BUDGET = 10.0
"""Default budget of the search for one pair of graphs, in seconds of work.

It counts steps instead of looking at a clock, so that scores depend neither on the machine nor on its load.
"""

Pair = tuple[Graph, Graph | None]


def score(
    gold: Source,
    system: Source,
    metric: str | None = None,
    *,
    jobs: int = 1,
    budget: float = BUDGET,
    format: str | None = None,
    report: Report | None = None,
    progress: Callable[[Iterable[GraphScore], int], Iterable[GraphScore]] | None = None,
) -> Result:
    """Score a system's graphs.  Both sides are files (``format`` by default as their names tell), a graph, or several.

    ``jobs`` processes share the work.  Oddities of the input are in the result's ``findings``, and handed to ``report``
    as they are found.  ``progress`` is wrapped around the stream of scored graphs, and told how many there will be.

    >>> from perin.graphs import Graph, Node
    >>> gold = Graph("1", framework="amr", nodes=(Node(0, "dog"), Node(1, "bark")))
    >>> score([gold], [gold.subgraph([0])]).total.tallies["labels"]
    Tally(g=2, s=1, c=1)
    """
    chosen = None if metric is None else find_metric(metric)
    check_limits(jobs, budget)
    oddities = Tolerant()

    def note(finding: Finding) -> None:
        oddities(finding)
        if report is not None:
            report(finding)

    wanted = read_gold(gold, format, report=note)
    chosen = chosen or usual_metric(wanted)
    check_fit(chosen, wanted)
    report_unfit(chosen, wanted, note)
    pairs = pair(wanted, read_system(system, format, report=note), report=note)
    stream = score_pairs(pairs, chosen, jobs=jobs, budget=budget)
    scores = finished(chosen, pairs, progress(stream, len(pairs)) if progress else stream)
    return Result(chosen, scores, oddities.findings)


def correspondence(
    gold: Graph, system: Graph, metric: str = "mrp", *, budget: float = BUDGET
) -> tuple[tuple[int, int], ...]:
    """The ids of the nodes that correspond, gold first, in the order of the gold nodes.

    >>> from perin.graphs import Graph, Node
    >>> correspondence(Graph("1", nodes=(Node(0, "dog"),)), Graph("1", nodes=(Node(7, "cat"), Node(8, "dog"))))
    ((0, 8),)
    """
    chosen = find_metric(metric)
    for graph in (gold, system):
        if not isinstance(graph, Graph):
            raise wrong_type("correspondence", "two graphs", graph)
    if not chosen.searches:
        raise UsageError(f"the metric {metric} needs no correspondence of nodes; mrp, mrp-max and smatch do")
    return chosen.compare(gold, system, budget).pairs


def find_metric(name: str) -> Metric:
    """The metric of this name."""
    if name not in METRICS:
        raise UsageError(f"unknown metric {name!r}; known are: {', '.join(METRICS)}")
    return METRICS[name]


def usual_metric(gold: Iterable[Graph]) -> Metric:
    """The metric for gold graphs where none is named: that of their framework if it has one, else mrp."""
    frameworks = {graph.framework for graph in gold}
    return next((metric for metric in METRICS.values() if frameworks == {metric.default_for}), METRICS["mrp"])


def finished(metric: Metric, pairs: Sequence[Pair], scores: Iterable[GraphScore]) -> list[GraphScore]:
    """The scores of all pairs, with what the metric counts over documents."""
    found = list(scores)
    if metric.over_documents is None:
        return found
    compared = metric.over_documents(pairs, [score.comparison for score in found])
    return [replace(score, comparison=new) for score, new in zip(found, compared, strict=True)]


def check_limits(jobs: int, budget: float) -> None:
    """Refuse a number of processes or of seconds that nothing can be done with."""
    if jobs < 1 or not budget > 0:
        raise UsageError(f"jobs and budget must be positive, found {jobs} and {budget:g}")


FITTING = {
    "smatch": ("amr", "drg", "umr"),
    "smatch-fine": ("amr", "umr"),
    "edm": ("eds",),
    "ucca": ("ucca",),
    "sdp": ("dm", "psd"),
}
"""The frameworks that a metric is for; one that is not here is for all."""


def check_fit(metric: Metric, gold: Iterable[Graph]) -> None:
    """UsageError for a metric that is not for the framework of a graph."""
    known = FITTING.get(metric.name)
    unfit = next((graph for graph in gold if known and graph.framework and graph.framework not in known), None)
    if known and unfit is not None:
        held = " and ".join(name.upper() for name in known)
        raise UsageError(f"{metric.name} is for {held}, and graph {unfit.id} is {unfit.framework}; use mrp")


def report_unfit(metric: Metric, gold: Iterable[Graph], report: Report) -> None:
    """Tell if a metric identifies nodes by the text that they cover, and there are gold graphs without anchors."""
    unfit = [] if metric.searches else [graph for graph in gold if graph.nodes and not _anchored(graph)]
    if unfit:
        count = "1 gold graph has" if len(unfit) == 1 else f"{len(unfit)} gold graphs have"
        message = f"{metric.name} identifies nodes by their anchors, and {count} none; use mrp or smatch"
        report(Finding(message, graph=unfit[0].id if len(unfit) == 1 else None))


def _anchored(graph: Graph) -> bool:
    return any(node.anchors for node in graph.nodes)


def score_pairs(
    pairs: Sequence[Pair], metric: Metric, *, jobs: int = 1, budget: float = BUDGET
) -> Iterator[GraphScore]:
    """The scores of pairs of graphs, in their order; a system graph of None counts as an empty one."""
    check_limits(jobs, budget)
    if jobs == 1 or len(pairs) == 1:
        prepare(metric.name)
        for each in pairs:
            yield score_pair(each, metric, budget)
        return

    yield from score_in_parallel(pairs, metric.name, jobs, budget)


def prepare(metric: str) -> None:
    """Import what a metric needs, so that it is no part of the first graph's time."""
    if find_metric(metric).searches:
        importlib.import_module("perin.scoring.solver")


def score_pair(each: Pair, metric: Metric, budget: float) -> GraphScore:
    """The score of one gold graph."""
    start = time.perf_counter()
    gold, system = each
    compared = metric.compare(gold, system or replace(gold, tops=(), nodes=(), edges=()), budget)
    seconds = time.perf_counter() - start
    return GraphScore(gold.id, gold.framework, gold.language, system is None or not system.nodes, compared, seconds)


# Several processes score at once, the largest graphs first so that no process has to wait long at the end.


CHUNK = 8
"""Pairs that are sent to a process at once."""


def score_in_parallel(pairs: Sequence[Pair], metric: str, jobs: int, budget: float) -> Iterator[GraphScore]:
    """The scores of pairs of graphs, in their order."""
    order = sorted(range(len(pairs)), key=lambda number: -_size(pairs[number]))
    jobs = min(jobs, len(pairs))
    chunk = max(1, min(CHUNK, len(pairs) // (4 * jobs)))
    scores: dict[int, GraphScore] = {}
    due = 0
    fresh = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, fresh, initializer=prepare, initargs=(metric,)) as pool:
        work = ((pairs[number], metric, budget) for number in order)
        for number, score in zip(order, pool.map(_scored, work, chunksize=chunk), strict=True):
            scores[number] = score
            while due in scores:
                yield scores.pop(due)
                due += 1


def _scored(task: tuple[Pair, str, float]) -> GraphScore:
    each, metric, budget = task
    return score_pair(each, find_metric(metric), budget)


def _size(each: Pair) -> int:
    return max(len(graph) if isinstance(graph, Graph) else 0 for graph in each)
