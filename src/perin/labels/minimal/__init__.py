"""The minimal rule set: the fewest rules that give every node at least one (the paper's section of that name).

It is a minimum hitting set.  Reductions come first, then an integer program for each component (HiGHS through SciPy):
exact, with a proven lower bound.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array

import perin
from perin.errors import InputError
from perin.files import read_cached, write_cached
from perin.labels.minimal.occurrences import Key, Keys, distinct_keys, spelled
from perin.labels.minimal.problem import HittingSetProblem
from perin.labels.rules import AbsoluteRule, LabelItem, Rule, RuleSpace, apply
from perin.labels.ruleset import RuleSet

# Make a hitting set problem smaller without changing the size of its solution.
#
# A set with one element forces that element.  A set that contains another is hit with it.  An element can be left out
# if another is in all of its sets.  What is left falls into components that share no element.


class Reduced:
    """A hitting set problem after all reductions: ``forced`` elements and what is left.

    If two elements are in the same sets, the one with the lower number stays.
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
        """Drop the elements that another makes superfluous; returns the sets that have changed."""
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
    """A small hitting set: greedily takes the element in most of the sets that are not hit yet."""
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


# Learned rule sets on disk, by the content that they were learned from.


Result = TypeVar("Result")

VERSION = 1
"""To be raised when the same input would give another result."""


class RuleCache:
    """The place of one result in a folder of results, named after a hash of everything that the result depends on.

    A file appears only when it is complete, so that an interrupted run leaves nothing behind.
    """

    def __init__(self, folder: str | os.PathLike[str], keys: Keys, space: RuleSpace, node_limit: int) -> None:
        content = hashlib.sha256(json.dumps([perin.__version__, VERSION, node_limit, space.to_json()]).encode())
        for key, spellings in zip(keys.keys, keys.spellings, strict=True):
            content.update(json.dumps([*key, sorted(spellings.items())]).encode())
        self.path = Path(folder) / f"rules-{content.hexdigest()[:32]}.json"

    def load(self, decode: Callable[[Any], Result]) -> Result | None:
        """The result that is kept, or None; a file that is damaged counts as missing."""
        content = read_cached(self.path)
        try:
            return None if content is None else decode(json.loads(content))
        except (ValueError, InputError):
            return None

    def store(self, data: Any) -> None:
        """Keep a result, where the folder can be written."""
        write_cached(self.path, json.dumps(data).encode())


_FIELDS = ("nodes", "labels", "candidates", "lower_bound", "seconds")


@dataclass(frozen=True)
class LearnedRules:
    """A minimal rule set and what is known about it."""

    rules: RuleSet
    nodes: int
    labels: int
    """Distinct labels, without case."""
    candidates: int
    """The rules that could belong to a minimal set: absolute ones, and others that yield at least two labels."""
    lower_bound: int
    """No set of fewer rules covers all nodes: proven."""
    seconds: float
    """Wall time of learning."""

    @property
    def optimal(self) -> bool:
        """Whether the set is proven to be minimal."""
        return self.lower_bound == len(self.rules)

    def to_json(self) -> dict[str, Any]:
        """As a JSON object."""
        return {**self.rules.to_json(), **{name: getattr(self, name) for name in _FIELDS}}

    @classmethod
    def from_json(cls, data: Any) -> LearnedRules:
        """From :meth:`to_json`; :class:`~perin.errors.InputError` if it is none."""
        rules = RuleSet.from_json(data)
        try:
            return cls(rules, *(data[name] for name in _FIELDS))
        except KeyError as error:
            raise InputError(f"no learned rule set: {error} is missing; learn it again") from None


def learn_rules(
    items: Iterable[LabelItem],
    space: RuleSpace,
    *,
    processes: int = 1,
    progress: bool = False,
    cache: str | os.PathLike[str] | None = None,
    node_limit: int = NODE_LIMIT,
) -> LearnedRules:
    """The smallest rule set of the space that covers all items; always the same for the same items in any order.

    ``processes`` share the search in the tokens; ``progress`` shows a bar on standard error.  ``cache`` is a folder
    where the result is kept for the next time that the same items are asked for.  ``node_limit`` bounds the search of
    the integer program: where it is hit, the set may be larger than the lower bound.
    """
    start = time.perf_counter()
    keys = distinct_keys(items)
    space = space.with_capitals(keys.capitals[False], keys.capitals[True])
    place = None if cache is None else RuleCache(cache, keys, space, node_limit)
    known = None if place is None else place.load(LearnedRules.from_json)
    if known is not None:
        return known
    problem = HittingSetProblem.build(keys, space, processes=processes, progress=progress)
    hitting = minimum_hitting_set(problem.sets(), problem.cost, node_limit=node_limit)
    chosen = {problem.rule(element): problem.covered(element) for element in hitting.elements}
    chosen.update(problem.absolute())
    chosen.update(_uncovered(chosen, keys, space))
    learned = LearnedRules(
        RuleSet(space, spelled(chosen, keys)),
        sum(keys.nodes),
        len(problem.labels),
        problem.size,
        hitting.lower_bound + len(problem.absolute()),
        time.perf_counter() - start,
    )
    if place is not None:
        place.store(learned.to_json())
    return learned


def _uncovered(chosen: Mapping[Rule, Sequence[int]], keys: Keys, space: RuleSpace) -> dict[Rule, Sequence[int]]:
    """Absolute rules for the labels of keys that no chosen rule yields.

    There are none unless two rules had the same hash (see :mod:`perin.labels.minimal.problem`).
    """
    by_key: dict[int, list[Rule]] = {}
    for rule, numbers in chosen.items():
        for number in numbers:
            by_key.setdefault(number, []).append(rule)
    missed = {
        key.label: AbsoluteRule(key.label)
        for number, key in enumerate(keys.keys)
        if not any(_yields(rule, key, space) for rule in by_key.get(number, ()))
    }
    by_label = keys.by_label()
    return {rule: by_label[label] for label, rule in missed.items()}


def _yields(rule: Rule, key: Key, space: RuleSpace) -> bool:
    """Whether a rule yields the label of a key from the tokens that it may see."""
    if isinstance(rule, AbsoluteRule):
        return rule.label == key.label
    anchors = range(1 if space.anchored else len(key.forms))
    return any(apply(rule, key.forms[anchor:], key.lemmas[anchor:]) == key.label for anchor in anchors)
