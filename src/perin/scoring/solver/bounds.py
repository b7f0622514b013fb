"""Upper bounds: an assignment without arcs, and arc weights split between their ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from perin.scoring.solver.features import Booleans, Floats, Integers
from perin.scoring.solver.problem import ArcPairs, AssignmentProblem, Work

# The problem without arcs, which is easy: an assignment, or an alignment where the order of nodes must be kept.


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


def round_steps(problem: AssignmentProblem) -> float:
    """About how many steps it takes to relax a problem, or to assign all nodes anew."""
    count, width = problem.shape
    return 6e4 + count * width * (30 + 0.1 * min(count, width)) + 60 * len(problem.arcs)


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


# Upper bounds: the weight of each arc is split between its two ends, then the rest is an assignment.
#
# How it is split decides how good the bound is.  Each round moves weight from ends that the best assignment uses to
# ends that it has slack for, which never makes the bound worse (the dual ascent of Hahn and Grant for quadratic
# assignment, on sparse arcs), and forbids the cells that no map better than the best known one can use.


STALLED = 0.02
"""A round that lowers the bound by less than this share of one match, and forbids no cell, is the last."""


@dataclass(frozen=True)
class Subproblem:
    """What is left to search: the cells still allowed, and the part of each arc pair's weight that its source gets."""

    allowed: Booleans
    shares: Floats


class Ascent:
    """Bounds for one problem."""

    def __init__(self, problem: AssignmentProblem, work: Work) -> None:
        self.problem = problem
        self._work = work
        arcs = problem.arcs
        self._cells = np.concatenate((arcs.sources, arcs.targets))
        self._crowds = _Crowds(arcs, self._cells, problem.values.size)

    def start(self) -> Subproblem:
        """The whole problem, every arc split in the middle."""
        return Subproblem(self.problem.allowed, np.floor(self.problem.arcs.weights / 2))

    def cell_weights(self, part: Subproblem) -> Floats:
        """``[N, M]``: what a cell is worth at most, with its share of the arcs at it."""
        problem = self.problem
        alive = self._alive(part.allowed)
        shares = np.concatenate((part.shares, problem.arcs.weights - part.shares))
        shares[~np.concatenate((alive, alive))] = 0
        weights = problem.values.ravel() + self._crowds.totals(shares)
        return np.where(part.allowed, weights.reshape(problem.shape), 0)

    def tighten(self, part: Subproblem, known: float, rounds: int) -> tuple[Subproblem, Relaxed] | None:
        """Lower the bound and forbid cells, round by round; None once no map can be worth more than ``known``."""
        problem = self.problem
        goal = known + problem.grain
        previous = np.inf
        while True:
            rounds -= 1
            self._work.charge(round_steps(problem))
            relaxed = relax(self.cell_weights(part), part.allowed, monotone=problem.monotone)
            if relaxed.bound < goal:
                return None
            allowed = part.allowed & (relaxed.through >= goal)
            progress = previous - relaxed.bound > STALLED * problem.bases[0] or not np.array_equal(
                allowed, part.allowed
            )
            part = Subproblem(allowed, part.shares)
            if not progress or rounds <= 0 or self._work.over:
                return part, relaxed
            previous = relaxed.bound
            part = self._shifted(part, relaxed.slack)

    def _shifted(self, part: Subproblem, slack: Floats) -> Subproblem:
        arcs = self.problem.arcs
        alive = self._alive(part.allowed)
        degree = np.bincount(arcs.sources[alive], minlength=slack.size)
        degree += np.bincount(arcs.targets[alive], minlength=slack.size)
        room = np.floor(np.where(part.allowed, slack, 0).ravel() / np.maximum(degree, 1))
        shares = np.clip(part.shares + room[arcs.sources] - room[arcs.targets], 0, arcs.weights)
        return Subproblem(part.allowed, shares)

    def _alive(self, allowed: Booleans) -> Booleans:
        cells = allowed.ravel()
        alive: Booleans = cells[self.problem.arcs.sources] & cells[self.problem.arcs.targets]
        return alive


class _Crowds:
    """Sums of shares by cell, where arcs of one key crowd at a node.

    With two gold arcs and two system arcs of the same key and direction at a cell there are four pairs, but only two
    can match: count the best share of each gold arc, or of each system arc, whichever gives less.
    """

    def __init__(self, arcs: ArcPairs, cells: Integers, size: int) -> None:
        self._size = size
        self._cells = cells
        count = len(arcs)
        direction = np.repeat((0, 1), count)
        places = cells * 2 + direction
        keys = int(arcs.keys.max(initial=0)) + 1
        _, crowd, members = np.unique(places * keys + np.tile(arcs.keys, 2), return_inverse=True, return_counts=True)
        crowded = members[crowd] > 1
        self._single = np.nonzero(~crowded)[0]
        self._crowded = np.nonzero(crowded)[0]
        if len(self._crowded):
            _, crowd = np.unique(crowd[crowded], return_inverse=True)
            self._crowd_cells = np.zeros(int(crowd.max()) + 1, dtype=np.int64)
            self._crowd_cells[crowd] = cells[crowded]
            self._sides = [
                _Groups(crowd, np.tile(side, 2)[crowded], len(self._crowd_cells)) for side in (arcs.gold, arcs.system)
            ]

    def totals(self, shares: Floats) -> Floats:
        """``[N * M]``: what the arcs at each cell are worth at most."""
        totals = _sums(self._cells[self._single], shares[self._single], self._size)
        if len(self._crowded):
            crowded = shares[self._crowded]
            capped = np.minimum(*(side.sums_of_best(crowded) for side in self._sides))
            totals += _sums(self._crowd_cells, capped, self._size)
        return totals


class _Groups:
    """Members of a crowd, grouped by the arc that they share."""

    def __init__(self, crowd: Integers, arc: Integers, crowds: int) -> None:
        self._crowds = crowds
        self._order = np.lexsort((arc, crowd))
        new = np.ones(len(crowd), dtype=bool)
        ordered_crowd, ordered_arc = crowd[self._order], arc[self._order]
        new[1:] = (ordered_crowd[1:] != ordered_crowd[:-1]) | (ordered_arc[1:] != ordered_arc[:-1])
        self._starts = np.nonzero(new)[0]
        self._of_group = ordered_crowd[self._starts]

    def sums_of_best(self, shares: Floats) -> Floats:
        """By crowd: the sum over its arcs of the best share of each."""
        best = np.maximum.reduceat(shares[self._order], self._starts)
        return _sums(self._of_group, best, self._crowds)


def _sums(index: Integers, values: Floats, size: int) -> Floats:
    return np.bincount(index, values, size).astype(np.float64, copy=False)
