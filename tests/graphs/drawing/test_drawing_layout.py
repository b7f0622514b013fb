"""Layers, order and positions: parents above children, few crossings, nothing on top of anything else."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.optimize import isotonic_regression

from perin.graphs import Anchor, Edge, Graph, Node, Property, load
from perin.graphs.drawing.layered import assign_layers, stagger
from perin.graphs.drawing.layout import DrawingLayout, arrange, crossings, reduce_crossings
from perin.graphs.drawing.routing import Box, Route, Sentence, place, spread, straighten
from perin.graphs.drawing.sketch import Arc, sketch


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


_finite = st.floats(-200, 200)


@given(st.lists(st.tuples(_finite, st.floats(0.1, 50), st.floats(0, 60)), min_size=1, max_size=12))
def test_spread_is_weighted_isotonic_regression(items: list[tuple[float, float, float]]) -> None:
    wanted, weights, gaps = (list(column) for column in zip(*items, strict=True))
    offsets = list(itertools.accumulate(gaps[1:], initial=0.0))
    placed = spread(wanted, weights, gaps[1:])
    expected = isotonic_regression(
        [position - offset for position, offset in zip(wanted, offsets, strict=True)], weights=weights
    ).x
    assert placed == pytest.approx([mean + offset for mean, offset in zip(expected, offsets, strict=True)], abs=1e-6)


def test_a_parent_stands_over_the_middle_of_its_children() -> None:
    layers = [[0], [1, 2, 3]]
    above = [[], [(0, 1.0)], [(0, 1.0)], [(0, 1.0)]]
    below = [[(1, 1.0), (2, 1.0), (3, 1.0)], [], [], []]
    at = place(layers, above, below, lambda left, right: 30.0, {})
    assert at[0] == pytest.approx(at[2], abs=0.5)
    assert at[3] - at[1] == pytest.approx(60, abs=0.5)


def test_a_sentence_spreads_for_what_stands_on_it_but_not_its_chunks() -> None:
    # Nodes 0 and 1 need 100 between them; words 2, 3 and 4 need 20, and 3 and 4 have no space between them.
    layers = [[0, 1], [2, 3, 4]]
    above = [[], [], [(0, 9.0)], [(1, 9.0)], []]
    below = [[(2, 9.0)], [(3, 9.0)], [], [], []]
    sentence = Sentence([range(1), range(1, 3)], [0.0, 20.0, 0.0, 20.0, 40.0])
    at = place(layers, above, below, lambda left, right: 100.0 if left == 0 else 20.0, {}, sentence)
    assert at[1] - at[0] == pytest.approx(100)
    assert 60 < at[3] - at[2] < 75
    assert at[4] - at[3] == pytest.approx(20)


def test_long_lines_become_straight_where_there_is_room() -> None:
    layers = [[0], [1], [2, 5], [3], [4]]
    at = [0.0, 4.0, -3.0, 5.0, 1.0, 30.0]
    straighten(at, layers, lambda left, right: 20.0, [[0, 1, 2, 3, 4]])
    assert at == [0.0, 1.0, 1.0, 1.0, 1.0, 30.0]


def test_a_line_keeps_its_distance_from_what_is_in_its_way() -> None:
    layers = [[0], [1], [5, 2], [3], [4]]
    at = [0.0, 0.0, 40.0, 0.0, 0.0, 20.0]
    straighten(at, layers, lambda left, right: 20.0, [[0, 1, 2, 3, 4]])
    assert at[2] - at[5] >= 20


TREEBANKS = ["amr-eng", "amr-zho", "drg-deu", "drg-eng", "eds-eng", "ptg-ces", "ptg-eng", "ucca-deu", "ucca-eng"]
SLACK = 0.01


def points(route: Route) -> Iterator[tuple[float, float]]:
    """Points along a line as it is drawn: down at the stations, a Bézier curve with upright ends between them."""
    for station in route:
        yield from ((station.x, station.top + (station.bottom - station.top) * step / 4) for step in range(5))
    for here, there in itertools.pairwise(route):
        swing = (there.top - here.bottom) * 0.55
        ys = here.bottom, here.bottom + swing, there.top - swing, there.top
        for step in range(1, 12):
            t = step / 12
            weights = (1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3
            x = here.x * (weights[0] + weights[1]) + there.x * (weights[2] + weights[3])
            yield x, sum(weight * y for weight, y in zip(weights, ys, strict=True))


def inside(point: tuple[float, float], box: Box) -> bool:
    return box.x + SLACK < point[0] < box.right - SLACK and box.y + SLACK < point[1] < box.bottom - SLACK


def overlap(first: Box, second: Box) -> bool:
    across = min(first.right, second.right) - max(first.x, second.x)
    along = min(first.bottom, second.bottom) - max(first.y, second.y)
    return across > SLACK and along > SLACK


def check(layout: DrawingLayout, *, lines: bool = True) -> None:
    labels = [label for label in layout.labels if label and label.width]
    boxes = [*layout.boxes, *labels, *layout.words, *(box for _, box in layout.caption)]
    for box in boxes:
        assert box.x >= 0
        assert box.y >= 0
        assert box.right <= layout.width
        assert box.bottom <= layout.height
    assert not [pair for pair in itertools.combinations(boxes, 2) if overlap(*pair)]
    if not lines:
        return
    for route, own in zip(layout.routes, layout.labels, strict=True):
        foreign = [*layout.boxes, *layout.words, *(label for label in labels if label is not own)]
        assert not [box for point in points(route) for box in foreign if inside(point, box)]
    for route in layout.stems:
        assert not [
            box for point in points(route) for box in [*layout.boxes, *labels, *layout.words] if inside(point, box)
        ]


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_nothing_overlaps(graphs, data):
    framework = data.draw(st.sampled_from([None, "amr", "drg", "ucca"]))
    check(arrange(sketch(data.draw(graphs(framework=framework, max_nodes=9)))))


@st.composite
def sentences(draw):
    """Graphs over words, with many anchors."""
    words = draw(
        st.lists(st.sampled_from(["a", "dog", "小王子", "incomprehensibilities", "."]), min_size=1, max_size=9)
    )
    text = draw(st.sampled_from(["", " "])).join(words)
    count = draw(st.integers(1, 9))
    span = st.tuples(st.integers(0, len(text)), st.integers(0, len(text))).map(lambda ends: Anchor(*sorted(ends)))
    nodes = [
        Node(id, draw(st.sampled_from([None, "x", "a long label"])), (), tuple(draw(st.lists(span, max_size=2))))
        for id in range(count)
    ]
    end = st.integers(0, count - 1)
    flags = st.sampled_from([(), (Property("remote", True),), (Property("member", True),)])
    edges = draw(st.lists(st.builds(Edge, end, end, st.sampled_from([None, "A", "ARG1-of"]), flags), max_size=16))
    return Graph("1", input=text, nodes=tuple(nodes), edges=tuple(edges), tops=(0,))


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(sentences())
def test_nothing_overlaps_above_words(graph):
    layout = arrange(sketch(graph))
    check(layout)
    assert [box.x for box in layout.words] == sorted(box.x for box in layout.words)


@pytest.mark.parametrize("treebank", TREEBANKS)
def test_nothing_overlaps_in_real_graphs(shared, treebank):
    found = list(itertools.islice(load(shared / "data" / treebank / "dev.mrp.gz"), 40))
    longest = max(found, key=len)
    for graph in [*found[:8], longest]:
        check(arrange(sketch(graph)))


def test_nodes_stand_over_their_words():
    text = "Abrams hired Browne"
    anchors = [(Anchor(0, 6),), (Anchor(7, 12),), (Anchor(13, 19),)]
    labels = ["named", "hire", "named"]
    nodes = tuple(Node(id, label, anchors=spans) for id, (label, spans) in enumerate(zip(labels, anchors, strict=True)))
    layout = arrange(sketch(Graph("1", input=text, nodes=nodes, edges=(Edge(1, 0, "A"), Edge(1, 2, "B")), tops=(1,))))
    for box, word in zip(layout.boxes, layout.words, strict=True):
        assert box.middle == pytest.approx(word.middle, abs=2)
        assert box.bottom < word.y
    assert layout.boxes[1].bottom < layout.boxes[0].y


def test_tops_come_first_without_anchors(diamond):
    layout = arrange(sketch(replace(diamond, input=None)))
    root, left, right, shared, _ = layout.boxes
    assert root.bottom < left.y == right.y < left.bottom < shared.y
    assert left.right < right.x or right.right < left.x


def test_every_one_of_several_edges_has_its_own_line_and_label(diamond):
    layout = arrange(sketch(diamond))
    assert layout.routes[2] != layout.routes[3]
    assert layout.labels[2] != layout.labels[3]


def test_a_sentence_without_anchors_is_set_below_in_lines():
    text = " ".join(["word"] * 60)
    layout = arrange(sketch(Graph("1", input=text, nodes=(Node(0, "a"),))))
    assert len(layout.caption) > 1
    assert "".join(line for line, _ in layout.caption) == text
    assert layout.boxes[0].bottom < layout.caption[0][1].y


@pytest.mark.parametrize(
    "graph", [Graph("1"), Graph("1", input=""), Graph("1", input="word"), Graph("1", nodes=(Node(5),))]
)
def test_hardly_anything_to_draw(graph):
    layout = arrange(sketch(graph))
    check(layout)
    assert layout.width > 0
    assert layout.height > 0


def test_edges_to_nowhere_are_left_out_and_ids_can_repeat():
    broken = Graph("1", nodes=(Node(0, "a"), Node(0, "b")), edges=(Edge(0, 7, "x"), Edge(0, 0, "y")), tops=(0, 9))
    content = sketch(broken)
    assert [link.rows[0].text for link in content.links] == ["y"]
    check(arrange(content))


def test_anchors_outside_of_the_input_are_harmless():
    check(arrange(sketch(Graph("1", input="dogs", nodes=(Node(0, "a", anchors=(Anchor(-3, 99), Anchor(50, 60))),)))))
    check(arrange(sketch(Graph("1", nodes=(Node(0, "a", anchors=(Anchor(0, 4),)),)))))


def test_large_graphs_are_laid_out():
    nodes = tuple(Node(id, f"node {id}") for id in range(500))
    edges = tuple(Edge((id * 7) // 10, id, "edge") for id in range(1, 500))
    check(arrange(sketch(Graph("1", nodes=nodes, edges=edges, tops=(0,)))), lines=False)
