from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perin.graphs import Anchor, Edge, Graph, Node, Property, findings, loads
from perin.graphs.validation import DEMANDS, structural_findings

TEXT = "Dogs bark ."
WORDS = (Anchor(0, 4), Anchor(5, 9), Anchor(10, 11))
LEAVES = tuple(Node(1 + number, anchors=(span,)) for number, span in enumerate(WORDS))
UCCA = Graph(
    "u",
    "ucca",
    flavor=1,
    input=TEXT,
    tops=(0,),
    nodes=(Node(0), *LEAVES),
    edges=(Edge(0, 1, "A"), Edge(0, 2, "P"), Edge(0, 3, "U")),
)
EDS = Graph(
    "e",
    "eds",
    flavor=1,
    input=TEXT,
    tops=(0,),
    nodes=(Node(0, "bark", anchors=WORDS[1:2]), Node(1, "dog")),
    edges=(Edge(0, 1, "ARG1"),),
)
AMR = replace(EDS, framework="amr", flavor=2, nodes=(Node(0, "bark-01"), Node(1, "dog")))
DRG = Graph("d", "drg", flavor=2, tops=(0,), nodes=(Node(0), Node(1, "dog.n.01")), edges=(Edge(0, 1, "in"),))
PTG = Graph("p", "ptg", flavor=1, tops=(0,), nodes=(Node(0), Node(1, "bark")), edges=(Edge(0, 1, "PRED"),))


def messages(graph: Graph, severity: str = "error") -> list[str]:
    return [finding.message for finding in findings(graph) if finding.severity == severity]


@pytest.mark.parametrize("graph", [UCCA, EDS, AMR, DRG, PTG], ids=lambda graph: graph.framework)
def test_sound_graphs_have_no_findings(graph):
    assert list(findings(graph)) == []


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (replace(EDS, nodes=(*EDS.nodes, Node(1, "twin"))), "node id 1 occurs twice"),
        (replace(EDS, tops=(9,)), "top 9 is no node"),
        (replace(EDS, edges=(Edge(0, 9, "A"),)), "edge 0 -> 9 (A): 9 is no node"),
        (replace(EDS, edges=(Edge(8, 1, "A"),)), "edge 8 -> 1 (A): 8 is no node"),
        (replace(EDS, nodes=(Node(0, "x", anchors=(Anchor(4, 2),)), Node(1, "y"))), "node 0: anchor 4:2 is no range"),
        (replace(EDS, nodes=(Node(0, "x", anchors=(Anchor(-1, 2),)), Node(1, "y"))), "node 0: anchor -1:2 is no range"),
        (
            replace(EDS, nodes=(Node(0, "x", anchors=(Anchor(4, 12),)), Node(1, "y"))),
            "node 0: anchor 4:12 ends after the input (11 characters)",
        ),
    ],
)
def test_structural_findings(graph, message):
    assert [finding.message for finding in structural_findings(graph)] == [message]
    assert messages(graph)[0] == message


def test_anchors_without_input_are_not_out_of_range():
    assert structural_findings(replace(EDS, input=None)) == []
    assert messages(replace(EDS, input=None)) == []


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (replace(EDS, nodes=(), edges=(), tops=()), "the graph has no nodes"),
        (replace(EDS, framework=None), "no framework is given"),
        (replace(EDS, flavor=2), "flavor 2, but eds is of flavor 1"),
        (replace(AMR, flavor=0), "flavor 0, but amr is of flavor 2"),
        (replace(EDS, tops=()), "0 tops, but eds has exactly one"),
        (replace(EDS, tops=(0, 1)), "2 tops, but eds has exactly one"),
        (replace(DRG, tops=(0, 0)), "top 0 is listed twice"),
        (replace(DRG, tops=(1,)), "tops are [1], but the boxes that nothing points to are [0]"),
        (replace(EDS, nodes=(Node(0), Node(1, "dog"))), "node 0 has no label"),
        (replace(EDS, edges=(Edge(0, 1),)), "edge 0 -> 1 has no label"),
        (replace(EDS, edges=(Edge(0, 1, "A"), Edge(0, 1, "A"))), "edge 0 -> 1 (A) occurs twice"),
        (
            replace(EDS, nodes=(Node(0, "x", (Property("p", "v"),) * 2), Node(1, "y"))),
            "node 0: property p occurs twice with the same value",
        ),
        (replace(AMR, edges=()), "the graph falls into 2 parts"),
        (
            replace(PTG, edges=(Edge(0, 1, "PRED", (Property("memmber", True),)),)),
            "edge 0 -> 1: unknown attribute 'memmber'",
        ),
        (replace(UCCA, edges=(*UCCA.edges, Edge(2, 1, "A"))), "node 1 has 2 primary parents"),
        (replace(UCCA, edges=(*UCCA.edges[:2], Edge(3, 0, "U"))), "node 3 has no primary parent and is no top"),
    ],
)
def test_framework_findings(graph, message):
    assert message in messages(graph)


def test_ucca_remote_edges_do_not_count_as_parents():
    remote = Edge(2, 1, "A", (Property("remote", True),))
    assert messages(replace(UCCA, edges=(*UCCA.edges, remote))) == []


def test_ucca_cycle():
    assert "node 0 lies on a cycle" in messages(replace(UCCA, edges=(*UCCA.edges, Edge(1, 0, "A"))))


def test_cycles_are_legal_elsewhere():
    assert messages(replace(AMR, edges=(*AMR.edges, Edge(1, 0, "ARG2")))) == []


def test_a_disconnected_eds_graph_is_a_note():
    graph = replace(EDS, edges=())
    assert messages(graph) == []
    assert messages(graph, "note") == ["the graph falls into 2 parts"]


def test_ucca_words_without_a_unit_are_a_note():
    graph = replace(UCCA, input="Dogs bark . ' '")
    assert messages(graph) == []
    assert messages(graph, "note") == ['no node is anchored to "\'" and 1 more']


def test_an_unknown_framework_is_a_note():
    assert messages(replace(EDS, framework="new")) == []
    assert messages(replace(EDS, framework="new"), "note")[0].startswith("framework 'new' is not known")


def test_findings_say_where():
    (finding,) = findings(replace(EDS, tops=()), "a.mrp", 3)
    assert str(finding) == "a.mrp:3: graph e: 0 tops, but eds has exactly one"


@given(st.integers(1, 5), st.data())
@settings(deadline=None, max_examples=200)
def test_cycles_are_found_exactly_where_no_order_of_the_nodes_fits(size, data):
    end = st.integers(0, size - 1)
    pairs = data.draw(st.lists(st.tuples(end, end), max_size=7, unique=True))
    nodes, edges = tuple(map(Node, range(size))), tuple(Edge(*pair, "A") for pair in pairs)
    found = any(" lies on a cycle" in message for message in messages(Graph("1", "ucca", nodes=nodes, edges=edges)))
    acyclic = any(all(order.index(a) < order.index(b) for a, b in pairs) for order in permutations(range(size)))
    assert found != acyclic


def test_validation_takes_whatever_tolerant_reading_lets_through(graphs):
    @given(graphs(framework=None), st.sampled_from([None, *DEMANDS]), st.integers(-3, 40))
    @settings(deadline=None, max_examples=100)
    def check(graph, framework, stray):
        broken = replace(graph, framework=framework, tops=(*graph.tops, stray), edges=(*graph.edges, Edge(stray, 0)))
        assert all(str(finding) for finding in findings(broken))

    check()


def test_the_same_demands_after_reading():
    line = '{"id": "1", "framework": "eds", "tops": [0], "nodes": [{"id": 0, "label": "x", "anchors": []}]}'
    assert list(findings(*loads(line))) == []
