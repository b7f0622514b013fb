"""Good maps: local search from a start, by whole reassignments first, then by single moves and swaps."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from perin.scoring.solver.features import Floats, Integers
from perin.scoring.solver.problem import Problem
from perin.scoring.solver.relaxation import best_map
from perin.scoring.solver.solution import Deadline


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
