"""Proof by linear programs (HiGHS): the best bounds, for what branching alone does not settle."""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import highspy
import numpy as np

from perin.scoring.solver.features import Booleans, Dominance, Floats, Integers
from perin.scoring.solver.problem import ArcPairs, AssignmentProblem, Incumbent, Work
from perin.scoring.solver.search import best_map, climb

ENTRIES = 4_000_000
"""Limit on the entries of a linear program's matrix: some hundred megabytes."""


class TooLargeError(Exception):
    """The matrix of a linear program would have too many entries."""


# The constraints of the linear program, as rows of a sparse matrix.
#
# Columns: one for each cell that is allowed, then one for each pair of arcs between such cells.


@dataclass(frozen=True)
class Rows:
    """Entries (row, column, value) in no particular order, and the upper bound of each row."""

    row: Integers
    column: Integers
    value: Floats
    upper: Floats


def stacked(parts: list[Rows]) -> Rows:
    """The rows of all parts, one below the other."""
    starts = np.cumsum([0, *(len(part.upper) for part in parts[:-1])])
    return Rows(
        np.concatenate([part.row + start for part, start in zip(parts, starts, strict=True)]),
        np.concatenate([part.column for part in parts]),
        np.concatenate([part.value for part in parts]),
        np.concatenate([part.upper for part in parts]),
    )


def partner_rows(cells: Integers, shape: tuple[int, int]) -> Rows:
    """Every node has at most one partner."""
    nodes = np.concatenate((cells // shape[1], shape[0] + cells % shape[1]))
    present, row = np.unique(nodes, return_inverse=True)
    return Rows(row, np.tile(np.arange(len(cells)), 2), np.ones(len(row)), np.ones(len(present)))


def arc_rows(arcs: ArcPairs, pairs: Integers, columns: Integers, first: int) -> Rows:
    """Among pairs with the same gold or system arc and the same cell at its end, one matches if the cell is used.

    ``columns`` gives the column of each cell, ``first`` is the column of the first pair.  Rows that follow from others
    are left out.
    """
    parts = []
    for ends in (arcs.sources[pairs], arcs.targets[pairs]):
        (gold, gold_sizes), (system, system_sizes) = (
            np.unique(ends * (int(arc.max(initial=0)) + 1) + arc, return_inverse=True, return_counts=True)[1:]
            for arc in (arcs.gold[pairs], arcs.system[pairs])
        )
        several = gold_sizes[gold] > 1, system_sizes[system] > 1
        alone = ~(several[0] | several[1])
        for group, kept in ((gold, several[0] | alone), (system, several[1])):
            members = np.nonzero(kept)[0]
            rows, leader, row = np.unique(group[members], return_index=True, return_inverse=True)
            parts.append(
                Rows(
                    np.concatenate((row, np.arange(len(rows)))),
                    np.concatenate((first + members, columns[ends[members[leader]]])),
                    np.concatenate((np.ones(len(row)), -np.ones(len(rows)))),
                    np.zeros(len(rows)),
                )
            )
    return stacked(parts)


def dominance_rows(demands: Dominance, allowed: Booleans, columns: Integers) -> Rows:
    """UCCA's demands: if i goes to j, then k goes below j.

    Each row is a maximal set of cells that exclude each other, which says more than a row for each pair.
    """
    pairs = zip(demands.upper.tolist(), demands.lower.tolist(), strict=True)
    nested = (_nested_rows(i, k, demands.below, allowed) for i, k in pairs)
    parts = _within_limit(nested)
    for nodes, others, below in (
        (demands.upper, demands.lower, demands.below),
        (demands.lower, demands.upper, demands.below.T),
    ):
        columnwise = (_column_rows(int(i), others[nodes == i], below, allowed) for i in np.unique(nodes))
        parts.extend(_within_limit(columnwise))
    return stacked([Rows(part.row, columns[part.column], part.value, part.upper) for part in parts])


def _within_limit(parts: Iterable[Rows]) -> list[Rows]:
    found, entries = [], 0
    for part in parts:
        entries += len(part.value)
        if entries > ENTRIES:
            raise TooLargeError
        found.append(part)
    return found


def _nested_rows(i: int, k: int, below: Booleans, allowed: Booleans) -> Rows:
    """For every set S of partners of k that are all those below some partner of i.

    Cells (i, j) where all partners of k below j are in S, and cells (k, l) with l outside S.
    """
    uppers, lowers = np.nonzero(allowed[i])[0], np.nonzero(allowed[k])[0]
    reached = below[np.ix_(uppers, lowers)]
    different = {row.tobytes(): number for number, row in enumerate(reached) if not row.all()}
    sets = reached[list(different.values())]
    inside = (~sets).astype(np.float32) @ reached.astype(np.float32).T == 0
    return _exclusive(inside, i * allowed.shape[1] + uppers, ~sets, k * allowed.shape[1] + lowers)


def _column_rows(i: int, others: Integers, fits: Booleans, allowed: Booleans) -> Rows:
    """For every system node l: cells (k, l) for all of i's ``others`` k, and (i, j) for all j that do not fit l."""
    width = allowed.shape[1]
    theirs = allowed[others].T
    useful = np.nonzero((theirs.sum(1) > 1) & (allowed[i] @ ~fits))[0]
    own = (allowed[i][:, None] & ~fits)[:, useful].T
    row, place = np.nonzero(theirs[useful])
    own_row, j = np.nonzero(own)
    cells = np.concatenate((others[place] * width + useful[row], i * width + j))
    rows = np.concatenate((row, own_row))
    return Rows(rows, cells, np.ones(len(rows)), np.ones(len(useful)))


def _exclusive(first: Booleans, first_cells: Integers, second: Booleans, second_cells: Integers) -> Rows:
    """Rows by two tables of the same height that say which cells belong to each row."""
    (first_row, first_place), (second_row, second_place) = np.nonzero(first), np.nonzero(second)
    row = np.concatenate((first_row, second_row))
    cells = np.concatenate((first_cells[first_place], second_cells[second_place]))
    return Rows(row, cells, np.ones(len(row)), np.ones(len(first)))


OPTIONS: dict[str, bool | int | str] = {"output_flag": False, "threads": 1, "presolve": "off"}
"""Presolving costs more than it saves here."""
PATIENCE = 4
"""Iterations per row and column before a program is given up; those that end at all need far fewer."""
DUAL, PRIMAL = 1, 4
"""The simplex algorithms: after new bounds the last optimum is a start for the one, after new costs for the other."""


@dataclass(frozen=True)
class Optimum:
    """``bound``: infinite if it was not found in time, minus infinite if nothing is feasible.

    ``cells``: by how much each is used.  ``reduced_costs``, by column: how much the bound falls, at least, if the
    column is used fully.
    """

    bound: float
    cells: Floats
    reduced_costs: Floats


def building_steps(problem: AssignmentProblem, allowed: Booleans) -> float:
    """About how much work it is to set up a program over these cells."""
    cells = allowed.ravel()
    arcs = problem.arcs
    steps = 1e6 + 500.0 * int(cells.sum()) + 1000.0 * int((cells[arcs.sources] & cells[arcs.targets]).sum())
    demands = problem.dominance
    if demands is not None and len(demands):
        partners = allowed.sum(1).astype(np.float64)
        upper, lower = partners[demands.upper], partners[demands.lower]
        steps += float((6e4 + 0.2 * upper * upper * lower).sum())
    return steps


class Program:
    """A linear program over the allowed cells of a problem, maximised for one level at a time.

    Its columns are the ``cells`` (numbers of cells), then the pairs of arcs between them.  TooLargeError if it would
    take too much memory.
    """

    def __init__(self, problem: AssignmentProblem, allowed: Booleans) -> None:
        self._problem = problem
        self.cells = np.nonzero(allowed.ravel())[0]
        columns = np.full(allowed.size, -1, dtype=np.int64)
        columns[self.cells] = np.arange(len(self.cells))
        arcs = problem.arcs
        self._pairs = np.nonzero((columns[arcs.sources] >= 0) & (columns[arcs.targets] >= 0))[0]
        rows = [partner_rows(self.cells, problem.shape), arc_rows(arcs, self._pairs, columns, len(self.cells))]
        if problem.dominance is not None and len(problem.dominance):
            rows.append(dominance_rows(problem.dominance, allowed, columns))
        self._upper = np.ones(len(self.cells) + len(self._pairs))
        self._fixed: Mapping[int, float] = {}
        table = stacked(rows)
        if len(table.value) > ENTRIES:
            raise TooLargeError
        self._highs = _loaded(table, len(self._upper))
        self._steps = 5e3 + 25 * len(table.upper) + 0.6 * len(table.value)
        self._patience = PATIENCE * (len(table.upper) + len(self._upper))

    def set_level(self, level: int) -> None:
        """Maximise this level from now on, starting from the last optimum."""
        self._highs.setOptionValue("simplex_strategy", PRIMAL if level else DUAL)
        count = len(self._upper)
        self._highs.changeColsCost(count, np.arange(count, dtype=np.int32), -self._costs(level))

    def demand(self, level: int, least: int) -> None:
        """From now on allow only what reaches this value on this level."""
        costs = self._costs(level)
        used = np.nonzero(costs)[0]
        self._highs.addRow(float(least), highspy.kHighsInf, len(used), used.astype(np.int32), costs[used])

    def forbid(self, columns: Booleans) -> None:
        """From now on keep these columns at zero."""
        self._upper[columns] = 0
        index = np.nonzero(columns)[0].astype(np.int32)
        zeros = np.zeros(len(index))
        self._highs.changeColsBounds(len(index), index, zeros, zeros)

    def fix(self, values: Mapping[int, float]) -> None:
        """Hold these columns at these values, and no others."""
        self._highs.setOptionValue("simplex_strategy", DUAL)
        changed = {column: (0.0, self._upper[column]) for column in self._fixed if column not in values}
        changed |= {column: (value, value) for column, value in values.items() if self._fixed.get(column) != value}
        self._fixed = values
        index = np.fromiter(changed, dtype=np.int32, count=len(changed))
        lower, upper = np.array(list(changed.values()), dtype=np.float64).reshape(-1, 2).T.copy()
        self._highs.changeColsBounds(len(index), index, lower, upper)

    def solve(self, work: Work) -> Optimum:
        """The optimum over fractions."""
        highs = self._highs
        highs.setOptionValue("simplex_iteration_limit", int(min(max(1, work.left / self._steps), self._patience)))
        highs.run()
        work.charge(5e5 + self._steps * highs.getInfo().simplex_iteration_count)
        status, solution = highs.getModelStatus(), highs.getSolution()
        bound = math.inf
        if status == highspy.HighsModelStatus.kOptimal:
            bound = -highs.getInfo().objective_function_value
        elif status == highspy.HighsModelStatus.kInfeasible:
            bound = -math.inf
        return Optimum(bound, np.array(solution.col_value[: len(self.cells)]), np.array(solution.col_dual))

    def spread(self, cells: Floats) -> Floats:
        """``[N, M]``: by how much each cell is used."""
        spread = np.zeros(self._problem.values.size)
        spread[self.cells] = cells
        return spread.reshape(self._problem.shape)

    def _costs(self, level: int) -> Floats:
        values, weights = self._problem.level(level)
        return np.concatenate((values.ravel()[self.cells], weights[self._pairs]))


def _loaded(rows: Rows, columns: int) -> highspy.Highs:
    model = highspy.HighsLp()
    count = len(rows.upper)
    order = np.argsort(rows.row, kind="stable")
    model.num_col_, model.num_row_ = columns, count
    model.col_cost_, model.col_lower_, model.col_upper_ = np.zeros(columns), np.zeros(columns), np.ones(columns)
    model.row_lower_, model.row_upper_ = np.full(count, -highspy.kHighsInf), rows.upper
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.start_ = np.concatenate(([0], np.cumsum(np.bincount(rows.row, minlength=count)))).astype(np.int32)
    model.a_matrix_.index_ = rows.column[order].astype(np.int32)
    model.a_matrix_.value_ = rows.value[order]
    highs: highspy.Highs = highspy.Highs()  # type: ignore[no-untyped-call]
    for name, value in OPTIONS.items():
        highs.setOptionValue(name, value)
    highs.passModel(model)
    return highs


# The proof: over the cells in question no map beats the best known one; or a better one is found.


TOLERANCE = 1e-4
"""What HiGHS's optima may be off by, generously: a bound this little below a whole number is that number."""
FRACTION = 1e-6
"""A cell that is used by less than this is not used."""
ROUNDING = 4
"""Every fourth optimum is rounded to a map."""

_Case: TypeAlias = tuple[float, float, dict[int, float]]
"""What a heap sorts by, the bound and the age, both negative; and the columns that are fixed."""


class Proof:
    """Settles one level after the other.  Once the best value of a level is known, the levels after it must keep it."""

    def __init__(self, problem: AssignmentProblem, allowed: Booleans, incumbent: Incumbent, work: Work) -> None:
        self._problem = problem
        self._incumbent = incumbent
        self._work = work
        self._program = Program(problem, allowed)
        self._weight = self._branching_weight()
        self._numbers = itertools.count(1)
        self.bound = math.inf
        """No map over the cells in question is worth more on the first level."""

    def run(self) -> int:
        """Settle as many levels as the work allows; how many."""
        levels = len(self._problem.levels)
        for level in range(levels):
            self._program.set_level(level)
            bound = self._settle(level)
            if level == 0:
                self.bound = bound
            known = self._known(level)
            if bound != known:  # the work is done, or all maps over these cells are worse than the best known one
                return level if bound > known else levels
            self._program.demand(level, known)
        return levels

    def _settle(self, level: int) -> float:
        """The lowest bound that can be proven for this level: branch on fractions, highest bound first, then newest."""
        root = self._program.solve(self._work)
        if root.bound == math.inf:
            return math.inf
        cases: list[_Case] = []
        explained = self._split(level, root, {}, cases)
        self._program.forbid(root.bound - root.reduced_costs < self._known(level) - TOLERANCE)
        while explained and cases and -cases[0][0] > self._known(level):
            bound, _, fixed = heapq.heappop(cases)
            self._program.fix(fixed)
            optimum = self._program.solve(self._work)
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
        self._incumbent.offer(*climb(self._problem, start, self._work))

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
