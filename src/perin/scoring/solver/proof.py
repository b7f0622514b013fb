"""Proof by linear programs: over the cells in question no map beats the best known one; or a better one is found."""

from __future__ import annotations

import heapq
import math

import numpy as np

from perin.scoring.solver.climbing import climb
from perin.scoring.solver.features import Booleans, Floats
from perin.scoring.solver.problem import Problem
from perin.scoring.solver.program import Optimum, Program
from perin.scoring.solver.relaxation import best_map
from perin.scoring.solver.solution import Deadline, Incumbent

TOLERANCE = 1e-4
"""What HiGHS's optima may be off by, generously: a bound this little below a whole number is that number."""
FRACTION = 1e-6
"""A cell that is used by less than this is not used."""
ROUNDING = 8
"""One in so many cases is rounded to a map."""


class Proof:
    """Settles one level after the other.  Once the best value of a level is known, the levels after it must keep it."""

    def __init__(self, problem: Problem, allowed: Booleans, incumbent: Incumbent, deadline: Deadline) -> None:
        self._problem = problem
        self._incumbent = incumbent
        self._deadline = deadline
        self._program = Program(problem, allowed)
        self._weight = self._branching_weight()
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
        if _floor(root.bound) > self._known(level):
            self._round(root)
        self._program.forbid(root.bound - root.reduced_costs < self._known(level) - TOLERANCE)
        cases: list[tuple[float, int, dict[int, float]]] = []
        number = self._split(cases, root, {}, 0)
        while cases and -cases[0][0] > self._known(level):
            bound, _, fixed = heapq.heappop(cases)
            self._program.fix(fixed)
            optimum = self._program.solve(self._deadline)
            if optimum.bound == math.inf:
                return -bound
            if _floor(optimum.bound) > self._known(level):
                if number % ROUNDING == 0 or self._branching_column(optimum) is None:
                    self._round(optimum)
                number = self._split(cases, optimum, fixed, number)
        self._program.fix({})
        return min(_floor(root.bound), self._known(level))

    def _split(
        self, cases: list[tuple[float, int, dict[int, float]]], optimum: Optimum, fixed: dict[int, float], number: int
    ) -> int:
        """Add the two cases of a cell that is used by a fraction: not used, used.  The number of cases so far."""
        column = self._branching_column(optimum)
        if column is not None:
            for value in (0.0, 1.0):
                number += 1
                heapq.heappush(cases, (-_floor(optimum.bound), -number, {**fixed, column: value}))
        return number

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
