from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perin.graphs import Anchor, Edge, Graph, Node, Property
from perin.graphs.isomorphism import isomorphic

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
