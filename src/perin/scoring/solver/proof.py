"""Proof by linear programs: over the cells in question no map beats the best known one; or a better one is found."""

from __future__ import annotations

import heapq
import itertools
import math
from typing import TypeAlias

import numpy as np

from perin.scoring.solver.bounds import best_map
from perin.scoring.solver.features import Booleans, Floats
from perin.scoring.solver.problem import Problem
from perin.scoring.solver.program import Optimum, Program
from perin.scoring.solver.search import climb
from perin.scoring.solver.solution import Deadline, Incumbent

TOLERANCE = 1e-4
"""What HiGHS's optima may be off by, generously: a bound this little below a whole number is that number."""
FRACTION = 1e-6
"""A cell that is used by less than this is not used."""
ROUNDING = 4
"""One in so many optima is rounded to a map."""

_Case: TypeAlias = tuple[float, float, dict[int, float]]
"""What a heap sorts by, the bound and the age, both negative; and the columns that are fixed."""


class Proof:
    """Settles one level after the other.  Once the best value of a level is known, the levels after it must keep it."""

    def __init__(self, problem: Problem, allowed: Booleans, incumbent: Incumbent, deadline: Deadline) -> None:
        self._problem = problem
        self._incumbent = incumbent
        self._deadline = deadline
        self._program = Program(problem, allowed)
        self._weight = self._branching_weight()
        self._numbers = itertools.count(1)
        self.bound = math.inf
        """No map over the cells in question is worth more on the first level."""

    def run(self) -> int:
        """Settle as many levels as time allows; how many."""
        levels = len(self._problem.levels)
        for level in range(levels):
            self._program.set_level(level)
            bound = self._settle(level)
            if level == 0:
                self.bound = bound
            known = self._known(level)
            if bound != known:  # either time ran out, or all maps over these cells are worse than the best known one
                return level if bound > known else levels
            self._program.demand(level, known)
        return levels

    def _settle(self, level: int) -> float:
        """The lowest bound that can be proven for this level: branch on fractions, highest bound first, then newest."""
        root = self._program.solve(self._deadline)
        if root.bound == math.inf:
            return math.inf
        cases: list[_Case] = []
        explained = self._split(level, root, {}, cases)
        self._program.forbid(root.bound - root.reduced_costs < self._known(level) - TOLERANCE)
        while explained and cases and -cases[0][0] > self._known(level):
            bound, _, fixed = heapq.heappop(cases)
            self._program.fix(fixed)
            optimum = self._program.solve(self._deadline)
            if optimum.bound == math.inf:
                return -bound
            explained = self._split(level, optimum, fixed, cases)
        self._program.fix({})
        return min(_floor(root.bound), self._known(level)) if explained else _floor(root.bound)

    def _split(self, level: int, optimum: Optimum, fixed: dict[int, float], cases: list[_Case]) -> bool:
        """Add the cases of an optimum that may hide a better map: some cell that it uses by a fraction is used, or not.

        False if it uses none by a fraction and yet is no map, which only numerical trouble can explain.
        """
        bound = _floor(optimum.bound)
        if bound <= self._known(level):
            return True
        column = self._branching_column(optimum)
        number = next(self._numbers)
        if column is None or not fixed or number % ROUNDING == 0:
            self._round(optimum)
        if column is None:
            return bound <= self._known(level)
        heapq.heappush(cases, (-bound, -number, {**fixed, column: 0.0}))
        heapq.heappush(cases, (-bound, -number - 0.5, {**fixed, column: 1.0}))
        return True

    def _branching_column(self, optimum: Optimum) -> int | None:
        fractional = np.minimum(optimum.cells, 1 - optimum.cells)
        if fractional.max(initial=0) < FRACTION:
            return None
        return int((fractional * self._weight).argmax())

    def _round(self, optimum: Optimum) -> None:
        """Offer the map nearest to an optimum over fractions."""
        spread = self._program.spread(optimum.cells)
        start = best_map(spread, spread > FRACTION, monotone=False)
        self._incumbent.offer(*climb(self._problem, start, self._deadline))

    def _known(self, level: int) -> int:
        return self._problem.level_value(self._incumbent.image, level)

    def _branching_weight(self) -> Floats:
        """By cell: branch first on the gold nodes on which most of UCCA's demands depend."""
        count, width = self._problem.shape
        demands = self._problem.dominance
        weight = np.ones(count)
        if demands is not None:
            weight += np.bincount(demands.upper, minlength=count)
        return weight[self._program.cells // width]


def _floor(bound: float) -> float:
    return math.floor(bound + TOLERANCE) if math.isfinite(bound) else bound
