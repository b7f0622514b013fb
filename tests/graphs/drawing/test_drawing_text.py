"""The drawing for the terminal."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perin.graphs import Anchor, Edge, Graph, Node, Property
from perin.graphs.drawing import sketch, text


def test_a_tree_with_a_quantifier_and_a_reentrancy():
    graph = Graph(
        "1",
        "eds",
        input="The dog wants to bark.",
        tops=(0,),
        nodes=(
            Node(0, "want", (Property("TENSE", "pres"),), (Anchor(8, 13),)),
            Node(1, "dog", (), (Anchor(4, 7),)),
            Node(2, "bark", (), (Anchor(17, 22),)),
            Node(3, "the_q", (), (Anchor(0, 3),)),
        ),
        edges=(Edge(0, 1, "ARG1"), Edge(0, 2, "ARG2"), Edge(2, 1, "ARG1"), Edge(3, 1, "BV")),
    )
    assert text(graph) == (
        "# 1 (eds)\n"
        "# The dog wants to bark.\n"
        "▸ want TENSE=pres “wants”\n"
        "  ├─ ARG1 → [1] dog “dog”\n"
        "  │  └─ BV ← the_q “The”\n"
        "  └─ ARG2 → bark “bark.”\n"
        "     └─ ARG1 → see [1] dog\n"
    )


def test_unlabelled_nodes_remote_edges_attributes_and_several_roots():
    remote, member = (Property("remote", True),), (Property("member", True), Property("weight", 2))
    edges = (Edge(0, 1, "A", remote), Edge(0, 2, None, member), Edge(0, 1, "P"), Edge(1, 1))
    assert text(Graph("1", nodes=tuple(map(Node, range(4))), edges=edges)) == (
        "# 1\n●\n├─ A (remote) → see [1] ●\n├─ member weight=2 → ●\n└─ P → [1] ●\n   └─ → see [1] ●\n●\n"
    )


def test_scopes_and_empty_graphs():
    assert text(Graph("1", "drg", nodes=(Node(0),), tops=(0,))) == "# 1 (drg)\n▸ □\n"
    assert text(Graph("1")) == "# 1\n"


def test_long_anchors_are_shortened():
    words = " ".join(["word"] * 30)
    assert "“word … word”" in text(Graph("1", input=words, nodes=(Node(0, "x", anchors=(Anchor(0, 99),)),)))


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_every_edge_has_its_line_and_every_node_its_place(graphs, data):
    graph = data.draw(graphs(framework=data.draw(st.sampled_from([None, "drg"])), max_nodes=7))
    lines = text(graph).splitlines()[2 if sketch(graph).input else 1 :]
    forest = sketch(graph).forest
    assert len(lines) == len(graph.edges) + len(forest.roots)
    assert sum("see [" not in line for line in lines) >= len(graph.nodes)


@settings(max_examples=50, deadline=None)
@given(st.data())
def test_colours_only_colour(graphs, data):
    graph = data.draw(graphs(max_nodes=5))
    assert re.sub("\x1b\\[[0-9;]*m", "", text(graph, colour=True)) == text(graph)


def test_a_terminal_can_not_be_tricked():
    assert "\x1b" not in text(Graph("\x1b[31m", input="\x1b]0;x\x07", nodes=(Node(0, "\x1b[2J"),)))


def test_colours_mark_tops_and_reentrancies(diamond):
    coloured = text(diamond, colour=True)
    assert "\x1b[33;1m▸ \x1b[0m" in coloured
    assert "\x1b[35msee [1] shared\x1b[0m" in coloured


def test_deep_graphs():
    nodes = tuple(Node(id, "x") for id in range(2000))
    edges = tuple(Edge(id, id + 1) for id in range(1999))
    assert text(Graph("1", nodes=nodes, edges=edges, tops=(0,))).count("x") == 2000


@pytest.mark.parametrize("attribute", [Property("remote", False), Property("remote", "false")])
def test_an_edge_that_says_it_is_not_remote_is_not(attribute):
    graph = Graph("1", nodes=(Node(0), Node(1)), edges=(Edge(0, 1, "A", (attribute,)),))
    assert "(remote)" not in text(graph)
