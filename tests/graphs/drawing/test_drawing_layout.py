"""The places of things: nothing lies on anything else, whatever the graph."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from perin.graphs import Anchor, Edge, Graph, Node, Property, load
from perin.graphs.drawing.layout import DrawingLayout, arrange
from perin.graphs.drawing.routing import Box, Route
from perin.graphs.drawing.sketch import sketch

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
