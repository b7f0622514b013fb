"""The search as a whole: branching first, which settles most pairs of graphs, then linear programs."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np

from perin.scoring.items import Items
from perin.scoring.solver.features import shared_features
from perin.scoring.solver.problem import Level, Problem, build
from perin.scoring.solver.proof import Proof
from perin.scoring.solver.restrictions import ucca_restrictions
from perin.scoring.solver.search import Branching
from perin.scoring.solver.solution import Deadline, Incumbent, Solution

CASES = 40
"""So many cases are looked at before linear programs take over: about as much work as the first of those."""
DEMANDING_CASES = 3
"""The same where there are UCCA's demands, of which the bounds of branching know nothing."""


def best_correspondence(
    gold: Items, system: Items, levels: Sequence[Level], seconds: float, *, monotone: bool = False, ucca: bool = False
) -> Solution:
    """The nodes of two graphs that correspond: what is best on the levels, in their order, under official restrictions.

    ``monotone``: the order of nodes is kept.  ``ucca``: what is below a node stays below it, as far as the official
    tool demands.
    """
    deadline = Deadline.after(seconds)
    features = shared_features(gold, system, dict.fromkeys(name for level in levels for name in level))
    if not features:
        return Solution((), 0, 0, settled=True)
    if gold.same_content(system):
        objective = round(sum(features[name].most * weight for name, weight in levels[0].items() if name in features))
        return Solution(tuple((i, i) for i in range(len(gold.ids))), objective, objective, settled=True)
    allowed, dominance = ucca_restrictions(gold, system) if ucca else (None, None)
    shape = len(gold.ids), len(system.ids)
    return solve(build(features, levels, shape, monotone=monotone, allowed=allowed, dominance=dominance), deadline)


def solve(problem: Problem, deadline: Deadline) -> Solution:
    """The best map, with as much proof as time allows."""
    incumbent = Incumbent(problem)
    branching = Branching(problem, incumbent, deadline)
    settled = branching.search(_cases(problem))
    bound: float = problem.first_level_bound(branching.bound)
    if not settled and not problem.monotone and not deadline.over:
        proof = Proof(problem, branching.open_cells, incumbent, deadline)
        settled = proof.run() == len(problem.levels)
        bound = min(bound, proof.bound)
    image = incumbent.image
    objective = problem.level_value(image, 0)
    pairs = tuple((int(i), int(image[i])) for i in np.nonzero(image >= 0)[0])
    return Solution(pairs, objective, objective if settled else max(objective, int(bound)), settled)


def _cases(problem: Problem) -> int:
    if problem.monotone:
        return sys.maxsize
    return CASES if problem.dominance is None else DEMANDING_CASES
