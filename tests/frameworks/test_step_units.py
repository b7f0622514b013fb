from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from perin.frameworks.steps import INNER, LEAF, LabelledUnits
from perin.graphs.graph import Anchor, Edge, Graph, Node, Property

STEP = LabelledUnits()
REMOTE = (Property("remote", True),)


@st.composite
def units(draw: st.DrawFn) -> Graph:
    """Trees whose words belong to one unit each, with remote edges downwards and units without words."""
    size = draw(st.integers(1, 8))
    parents = [draw(st.integers(0, child - 1)) for child in range(1, size)]
    owners = draw(st.lists(st.integers(0, size - 1), max_size=8))
    anchors = [
        tuple(Anchor(3 * word, 3 * word + 2) for word, owner in enumerate(owners) if owner == id) for id in range(size)
    ]
    edges = [Edge(parent, child, "A") for child, parent in enumerate(parents, start=1)]
    edges += [
        Edge(a, b, "A", REMOTE)
        for a, b in draw(st.sets(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=2))
        if a < b < size and parents[b - 1] != a
    ]
    ids = draw(st.permutations(range(size)))
    graph = Graph(
        "1",
        "ucca",
        nodes=tuple(Node(id, anchors=anchors[id] or None) for id in range(size)),
        edges=tuple(edges),
        tops=(0,),
        input="ab " * 8,
    )
    return graph.relabelled(dict(enumerate(ids)))


@given(units())
@settings(max_examples=200, deadline=None)
def test_content_survives(graph: Graph) -> None:
    simple = STEP.encode(graph)
    assert simple.tops == ()
    assert STEP.decode(simple).isomorphic(graph)


def test_labels_and_anchors_of_inner_units() -> None:
    nodes = (
        Node(0),
        Node(1, anchors=(Anchor(0, 1),)),
        Node(2, anchors=(Anchor(2, 3),)),
        Node(3),
        Node(4, anchors=(Anchor(4, 5),)),
    )
    edges = (Edge(0, 1, "H"), Edge(1, 2, "P"), Edge(0, 3, "H"), Edge(3, 4, "A", REMOTE), Edge(1, 4, "A"))
    simple = STEP.encode(Graph("1", "ucca", nodes=nodes, edges=edges, tops=(0,)))
    assert [(node.label, len(node.anchors or ())) for node in simple.nodes] == [
        (INNER, 3),
        (INNER, 3),
        (LEAF, 1),
        (INNER, 0),
        (LEAF, 1),
    ]


def test_the_top_is_the_root_of_the_primary_edges() -> None:
    graph = Graph("1", "ucca", nodes=(Node(0, LEAF), Node(1, INNER)), edges=(Edge(1, 0, "H"), Edge(0, 1, "A", REMOTE)))
    assert STEP.decode(graph).tops == (1,)
    assert STEP.decode(replace(graph, edges=(), nodes=graph.nodes[:1])).tops == (0,)
