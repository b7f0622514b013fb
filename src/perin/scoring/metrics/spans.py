"""The metrics that need no search, because the text that a node covers identifies it: EDM, SDP, UCCA."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TypeAlias

from perin.graphs.graph import Graph
from perin.graphs.normalisation import normal_anchors, trimmed_runs
from perin.scoring.items import EdgeItem, Items, items
from perin.scoring.result import Comparison, Metric, Tally

# What identifies a node in the metrics that need no search: the text that it covers.


Spans: TypeAlias = tuple[tuple[int, int], ...] | None


def spans(graph: Graph) -> list[Spans]:
    """The ranges of characters of each node, trimmed where the input is known; None for a node without anchors."""
    text = graph.input
    return [
        tuple(trimmed_runs(node.anchors, text)) or None
        if text and node.anchors
        else _ranges(normal_anchors(node.anchors, None))
        for node in graph.nodes
    ]


def identities(gold: Graph, system: Graph) -> tuple[list[Hashable], list[Hashable]]:
    """The sets of characters of the nodes of both graphs; their ranges unless both graphs have an input."""
    if gold.input and system.input:
        first, second = (
            [normal_anchors(node.anchors, graph.input) for node in graph.nodes] for graph in (gold, system)
        )
        return list(first), list(second)
    return list(spans(gold)), list(spans(system))


def _ranges(anchors: Hashable) -> Spans:
    return anchors if isinstance(anchors, tuple) else None


# Elementary dependency match for EDS: what is predicated of which stretch of text.


EDM_KEYS = ("names", "arguments", "tops", "properties")


def _elements(graph: Graph, ids: list[Hashable]) -> dict[str, set[Hashable]]:
    content = items(graph)
    return {
        "names": {(id, label) for id, label in zip(ids, content.labels, strict=True) if label is not None},
        "arguments": {(ids[source], ids[target], label) for source, target, label in content.edges},
        "tops": {ids[top] for top in content.tops},
        "properties": {(id, pair) for id, pairs in zip(ids, content.properties, strict=True) for pair in pairs},
    }


def _compare_edm(gold: Graph, system: Graph, seconds: float) -> Comparison:
    first, second = (_elements(*side) for side in zip((gold, system), identities(gold, system), strict=True))
    tallies = {key: Tally.of_sets(first[key], second[key]) for key in EDM_KEYS}
    tallies["all"] = sum(tallies.values(), Tally())
    return Comparison(tallies)


EDM = Metric("edm", (*EDM_KEYS, "all"), "all", _compare_edm, searches=False)


# The SDP metric of bilexical graphs: dependencies between words, and virtual ones to the tops.


_TOP = -1


def _dependencies(graph: Graph) -> set[tuple[object, object, str | None]]:
    ids, content = spans(graph), items(graph)
    found: set[tuple[object, object, str | None]] = {
        (ids[source], ids[target], label) for source, target, label in content.edges
    }
    return found | {(_TOP, ids[top], None) for top in content.tops}


def _compare_sdp(gold: Graph, system: Graph, seconds: float) -> Comparison:
    first, second = _dependencies(gold), _dependencies(system)
    unlabeled = [{dependency[:2] for dependency in side} for side in (first, second)]
    return Comparison({"labeled": Tally.of_sets(first, second), "unlabeled": Tally.of_sets(*unlabeled)})


SDP = Metric("sdp", ("labeled", "unlabeled"), "labeled", _compare_sdp, searches=False)


# The UCCA metric: edges between units, which are identified by the text below them; primary and remote apart.


UCCA_KEYS = ("labeled.primary", "labeled.remote", "unlabeled.primary", "unlabeled.remote")


def _yields(content: Items, numbers: dict[Hashable, int]) -> list[int]:
    """The characters of each node and of all nodes below it over primary edges: a bit each, numbered as they come."""
    found = [0] * len(content.ids)
    for node, anchors in enumerate(content.anchors):
        for character in anchors or ():
            found[node] |= 1 << numbers.setdefault(character, len(numbers))
    edges = [edge for edge in content.edges if edge not in content.remote]
    depth = _depths(len(found), edges)
    edges.sort(key=lambda edge: -depth[edge[0]])
    grown = True
    while grown:  # once, unless there are cycles
        grown = False
        for source, target, _ in edges:
            both = found[source] | found[target]
            if both != found[source]:
                found[source] = both
                grown = True
    return found


def _depths(count: int, edges: Iterable[EdgeItem]) -> list[int]:
    """The length of the longest path to each node; nodes on cycles and below them are taken as they come."""
    children: dict[int, list[int]] = {}
    open_parents = [0] * count
    for source, target, _ in edges:
        children.setdefault(source, []).append(target)
        open_parents[target] += 1
    depth = [0] * count
    waiting = [node for node in range(count) if not open_parents[node]]
    while waiting:
        node = waiting.pop()
        for child in children.get(node, ()):
            depth[child] = max(depth[child], depth[node] + 1)
            open_parents[child] -= 1
            if not open_parents[child]:
                waiting.append(child)
    return depth


def _units(graph: Graph, numbers: dict[Hashable, int]) -> dict[str, set[Hashable]]:
    content = items(graph)
    ids = _yields(content, numbers)
    found: dict[str, set[Hashable]] = {key: set() for key in UCCA_KEYS}
    for edge in content.edges:
        kind = "remote" if edge in content.remote else "primary"
        ends = ids[edge[0]], ids[edge[1]]
        found[f"labeled.{kind}"].add((*ends, edge[2]))
        found[f"unlabeled.{kind}"].add(ends)
    return found


def _compare_ucca(gold: Graph, system: Graph, seconds: float) -> Comparison:
    numbers: dict[Hashable, int] = {}
    first, second = _units(gold, numbers), _units(system, numbers)
    return Comparison({key: Tally.of_sets(first[key], second[key]) for key in UCCA_KEYS})


UCCA = Metric("ucca", UCCA_KEYS, "labeled.primary", _compare_ucca, searches=False)
