"""The order within layers: crossings counted right, and fewer of them."""

from __future__ import annotations

import itertools

from hypothesis import given, settings
from hypothesis import strategies as st

from perin.graphs.drawing.layout import crossings, reduce_crossings

Proper = tuple[list[list[int]], list[list[int]], list[list[int]]]


@st.composite
def _layered(draw: st.DrawFn) -> Proper:
    sizes = draw(st.lists(st.integers(1, 5), min_size=1, max_size=4))
    first = [0, *itertools.accumulate(sizes)]
    layers = [list(range(start, end)) for start, end in itertools.pairwise(first)]
    above: list[list[int]] = [[] for _ in range(first[-1])]
    below: list[list[int]] = [[] for _ in range(first[-1])]
    for upper, lower in itertools.pairwise(layers):
        for source, target in draw(st.lists(st.tuples(st.sampled_from(upper), st.sampled_from(lower)), max_size=8)):
            below[source].append(target)
            above[target].append(source)
    return layers, above, below


def _brute_force(layers: list[list[int]], below: list[list[int]]) -> int:
    place = {vertex: index for layer in layers for index, vertex in enumerate(layer)}
    total = 0
    for layer in layers:
        edges = [(place[vertex], place[end]) for vertex in layer for end in below[vertex]]
        pairs = itertools.combinations(edges, 2)
        total += sum((a[0] - b[0]) * (a[1] - b[1]) < 0 for a, b in pairs)
    return total


@given(_layered())
def test_crossings_are_those_of_all_pairs(graph: Proper) -> None:
    layers, _, below = graph
    assert crossings(layers, below) == _brute_force(layers, below)


@given(_layered(), st.booleans())
def test_reordering_permutes_and_never_adds_crossings(graph: Proper, fixed_last: bool) -> None:
    layers, above, below = graph
    ordered = reduce_crossings(layers, above, below, fixed_last=fixed_last)
    assert [sorted(layer) for layer in ordered] == layers
    assert crossings(ordered, below) <= crossings(layers, below)
    if fixed_last:
        assert ordered[-1] == layers[-1]


@given(st.permutations(range(4)), st.permutations(range(4)))
@settings(max_examples=40)
def test_a_forest_gets_no_crossings(left: list[int], right: list[int]) -> None:
    # Two trees of depth two over shuffled layers: 0 -> 2, 3 -> leaves; 1 -> 4, 5 -> leaves.
    layers = [[0, 1], [2 + index for index in left], [6 + index for index in right]]
    below = [[2, 3], [4, 5], [6], [7], [8], [9], [], [], [], []]
    above: list[list[int]] = [[], [], [0], [0], [1], [1], [2], [3], [4], [5]]
    assert crossings(reduce_crossings(layers, above, below), below) == 0
