from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from perin.frameworks.steps import FLAG, PropertiesAsNodes, flagged
from perin.graphs.graph import Anchor, Edge, Graph, Node, Property
from perin.graphs.normalisation import isomorphic

PAIRS = st.lists(
    st.builds(Property, st.sampled_from(["op1", "quant"]), st.sampled_from(["a", "A", "", 3, True, None])), max_size=3
)


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    ids = draw(st.permutations(range(4)))
    anchors = draw(st.sampled_from([None, (), (Anchor(0, 2),)]))
    nodes = tuple(Node(id, draw(st.sampled_from("ab")), tuple(draw(PAIRS)), anchors) for id in ids)
    edges = tuple(Edge(ids[0], target, "op1") for target in ids[1:])
    return Graph("1", nodes=nodes, edges=edges, tops=(ids[0],), input="abc")


@given(graphs())
@settings(max_examples=150, deadline=None)
def test_content_survives(graph: Graph) -> None:
    step = PropertiesAsNodes()
    simple = step.encode(graph)
    assert all(set(node.properties) <= {FLAG} for node in simple.nodes)
    assert len(simple.nodes) == len(graph) + sum(len(set(node.properties)) for node in graph.nodes)
    assert isomorphic(step.decode(simple), graph, normalised=True)


def test_a_property_node_has_the_anchors_of_its_owner() -> None:
    graph = Graph("1", nodes=(Node(5, "named", (Property("CARG", "Kim"),), (Anchor(0, 3),)),))
    _, value = PropertiesAsNodes().encode(graph).nodes
    assert value == Node(6, "Kim", (FLAG,), (Anchor(0, 3),))


def test_kept_properties_stay() -> None:
    step = PropertiesAsNodes(frozenset(("NUM",)))
    graph = Graph("1", nodes=(Node(0, "named", (Property("CARG", "Kim"), Property("NUM", "sg"))),))
    owner, value = step.encode(graph).nodes
    assert owner.properties == (Property("NUM", "sg"),)
    assert value.label == "Kim"
    assert isomorphic(step.decode(step.encode(graph)), graph)


def test_what_can_not_be_a_property_becomes_an_ordinary_node() -> None:
    nodes = (
        Node(0, "a"),
        Node(1, "b"),
        Node(2, "two parents", (FLAG,)),
        Node(3, "parent", (FLAG,)),
        Node(4, "child", (FLAG,)),
    )
    edges = (Edge(0, 2, "x"), Edge(1, 2, "x"), Edge(0, 3, "y"), Edge(3, 4, "z"), Edge(0, 1, "w"))
    decoded = PropertiesAsNodes().decode(Graph("1", nodes=nodes, edges=edges, tops=(0,)))
    assert [node.label for node in decoded.nodes] == ["a", "b", "two parents", "parent", "child"]
    assert not any(flagged(node) for node in decoded.nodes)
    assert decoded.edges == edges


def test_a_property_predicted_twice_is_there_once() -> None:
    nodes = (Node(0, "a"), Node(1, "sg", (FLAG,)), Node(2, "sg", (FLAG,)))
    decoded = PropertiesAsNodes().decode(
        Graph("1", nodes=nodes, edges=(Edge(0, 1, "NUM"), Edge(0, 2, "NUM")), tops=(1,))
    )
    assert decoded.nodes == (Node(0, "a", (Property("NUM", "sg"),)),)
    assert decoded.edges == decoded.tops == ()
