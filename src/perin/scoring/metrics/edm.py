"""Elementary dependency match for EDS: what is predicated of which stretch of text."""

from __future__ import annotations

from collections.abc import Hashable

from perin.graphs.graph import Graph
from perin.scoring.items import items
from perin.scoring.metrics.metric import Comparison, Metric
from perin.scoring.metrics.spans import identities
from perin.scoring.tally import Tally

KEYS = ("names", "arguments", "tops", "properties")


def _elements(graph: Graph, ids: list[Hashable]) -> dict[str, set[Hashable]]:
    content = items(graph)
    return {
        "names": {(id, label) for id, label in zip(ids, content.labels, strict=True) if label is not None},
        "arguments": {(ids[source], ids[target], label) for source, target, label in content.edges},
        "tops": {ids[top] for top in content.tops},
        "properties": {(id, pair) for id, pairs in zip(ids, content.properties, strict=True) for pair in pairs},
    }


def _compare(gold: Graph, system: Graph, seconds: float) -> Comparison:
    first, second = (_elements(*side) for side in zip((gold, system), identities(gold, system), strict=True))
    tallies = {key: Tally.of_sets(first[key], second[key]) for key in KEYS}
    tallies["all"] = sum(tallies.values(), Tally())
    return Comparison(tallies)


EDM = Metric("edm", (*KEYS, "all"), "all", _compare, searches=False)
