from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from perin.frameworks.steps import RelationsAsEdges
from perin.graphs.graph import Edge, Graph, Node

STEP = RelationsAsEdges()


def _graph(labels: list[str | None], *edges: tuple[int, int] | tuple[int, int, str]) -> Graph:
    return Graph(
        "1", "drg", nodes=tuple(Node(*pair) for pair in enumerate(labels)), edges=tuple(Edge(*edge) for edge in edges)
    )


def _labels(graph: Graph) -> list[str | None]:
    return [node.label for node in graph.nodes]


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """Boxes, concepts, constants, and relations between any two of them, in any box or none."""
    count = draw(st.integers(2, 6))
    labels = draw(st.lists(st.sampled_from([None, "dog.n.01", '"now"', "Strange"]), min_size=count, max_size=count))
    nodes = [Node(id, label) for id, label in enumerate(labels)]
    ends = st.integers(0, count - 1)
    edges = {
        Edge(a, b, label)
        for a, b, label in draw(
            st.lists(st.tuples(ends, ends, st.sampled_from(["in", "in", "@x", "=y", None])), max_size=6)
        )
    }
    for name, source, target, box in draw(
        st.lists(st.tuples(st.sampled_from(["Agent", "Time"]), ends, ends, st.none() | ends), max_size=6)
    ):
        relation = len(nodes)
        nodes.append(Node(relation, name))
        edges |= {Edge(source, relation), Edge(relation, target)}
        if box is not None:
            edges.add(Edge(box, relation, "in"))
    return Graph("1", "drg", nodes=tuple(nodes), edges=tuple(sorted(edges, key=str)))


@given(graphs(), st.randoms(use_true_random=False))
@settings(max_examples=200, deadline=None)
def test_content_survives_and_order_does_not_matter(graph: Graph, random: object) -> None:
    simple = STEP.encode(graph)
    assert STEP.decode(simple).isomorphic(graph)
    nodes, edges = list(graph.nodes), list(graph.edges)
    random.shuffle(nodes)  # type: ignore[attr-defined]
    random.shuffle(edges)  # type: ignore[attr-defined]
    shuffled = Graph("1", "drg", nodes=tuple(nodes), edges=tuple(edges))
    assert STEP.encode(shuffled).isomorphic(simple)


def test_a_relation_becomes_an_edge() -> None:
    graph = _graph([None, "see.v.01", "dog.n.01", "Agent"], (0, 1, "in"), (0, 2, "in"), (1, 3), (3, 2))
    simple = STEP.encode(graph)
    assert _labels(simple) == [None, "see.v.01", "dog.n.01"]
    assert simple.edges[-1] == Edge(1, 2, "@Agent")


def test_a_relation_in_the_box_of_its_target_is_marked() -> None:
    graph = _graph(
        [None, "see.v.01", None, "dog.n.01", "Agent"], (0, 1, "in"), (2, 3, "in"), (1, 4), (4, 3), (2, 4, "in")
    )
    simple = STEP.encode(graph)
    assert simple.edges[-2:] == (Edge(1, 3, "@Agent"), Edge(1, 3, "@"))
    assert STEP.decode(simple).isomorphic(graph)


def test_a_relation_in_a_third_box_stays_a_node() -> None:
    graph = _graph(
        [None, "see.v.01", None, '"now"', "Time"], (0, 1, "in"), (0, 2, "NEGATION"), (1, 4), (4, 3), (2, 4, "in")
    )
    assert STEP.encode(graph).isomorphic(graph)


def test_of_two_equal_relations_one_stays_a_node() -> None:
    graph = _graph([None, "a.n.01", "b.n.01", "Of", "Of"], (0, 1, "in"), (0, 2, "in"), (1, 3), (3, 2), (1, 4), (4, 2))
    assert _labels(STEP.encode(graph)) == [None, "a.n.01", "b.n.01", "Of"]


def test_concepts_between_relations_are_no_relations() -> None:
    graph = _graph(
        [None, "a.n.01", "b.n.01", '"c"', "Of", "Of"], (0, 1, "in"), (0, 2, "in"), (1, 4), (4, 2), (2, 5), (5, 3)
    )
    assert _labels(STEP.encode(graph)) == [None, "a.n.01", "b.n.01", '"c"']


def test_a_mark_without_a_relation_or_box_means_nothing() -> None:
    decoded = STEP.decode(_graph([None, "a.n.01", '"b"'], (1, 2, "@"), (0, 1, "@"), (0, 1, "@Of")))
    assert _labels(decoded) == [None, "a.n.01", '"b"', "Of"]
    assert decoded.edges == (Edge(0, 3), Edge(3, 1))
