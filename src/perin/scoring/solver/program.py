"""The problem as a linear program, solved with HiGHS: the best bounds, for what branching alone does not settle."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import highspy
import numpy as np

from perin.scoring.solver.features import Booleans, Floats, Integers
from perin.scoring.solver.problem import ArcPairs, Problem
from perin.scoring.solver.restrictions import Dominance
from perin.scoring.solver.solution import Deadline

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
    """Of the pairs with the same gold arc, or system arc, and cell at its end, one matches if the cell is used.

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

    Instead of a row for each two cells that exclude each other, a row for each largest set of which every two do.
    """
    pairs = zip(demands.upper.tolist(), demands.lower.tolist(), strict=True)
    parts = [_nested_rows(i, k, demands.below, allowed) for i, k in pairs]
    for nodes, others, below in (
        (demands.upper, demands.lower, demands.below),
        (demands.lower, demands.upper, demands.below.T),
    ):
        parts.extend(_column_rows(int(i), others[nodes == i], below, allowed) for i in np.unique(nodes))
    return stacked([Rows(part.row, columns[part.column], part.value, part.upper) for part in parts])


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
DUAL, PRIMAL = 1, 4
"""The simplex algorithms: after new bounds the last optimum is a start for the one, after new costs for the other."""


@dataclass(frozen=True)
class Optimum:
    """``bound``: infinite if time ran out, minus infinite if nothing is feasible.  ``cells``: by how much each is used.

    ``reduced_costs``, by column: how much the bound falls, at least, if the column is used fully.
    """

    bound: float
    cells: Floats
    reduced_costs: Floats


class Program:
    """A linear program over the allowed cells of a problem, maximised for one level at a time.

    Its columns are the ``cells`` (numbers of cells), then the pairs of arcs between them.
    """

    def __init__(self, problem: Problem, allowed: Booleans) -> None:
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
        self._highs = _loaded(stacked(rows), len(self._upper))

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

    def solve(self, deadline: Deadline) -> Optimum:
        """The optimum over fractions."""
        highs = self._highs
        highs.setOptionValue("time_limit", highs.getRunTime() + deadline.left)  # HiGHS adds up the time of all runs
        highs.run()
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
