"""The problem without arcs, which is easy: an assignment, or an alignment where the order of nodes must be kept."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from perin.scoring.solver.features import Booleans, Floats, Integers


class Relaxed(NamedTuple):
    """The best map by cell weights alone, and what that says about all maps.

    A map is worth at most ``bound`` minus the sum of ``slack`` over its cells; a map through cell (i, j) is worth at
    most ``through[i, j]``.
    """

    bound: float
    image: Integers
    slack: Floats
    through: Floats


def relax(weights: Floats, allowed: Booleans, *, monotone: bool) -> Relaxed:
    """Solve for cell weights ``[N, M]`` that are zero where a cell is not allowed and nowhere negative."""
    if monotone:
        return _align(weights, allowed)
    if weights.shape[0] <= weights.shape[1]:
        image, gold, system = _assign(weights)
    else:
        inverse, system, gold = _assign(weights.T)
        image = np.full(weights.shape[0], -1, dtype=np.int64)
        image[inverse] = np.arange(weights.shape[1])
    bound = float(gold.sum() + system.sum())
    slack = gold[:, None] + system - weights
    return Relaxed(bound, _only(image, allowed), slack, bound - slack)


def best_map(weights: Floats, allowed: Booleans, *, monotone: bool) -> Integers:
    """The map alone; as :func:`relax`, and cheaper."""
    if monotone:
        return _align(weights, allowed).image
    image = np.full(weights.shape[0], -1, dtype=np.int64)
    rows, columns = linear_sum_assignment(weights, maximize=True)
    image[rows] = columns
    return _only(image, allowed)


def _only(image: Integers, allowed: Booleans) -> Integers:
    """The map without the cells that are not allowed (which a complete assignment fills up with)."""
    return np.where(allowed[np.arange(len(image)), image], image, -1)


def _assign(weights: Floats) -> tuple[Integers, Floats, Floats]:
    """The best assignment of the rows (no more than columns), and dual prices of rows and columns."""
    rows, image = linear_sum_assignment(weights, maximize=True)
    own = weights[rows, image]
    columns = np.zeros(weights.shape[1])
    envy = weights - own[:, None]
    while True:
        raised = np.maximum(columns, (envy + columns[image][:, None]).max(0, initial=0))
        if np.array_equal(raised, columns):
            return image, own - columns[image], columns
        columns = raised


def _align(weights: Floats, allowed: Booleans) -> Relaxed:
    """The best strictly monotone map, by dynamic programming from both ends."""
    ahead = _prefixes(weights)
    behind = _prefixes(weights[::-1, ::-1])[::-1, ::-1]
    bound = float(ahead[-1, -1])
    slack = ahead[1:, 1:] - ahead[:-1, :-1] - weights
    image = np.full(weights.shape[0], -1, dtype=np.int64)
    i, j = weights.shape
    while i and j:
        if ahead[i, j] == ahead[i - 1, j]:
            i -= 1
        elif ahead[i, j] == ahead[i, j - 1]:
            j -= 1
        else:
            i, j = i - 1, j - 1
            image[i] = j
    return Relaxed(bound, _only(image, allowed), slack, ahead[:-1, :-1] + weights + behind[1:, 1:])


def _prefixes(weights: Floats) -> Floats:
    """``[N + 1, M + 1]``: the best alignment of the first i rows with the first j columns."""
    table = np.zeros((weights.shape[0] + 1, weights.shape[1] + 1))
    for i, row in enumerate(weights):
        above = table[i]
        np.maximum.accumulate(np.maximum(above[1:], above[:-1] + row), out=table[i + 1, 1:])
    return table
