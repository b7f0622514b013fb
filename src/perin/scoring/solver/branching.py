"""Branch and bound: a node is given each of its remaining partners in turn, and none, and each case is bounded."""

from __future__ import annotations

import numpy as np

from perin.scoring.solver.ascent import Ascent, Subproblem
from perin.scoring.solver.climbing import climb
from perin.scoring.solver.features import Booleans
from perin.scoring.solver.problem import Problem
from perin.scoring.solver.relaxation import Relaxed, relax
from perin.scoring.solver.solution import Deadline, Incumbent

ROOT_ROUNDS = 8
ROUNDS = 4
"""So many times the bound of the whole problem is lowered, and that of each case."""


class Branching:
    """A depth-first search that can be interrupted; what is open then is kept, so that its bound is known."""

    def __init__(self, problem: Problem, incumbent: Incumbent, deadline: Deadline) -> None:
        self._problem = problem
        self._incumbent = incumbent
        self._deadline = deadline
        self._ascent = Ascent(problem)
        root = self._ascent.start()
        relaxed = relax(self._ascent.cell_weights(root), root.allowed, monotone=problem.monotone)
        incumbent.offer(*climb(problem, relaxed.image, deadline))
        self._open = [(relaxed.bound, root, ROOT_ROUNDS)]

    @property
    def bound(self) -> float:
        """No map is worth more than this."""
        return max([self._incumbent.value, *(bound for bound, _, _ in self._open)])

    @property
    def open_cells(self) -> Booleans:
        """The cells that a map better than the best known one may use."""
        cells = np.zeros_like(self._problem.allowed)
        for _, part, _ in self._open:
            cells |= part.allowed
        return cells

    def search(self, cases: int) -> bool:
        """Look at so many cases at most; whether the best known map is proven to be the best."""
        while self._open:
            if cases <= 0 or self._deadline.over:
                return False
            bound, part, rounds = self._open.pop()
            if bound >= self._incumbent.value + self._problem.grain:
                cases -= 1
                self._look_at(part, rounds)
        return True

    def _look_at(self, part: Subproblem, rounds: int) -> None:
        tightened = self._ascent.tighten(part, self._incumbent.value, rounds)
        if tightened is None:
            return
        part, relaxed = tightened
        self._incumbent.offer(*climb(self._problem, relaxed.image, self._deadline))
        goal = self._incumbent.value + self._problem.grain
        if relaxed.bound < goal:
            return
        allowed = part.allowed & (relaxed.through >= goal)
        cases = [(bound, Subproblem(cells, part.shares), ROUNDS) for bound, cells in self._split(allowed, relaxed)]
        self._open.extend(sorted(cases, key=lambda case: case[0]))

    def _split(self, allowed: Booleans, relaxed: Relaxed) -> list[tuple[float, Booleans]]:
        """The cases of the node with the fewest partners, each with its bound; no cases if no cell is allowed."""
        cells = _branching_cells(allowed)
        if not cells:
            return []
        rows, columns = zip(*cells, strict=True)
        rest = allowed.copy()
        rest[rows, columns] = False
        cases = [(relaxed.bound, rest)]
        cases.extend((float(relaxed.through[cell]), self._fixed(allowed, *cell)) for cell in cells)
        return cases

    def _fixed(self, allowed: Booleans, i: int, j: int) -> Booleans:
        """What is still allowed once i goes to j."""
        cells = allowed.copy()
        cells[i] = False
        cells[:, j] = False
        if self._problem.monotone:
            cells[:i, j:] = False
            cells[i:, :j] = False
        if (demands := self._problem.dominance) is not None:
            cells[demands.lower[demands.upper == i]] &= demands.below[j]
            cells[demands.upper[demands.lower == i]] &= demands.below[:, j]
        cells[i, j] = True
        return cells


def _branching_cells(allowed: Booleans) -> list[tuple[int, int]]:
    """The cells of the row or column that has fewest, but at least two; a single cell if there is none such."""
    best: tuple[int, int, int] | None = None
    for axis in (0, 1):
        counts = allowed.sum(1 - axis)
        open_lines = np.where(counts > 1, counts, allowed.size + 1)
        line = int(open_lines.argmin())
        if open_lines[line] <= allowed.size and (best is None or open_lines[line] < best[0]):
            best = int(open_lines[line]), axis, line
    if best is None:
        return [(int(i), int(j)) for i, j in np.argwhere(allowed)[:1]]
    _, axis, line = best
    if axis == 0:
        return [(line, int(j)) for j in np.nonzero(allowed[line])[0]]
    return [(int(i), line) for i in np.nonzero(allowed[:, line])[0]]
