"""Graphs taken apart into items, in the normal form of the metric."""

from __future__ import annotations

from dataclasses import replace

from perin import Anchor, Edge, Graph, Node, Property
from perin.scoring.items import TYPES, items

GRAPH = Graph(
    "1",
    input="Kim, who sleeps (well).",
    tops=(7,),
    nodes=(
        Node(7, "Sleep", (Property("TENSE", "Pres"), Property("tense", "pres")), (Anchor(9, 15),)),
        Node(3, None, (), (Anchor(0, 4),)),
        Node(5, "", (), (Anchor(3, 4),)),
    ),
    edges=(
        Edge(7, 3, "ARG0-of"),
        Edge(7, 3, "", (Property("Member", True),)),
        Edge(7, 5, "mod", (Property("remote", False),)),
        Edge(7, 5, "A", (Property("remote", True), Property("x", 1))),
    ),
)


def test_normal_form():
    found = items(GRAPH)
    assert found.ids == (7, 3, 5)
    assert found.tops == {0}
    assert found.labels == ("sleep", None, "")
    assert found.properties[0] == {("tense", "pres")}
    assert found.anchors == (frozenset(range(9, 15)), frozenset((0, 1, 2)), frozenset())
    assert found.edges == ((1, 0, "arg0"), (0, 1, None), (2, 0, "domain"), (0, 2, "a"))
    assert found.attributes == (
        (0, 1, None, "member", "true"),
        (0, 2, "a", "remote", "true"),
        (0, 2, "a", "x", "1"),
    )
    assert found.remote == {(0, 2, "a")}


def test_counts():
    assert tuple(items(GRAPH).counts) == TYPES
    assert tuple(items(GRAPH).counts.values()) == (1, 2, 1, 3, 4, 3)


def test_of_equal_edges_the_first_counts_with_its_attributes():
    twice = replace(GRAPH, edges=(Edge(7, 3, "A"), Edge(7, 3, "A", (Property("remote", True),))))
    assert items(twice).edges == ((0, 1, "a"),)
    assert not items(twice).attributes


def test_edges_that_become_equal_are_one_with_the_attributes_of_both():
    merged = replace(GRAPH, edges=(Edge(7, 3, "A", (Property("x", 1),)), Edge(3, 7, "A-of", (Property("y", 2),))))
    assert items(merged).edges == ((0, 1, "a"),)
    assert [attribute[3:] for attribute in items(merged).attributes] == [("x", "1"), ("y", "2")]


def test_of_nodes_with_the_same_id_the_first_has_the_edges():
    twins = Graph("1", tops=(0,), nodes=(Node(0, "a"), Node(0, "b"), Node(1, "c")), edges=(Edge(0, 1, "x"),))
    found = items(twins)
    assert found.edges == ((0, 2, "x"),)
    assert found.tops == {0}
    assert found.id_pairs(found, [(0, 0), (1, 1), (2, 2)]) == ((0, 0), (1, 1))


def test_same_content_whatever_the_ids():
    assert items(GRAPH).same_content(items(GRAPH.renumbered()))
    assert not items(GRAPH).same_content(items(replace(GRAPH, nodes=GRAPH.nodes[::-1])))
    assert not items(GRAPH).same_content(items(replace(GRAPH, input="xxx xxx xxx xxx xxx xxx")))
