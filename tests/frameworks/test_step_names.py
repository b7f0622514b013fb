"""Unlabelled nodes, tops that follow from them, quoted constants."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from perin.frameworks.steps import FLAG, FlaggedConstants, NamedUnlabelled, TopIsUnlabelled, TopsAreRootBoxes
from perin.graphs.graph import Edge, Graph, Node, Property


@given(st.lists(st.none() | st.text('ab".', max_size=4), max_size=5))
def test_labels_survive(labels: list[str | None]) -> None:
    graph = Graph("1", nodes=tuple(Node(id, label) for id, label in enumerate(labels)))
    for step in (FlaggedConstants(), NamedUnlabelled("<SCOPE>")):
        assert step.decode(step.encode(graph)) == graph


def test_quotes_become_a_flag() -> None:
    nodes = FlaggedConstants().encode(Graph("1", nodes=(Node(0, '"now"'), Node(1, '"'), Node(2)))).nodes
    assert nodes == (Node(0, "now", (FLAG,)), Node(1, '"'), Node(2))
    assert FlaggedConstants().decode(Graph("1", nodes=(Node(0, None, (FLAG,)),))).nodes == (Node(0),)


def test_a_node_that_loses_its_name_loses_its_properties() -> None:
    graph = Graph("1", nodes=(Node(0, "<TOP>", (Property("sempos", "v"),)), Node(1, "a")))
    assert NamedUnlabelled("<TOP>").decode(graph).nodes == (Node(0), Node(1, "a"))


def test_tops_come_back() -> None:
    root = Graph("1", nodes=(Node(0, "a"), Node(1)), tops=(1,))
    assert TopIsUnlabelled().encode(root).tops == ()
    assert TopIsUnlabelled().decode(TopIsUnlabelled().encode(root)) == root
    boxes = Graph(
        "1",
        nodes=(Node(0), Node(1), Node(2), Node(3, "a.n.01")),
        edges=(Edge(0, 1, "NEGATION"), Edge(3, 3)),
        tops=(0, 2),
    )
    assert TopsAreRootBoxes().decode(TopsAreRootBoxes().encode(boxes)) == boxes
