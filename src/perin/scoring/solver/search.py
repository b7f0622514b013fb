"""The search for the best map: upper bounds, local search for good maps, and branch and bound.

Upper bounds come from an assignment without arcs, and from arc weights split between their ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from perin.scoring.solver.features import Booleans, Floats, Integers
from perin.scoring.solver.problem import ArcPairs, AssignmentProblem, Incumbent, Work

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
