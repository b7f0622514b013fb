"""The exact search for the correspondence of nodes that matches most items.

An :class:`~perin.scoring.solver.problem.AssignmentProblem` is built from the features that two graphs share, weighed by
a metric's levels.  Branching comes first and settles most pairs of graphs, then linear programs.  Graphs that are too
large for a search within the memory of a small machine get a rough correspondence, by labels and neighbours, that is
never called proven.
"""

from __future__ import annotations

import bisect
import math
import sys
from collections.abc import Callable, Hashable, Iterable, Sequence

import numpy as np

from perin.scoring.items import TYPES, Items, matches
from perin.scoring.solver.features import (
    Booleans,
    count_arc_pairs,
    shared_features,
    ucca_restrictions,
    ucca_restrictions_fit,
)
from perin.scoring.solver.problem import AssignmentProblem, Incumbent, Level, Solution, Work, build
from perin.scoring.solver.program import Proof, TooLargeError, building_steps
from perin.scoring.solver.search import Branching

CASES = 40
"""Cases that branching looks at before linear programs take over: about as much work as the first program."""
DEMANDING_CASES = 3
"""The same under UCCA's demands, which the bounds of branching do not see."""


CELLS = 4_000_000
ARC_PAIRS = 1_000_000
"""Limits on the pairs of nodes, and of edges, that are searched; each takes some hundred bytes."""


def best_correspondence(
    gold: Items, system: Items, levels: Sequence[Level], seconds: float, *, monotone: bool = False, ucca: bool = False
) -> Solution:
    """The nodes of two graphs that correspond: what is best on the levels, in their order, under official restrictions.

    ``monotone``: the map keeps the order of nodes.  ``ucca``: what is below a node stays below it where the official
    tool demands this.
    """
    names = dict.fromkeys(name for level in levels for name in level)
    if not fits(gold, system, names) or (ucca and not ucca_restrictions_fit(gold, system)):
        return rough_correspondence(gold, system, monotone=monotone, ucca=ucca)
    features = shared_features(gold, system, names)
    if not features:
        return Solution((), 0, 0, settled=True)
    if gold.same_content(system):
        objective = round(sum(features[name].most * weight for name, weight in levels[0].items() if name in features))
        return Solution(tuple((i, i) for i in range(len(gold.ids))), objective, objective, settled=True)
    allowed, dominance = ucca_restrictions(gold, system) if ucca else (None, None)
    shape = len(gold.ids), len(system.ids)
    problem = build(features, levels, shape, monotone=monotone, allowed=allowed, dominance=dominance)
    return solve(problem, Work(seconds))


def solve(problem: AssignmentProblem, work: Work) -> Solution:
    """The best map, with as much proof as the work allows."""
    incumbent = Incumbent(problem)
    branching = Branching(problem, incumbent, work)
    settled = branching.search(_cases(problem))
    bound: float = problem.first_level_bound(branching.bound)
    if not settled and not problem.monotone and not work.over:
        levels, proven = _proven(problem, branching.open_cells, incumbent, work)
        settled, bound = levels == len(problem.levels), min(bound, proven)
    image = incumbent.image
    objective = problem.level_value(image, 0)
    pairs = tuple((int(i), int(image[i])) for i in np.nonzero(image >= 0)[0])
    return Solution(pairs, objective, objective if settled else max(objective, int(bound)), settled)


def _proven(problem: AssignmentProblem, cells: Booleans, incumbent: Incumbent, work: Work) -> tuple[int, float]:
    """How many levels linear programs settle, and their bound on the first."""
    work.charge(building_steps(problem, cells))
    if work.over:
        return 0, math.inf
    try:
        proof = Proof(problem, cells, incumbent, work)
    except TooLargeError:
        return 0, math.inf
    return proof.run(), proof.bound


def _cases(problem: AssignmentProblem) -> int:
    if problem.monotone:
        return sys.maxsize
    return CASES if problem.dominance is None else DEMANDING_CASES


def fits(gold: Items, system: Items, names: Iterable[str]) -> bool:
    """Whether two graphs are small enough to be searched."""
    return len(gold.ids) * len(system.ids) <= CELLS and count_arc_pairs(gold, system, names) <= ARC_PAIRS


# A rough correspondence: nodes alike in themselves and in their neighbourhood, then in less and less.


NEIGHBOURHOOD = 3
"""Nodes are told apart by their surroundings, up to this many edges away."""


def rough_correspondence(gold: Items, system: Items, *, monotone: bool = False, ucca: bool = False) -> Solution:
    """A map that obeys the restrictions, found in linear time; its value and bound count the reported items."""
    if gold.same_content(system):
        pairs = [(i, i) for i in range(len(gold.ids))]
        objective = sum(gold.counts.values())
        return Solution(tuple(pairs), objective, objective, settled=True)
    kinds = [*zip(*_colours(gold, system), strict=True), *([part(side) for side in (gold, system)] for part in _PARTS)]
    image: dict[int, int] = {}
    taken: set[int] = set()
    for first, second in kinds:
        free: dict[Hashable, list[int]] = {}
        for j in reversed(range(len(second))):
            if j not in taken and second[j] is not None:
                free.setdefault(second[j], []).append(j)
        for i, kind in enumerate(first):
            if i not in image and kind is not None and free.get(kind):
                image[i] = free[kind].pop()
                taken.add(image[i])
    pairs = sorted(image.items())
    if ucca:
        inner = [{edge[0] for edge in side.edges if edge not in side.remote} for side in (gold, system)]
        pairs = [(i, j) for i, j in pairs if i not in inner[0] and j not in inner[1]]
    if monotone:
        pairs = _increasing(pairs)
    found = matches(gold, system, pairs)
    objective = sum(found.values())
    bound = sum(min(gold.counts[name], system.counts[name]) for name in TYPES)
    return Solution(tuple(pairs), objective, max(bound, objective + 1), settled=False, rough=True)


def _labels_with_anchors(items: Items) -> list[Hashable]:
    both = zip(items.labels, items.anchors, strict=True)
    return [(label, anchors) if label and anchors else None for label, anchors in both]


_PARTS: tuple[Callable[[Items], Sequence[Hashable]], ...] = (
    _labels_with_anchors,
    lambda items: items.labels,
    lambda items: items.anchors,
    lambda items: [pairs or None for pairs in items.properties],
    lambda items: [0] * len(items.ids),
)
"""What two nodes may have in common, most telling first; in the end any two do."""


def _colours(gold: Items, system: Items) -> tuple[list[list[int]], list[list[int]]]:
    """For each side, numbers of what a node and its neighbourhood are, those of the largest neighbourhood first."""
    numbers: dict[Hashable, int] = {}
    sides = []
    for side in (gold, system):
        own = zip(side.labels, side.properties, side.anchors, strict=True)
        colours = [[numbers.setdefault((i in side.tops, *parts), len(numbers)) for i, parts in enumerate(own)]]
        for _ in range(NEIGHBOURHOOD):
            last = colours[0]
            around: list[list[tuple[int, str | None, int]]] = [[] for _ in side.ids]
            for source, target, label in side.edges:
                around[source].append((0, label, last[target]))
                around[target].append((1, label, last[source]))
            seen = (tuple(sorted(each, key=str)) for each in around)
            colours.insert(0, [numbers.setdefault(pair, len(numbers)) for pair in zip(last, seen, strict=True)])
        sides.append(colours)
    return sides[0], sides[1]


def _increasing(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest part of the pairs, sorted by their first numbers, in which the second numbers increase."""
    ends: list[int] = []
    last: list[int] = []
    before: list[int] = []
    for number, (_, j) in enumerate(pairs):
        place = bisect.bisect_left(ends, j)
        ends[place : place + 1], last[place : place + 1] = [j], [number]
        before.append(last[place - 1] if place else -1)
    chain = []
    number = last[-1] if last else -1
    while number >= 0:
        chain.append(pairs[number])
        number = before[number]
    return chain[::-1]
