"""Several processes score at once, the largest graphs first so that no process has to wait long at the end."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor

from perin.graphs.graph import Graph
from perin.scoring.evaluation import Pair, find_metric, prepare, score_pair
from perin.scoring.result import GraphScore

CHUNK = 8
"""So many pairs are sent to a process at once."""


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
