"""The UCCA metric: edges between units, which are identified by the text below them; primary and remote apart."""

from __future__ import annotations

from collections.abc import Hashable

from perin.graphs.graph import Graph
from perin.scoring.items import Items, items
from perin.scoring.metrics.metric import Comparison, Metric
from perin.scoring.tally import Tally

KEYS = ("labeled.primary", "labeled.remote", "unlabeled.primary", "unlabeled.remote")


def _yields(content: Items) -> list[frozenset[Hashable]]:
    """The characters of each node and of all nodes below it over primary edges."""
    children: dict[int, list[int]] = {}
    for edge in content.edges:
        if edge not in content.remote:
            children.setdefault(edge[0], []).append(edge[1])
    found = []
    for node in range(len(content.ids)):
        below, waiting = {node}, [node]
        while waiting:
            for child in children.get(waiting.pop(), ()):
                if child not in below:
                    below.add(child)
                    waiting.append(child)
        found.append(frozenset[Hashable]().union(*(content.anchors[each] or () for each in below)))
    return found


def _units(graph: Graph) -> dict[str, set[Hashable]]:
    content = items(graph)
    ids = _yields(content)
    found: dict[str, set[Hashable]] = {key: set() for key in KEYS}
    for edge in content.edges:
        kind = "remote" if edge in content.remote else "primary"
        ends = ids[edge[0]], ids[edge[1]]
        found[f"labeled.{kind}"].add((*ends, edge[2]))
        found[f"unlabeled.{kind}"].add(ends)
    return found


def _compare(gold: Graph, system: Graph, seconds: float) -> Comparison:
    first, second = _units(gold), _units(system)
    return Comparison({key: Tally.of_sets(first[key], second[key]) for key in KEYS})


UCCA = Metric("ucca", KEYS, "labeled.primary", _compare, searches=False)
