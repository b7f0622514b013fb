"""Labels of which a source seldom has two edges (``ARG0``): learned from a treebank, used to choose labels jointly.

A vocabulary has them only if asked for (``learn_vocabulary(…, repeats=True)``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

import numpy as np

from perin.contract.arrays import Bools, Ints, Scores
from perin.graphs.graph import Graph

_SMALLEST = 1e-9
_SELDOM = 0.05


def learn_repeats(graphs: Iterable[Graph]) -> dict[str, float]:
    """By label: the probability that a source of such an edge has a second one, for labels where that is seldom.

    The estimate is (times it was so + 1/2) / (sources + 1), so a label that is never repeated but rare says little.
    """
    sources: Counter[str] = Counter()
    repeated: Counter[str] = Counter()
    for graph in graphs:
        counts = Counter((edge.source, edge.label) for edge in graph.edges if edge.label is not None)
        for (_, label), count in counts.items():
            sources[label] += 1
            repeated[label] += count > 1
    estimates = {label: (repeated[label] + 0.5) / (count + 1) for label, count in sorted(sources.items())}
    return {label: estimate for label, estimate in estimates.items() if estimate <= _SELDOM}


def without_repeats(scores: Scores, chosen: Bools, sources: Ints, repeats: Mapping[int, float]) -> Bools:
    """[M, L]: labels of which a source seldom has two are chosen jointly for all its edges.

    ``repeats``: by label, the probability that a source has a second edge of it.  Where a source has such a label
    twice, its edges get the labels whose scores, times that probability for each repetition, have the greatest product.
    An edge's other labels (of p >= .5) stay.
    """
    chosen = chosen.copy()
    for source in np.unique(sources):
        rows = np.flatnonzero(sources == source)
        if any(chosen[rows, label].sum() > 1 for label in repeats):
            best = chosen[rows] & (scores[rows] == np.where(chosen[rows], scores[rows], -1).max(axis=1, keepdims=True))
            chosen[rows] &= ~best
            chosen[rows, _assigned(scores[rows], repeats)] = True
    return chosen


def _assigned(scores: Scores, repeats: Mapping[int, float]) -> Ints:
    """[M]: one label for each edge of a source, by an assignment that has each label as often as there are edges."""
    from scipy.optimize import linear_sum_assignment

    count, size = scores.shape
    costs = -np.log(np.clip(scores.astype(np.float64), _SMALLEST, 1))
    again = np.zeros(size)
    for label, probability in repeats.items():
        again[label] = -np.log(max(probability, _SMALLEST))
    copies = np.concatenate([costs + (again if copy else 0.0) for copy in range(count)], axis=1)
    labels: Ints = linear_sum_assignment(copies)[1] % size
    return labels
