"""Random small graphs, and the metrics by brute force, written from their definition and without the solver."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from types import SimpleNamespace

import pytest
from hypothesis import strategies as st

from perin.graphs.graph import Anchor, Edge, Graph, Node, Property
from perin.scoring.items import TYPES, Items, items

TEXT = "Kim, who sleeps (well)."
ANCHORS = (None, (Anchor(0, 3),), (Anchor(9, 15),), (Anchor(3, 4),), (Anchor(0, 3), Anchor(9, 15)))
PAIRS = st.builds(Property, st.sampled_from("pq"), st.sampled_from("12"))


@st.composite
def random_graph(draw: st.DrawFn, framework: str = "amr", most: int = 4, *, loops: bool = False) -> Graph:
    """A graph of few labels, so that there are many ties; UCCA without labels, mostly a tree."""
    count = draw(st.integers(1, most))
    ucca = framework == "ucca"
    nodes = [
        Node(
            id,
            None if ucca else draw(st.sampled_from((None, "a", "b"))),
            () if ucca else tuple(draw(st.lists(PAIRS, max_size=2))),
            draw(st.sampled_from(ANCHORS)),
        )
        for id in range(count)
    ]
    ends = [(i, j) for i in range(count) for j in range(count) if loops or (i < j if ucca else i != j)]
    edges = [
        Edge(source, target, draw(st.sampled_from((None, "x", "y"))), draw(attributes(ucca)))
        for source, target in (draw(st.lists(st.sampled_from(ends), max_size=2 * count)) if ends else ())
    ]
    tops = draw(st.sets(st.sampled_from(range(count)), max_size=2))
    return Graph("1", framework, "eng", input=TEXT, tops=tuple(tops), nodes=tuple(nodes), edges=tuple(edges))


def attributes(ucca: bool) -> st.SearchStrategy[tuple[Property, ...]]:
    if ucca:
        return st.sampled_from(((), (), (Property("remote", True),)))
    return st.lists(st.builds(Property, st.just("m"), st.sampled_from("tu")), max_size=1).map(tuple)


@st.composite
def changed(draw: st.DrawFn, graph: Graph) -> Graph:
    """The same graph with some nodes gone, others in another order with other ids, and some labels changed."""
    kept = draw(st.lists(st.sampled_from(graph.nodes), unique=True, min_size=1))
    ids = dict(zip([node.id for node in kept], draw(st.permutations(range(10, 10 + len(kept)))), strict=True))
    nodes = tuple(replace(node, label=draw(st.sampled_from((node.label, node.label, "b")))) for node in kept)
    part = graph.subgraph(ids)
    return replace(part, nodes=nodes).relabelled(ids)


@dataclass(frozen=True)
class Best:
    """The best value that a map can have: objective, reported matches, and matches by type."""

    objective: int
    all: int
    types: dict[str, int]


def maps(gold: int, system: int) -> Iterator[dict[int, int]]:
    """All one-to-one partial maps."""

    def extend(i: int, image: dict[int, int]) -> Iterator[dict[int, int]]:
        if i == gold:
            yield image
            return
        yield from extend(i + 1, image)
        for j in range(system):
            if j not in image.values():
                yield from extend(i + 1, {**image, i: j})

    return extend(0, {})


def reported(gold: Items, system: Items, image: dict[int, int]) -> dict[str, int]:
    """Matches by type: items of gold, with system nodes put in for their nodes, that the system has."""

    def of(side: Items) -> dict[str, set[tuple[object, ...]]]:
        numbers = range(len(side.ids))
        return {
            "tops": {(i,) for i in side.tops},
            "labels": {(i, side.labels[i]) for i in numbers if side.labels[i] is not None},
            "properties": {(i, *pair) for i in numbers for pair in side.properties[i]},
            "anchors": {(i, side.anchors[i]) for i in numbers if side.anchors[i] is not None},
            "edges": set(side.edges),
            "attributes": set(side.attributes),
        }

    theirs = of(system)
    counts = {}
    for kind, own in of(gold).items():
        width = 2 if kind in ("edges", "attributes") else 1
        moved = {(*(image.get(node, -1) for node in item[:width]), *item[width:]) for item in own}
        counts[kind] = len(moved & theirs[kind])
    return counts


def official(gold: Items, system: Items, image: dict[int, int]) -> int:
    """The count that the official search maximises."""
    value = 0
    for i, j in image.items():
        value += (i in gold.tops and j in system.tops) + (gold.labels[i] == system.labels[j])
        value += len(gold.properties[i] & system.properties[j])
        value += gold.anchors[i] is not None and gold.anchors[i] == system.anchors[j]
    own, theirs = (
        {*side.edges} | {(item[0], item[1], ("E", *item[3:])) for item in side.attributes} for side in (gold, system)
    )
    for source, target, key in own:
        if source != target:
            value += (image.get(source), image.get(target), key) in theirs
        elif source in image:
            value += any(key == other[2] and image[source] in other[:2] for other in theirs)
    return value


def below(side: Items) -> list[set[int]]:
    reach = [{edge[1] for edge in side.edges if edge[0] == i and edge not in side.remote} for i in range(len(side.ids))]
    for _ in side.ids:
        reach = [one.union(*(reach[k] for k in one)) for one in reach]
    return reach


def obeys_ucca(gold: Items, system: Items) -> Callable[[dict[int, int]], bool]:
    """UCCA's restriction, from section 4 of the metric's description."""
    mine, theirs = below(gold), below(system)

    def covered(side: Items, reach: list[set[int]], i: int) -> set[int]:
        return set().union(*(side.anchors[k] or () for k in {i, *reach[i]}))

    def worth(i: int, j: int | None) -> tuple[int, int, int]:
        if j is None:
            return -(i in gold.tops), 0, 0
        edges = [
            (one, two)
            for one in gold.edges
            for two in system.edges
            for end in (0, 1)
            if one[2] == two[2] and one[end] == i and two[end] == j
        ]
        overlap = covered(gold, mine, i) & covered(system, theirs, j)
        return 1 if (i in gold.tops) == (j in system.tops) else -1, len(overlap), len(edges)

    candidates = [(i, j) for i in range(len(gold.ids)) for j in (*range(len(system.ids)), None)]
    rank: dict[int, int] = {}
    used: set[int | None] = set()
    for i, j in sorted(candidates, key=lambda pair: [-number for number in worth(*pair)]):
        if i not in rank and j not in used:
            rank[i] = len(rank)
            used |= {j} - {None}

    def obeyed(image: dict[int, int]) -> bool:
        leaves = all(rank[i] == 0 or bool(mine[i]) == bool(theirs[j]) for i, j in image.items())
        return leaves and all(
            image[k] in theirs[j] for i, j in image.items() for k in mine[i] if k in image and rank[k] < rank[i]
        )

    return obeyed


def monotone(image: dict[int, int]) -> bool:
    partners = [image[i] for i in sorted(image)]
    return partners == sorted(partners)


def best_map(gold: Graph, system: Graph, metric: str) -> Best:
    """Try all maps; ties go to more reported matches, then tops, labels, properties, anchors, attributes."""
    first, second = items(gold), items(system)
    allowed: Callable[[dict[int, int]], bool] = lambda image: True  # noqa: E731
    if metric == "mrp" and gold.framework == "ucca":
        allowed = obeys_ucca(first, second)
    if metric == "mrp" and gold.framework == "dm":
        allowed = monotone
    ranked = []
    for image in maps(len(first.ids), len(second.ids)):
        if allowed(image):
            types = reported(first, second, image)
            whole = sum(types.values())
            objective = official(first, second, image) if metric == "mrp" else whole
            ranked.append((objective, whole, *(types[kind] for kind in TYPES if kind != "edges"), types["edges"]))
    objective, whole, *rest = max(ranked)
    names = [kind for kind in TYPES if kind != "edges"] + ["edges"]
    return Best(objective, whole, dict(zip(names, rest, strict=True)))


@pytest.fixture(scope="session")
def brute() -> SimpleNamespace:
    """What tests of the search share."""
    return SimpleNamespace(random_graph=random_graph, changed=changed, best_map=best_map, maps=maps, text=TEXT)
