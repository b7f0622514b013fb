"""Lower and exact bounds: local search for good maps, and branch and bound."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from perin.scoring.solver.bounds import Ascent, Relaxed, Subproblem, best_map, relax
from perin.scoring.solver.features import Booleans, Floats, Integers
from perin.scoring.solver.problem import Problem
from perin.scoring.solver.solution import Deadline, Incumbent

# Good maps: local search from a start, by whole reassignments first, then by single moves and swaps.


def climb(problem: Problem, image: Integers, deadline: Deadline) -> tuple[Integers, float]:
    """A map that no reassignment, move or swap improves (unless time runs out), and its value.

    The start may break UCCA's demands.
    """
    image = _repaired(problem, image)
    value = problem.value(image)
    while True:
        gains = _gains(problem, image)
        for candidate in _candidates(problem, image, gains):
            reached = problem.value(candidate)
            if reached > value and not deadline.over:
                image, value = candidate, reached
                break
        else:
            return _without_empty_pairs(image, gains), value


def _gains(problem: Problem, image: Integers) -> Floats:
    """``[N, M]``: what gold node i adds at system node j while all others stay where the map has them."""
    arcs = problem.arcs
    gold, system = arcs.ends
    gains = problem.values.ravel().copy()
    fits = image[gold[1]] == system[1]
    gains += np.bincount(arcs.sources[fits], arcs.weights[fits], gains.size)
    fits = image[gold[0]] == system[0]
    gains += np.bincount(arcs.targets[fits], arcs.weights[fits], gains.size)
    return np.where(problem.allowed, gains.reshape(problem.shape), 0)


def _candidates(problem: Problem, image: Integers, gains: Floats) -> Iterator[Integers]:
    """All nodes anew, given where the others were; then the best move; then the best swap."""
    yield _repaired(problem, best_map(gains, problem.allowed, monotone=problem.monotone))
    if problem.monotone:
        return
    open_cells = problem.allowed
    if problem.dominance is not None:
        open_cells = open_cells & ~problem.dominance.blocked(image, gains.shape)
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


def _best_swap(problem: Problem, image: Integers, padded: Floats, own: Floats) -> Iterator[Integers]:
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


def _repaired(problem: Problem, image: Integers) -> Integers:
    """Take out nodes, the one that breaks most of UCCA's demands first, until none is broken."""
    demands = problem.dominance
    if demands is None:
        return image
    image = image.copy()
    while (broken := demands.violated(image)).any():
        blame = np.bincount(demands.upper[broken], minlength=len(image))
        blame += np.bincount(demands.lower[broken], minlength=len(image))
        image[blame.argmax()] = -1
    return image


def _without_empty_pairs(image: Integers, gains: Floats) -> Integers:
    """The map without the pairs that add nothing."""
    return np.where(gains[np.arange(len(image)), image] > 0, image, -1)


# Branch and bound: a node is given each of its remaining partners in turn, and none, and each case is bounded.


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
