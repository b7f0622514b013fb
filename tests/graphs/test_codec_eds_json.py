"""EDS in JSON, with pydelphin as the second source."""

from __future__ import annotations

import contextlib
import json
from collections import Counter
from dataclasses import replace

import pytest
from delphin.codecs import edsjson
from hypothesis import given, settings
from hypothesis import strategies as st

from perin.errors import InputError
from perin.graphs import Edge, Graph, Node, Property, Tolerant, dumps, load, loads

DATA = {
    "id": "1",
    "input": "Abrams barks.",
    "top": "e2",
    "nodes": {
        "e0": {"label": "proper_q", "edges": {"BV": "x1"}, "lnk": {"from": 0, "to": 6}},
        "x1": {
            "label": "named",
            "edges": {},
            "lnk": {"from": 0, "to": 6},
            "type": "x",
            "carg": "Abrams",
            "properties": {"PERS": "3", "NUM": "sg"},
        },
        "e2": {
            "label": "_bark_v_1",
            "edges": {"ARG1": "x1"},
            "lnk": {"from": 7, "to": 13},
            "type": "e",
            "properties": {"TENSE": "pres"},
        },
    },
}


def test_reading_and_writing(abrams):
    assert loads(json.dumps([DATA]), "eds-json") == [abrams]
    assert json.loads(dumps(abrams, "eds-json")) == [DATA]


@pytest.mark.parametrize("text", [json.dumps(DATA), json.dumps([DATA], indent=2), f" [\n\n{json.dumps(DATA)} ]\n"])
def test_other_ways_to_write_the_same(abrams, text):
    assert loads(text, "eds-json") == [abrams]


@pytest.mark.parametrize("count", [0, 1, 3])
def test_any_number_of_graphs(abrams, count):
    graphs = [replace(abrams, id=str(number)) for number in range(count)]
    text = dumps(graphs, "eds-json")
    assert len(json.loads(text)) == count
    assert loads(text, "eds-json") == graphs
    assert loads("", "eds-json") == []


def test_graphs_without_id_are_numbered_and_unknown_places_are_no_anchors():
    text = json.dumps([{"top": None, "nodes": {"e": {"label": "a", "lnk": {"from": -1, "to": -1}, "type": "u"}}}] * 2)
    graphs = loads(text, "eds-json")
    assert [graph.id for graph in graphs] == ["1", "2"]
    assert graphs[0].nodes == (Node(0, "a"),)
    assert graphs[0].tops == ()


def test_several_tops_and_disconnected_graphs_survive():
    graph = Graph("1", "eds", flavor=1, tops=(1, 0), nodes=(Node(0, "a b"), Node(1, "", (Property("P", 5),))))
    assert loads(dumps(graph, "eds-json"), "eds-json") == [graph]


@pytest.mark.parametrize(
    "graph",
    [
        Graph("x", nodes=(Node(0),)),
        Graph("x", nodes=(Node(0, "a"),), edges=(Edge(0, 0, "A"), Edge(0, 0, "A"))),
        Graph("x", nodes=(Node(0, "a", (Property("P", 1), Property("P", 2))),)),
    ],
)
def test_what_the_format_can_not_say_is_an_error(graph):
    with pytest.raises(InputError, match=r"graph x: .* which EDS can't say"):
        dumps(graph, "eds-json")


NODE = {"label": "a", "edges": {}}


@pytest.mark.parametrize(
    ("item", "message"),
    [
        (5, "expected an object with 'nodes' by name"),
        ({"nodes": []}, "expected an object with 'nodes' by name"),
        ({"nodes": {"e": 5}}, "node e must be an object"),
        ({"nodes": {"e": {"label": "a", "edges": []}}}, "node e must be an object, and its 'edges' too"),
        ({"nodes": {"e": {}}}, "node e needs a string as 'label'"),
        ({"nodes": {"e": {**NODE, "properties": 5}}}, "an object as 'properties'"),
        ({"nodes": {"e": {**NODE, "lnk": 5}}}, "an anchor needs 'from' and 'to'"),
        ({"nodes": {"e": {**NODE, "properties": {"P": []}}}}, "a name must be a string and its value no list"),
        ({"nodes": {"e": {**NODE, "edges": {"A": "x"}}}}, 'edge A of node e is "x", which is no node'),
        ({"nodes": {"e": NODE}, "top": "x"}, 'the top is "x", which is no node'),
        ({"nodes": {"e": NODE}, "tops": 5}, "'tops' must be a list"),
        ({"nodes": {"e": NODE}, "input": 5}, "'input' must be a string"),
        ({"nodes": {"e": {**NODE, "lnk": {"from": 3, "to": 1}}}}, "anchor 3:1 is no range"),
    ],
)
def test_faults(abrams, item, message):
    text = "[\n" + json.dumps(DATA) + ",\n" + json.dumps(item) + "\n]"
    with pytest.raises(InputError) as caught:
        loads(text, "eds-json")
    assert message in str(caught.value)
    assert caught.value.line == 3
    tolerant = Tolerant()
    assert loads(text, "eds-json", report=tolerant)[0] == abrams
    assert message in tolerant.findings[0].message


@pytest.mark.parametrize("end", [" {}]", "", "] x", ', {"nodes": NaN}]', ', "\\ud800"]'])
def test_a_broken_end_is_a_finding(abrams, end):
    tolerant = Tolerant()
    assert loads(f"[\n{json.dumps(DATA)}{end}", "eds-json", report=tolerant) == [abrams]
    (finding,) = tolerant.findings
    assert finding.message.startswith("no valid JSON: ")
    assert finding.line in (1, 2)


@pytest.mark.parametrize("text", ["nonsense", "[", "[" * 100_000, '[{"nodes": '])
def test_what_is_no_json_is_an_error_even_in_tolerant_mode(text):
    with pytest.raises(InputError, match="no EDS in JSON"):
        loads(text, "eds-json", report=Tolerant())


@given(st.integers(0, 400), st.integers(0, 20), st.text('{}[]",:aeu01\\', max_size=5))
@settings(deadline=None, max_examples=200)
def test_damaged_text_gives_graphs_or_input_errors(position, length, noise):
    text = json.dumps([DATA, DATA])
    with contextlib.suppress(InputError):
        loads(text[:position] + noise + text[position + length :], "eds-json", report=Tolerant())


def test_any_graph_survives(graphs):
    unique = st.lists(st.text("ab:é ", max_size=2), unique=True)

    @given(
        graphs(
            framework="eds", labels=st.text("ab<", max_size=2), properties=1, anchors=1, attributes=0, normals=False
        ),
        unique,
    )
    @settings(deadline=None, max_examples=100)
    def check(graph, labels):
        nodes = tuple(
            replace(node, properties=tuple(pair for pair in node.properties if pair.value is not None))
            for node in graph.nodes
        )
        edges = tuple(Edge(node.id, nodes[-1].id, label) for node in nodes for label in labels)
        plain = replace(graph, flavor=1, nodes=nodes, edges=edges).renumbered()
        expected = replace(plain, nodes=tuple(replace(node, anchors=node.anchors or None) for node in plain.nodes))
        assert loads(dumps(plain, "eds-json"), "eds-json") == [expected]

    check()


def test_pydelphin_reads_and_writes_the_same(shared):
    graphs = list(load(shared / "data" / "eds-eng" / "dev.mrp.gz"))
    text = dumps(graphs, "eds-json")
    again = loads(text, "eds-json")
    theirs = edsjson.loads(text)
    back = loads(edsjson.dumps(theirs), "eds-json")
    for graph, copy, other, after in zip(graphs, again, theirs, back, strict=True):
        assert replace(copy, edges=()) == replace(graph, edges=())
        assert Counter(copy.edges) == Counter(graph.edges)
        assert other.top == f"e{graph.tops[0]}"
        assert {node.id: (node.predicate, node.cfrom, node.cto, node.carg) for node in other.nodes} == {
            f"e{node.id}": (node.label, *node.anchors[0], node.get("CARG")) for node in graph.nodes
        }
        assert set(other.edges) == {(f"e{e.source}", e.label, f"e{e.target}") for e in graph.edges}
        assert after.isomorphic(graph)
