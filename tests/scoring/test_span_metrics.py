"""EDM, UCCA and SDP: what they count, by hand and by a second way."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perin.graphs.graph import Anchor, Edge, Graph, Node, Property
from perin.graphs.normalisation import normal_anchors
from perin.scoring import score
from perin.scoring.metrics import METRICS
from perin.scoring.result import Tally

TEXT = "Kim sleeps well."
KIM, SLEEPS, WELL, DOT = (Anchor(0, 3),), (Anchor(4, 10),), (Anchor(11, 15),), (Anchor(11, 16),)
EDS = Graph(
    "1",
    "eds",
    input=TEXT,
    tops=(1,),
    nodes=(
        Node(0, "named", (Property("CARG", "Kim"),), KIM),
        Node(1, "_sleep_v", (Property("TENSE", "pres"),), SLEEPS),
        Node(2, "_well_a", (), WELL),
    ),
    edges=(Edge(1, 0, "ARG1"), Edge(2, 1, "ARG1")),
)
UCCA = Graph(
    "1",
    "ucca",
    input=TEXT,
    tops=(0,),
    nodes=(Node(0), Node(1, anchors=KIM), Node(2, anchors=SLEEPS), Node(3, anchors=WELL), Node(4)),
    edges=(
        Edge(0, 1, "A"),
        Edge(0, 4, "P"),
        Edge(4, 2, "C"),
        Edge(4, 3, "E"),
        Edge(4, 1, "A", (Property("remote", True),)),
    ),
)


def tallies(metric, gold, system):
    return METRICS[metric].compare(gold, system, 1.0).tallies


def test_edm_by_hand():
    system = replace(
        EDS,
        tops=(0,),
        nodes=(EDS.nodes[0], replace(EDS.nodes[1], label="_sleep_n"), replace(EDS.nodes[2], anchors=DOT)),
        edges=(Edge(1, 0, "arg1"), Edge(2, 1, "ARG2")),
    )
    assert tallies("edm", EDS, system) == {
        "names": Tally(3, 3, 2),
        "arguments": Tally(2, 2, 1),
        "tops": Tally(1, 1, 0),
        "properties": Tally(2, 2, 2),
        "all": Tally(8, 8, 5),
    }


def test_edm_merges_nodes_of_the_same_span():
    system = replace(EDS, nodes=(*EDS.nodes, Node(3, "_WELL_a", (), DOT)), edges=(*EDS.edges, Edge(3, 1, "ARG1")))
    assert all(tally.equal for tally in tallies("edm", EDS, system).values())


def test_edm_by_ranges_where_an_input_is_missing():
    bare = replace(EDS, input=None)
    assert all(tally.equal for tally in tallies("edm", EDS, bare).values())
    split = replace(bare, nodes=(*bare.nodes[:2], replace(bare.nodes[2], anchors=DOT)))
    assert tallies("edm", EDS, split)["names"] == Tally(3, 3, 2)


def test_ucca_by_hand():
    moved = Edge(0, 3, "D")
    system = replace(UCCA, edges=(UCCA.edges[0], Edge(0, 4, "S"), UCCA.edges[2], moved))
    # Without "well", unit 4 covers "sleeps" only, as its child does.
    assert tallies("ucca", UCCA, system) == {
        "labeled.primary": Tally(4, 4, 1),
        "labeled.remote": Tally(1, 0, 0),
        "unlabeled.primary": Tally(4, 4, 1),
        "unlabeled.remote": Tally(1, 0, 0),
    }
    relabelled = replace(UCCA, edges=(Edge(0, 1, "X"), *UCCA.edges[1:]))
    assert tallies("ucca", UCCA, relabelled)["labeled.primary"] == Tally(4, 4, 3)
    assert tallies("ucca", UCCA, relabelled)["unlabeled.primary"] == Tally(4, 4, 4)


def test_ucca_with_a_cycle_ends():
    cyclic = replace(UCCA, edges=(*UCCA.edges, Edge(4, 0, "A")))
    assert tallies("ucca", cyclic, cyclic)["labeled.primary"].equal


def test_sdp_by_hand():
    bilexical = replace(EDS, framework="dm", flavor=0)
    system = replace(bilexical, tops=(1, 2), edges=(Edge(1, 0, "ARG1"), Edge(2, 1, "ARG2")))
    assert tallies("sdp", bilexical, system) == {"labeled": Tally(3, 4, 2), "unlabeled": Tally(3, 4, 3)}


def test_sdp_counts_graphs_that_are_equal():
    graphs = [replace(EDS, id=str(number), framework="dm") for number in range(4)]
    system = [*graphs[:3], replace(graphs[3], tops=())]
    found = score(graphs, system, "sdp").as_json()
    assert found["n"] == 4
    assert found["labeled"]["m"] == found["unlabeled"]["m"] == 0.75


def numbers(metric, gold, system):
    return {key: (tally.g, tally.s, tally.c) for key, tally in tallies(metric, gold, system).items()}


def counted(first, second):
    return {key: (len(first[key]), len(second[key]), len(first[key] & second[key])) for key in first}


@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_edm_by_loops_over_nodes_and_edges(data, brute):
    def elements(graph):
        spans = {node.id: normal_anchors(node.anchors, graph.input) for node in graph.nodes}
        return {
            "names": {(spans[node.id], node.label) for node in graph.nodes if node.label is not None},
            "arguments": {(spans[edge.source], spans[edge.target], edge.label) for edge in graph.edges},
            "tops": {spans[top] for top in graph.tops},
            "properties": {(spans[node.id], *pair) for node in graph.nodes for pair in node.properties},
        }

    gold, system = (data.draw(brute.random_graph("eds", most=6)) for _ in range(2))
    expected = counted(elements(gold), elements(system))
    expected["all"] = tuple(sum(column) for column in zip(*expected.values(), strict=True))
    assert numbers("edm", gold, system) == expected


@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_sdp_by_loops_over_edges(data, brute):
    trimmed = {Anchor(0, 3): (0, 3), Anchor(9, 15): (9, 15), Anchor(3, 4): (4, 4)}  # of "Kim, who sleeps (well)."

    def dependencies(graph):
        words = {node.id: node.anchors and tuple(trimmed[anchor] for anchor in node.anchors) for node in graph.nodes}
        found = {(words[edge.source], words[edge.target], edge.label) for edge in graph.edges}
        found |= {("top", words[top], None) for top in graph.tops}
        return {"labeled": found, "unlabeled": {each[:2] for each in found}}

    gold, system = (data.draw(brute.random_graph("dm", most=6)) for _ in range(2))
    assert numbers("sdp", gold, system) == counted(dependencies(gold), dependencies(system))


@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_ucca_by_passing_text_upwards(data, brute):
    def units(graph):
        remote = {id(edge) for edge in graph.edges if edge.attributes}
        text = {node.id: normal_anchors(node.anchors, graph.input) or frozenset() for node in graph.nodes}
        for _ in graph.nodes:
            for edge in graph.edges:
                if id(edge) not in remote:
                    text[edge.source] |= text[edge.target]
        found = {}
        for kind in ("primary", "remote"):
            edges = [edge for edge in graph.edges if (id(edge) in remote) == (kind == "remote")]
            found[f"labeled.{kind}"] = {(text[edge.source], text[edge.target], edge.label) for edge in edges}
            found[f"unlabeled.{kind}"] = {(text[edge.source], text[edge.target]) for edge in edges}
        return found

    def distinct(graph):
        """Of edges that differ in attributes only, the first."""
        edges = {(edge.source, edge.target, edge.label): edge for edge in reversed(graph.edges)}
        return replace(graph, edges=tuple(edges.values()))

    gold, system = (distinct(data.draw(brute.random_graph("ucca", most=6))) for _ in range(2))
    assert numbers("ucca", gold, system) == counted(units(gold), units(system))
    assert any(edge.attributes for edge in gold.edges) == bool(tallies("ucca", gold, system)["labeled.remote"].g)


@pytest.mark.parametrize("metric", ["edm", "ucca", "sdp"])
def test_graphs_without_anchors_are_told(metric):
    full = replace(EDS, framework={"edm": "eds", "ucca": "ucca", "sdp": "dm"}[metric])
    bare = replace(full, id="2", nodes=tuple(replace(node, anchors=None) for node in full.nodes))
    (finding,) = score([full, bare], [full, bare], metric).findings
    assert (
        str(finding)
        == f"graph 2: {metric} identifies nodes by their anchors, and 1 gold graph has none; use mrp or smatch"
    )
    assert not score([full, bare], [full, bare]).findings
