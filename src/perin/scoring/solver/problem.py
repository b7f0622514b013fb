"""The problem that the solver solves: a quadratic assignment with sparse arcs and whole-numbered weights.

Over all one-to-one partial maps m of gold nodes to system nodes, maximise

    sum of values[i, m(i)]  +  sum of weights[p] over the arc pairs p whose ends m maps onto each other

where the weights stand for several levels at once: an advantage on one level outweighs all on the levels after it.
All weights are whole numbers below 2 ** 50 in all, so sums of doubles are exact and a bound proves what it says.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

import numpy as np

from perin.scoring.solver.features import ArcFeature, Booleans, Dominance, Feature, Floats, Integers, NodeFeature

Level: TypeAlias = Mapping[str, int]
"""What is maximised on one level: a coefficient for each feature that counts there."""

CAPACITY = 2.0**50
RESOLUTION = 2.0**6
"""The highest grain: into how many parts the weight of an arc can be split between its two ends."""


@dataclass(frozen=True)
class AssignmentProblem:
    """N gold nodes, M system nodes, P pairs of arcs.  A cell is a node pair (i, j), numbered i * M + j.

    ``bases``: what one match on each level is worth.  ``grain`` divides every weight, so every map's value.
    ``monotone``: only maps that keep the order of nodes.  ``dominance``: UCCA's further demands.
    """

    levels: tuple[Level, ...]
    bases: tuple[float, ...]
    grain: float
    values: Floats
    arcs: ArcPairs
    allowed: Booleans
    monotone: bool
    dominance: Dominance | None
    features: Mapping[str, Feature]
    _by_level: dict[int, tuple[Floats, Floats]] = field(default_factory=dict, repr=False)

    @property
    def shape(self) -> tuple[int, int]:
        """N and M."""
        count, width = self.values.shape
        return count, width

    def value(self, image: Integers) -> float:
        """What a map is worth; ``image[i]`` is the system node of gold node i, or -1."""
        return _value(image, self.values, self.arcs.weights, self.arcs)

    def first_level_bound(self, bound: float) -> int:
        """The most that a map of at most this value is worth on the first level."""
        rest = zip(self.levels[1:], self.bases[1:], strict=True)
        least = sum(
            base * min(0, coefficient) * self.features[name].most
            for level, base in rest
            for name, coefficient in level.items()
        )
        return math.floor((bound - least) / self.bases[0])

    def level(self, number: int) -> tuple[Floats, Floats]:
        """Node values ``[N, M]`` and arc weights ``[P]`` of one level alone."""
        if number not in self._by_level:
            values, weights = _weighed(self.features, self.levels[number], self.shape)
            self._by_level[number] = values, weights[self.arcs.numbers]
        return self._by_level[number]

    def level_value(self, image: Integers, number: int) -> int:
        """What a map is worth on one level."""
        return round(_value(image, *self.level(number), self.arcs))


@dataclass(frozen=True)
class ArcPairs:
    """Pairs of a gold arc and a system arc with equal keys.

    ``numbers`` count the pairs, with those that were left out.  ``ends`` is ``[2, 2, P]``: source and target of the
    gold arc, then of the system arc.  ``gold``, ``system`` and ``keys`` number arcs and keys; pairs that have the gold
    arc or the system arc in common exclude each other.
    """

    width: int
    numbers: Integers
    ends: Integers
    gold: Integers
    system: Integers
    keys: Integers
    weights: Floats

    def __len__(self) -> int:
        return len(self.weights)

    @cached_property
    def sources(self) -> Integers:
        """The cells of the sources."""
        cells: Integers = self.ends[0, 0] * self.width + self.ends[1, 0]
        return cells

    @cached_property
    def targets(self) -> Integers:
        """The cells of the targets."""
        cells: Integers = self.ends[0, 1] * self.width + self.ends[1, 1]
        return cells

    def only(self, which: Booleans) -> ArcPairs:
        """Some of the pairs."""
        return ArcPairs(
            self.width,
            self.numbers[which],
            self.ends[:, :, which],
            self.gold[which],
            self.system[which],
            self.keys[which],
            self.weights[which],
        )

    def kept(self, image: Integers) -> Booleans:
        """Which pairs a map matches."""
        gold, system = self.ends
        found: Booleans = (image[gold[0]] == system[0]) & (image[gold[1]] == system[1])
        return found


def build(
    features: Mapping[str, Feature],
    levels: Sequence[Level],
    shape: tuple[int, int],
    *,
    monotone: bool = False,
    allowed: Booleans | None = None,
    dominance: Dominance | None = None,
) -> AssignmentProblem:
    """The problem of maximising the levels in their order, over the allowed cells (by default all).

    Levels on which nothing can match are left out.
    """
    kept, bases, grain = _bases(levels, {name: feature.most for name, feature in features.items()})
    coefficients: dict[str, float] = {}
    for level, base in zip(kept, bases, strict=True):
        for name, coefficient in level.items():
            coefficients[name] = coefficients.get(name, 0) + coefficient * base
    values, weights = _weighed(features, coefficients, shape)
    cells = np.ones(shape, dtype=bool) if allowed is None else allowed
    arcs = _arc_pairs([feature for feature in features.values() if isinstance(feature, ArcFeature)], weights, shape[1])
    arcs = arcs.only(_possible(arcs, cells, monotone, dominance))
    return AssignmentProblem(
        tuple(kept), bases, grain, np.where(cells, values, 0), arcs, cells, monotone, dominance, features
    )


def _possible(arcs: ArcPairs, allowed: Booleans, monotone: bool, dominance: Dominance | None) -> Booleans:
    """The pairs of arcs that some map matches."""
    (source, target), (system_source, system_target) = arcs.ends
    cells = allowed.ravel()
    possible: Booleans = (arcs.weights > 0) & cells[arcs.sources] & cells[arcs.targets]
    if monotone:
        possible &= (source < target) == (system_source < system_target)
    if dominance is not None:
        demanded = np.zeros((allowed.shape[0],) * 2, dtype=bool)
        demanded[dominance.upper, dominance.lower] = True
        possible &= ~demanded[source, target] | dominance.below[system_source, system_target]
        possible &= ~demanded[target, source] | dominance.below[system_target, system_source]
    return possible


def _bases(levels: Sequence[Level], most: Mapping[str, float]) -> tuple[list[Level], tuple[float, ...], float]:
    """The levels that matter, what one match on each is worth, and the grain.

    If exact weights would not fit into a double (thousands of items), the last levels, the finest tie-breakers, are
    dropped.
    """
    present = ({name: coefficient for name, coefficient in level.items() if most.get(name)} for level in levels)
    kept: list[Level] = [level for level in present if level]
    while True:
        bases: list[float] = []
        total = 1.0
        for level in reversed(kept):
            bases.insert(0, total)
            total *= 1 + sum(abs(coefficient) * most[name] for name, coefficient in level.items())
        if total <= CAPACITY or len(kept) <= 1:
            break
        kept.pop()
    grain = 1.0
    while grain < RESOLUTION and total * grain * 2 <= CAPACITY:
        grain *= 2
    return kept, tuple(base * grain for base in bases), grain


def _weighed(
    features: Mapping[str, Feature], coefficients: Mapping[str, float], shape: tuple[int, int]
) -> tuple[Floats, Floats]:
    values = np.zeros(shape)
    weights = [np.zeros(0)]
    for name, feature in features.items():
        coefficient = coefficients.get(name, 0)
        if isinstance(feature, NodeFeature):
            if coefficient:
                values += coefficient * feature.matches
        else:
            weights.append(np.full(len(feature.gold), float(coefficient)))
    return values, np.concatenate(weights)


def _arc_pairs(features: Sequence[ArcFeature], weights: Floats, width: int) -> ArcPairs:
    gold_arcs = system_arcs = keys = 0
    parts: list[tuple[Integers, Integers, Integers, Integers]] = []
    for feature in features:
        ends = np.stack((feature.gold_ends[:, feature.gold], feature.system_ends[:, feature.system]))
        parts.append((ends, feature.gold + gold_arcs, feature.system + system_arcs, feature.keys + keys))
        gold_arcs += feature.gold_ends.shape[1]
        system_arcs += feature.system_ends.shape[1]
        keys += int(feature.keys.max(initial=-1)) + 1
    if not parts:
        empty = np.zeros(0, dtype=np.int64)
        return ArcPairs(width, empty, np.zeros((2, 2, 0), dtype=np.int64), empty, empty, empty, weights)
    ends, gold, system, key = (np.concatenate(arrays, axis=-1) for arrays in zip(*parts, strict=True))
    return ArcPairs(width, np.arange(len(weights)), ends, gold, system, key, weights)


def _value(image: Integers, values: Floats, weights: Floats, arcs: ArcPairs) -> float:
    mapped = np.nonzero(image >= 0)[0]
    return float(values[mapped, image[mapped]].sum() + weights[arcs.kept(image)].sum())


@dataclass
class Incumbent:
    """The best map known so far: at first none at all."""

    problem: AssignmentProblem
    image: Integers = field(init=False)
    value: float = 0.0

    def __post_init__(self) -> None:
        self.image = np.full(self.problem.shape[0], -1, dtype=np.int64)

    def offer(self, image: Integers, value: float) -> None:
        """Keep this map if it is better.  It must obey the problem's restrictions."""
        if value > self.value:
            self.image, self.value = image, value


@dataclass(frozen=True, slots=True)
class Solution:
    """A map as ``pairs`` of node numbers (gold, system), its value on the first level and the proven bound on that.

    ``settled``: among the maps with the best value on the first level, none is better on the levels that break ties.
    ``rough``: the graphs are too large for a search.
    """

    pairs: tuple[tuple[int, int], ...]
    objective: int
    bound: int
    settled: bool
    rough: bool = False

    @property
    def exact(self) -> bool:
        """Whether no map has a higher value on the first level."""
        return self.objective == self.bound


SPEED = 1e9
"""Steps that stand for one second of ``--budget``: about a nanosecond each on the processors of 2020."""


class Work:
    """What a search may do.  It counts steps and looks at no clock, so that scores depend on no machine and no load."""

    def __init__(self, seconds: float) -> None:
        self.left = seconds * SPEED

    @property
    def over(self) -> bool:
        """Whether all of it is done."""
        return self.left <= 0

    def charge(self, steps: float) -> None:
        """Note what a part of the search took, or is about to take."""
        self.left -= steps
