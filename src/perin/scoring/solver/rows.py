"""The constraints of the linear program, as rows of a sparse matrix.

Columns: one for each cell that is allowed, then one for each pair of arcs between such cells.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from perin.scoring.solver.features import Booleans, Floats, Integers
from perin.scoring.solver.problem import ArcPairs
from perin.scoring.solver.restrictions import Dominance


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
