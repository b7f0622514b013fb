"""Lower and exact bounds: local search for good maps, and branch and bound."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from perin.scoring.solver.bounds import Ascent, Relaxed, Subproblem, best_map, relax, round_steps
from perin.scoring.solver.features import Booleans, Floats, Integers
from perin.scoring.solver.problem import AssignmentProblem, Incumbent, Work

# Good maps: local search from a start, by whole reassignments first, then by single moves and swaps.


def climb(problem: AssignmentProblem, image: Integers, work: Work) -> tuple[Integers, float]:
    """A map that no reassignment, move or swap improves (unless the work is done), and its value.

    The start may break UCCA's demands.
    """
    image = _repaired(problem, image)
    value = problem.value(image)
    while True:
        work.charge(round_steps(problem))
        gains = _gains(problem, image)
        for candidate in _candidates(problem, image, gains):
            reached = problem.value(candidate)
            if reached > value and not work.over:
                image, value = candidate, reached
                break
        else:
            return _without_empty_pairs(image, gains), value


def _gains(problem: AssignmentProblem, image: Integers) -> Floats:
    """``[N, M]``: what gold node i adds at system node j while all others stay where the map has them."""
    arcs = problem.arcs
    gold, system = arcs.ends
    gains = problem.values.ravel().copy()
    fits = image[gold[1]] == system[1]
    gains += np.bincount(arcs.sources[fits], arcs.weights[fits], gains.size)
    fits = image[gold[0]] == system[0]
    gains += np.bincount(arcs.targets[fits], arcs.weights[fits], gains.size)
    return np.where(problem.allowed, gains.reshape(problem.shape), 0)


def _candidates(problem: AssignmentProblem, image: Integers, gains: Floats) -> Iterator[Integers]:
    """All nodes anew, given where the others were; then the best move; then the best swap."""
    yield _repaired(problem, best_map(gains, problem.allowed, monotone=problem.monotone))
    if problem.monotone:
        return
    open_cells = problem.allowed
    if problem.dominance is not None:
        open_cells = open_cells & ~problem.dominance.blocked(image)
    padded = np.hstack((np.where(open_cells, gains, -np.inf), np.zeros((len(image), 1))))
    own = np.where(image >= 0, gains[np.arange(len(image)), image], 0)
    yield from _best_move(image, padded, own)
    yield from _best_swap(problem, image, padded, own)


def _best_move(image: Integers, padded: Floats, own: Floats) -> Iterator[Integers]:
    """One node goes to a free system node."""
    change = padded[:, :-1] - own[:, None]
    change[:, image[image >= 0]] = -np.inf
    i, j = np.unravel_index(change.argmax(), change.shape)
    if change[i, j] > 0:
        moved = image.copy()
        moved[i] = j
        yield moved


def _best_swap(problem: AssignmentProblem, image: Integers, padded: Floats, own: Floats) -> Iterator[Integers]:
    """Two nodes exchange their partners (one of which may be none)."""
    arcs = problem.arcs
    gold, system = arcs.ends
    taken = padded[:, image]
    change = taken + taken.T - own[:, None] - own
    # An arc between the two was lost twice so far; or it may be gained, the other way round.
    between = arcs.kept(image) | ((image[gold[0]] == system[1]) & (image[gold[1]] == system[0]))
    np.add.at(change, (gold[0, between], gold[1, between]), arcs.weights[between])
    np.add.at(change, (gold[1, between], gold[0, between]), arcs.weights[between])
    np.fill_diagonal(change, -np.inf)
    i, k = np.unravel_index(change.argmax(), change.shape)
    if change[i, k] > 0:
        swapped = image.copy()
        swapped[[i, k]] = image[[k, i]]
        if problem.dominance is None or not problem.dominance.violated(swapped).any():
            yield swapped


def _repaired(problem: AssignmentProblem, image: Integers) -> Integers:
    return image if problem.dominance is None else problem.dominance.repaired(image)


def _without_empty_pairs(image: Integers, gains: Floats) -> Integers:
    """The map without the pairs that add nothing."""
    return np.where(gains[np.arange(len(image)), image] > 0, image, -1)


# Branch and bound: a node is given each of its remaining partners in turn, and none, and each case is bounded.


ROOT_ROUNDS = 8
ROUNDS = 4
"""Rounds of lowering the bound of the whole problem, and of each case."""


OPEN_BYTES = 2**28
"""Memory for subproblems whose cases are still open; beyond it branching stops."""


@dataclass(frozen=True)
class _Case:
    """A part of a subproblem: one ``cell`` is chosen, or (None) none of the cells ``without``."""

    bound: float
    parent: Subproblem
    rounds: int
    cell: tuple[int, int] | None = None
    without: tuple[tuple[int, int], ...] = ()


class Branching:
    """A depth-first search that can be interrupted; what is open then is kept, so that its bound is known."""

    def __init__(self, problem: AssignmentProblem, incumbent: Incumbent, work: Work) -> None:
        self._problem = problem
        self._incumbent = incumbent
        self._work = work
        self._ascent = Ascent(problem, work)
        root = self._ascent.start()
        work.charge(round_steps(problem))
        relaxed = relax(self._ascent.cell_weights(root), root.allowed, monotone=problem.monotone)
        incumbent.offer(*climb(problem, relaxed.image, work))
        self._open = [_Case(relaxed.bound, root, ROOT_ROUNDS)]

    @property
    def bound(self) -> float:
        """No map is worth more than this."""
        return max([self._incumbent.value, *(case.bound for case in self._open)])

    @property
    def open_cells(self) -> Booleans:
        """The cells that a map better than the best known one may use."""
        cells = np.zeros_like(self._problem.allowed)
        for case in self._open:
            cells |= self._cells(case)
        return cells

    def search(self, cases: int) -> bool:
        """Look at no more than this number of cases.  True if the best known map is proven to be the best."""
        while self._open:
            if cases <= 0 or self._work.over or self._is_full():
                return False
            case = self._open.pop()
            if case.bound >= self._incumbent.value + self._problem.grain:
                cases -= 1
                self._look_at(Subproblem(self._cells(case), case.parent.shares), case.rounds)
        return True

    def _is_full(self) -> bool:
        size = self._problem.allowed.nbytes + self._problem.arcs.weights.nbytes
        return len(self._open) * size > OPEN_BYTES and len({id(case.parent) for case in self._open}) * size > OPEN_BYTES

    def _look_at(self, part: Subproblem, rounds: int) -> None:
        tightened = self._ascent.tighten(part, self._incumbent.value, rounds)
        if tightened is None:
            return
        part, relaxed = tightened
        self._incumbent.offer(*climb(self._problem, relaxed.image, self._work))
        goal = self._incumbent.value + self._problem.grain
        if relaxed.bound < goal:
            return
        rest = Subproblem(part.allowed & (relaxed.through >= goal), part.shares)
        self._open.extend(sorted(_split(rest, relaxed), key=lambda case: case.bound))

    def _cells(self, case: _Case) -> Booleans:
        """What is allowed in a case."""
        if case.cell is not None:
            return self._fixed(case.parent.allowed, *case.cell)
        cells = case.parent.allowed.copy()
        if case.without:
            cells[tuple(zip(*case.without, strict=True))] = False
        return cells

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


def _split(part: Subproblem, relaxed: Relaxed) -> list[_Case]:
    """The cases of the node with the fewest partners, each with its bound; no cases if no cell is allowed."""
    cells = _branching_cells(part.allowed)
    if not cells:
        return []
    return [
        _Case(relaxed.bound, part, ROUNDS, without=tuple(cells)),
        *(_Case(float(relaxed.through[cell]), part, ROUNDS, cell) for cell in cells),
    ]


def _branching_cells(allowed: Booleans) -> list[tuple[int, int]]:
    """The cells of the row or column that has fewest, but at least two; a single cell if none has two."""
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
