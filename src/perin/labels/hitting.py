"""The minimum hitting set: the fewest elements such that every set has one of them.

Reductions first, then an integer program for each component (HiGHS through SciPy): exact, with a proven lower bound.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array

from perin.labels.reductions import Reduced

NODE_LIMIT = 200_000
"""The integer program of a component is given up after this many nodes of its search tree; the gap is then known.

A limit on nodes and not on time, so that the result does not depend on the machine.
"""

_TOLERANCE = 1e-6


class HittingSet(NamedTuple):
    """The chosen elements, ascending, and a proven lower bound of how many are needed."""

    elements: tuple[int, ...]
    lower_bound: int


def minimum_hitting_set(
    sets: Sequence[Collection[int]],
    cost: Callable[[int], int] = lambda element: 0,
    *,
    node_limit: int = NODE_LIMIT,
) -> HittingSet:
    """A smallest hitting set of non-empty sets; of equally small ones (after the reductions) one of the least cost.

    Elements with lower numbers are preferred, so order them by preference.

    >>> minimum_hitting_set([{1, 2}, {2, 3}, {4}])
    HittingSet(elements=(2, 4), lower_bound=2)
    """
    if not all(sets):
        raise ValueError("an empty set can't be hit")
    reduced = Reduced(sets)
    chosen, bound = list(reduced.forced), len(reduced.forced)
    for component in reduced.components():
        elements, needed = _solve([reduced.sets[number] for number in component], cost, node_limit)
        chosen += elements
        bound += needed
    return HittingSet(tuple(sorted(chosen)), bound)


def _solve(sets: Sequence[set[int]], cost: Callable[[int], int], node_limit: int) -> tuple[list[int], int]:
    """A hitting set of a component and a lower bound."""
    elements = sorted(set().union(*sets))
    column = {element: number for number, element in enumerate(elements)}
    rows = np.repeat(np.arange(len(sets)), [len(content) for content in sets])
    columns = np.array([column[element] for content in sets for element in sorted(content)])
    matrix = csr_array((np.ones(len(rows)), (rows, columns)), shape=(len(sets), len(elements)))
    hit = LinearConstraint(matrix, lb=1)
    fewest = _program(np.ones(len(elements)), [hit], node_limit)
    if fewest.x is None:
        return _greedy(sets, elements), math.ceil(_bound(fewest) - _TOLERANCE)
    size = round(float(fewest.x.sum()))
    needed = size if fewest.status == 0 else math.ceil(_bound(fewest) - _TOLERANCE)
    costs = np.array([cost(element) for element in elements], dtype=np.float64)
    cheapest = _program(costs, [hit, LinearConstraint(np.ones((1, len(elements))), ub=size)], node_limit)
    best = fewest if cheapest.x is None else cheapest
    return [element for element, value in zip(elements, best.x, strict=True) if value > 0.5], needed


def _program(costs: Any, constraints: list[LinearConstraint], node_limit: int) -> Any:
    """SciPy's result for the binary program of least cost."""
    return milp(
        costs,
        integrality=np.ones(len(costs), dtype=np.int64),
        bounds=Bounds(0, 1),
        constraints=constraints,
        options={"node_limit": node_limit, "mip_rel_gap": 0},
    )


def _bound(result: Any) -> float:
    return float(result.mip_dual_bound) if result.mip_dual_bound is not None else 1.0


def _greedy(sets: Sequence[set[int]], elements: Sequence[int]) -> list[int]:
    """A small hitting set: again and again the element of the most sets that are not hit yet."""
    left = list(sets)
    chosen = []
    while left:
        counts = dict.fromkeys(elements, 0)
        for content in left:
            for element in content:
                counts[element] += 1
        best = max(elements, key=counts.__getitem__)
        chosen.append(best)
        left = [content for content in left if best not in content]
    return chosen
