"""The problem as a linear program, solved with HiGHS: the best bounds, for what branching alone does not settle."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import highspy
import numpy as np

from perin.scoring.solver.features import Booleans, Floats
from perin.scoring.solver.problem import Problem
from perin.scoring.solver.rows import Rows, arc_rows, dominance_rows, partner_rows, stacked
from perin.scoring.solver.solution import Deadline

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
