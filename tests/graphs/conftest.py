"""Graphs to test with: a small hand-made one, and a strategy for arbitrary ones."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import strategies as st

from perin.graphs import Anchor, Edge, Graph, Node, Property

NASTY = st.sampled_from(
    ["", " ", "a b", '"', "\\", "x<0:1>", "x[]", "a/b", "::", "{", "}[", "a:b", "é", "𝔸", "\n", "\u2028", "\x00"]
)
TEXT = st.one_of(st.text('ab:<>[]{}()/|"\\ ,#&;é中', max_size=6), NASTY)
SCALAR = st.one_of(TEXT, st.integers(-5, 5), st.booleans(), st.floats(allow_nan=False, allow_infinity=False))


@pytest.fixture(scope="session")
def graphs() -> Callable[..., st.SearchStrategy[Graph]]:
    """Makes a strategy for graphs whose ids, tops and edges are sound and whose texts are anything."""
    return _graphs


@st.composite
def _graphs(
    draw: st.DrawFn,
    *,
    framework: str | None = None,
    max_nodes: int = 5,
    labels: st.SearchStrategy[str | None] | None = None,
    edge_labels: st.SearchStrategy[str | None] | None = None,
    names: st.SearchStrategy[str] = TEXT,
    values: st.SearchStrategy[object] = SCALAR,
    properties: int = 2,
    anchors: int = 2,
    attributes: int = 1,
    attribute_names: st.SearchStrategy[str] = TEXT,
    normals: bool = True,
) -> Graph:
    optional = st.one_of(st.none(), TEXT)
    ids = draw(st.lists(st.integers(-3, 40), unique=True, max_size=max_nodes))
    text = draw(optional)
    length = len(text) if text is not None else 9
    pair = st.builds(Property, names, values)
    attribute = st.builds(Property, attribute_names, values)
    span = st.tuples(st.integers(0, length), st.integers(0, length)).map(lambda ends: Anchor(min(ends), max(ends)))
    nodes = [
        Node(
            id,
            draw(optional if labels is None else labels),
            tuple(draw(st.lists(pair, max_size=properties))),
            draw(st.one_of(st.none(), st.lists(span, max_size=anchors).map(tuple))),
        )
        for id in ids
    ]
    ends = st.sampled_from(ids) if ids else st.nothing()
    edge = st.builds(
        Edge,
        ends,
        ends,
        optional if edge_labels is None else edge_labels,
        st.lists(attribute, max_size=attributes, unique_by=lambda pair: pair.name).map(tuple),
        optional if normals else st.none(),
    )
    return Graph(
        draw(TEXT),
        framework,
        draw(optional),
        draw(st.sampled_from([None, 0, 1, 2])),
        draw(st.sampled_from([None, 1.1, 2, "1.0"])),
        draw(optional),
        draw(optional),
        text,
        tuple(draw(st.lists(ends, max_size=2))) if ids else (),
        tuple(nodes),
        tuple(draw(st.lists(edge, max_size=6))) if ids else (),
        draw(st.sampled_from([None, {"extra": [1, {"a": None}]}, {"snt": "x", "json": 1.5}])),
    )


@pytest.fixture
def diamond() -> Graph:
    """0 -> 1, 0 -> 2, 1 -> 3 (twice), 2 -> 3, and a node 7 on its own; the top is 0."""
    edges = (Edge(0, 1, "a"), Edge(0, 2, "b"), Edge(1, 3, "a"), Edge(1, 3, "b"), Edge(2, 3, "a"))
    nodes = (Node(0, "root"), Node(1, "left"), Node(2, "right"), Node(3, "shared", anchors=(Anchor(0, 4),)), Node(7))
    return Graph("d", "amr", input="Dogs bark.", tops=(0,), nodes=nodes, edges=edges)


@pytest.fixture
def abrams() -> Graph:
    """An EDS graph as it is read from native text, with types of nodes."""
    properties = (Property("CARG", "Abrams"), Property("PERS", "3"), Property("NUM", "sg"))
    nodes = (
        Node(0, "proper_q", (), (Anchor(0, 6),)),
        Node(1, "named", properties, (Anchor(0, 6),), {"type": "x"}),
        Node(2, "_bark_v_1", (Property("TENSE", "pres"),), (Anchor(7, 13),), {"type": "e"}),
    )
    edges = (Edge(0, 1, "BV"), Edge(2, 1, "ARG1"))
    return Graph("1", "eds", flavor=1, input="Abrams barks.", tops=(2,), nodes=nodes, edges=edges)
