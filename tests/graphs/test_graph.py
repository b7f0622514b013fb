from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError, replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perin.errors import InputError, UsageError
from perin.graphs import Anchor, Edge, Graph, Node, Property, dumps, loads


def ids(nodes) -> list[int]:
    return [node.id for node in nodes]


def test_neighbourhood(diamond):
    assert ids(diamond.children(0)) == [1, 2]
    assert ids(diamond.children(1)) == [3]
    assert ids(diamond.parents(3)) == [1, 2]
    assert ids(diamond.neighbours(1)) == [3, 0]
    assert [edge.label for edge in diamond.outgoing(1)] == ["a", "b"]
    assert len(diamond.incoming(3)) == 3
    assert diamond.outgoing(99) == ()


def test_roots_leaves_and_reentrancies(diamond):
    assert ids(diamond.roots()) == [0, 7]
    assert ids(diamond.leaves()) == [3, 7]
    assert ids(diamond.reentrancies()) == [3]


def test_a_loop_does_not_make_a_root_an_inner_node():
    graph = Graph("1", nodes=(Node(0), Node(1)), edges=(Edge(0, 0, "self"), Edge(0, 1, "a")))
    assert ids(graph.roots()) == [0]


def test_parallel_edges_are_no_reentrancy():
    graph = Graph("1", nodes=(Node(0), Node(1)), edges=(Edge(0, 1, "a"), Edge(0, 1, "b")))
    assert graph.reentrancies() == ()


def test_depth_first_goes_down_before_sideways(diamond):
    assert ids(diamond.depth_first()) == [0, 1, 3, 2, 7]
    assert ids(diamond.depth_first([2])) == [2, 3]


def test_depth_first_reaches_a_cycle_without_top():
    graph = Graph("1", nodes=(Node(0), Node(1)), edges=(Edge(0, 1), Edge(1, 0)))
    assert ids(graph.depth_first()) == [0, 1]


def test_components(diamond):
    assert diamond.components() == [frozenset((0, 1, 2, 3)), frozenset((7,))]


def test_subgraph(diamond):
    part = diamond.subgraph([1, 3])
    assert ids(part.nodes) == [1, 3]
    assert {(edge.source, edge.target) for edge in part.edges} == {(1, 3)}
    assert part.tops == ()
    assert part.input == diamond.input


def test_relabelled_and_renumbered(diamond):
    assert ids(diamond.relabelled({7: 70, 3: 30}).nodes) == [0, 1, 2, 30, 70]
    assert ids(diamond.renumbered().nodes) == [0, 1, 2, 3, 4]
    assert diamond.renumbered().edges == diamond.edges
    assert diamond.relabelled({0: 5}).tops == (5,)


def test_values_of_properties_and_attributes():
    node = Node(0, "x", (Property("num", "sg"), Property("num", "pl")))
    assert node.get("num") == "sg"
    assert node.get("pers", "none") == "none"
    assert Edge(0, 1, attributes=(Property("remote", True),)).get("remote") is True


def test_anchored_text():
    node = Node(0, anchors=(Anchor(0, 4), Anchor(9, 10)))
    assert Graph("1", input="Dogs bark.", nodes=(node,)).anchored_text(0) == "Dogs ."
    assert Graph("1", nodes=(node,)).anchored_text(0) == ""
    assert Graph("1", input="Dogs", nodes=(Node(0),)).anchored_text(0) == ""


def test_unknown_node_is_a_key_error(diamond):
    with pytest.raises(KeyError):
        diamond.node(99)


def test_size_and_truth(diamond):
    assert len(diamond) == 5
    assert Graph("empty")


@pytest.mark.parametrize("value", [Node(0), Edge(0, 1), Graph("1")])
def test_values_are_immutable(value):
    with pytest.raises((FrozenInstanceError, AttributeError)):
        value.id = 3


def test_graphs_compare_by_content_whatever_was_looked_up_before(diamond):
    other = replace(diamond)
    other.children(0)
    assert other == diamond
    assert pickle.loads(pickle.dumps(other)) == diamond
    assert "_outgoing" not in pickle.loads(pickle.dumps(other)).__dict__


@st.composite
def shapes(draw):
    size = draw(st.integers(1, 6))
    pairs = draw(st.lists(st.tuples(st.integers(0, size - 1), st.integers(0, size - 1)), max_size=9))
    tops = draw(st.lists(st.integers(0, size - 1), max_size=2, unique=True))
    return Graph("1", nodes=tuple(map(Node, range(size))), edges=tuple(Edge(*pair) for pair in pairs), tops=tuple(tops))


@given(shapes())
@settings(deadline=None, max_examples=150)
def test_components_are_the_classes_of_mutual_reachability(graph):
    reachable = {(node.id, node.id) for node in graph.nodes}
    reachable |= {pair for edge in graph.edges for pair in ((edge.source, edge.target), (edge.target, edge.source))}
    for _ in graph.nodes:
        reachable |= {(a, d) for a, b in reachable for c, d in reachable if b == c}
    expected = {frozenset(b for a, b in reachable if a == node.id) for node in graph.nodes}
    assert set(graph.components()) == expected
    assert sum(map(len, graph.components())) == len(graph)


@given(shapes())
@settings(deadline=None, max_examples=150)
def test_depth_first_visits_every_node_once_and_children_right_after_a_seen_parent(graph):
    order = ids(graph.depth_first())
    assert sorted(order) == list(range(len(graph)))
    if graph.tops:
        assert order[0] == graph.tops[0]
    for before, after in pairwise(order):
        unseen = [child for child in ids(graph.children(before)) if child not in order[: order.index(before) + 1]]
        assert not unseen or after == unseen[0]


PARSED = Graph(
    "1",
    "eds",
    "eng",
    input="Abrams barks.",
    tops=(1,),
    nodes=(
        Node(0, "named", (Property("CARG", "Abrams"),), (Anchor(0, 6),), {"probability": 0.9, "type": "x"}),
        Node(1, "_bark_v_1", (), (Anchor(7, 13),), {"probability": 0.8, "label_probability": 0.7}),
    ),
    edges=(Edge(1, 0, "ARG1", extra={"probability": 0.5}),),
)
AMR = Graph("1", "amr", nodes=(Node(0, "bark-01"), Node(1, "dog")), edges=(Edge(0, 1, "ARG0"),), tops=(0,))


def test_probabilities_do_not_keep_a_graph_from_being_written():
    for format in ("eds", "eds-json", "dot", "tikz"):
        assert "bark" in dumps(PARSED, format)
    [read] = loads(dumps(PARSED, "eds"), "eds")
    assert read.nodes[0].extra == {"type": "x"}
    assert loads(dumps(PARSED)) == [PARSED]
    plain = PARSED.without_probabilities()
    assert plain.without_probabilities() is plain
    assert [node.extra for node in plain.nodes] == [{"type": "x"}, None]


def test_a_graph_has_a_hash():
    assert hash(PARSED) == hash(replace(PARSED))
    assert len({PARSED, replace(PARSED), replace(PARSED, id="2")}) == 2
    assert len({*PARSED.nodes, *PARSED.edges}) == 3


def test_a_printed_graph_is_readable():
    assert "_bark_v_1" in str(PARSED)
    assert "Abrams barks." in str(PARSED)
    assert "Node(" not in str(PARSED)


def test_other_shapes_of_a_graph():
    assert loads(PARSED.to_json()) == [PARSED]
    assert "\n" not in PARSED.to_json()
    assert AMR.to_penman().splitlines()[-2:] == ["(b / bark-01", "      :ARG0 (d / dog))"]
    with pytest.raises(InputError, match="framework eds, but the format amr holds amr only"):
        PARSED.to_penman()


def test_networkx():
    networkx = pytest.importorskip("networkx")
    found = PARSED.to_networkx()
    assert isinstance(found, networkx.MultiDiGraph)
    assert found.nodes[0] == {"label": "named", "anchors": [(0, 6)], "top": False, "properties": {"CARG": "Abrams"}}
    assert list(found.edges(keys=True)) == [(1, 0, "ARG1")]
    assert (found.graph["framework"], found.graph["input"]) == ("eds", "Abrams barks.")


@pytest.mark.parametrize(
    ("name", "begins"),
    [("x.mrp", '{"id"'), ("x.eds", "# ::id 1"), ("x.svg", "<svg"), ("x.txt", ""), ("x.dot", "digraph")],
)
def test_a_graph_saves_itself(tmp_path, name, begins):
    PARSED.save(tmp_path / name)
    text = (tmp_path / name).read_text()
    assert text.startswith(begins)
    assert "bark" in text


def test_a_graph_saves_itself_in_a_format_that_is_said(tmp_path):
    PARSED.save(tmp_path / "x", "svg")
    assert (tmp_path / "x").read_text().startswith("<svg")
    PARSED.save(tmp_path / "y", "eds")
    assert "ARG1" in (tmp_path / "y").read_text()
    with pytest.raises(UsageError, match="can't tell the format"):
        PARSED.save(tmp_path / "z")
