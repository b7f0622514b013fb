"""How unlikely null must be for a query to become a node: chosen for each treebank on dev."""

from __future__ import annotations

from collections.abc import Mapping

from perin.learning.data.corpus import Split
from perin.learning.run.evaluation import evaluate
from perin.model.model import Model
from perin.network.sizes import NULL_THRESHOLD

LIMITS = (0.35, 0.4, 0.45, 0.5, 0.55, 0.6)


def choose_null_limits(model: Model, dev: Mapping[str, Split], *, budget: float) -> dict[str, dict[float, float]]:
    """Give each treebank with dev data the limit with the best F1 there; returns F1 by treebank and limit.

    Of equal ones the limit closest to the usual one is taken.
    """
    found: dict[str, dict[float, float]] = {}
    for name, split in dev.items():
        if not split.graphs:
            continue
        found[name] = {}
        for limit in LIMITS:
            model.set_null_threshold(name, limit)
            found[name][limit] = evaluate(model, {name: split}, budget=budget).scores[name]["all"]
        scores = found[name]
        model.set_null_threshold(name, max(LIMITS, key=lambda limit: (scores[limit], -abs(limit - NULL_THRESHOLD))))
    return found
