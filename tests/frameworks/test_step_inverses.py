from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from perin.frameworks.steps import NormalEdges
from perin.graphs.graph import Edge, Graph, Node
from perin.graphs.normalisation import isomorphic, normal_edge

LABELS = ("ARG0", "domain", "mod", "consist-of", "ARG0-of", "prep-out-of", "part-of-of")


@st.composite
def graphs(draw: st.DrawFn, labels: tuple[str | None, ...] = LABELS) -> Graph:
    size = draw(st.integers(1, 5))
    ends = st.integers(0, size - 1)
    pairs = draw(
        st.lists(st.tuples(ends, ends, st.sampled_from(labels), st.sampled_from([None, "", "ARG1"])), max_size=8)
    )
    edges = tuple(Edge(a, b, label, normal=normal) for a, b, label, normal in pairs)
    return Graph("1", "amr", nodes=tuple(Node(id, f"n{id}") for id in range(size)), edges=edges, tops=(0,))


def _reachable(graph: Graph) -> set[int]:
    return {node.id for node in graph.depth_first(graph.tops)}


@given(graphs((*LABELS, None)))
@settings(max_examples=200, deadline=None)
def test_content_survives(graph: Graph) -> None:
    step = NormalEdges()
    simple = step.encode(graph)
    assert all(edge.normal is None for edge in simple.edges)
    assert isomorphic(step.decode(simple), graph, normalised=True)
    assert step.encode(step.decode(simple)).isomorphic(simple)


@given(graphs())
@settings(max_examples=200, deadline=None)
def test_every_node_of_a_connected_graph_is_reached_from_the_top(graph: Graph) -> None:
    decoded = NormalEdges().decode(NormalEdges().encode(graph))
    component = next(part for part in graph.components() if 0 in part)
    assert _reachable(decoded) == component


def test_inverses_are_written_as_in_amr() -> None:
    graph = Graph(
        "1", nodes=tuple(map(Node, range(4))), edges=(Edge(1, 0, "ARG0"), Edge(2, 0, "domain"), Edge(3, 2, "part-of"))
    )
    decoded = NormalEdges().decode(Graph("1", nodes=graph.nodes, edges=graph.edges, tops=(0,)))
    assert decoded.edges == (
        Edge(0, 1, "ARG0-of", normal="ARG0"),
        Edge(0, 2, "mod", normal="domain"),
        Edge(2, 3, "part-of-of", normal="part-of"),
    )


def test_a_label_that_looks_inverse_but_is_not() -> None:
    graph = Graph("1", nodes=(Node(0), Node(1)), edges=(Edge(0, 1, "consist-of"),), tops=(0,))
    (edge,) = NormalEdges().decode(graph).edges
    assert edge.normal == ""
    assert normal_edge(edge) == (0, 1, "consist-of")
