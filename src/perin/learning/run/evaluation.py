"""Scores of a model on graphs that it has not seen, by the exact metric."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from perin.graphs.graph import Graph
from perin.learning.data import Split
from perin.model.model import Model
from perin.network.settings import NULL_THRESHOLD
from perin.parsing.evaluation import TYPES
from perin.parsing.streaming import graphs_of
from perin.scoring import Result, score


@dataclass(frozen=True)
class Evaluation:
    """F1 by treebank and item type, between 0 and 1, the graphs that were scored, and how each of them compares."""

    scores: dict[str, dict[str, float]]
    graphs: dict[str, list[Graph]]
    results: dict[str, Result]

    @property
    def mean(self) -> float:
        """The mean over the treebanks of F1 over all items."""
        return sum(types["all"] for types in self.scores.values()) / max(1, len(self.scores))

    def __str__(self) -> str:
        return "  ".join(f"{name} {100 * types['all']:.2f}" for name, types in self.scores.items())


def evaluate(model: Model, dev: Mapping[str, Split], *, budget: float) -> Evaluation:
    """Parse and score the dev data of each treebank."""
    model.network.eval()
    scores, graphs, results = {}, {}, {}
    for name, split in dev.items():
        if split.graphs:
            graphs[name] = graphs_of(model, split.sentences, name)
            results[name] = score(split.graphs, graphs[name], "mrp", budget=budget)
            tallies = results[name].total.tallies
            scores[name] = {kind: tallies[kind].f1 for kind in TYPES if tallies[kind].g or tallies[kind].s}
    return Evaluation(scores, graphs, results)


# How unlikely null must be for a query to become a node: chosen for each treebank on dev.

NULL_THRESHOLDS = (0.35, 0.4, 0.45, 0.5, 0.55, 0.6)


def choose_null_thresholds(model: Model, dev: Mapping[str, Split], *, budget: float) -> dict[str, dict[float, float]]:
    """Give each treebank with dev data the threshold with the best F1 there; returns F1 by treebank and threshold.

    Among equals, the threshold closest to the default is taken.
    """
    found: dict[str, dict[float, float]] = {}
    for name, split in dev.items():
        if not split.graphs:
            continue
        found[name] = {}
        for threshold in NULL_THRESHOLDS:
            model.set_null_threshold(name, threshold)
            found[name][threshold] = evaluate(model, {name: split}, budget=budget).scores[name]["all"]
        scores = found[name]
        model.set_null_threshold(
            name, max(NULL_THRESHOLDS, key=lambda threshold: (scores[threshold], -abs(threshold - NULL_THRESHOLD)))
        )
    return found
