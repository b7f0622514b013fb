"""Expected values are those of docs on the metric: inverse roles, trimmed anchors, folded case."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perin.graphs import Anchor, Edge, Graph, Node, Property, load
from perin.graphs.normalisation import (
    PUNCTUATION,
    SPACE,
    folded,
    isomorphic,
    normal_anchors,
    normal_attributes,
    normal_edge,
)


@pytest.mark.parametrize(
    ("label", "normal", "expected"),
    [
        ("ARG0", None, (0, 1, "ARG0")),
        ("ARG0-of", None, (1, 0, "ARG0")),
        ("mod", None, (1, 0, "domain")),
        ("Mod", None, (0, 1, "Mod")),
        ("ARG0-OF", None, (0, 1, "ARG0-OF")),
        ("consist-of", None, (1, 0, "consist")),
        ("consist-of-of", None, (1, 0, "consist-of")),
        ("prep-out-of", None, (0, 1, "prep-out-of")),
        ("prep-out-of-of", None, (1, 0, "prep-out-of")),
        ("ARG0-of", "quant", (1, 0, "quant")),
        ("ARG0-of", "", (0, 1, "ARG0-of")),
        ("", None, (0, 1, None)),
        (None, None, (0, 1, None)),
    ],
)
def test_inverse_edges(label, normal, expected):
    assert normal_edge(Edge(0, 1, label, normal=normal)) == expected


def test_default_attributes_are_dropped():
    pairs = [Property("remote", False), Property("Remote", "FALSE"), Property("member", True), Property("other", False)]
    assert normal_attributes(pairs) == [("member", "true"), ("other", "false")]


@pytest.mark.parametrize(
    ("value", "expected"), [("AbC", "abc"), (1, "1"), (1.5, "1.5"), (True, "true"), (None, "none")]
)
def test_folding(value, expected):
    assert folded(value) == expected


TEXT = "Kim (a cat), sleeps . . ."


@pytest.mark.parametrize(
    ("anchors", "characters"),
    [
        ([(0, 3)], "Kim"),
        ([(0, 4)], "Kim"),
        ([(4, 12)], "acat"),
        ([(0, 3), (13, 19)], "Kimsleeps"),
        ([(20, 25)], ""),
        ([(0, 4), (5, 6)], "Kima"),
        ([(-5, 2)], "Ki"),
        ([(13, 99)], "sleeps"),
    ],
)
def test_anchors_as_characters(anchors, characters):
    positions = normal_anchors([Anchor(*ends) for ends in anchors], TEXT)
    assert "".join(TEXT[position] for position in sorted(positions)) == characters


def test_no_anchors_and_no_input():
    assert normal_anchors(None, TEXT) is None
    assert normal_anchors([], TEXT) is None
    assert normal_anchors([Anchor(3, 3)], TEXT) is None
    assert normal_anchors([Anchor(2, 4), Anchor(4, 5), Anchor(9, 9)], None) == ((2, 5),)


def by_characters(anchors: list[Anchor], text: str) -> frozenset[int]:
    """The definition of the metric, character by character."""
    covered = sorted({position for start, end in anchors for position in range(start, end)})
    runs: list[list[int]] = []
    for position in covered:
        if runs and (position == runs[-1][-1] + 1 or all(c in SPACE for c in text[runs[-1][-1] : position])):
            runs[-1].append(position)
        else:
            runs.append([position])
    kept: set[int] = set()
    for run in runs:
        inside = list(range(max(run[0], 0), min(run[-1] + 1, len(text))))
        while inside and text[inside[0]] in PUNCTUATION:
            inside.pop(0)
        while inside and text[inside[-1]] in PUNCTUATION:
            inside.pop()
        kept.update(position for position in inside if text[position] not in SPACE)
    return frozenset(kept)


@given(st.text("ab .,\t—", min_size=1, max_size=12), st.data())
@settings(deadline=None, max_examples=300)
def test_anchors_agree_with_the_definition(text, data):
    end = st.integers(0, len(text))
    ranges = data.draw(st.lists(st.tuples(end, end), min_size=1, max_size=4))
    anchors = [Anchor(min(ends), max(ends)) for ends in ranges]
    expected = by_characters(anchors, text)
    found = normal_anchors(anchors, text)
    assert found == expected or (found is None and all(start == end for start, end in anchors))


CASES = [
    "anchors-discontinuous-trim-each",
    "anchors-internal-punctuation-counts",
    "anchors-internal-space-ignored",
    "anchors-merge-before-trim",
    "anchors-non-ascii-not-trimmed",
    "anchors-out-of-range",
    "anchors-punctuation-only-empty-set",
    "anchors-split-equals-joined",
    "anchors-trim",
]


@pytest.mark.parametrize("case", CASES)
def test_anchors_agree_with_the_official_scorer(shared, case):
    """With one node a side, the scorer counts a correct anchor exactly if both normal forms are equal."""
    folder = shared / "fixtures" / "edge_cases" / case
    expected = json.loads((folder / "expected.json").read_text())["anchors"]
    sides = []
    for name in ("gold.mrp", "system.mrp"):
        (graph,) = load(folder / name, report=lambda finding: None)
        sides.append([normal_anchors(node.anchors, graph.input) for node in graph.nodes])
    gold, system = sides
    assert expected["g"] == sum(side is not None for side in gold)
    assert expected["s"] == sum(side is not None for side in system)
    if len(gold) == len(system) == 1:
        assert expected["c"] == (gold == system)


LETTER = st.sampled_from([None, "a", "b"])


@st.composite
def small_graphs(draw, size=None):
    """Graphs of few nodes and few colours, so that many pairs are nearly or truly isomorphic."""
    size = draw(st.integers(0, 4)) if size is None else size
    nodes = [Node(id, draw(LETTER), draw(st.sampled_from([(), (Property("p", "v"),)]))) for id in range(size)]
    end = st.integers(0, size - 1)
    flags = st.sampled_from([(), (Property("remote", True),)])
    edges = draw(st.lists(st.builds(Edge, end, end, LETTER, flags), max_size=5)) if size else []
    tops = draw(st.lists(end, max_size=1)) if size else []
    return Graph("1", tops=tuple(tops), nodes=tuple(nodes), edges=tuple(edges))


@st.composite
def pairs_of_one_size(draw):
    size = draw(st.integers(0, 4))
    return draw(small_graphs(size)), draw(small_graphs(size))


def by_brute_force(first: Graph, second: Graph) -> bool:
    """Whether some renaming of the nodes makes all parts of both graphs equal as multisets."""
    if len(first) != len(second):
        return False
    targets = [node.id for node in second.nodes]
    return any(
        _parts(first.relabelled(dict(zip((node.id for node in first.nodes), order, strict=True)))) == _parts(second)
        for order in permutations(targets)
    )


def _parts(graph: Graph):
    return (
        Counter(graph.tops),
        Counter((node.id, node.label, node.properties, node.anchors) for node in graph.nodes),
        Counter((edge.source, edge.target, edge.label, edge.normal, edge.attributes) for edge in graph.edges),
    )


@given(pairs_of_one_size())
@settings(deadline=None, max_examples=250)
def test_same_answer_as_brute_force(pair):
    assert isomorphic(*pair) == by_brute_force(*pair)


@given(small_graphs(), st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=200)
def test_renamed_and_shuffled_graphs_are_isomorphic(graph, random):
    names = random.sample(range(10, 30), len(graph))
    other = graph.relabelled({node.id: name for node, name in zip(graph.nodes, names, strict=True)})
    nodes, edges = list(other.nodes), list(other.edges)
    random.shuffle(nodes)
    random.shuffle(edges)
    assert isomorphic(graph, replace(other, nodes=tuple(nodes), edges=tuple(edges)))


def cycle(*lengths: int) -> Graph:
    """Disjoint directed cycles of equal nodes: colour refinement alone can't tell their lengths."""
    edges, start = [], 0
    for length in lengths:
        edges += [Edge(start + step, start + (step + 1) % length) for step in range(length)]
        start += length
    return Graph("1", nodes=tuple(map(Node, range(start))), edges=tuple(edges))


def test_one_long_cycle_is_not_two_short_ones():
    assert isomorphic(cycle(6), cycle(6))
    assert not isomorphic(cycle(6), cycle(3, 3))
    assert not isomorphic(cycle(8), cycle(4, 4))


def test_many_equal_nodes_take_no_exponential_search():
    star = Graph("1", nodes=tuple(map(Node, range(120))), edges=tuple(Edge(0, leaf, "a") for leaf in range(1, 120)))
    assert isomorphic(star, star.relabelled({0: 119, 119: 0}))


ONE = Graph("1", input="Dogs bark.", tops=(0,), nodes=(Node(0, "Bark"), Node(1, "dog")), edges=(Edge(0, 1, "ARG0"),))


@pytest.mark.parametrize(
    "other",
    [
        replace(ONE, tops=()),
        replace(ONE, tops=(0, 0)),
        replace(ONE, nodes=(Node(0, "bark"), Node(1, "dog"))),
        replace(ONE, nodes=(Node(0, "Bark"), Node(1, "dog", anchors=()))),
        replace(ONE, nodes=(Node(0, "Bark"), Node(1, "dog", (Property("n", "1"),)))),
        replace(ONE, edges=(Edge(1, 0, "ARG0"),)),
        replace(ONE, edges=(Edge(0, 1, "ARG0"), Edge(0, 1, "ARG0"))),
        replace(ONE, edges=(Edge(0, 1, "ARG0", normal="ARG0"),)),
        replace(ONE, edges=(Edge(0, 1, "ARG0", (Property("remote", True),)),)),
    ],
)
def test_every_part_counts(other):
    assert not ONE.isomorphic(other)


def test_types_of_values_count():
    one, true = (Graph("1", nodes=(Node(0, "x", (Property("p", value),)),)) for value in (1, True))
    assert not one.isomorphic(true)
    assert one.isomorphic(one)


def test_order_of_properties_and_edge_ids_do_not_count():
    pairs = (Property("a", "1"), Property("b", "2"))
    first = Graph("1", nodes=(Node(0, "x", pairs),), edges=(Edge(0, 0, "a", id=3),))
    second = Graph("2", nodes=(Node(5, "x", pairs[::-1]),), edges=(Edge(5, 5, "a"),))
    assert first.isomorphic(second)


@pytest.mark.parametrize(
    "other",
    [
        replace(ONE, nodes=(Node(0, "bark"), Node(1, "DOG"))),
        replace(ONE, edges=(Edge(1, 0, "ARG0-of"),)),
        replace(ONE, edges=(Edge(1, 0, "anything", normal="arg0"),)),
        replace(ONE, edges=(Edge(0, 1, "ARG0", (Property("remote", False),)),)),
        replace(ONE, edges=(Edge(0, 1, "ARG0"), Edge(1, 0, "ARG0-of"))),
    ],
)
def test_normal_form_ignores_what_the_metric_ignores(other):
    assert not isomorphic(ONE, other)
    assert isomorphic(ONE, other, normalised=True)


def test_anchors_in_normal_form():
    def anchored(*anchors: Anchor) -> Graph:
        return Graph("1", input="Dogs bark.", nodes=(Node(0, anchors=anchors),))

    assert isomorphic(anchored(Anchor(5, 9)), anchored(Anchor(5, 7), Anchor(7, 10)), normalised=True)
    assert not isomorphic(anchored(Anchor(5, 9)), anchored(Anchor(5, 8)), normalised=True)
