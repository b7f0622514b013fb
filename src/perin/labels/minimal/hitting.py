"""The minimum hitting set: the fewest elements such that every set has one of them.

Reductions first, then an integer program for each component (HiGHS through SciPy): exact, with a proven lower bound.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array

# Make a hitting set problem smaller without changing the size of its solution.
#
# A set with one element forces that element.  A set that contains another is hit with it.  An element can be left out
# if another is in all of its sets.  What is left falls into components that share no element.


class Reduced:
    """A hitting set problem after all reductions: ``forced`` elements and what is left.

    Of two elements in the same sets the one with the lower number stays.
    """

    def __init__(self, sets: Sequence[Collection[int]]) -> None:
        self.sets: dict[int, set[int]] = {number: set(content) for number, content in enumerate(sets)}
        self.places: dict[int, set[int]] = {}
        """The sets that each element is in."""
        for number, content in self.sets.items():
            for element in content:
                self.places.setdefault(element, set()).add(number)
        self.forced: list[int] = []
        self._reduce()

    def components(self) -> list[list[int]]:
        """The sets that are left, as components by their lowest number."""
        left = set(self.sets)
        found = []
        for number in sorted(self.sets):
            if number not in left:
                continue
            left.discard(number)
            members, stack = [], [number]
            while stack:
                current = stack.pop()
                members.append(current)
                near = {place for element in self.sets[current] for place in self.places[element]} & left
                left -= near
                stack.extend(near)
            found.append(sorted(members))
        return found

    def _reduce(self) -> None:
        """Apply all reductions until none applies.

        Only a set that lost elements can force one or be contained in others, and only an element that lost sets can
        have become superfluous; in the beginning that may be all of them.
        """
        elements, numbers = set(self.places), set(self.sets)
        while elements or numbers:
            numbers |= self._drop_elements(sorted(elements, key=lambda element: (len(self.places[element]), -element)))
            elements = self._force(sorted(numbers))
            remaining = numbers & self.sets.keys()
            elements |= self._drop_supersets(sorted(remaining, key=lambda number: (len(self.sets[number]), number)))
            elements &= self.places.keys()
            numbers = set()

    def _drop_elements(self, elements: Iterable[int]) -> set[int]:
        """Drop those of the elements that another makes superfluous; the sets that have changed."""
        changed: set[int] = set()
        for element in elements:
            places = self.places[element]
            rarest = min(places, key=lambda number: len(self.sets[number]))
            if any(self._superseded(element, places, other) for other in self.sets[rarest]):
                for number in places:
                    self.sets[number].discard(element)
                changed |= places
                del self.places[element]
        return changed

    def _superseded(self, element: int, places: set[int], other: int) -> bool:
        if other == element:
            return False
        others = self.places[other]
        return places < others or (other < element and places == others)

    def _force(self, numbers: Iterable[int]) -> set[int]:
        """Choose the elements that are alone in one of the sets; the elements that have lost sets."""
        touched: set[int] = set()
        for number in numbers:
            if number in self.sets and len(self.sets[number]) == 1:
                (element,) = self.sets[number]
                self.forced.append(element)
                for place in tuple(self.places[element]):
                    touched |= self._remove(place)
        return touched

    def _drop_supersets(self, numbers: Iterable[int]) -> set[int]:
        """Drop the sets that contain one of these; the elements that have lost sets."""
        touched: set[int] = set()
        for number in numbers:
            if number not in self.sets:
                continue
            content = self.sets[number]
            rarest = min(content, key=lambda element: len(self.places[element]))
            for other in tuple(self.places[rarest]):
                if other != number and content <= self.sets[other]:
                    touched |= self._remove(other)
        return touched

    def _remove(self, number: int) -> set[int]:
        """Remove a set; the elements that it had and that others still have."""
        content = self.sets.pop(number)
        for element in content:
            self.places[element].discard(number)
            if not self.places[element]:
                del self.places[element]
        return content & self.places.keys()


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
