"""Layers: parents above children where that can be, no edge within a layer."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from perin.graphs.drawing.layered import assign_layers, stagger
from perin.graphs.drawing.spanning import Arc


@given(st.integers(1, 9).flatmap(lambda n: st.tuples(st.just(n), st.lists(st.tuples(*[st.integers(0, n - 1)] * 2)))))
def test_no_arc_stays_on_its_layer(graph: tuple[int, list[tuple[int, int]]]) -> None:
    count, pairs = graph
    arcs = [Arc(*pair, primary=index % 3 > 0) for index, pair in enumerate(pairs)]
    layer = assign_layers(count, arcs, [0])
    assert all(layer[arc.source] != layer[arc.target] for arc in arcs if arc.source != arc.target)
    assert set(layer) == set(range(max(layer) + 1))


@given(st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)).filter(lambda pair: pair[0] < pair[1])))
def test_without_cycles_all_arcs_point_down(pairs: list[tuple[int, int]]) -> None:
    arcs = list(itertools.starmap(Arc, pairs))
    layer = assign_layers(9, arcs, [0])
    assert all(layer[arc.source] < layer[arc.target] for arc in arcs)


def test_a_node_that_only_points_stands_just_above_its_target() -> None:
    chain = [Arc(0, 1), Arc(1, 2), Arc(2, 3)]
    assert assign_layers(5, [*chain, Arc(4, 3)], [0]) == [0, 1, 2, 3, 2]


def test_other_arcs_go_where_primary_arcs_let_them() -> None:
    assert assign_layers(3, [Arc(0, 1), Arc(1, 2), Arc(2, 0, primary=False)], [0]) == [0, 1, 2]


def test_a_crowded_layer_is_thinned_out() -> None:
    arcs = [Arc(node, 6) for node in range(6)]
    layer = stagger(assign_layers(7, arcs, []), arcs, [100.0] * 7, [float(node) for node in range(7)], 350)
    assert all(layer[arc.source] < layer[arc.target] for arc in arcs)
    assert max(layer.count(number) for number in layer) <= 3
    roomy = stagger(assign_layers(7, arcs, []), arcs, [100.0] * 7, [0.0] * 7, 650)
    assert roomy == [0] * 6 + [1]


def test_deep_graphs_need_no_deep_stack() -> None:
    count = 5000
    assert assign_layers(count, [Arc(node, node + 1) for node in range(count - 1)], [0]) == list(range(count))
