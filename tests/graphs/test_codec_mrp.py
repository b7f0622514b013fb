from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from perin.errors import InputError
from perin.files import read_lines
from perin.graphs import Anchor, Edge, Graph, Node, Property, Tolerant, dump, dumps, load, loads
from perin.graphs.codecs import mrp

LINE = json.dumps(
    {
        "id": "20001",
        "flavor": 1,
        "framework": "eds",
        "version": 1.1,
        "time": "2020-06-30",
        "language": "eng",
        "source": "wsj",
        "input": "Dogs bark.",
        "new": {"a": [1]},
        "tops": [0],
        "nodes": [
            {
                "id": 0,
                "label": "_bark_v_1",
                "properties": ["TENSE"],
                "values": ["pres"],
                "anchors": [{"from": 5, "to": 9}],
            },
            {"id": 3, "label": "dog", "anchors": [], "own": True},
            {"id": 4},
        ],
        "edges": [
            {"id": 7, "source": 0, "target": 3, "label": "ARG1-of", "normal": "ARG1", "own": None},
            {"source": 0, "target": 4, "attributes": ["remote"], "values": [True]},
        ],
    }
)


def test_every_field_is_read():
    (graph,) = loads(LINE)
    assert graph == Graph(
        "20001",
        "eds",
        "eng",
        1,
        1.1,
        "2020-06-30",
        "wsj",
        "Dogs bark.",
        (0,),
        (
            Node(0, "_bark_v_1", (Property("TENSE", "pres"),), (Anchor(5, 9),)),
            Node(3, "dog", (), (), {"own": True}),
            Node(4),
        ),
        (Edge(0, 3, "ARG1-of", (), "ARG1", 7, {"own": None}), Edge(0, 4, None, (Property("remote", True),))),
        {"new": {"a": [1]}},
    )


def test_what_is_read_is_written():
    assert json.loads(dumps(loads(LINE))) == json.loads(LINE)


def test_numbers_and_names_of_older_files():
    (graph,) = loads(
        '{"id": 7, "version": 1, "nodes": [{"id": 0, "label": 5}, {"id": 1, "label": true}],'
        ' "edges": [{"source": 0, "target": 1, "label": 2, "properties": ["remote"], "values": [true]}]}'
    )
    assert (graph.id, graph.version) == ("7", 1)
    assert [node.label for node in graph.nodes] == ["5", "True"]
    assert graph.edges == (Edge(0, 1, "2", (Property("remote", True),)),)


def test_equal_values_of_other_types_stay_apart():
    """1, 1.0 and True are equal in Python, and anchors and properties are shared between nodes that have the same."""
    values = ["1", 1, True, 1.0, "true", None, 0, False]
    nodes = [{"id": id, "properties": ["p"], "values": [value]} for id, value in enumerate(values)]
    (graph,) = loads(json.dumps({"id": "1", "nodes": nodes}))
    found = [node.get("p") for node in graph.nodes]
    assert [(type(value), value) for value in found] == [(type(value), value) for value in values]


def node(**fields: object) -> str:
    return json.dumps({"id": "g", "nodes": [{"id": 0, **fields}]})


def edge(**fields: object) -> str:
    return json.dumps({"id": "g", "nodes": [{"id": 0}], "edges": [{"source": 0, "target": 0, **fields}]})


FAULTS = [
    ("[1, 2]", "expected a JSON object, found a list"),
    ("3.5", "expected a JSON object, found a number"),
    ("null", "expected a JSON object, found null"),
    ('{"a": 1}', "the field 'id' is missing"),
    ('{"id": null}', "the field 'id' is missing"),
    ('{"id": true}', "the field 'id' is missing or no string"),
    ('{"id": "g", "nodes": {}}', "'nodes' must be a list, found an object"),
    ('{"id": "g", "nodes": [3]}', "a node must be an object, found 3"),
    ('{"id": "g", "nodes": [{"label": "x"}]}', "a node needs an integer 'id', found null"),
    ('{"id": "g", "nodes": [{"id": true}]}', "a node needs an integer 'id', found true"),
    ('{"id": "g", "edges": "none"}', "'edges' must be a list, found a string"),
    ('{"id": "g", "edges": [[]]}', "an edge must be an object, found []"),
    ('{"id": "g", "edges": [{"source": "0", "target": 1}]}', "an edge needs node ids"),
    ('{"id": "g", "tops": ["0"]}', 'a top must be a node id, found "0"'),
    ('{"id": "g", "tops": 0}', "'tops' must be a list, found a number"),
    ('{"id": "g", "flavor": "1"}', "'flavor' must be 0, 1 or 2"),
    ('{"id": "g", "version": []}', "'version' must be a number"),
    ('{"id": "g", "input": 5}', "'input' must be a string, found 5"),
    ('{"id": "g", "framework": []}', "'framework' must be a string"),
    (node(label=["x"]), "node 0: a label must be a string, found a list"),
    (node(anchors="0:1"), "node 0: 'anchors' must be a list"),
    (node(anchors=[{"from": 0}]), "node 0: an anchor needs 'from' and 'to'"),
    (node(anchors=[[0, 1]]), "node 0: an anchor needs 'from' and 'to'"),
    (node(anchors=[{"from": 0, "to": 1.0}]), "node 0: an anchor needs integers"),
    (node(anchors=[{"from": False, "to": True}]), "node 0: an anchor needs integers"),
    (node(properties="p", values="v"), "node 0: names and 'values' must be lists"),
    (node(properties=["p"], values=[[]]), "node 0: a name must be a string and its value no list or object"),
    (node(properties=[1], values=["v"]), "node 0: a name must be a string"),
    (node(properties=["p", "q"], values=["v"]), "node 0: 2 names but 1 values"),
    (node(properties=["p"]), "node 0: 1 names but 0 values"),
    (edge(label={}), "edge 0 -> 0: a label must be a string, found an object"),
    (edge(normal=[]), "edge 0 -> 0: a label must be a string, found a list"),
    (edge(id="0"), "edge 0 -> 0: 'id' must be an integer"),
    (edge(attributes=["remote"], values=[True, False]), "edge 0 -> 0: 1 names but 2 values"),
    ('{"id": "g", "tops": [1]}', "top 1 is no node"),
    ('{"id": "g", "nodes": [{"id": 0}, {"id": 0}]}', "node id 0 occurs twice"),
    ('{"id": "g", "nodes": [{"id": 0}], "edges": [{"source": 0, "target": 9}]}', "9 is no node"),
    ('{"id": "g", "input": "ab", "nodes": [{"id": 0, "anchors": [{"from": 1, "to": 3}]}]}', "ends after the input"),
    ('{"id": "g", "nodes": [', "the JSON object is cut short"),
    ('{"id": "g"} {"id": "h"}', "no valid JSON at character 13"),
    ("{'id': 'g'}", "no valid JSON at character 2"),
    ('{"id": "g", "x": NaN}', "NaN is no JSON number"),
    ('{"id": "g", "input": "\\ud800"}', "surrogates not allowed"),
    ("[" * 100_000, "nested too deeply"),
    ('{"id": "g", "x": ' + "9" * 5000 + "}", "no valid JSON"),
]


@pytest.mark.parametrize(("line", "message"), FAULTS, ids=range(len(FAULTS)))
def test_strict_reading_stops_with_file_and_line(tmp_path, line, message):
    path = tmp_path / "x.mrp"
    path.write_text('{"id": "first"}\n' + line + "\n")
    with pytest.raises(InputError) as caught:
        list(load(path))
    assert message in str(caught.value)
    assert str(caught.value).startswith(f"{path}:2: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("line", "message"), FAULTS, ids=range(len(FAULTS)))
def test_tolerant_reading_goes_on(line, message):
    tolerant = Tolerant()
    graphs = loads('{"id": "first"}\n' + line + '\n{"id": "last"}\n', report=tolerant)
    assert [graph.id for graph in graphs if graph.id != "g"] == ["first", "last"]
    (finding,) = tolerant.findings
    assert message in finding.message
    assert finding.line == 2


def test_tolerant_reading_keeps_what_parses():
    tolerant = Tolerant()
    (graph,) = loads(
        '{"id": "g", "tops": [5], "nodes": [{"id": 0, "properties": ["p", "q"], "values": [1]}]}', report=tolerant
    )
    assert graph.tops == (5,)
    assert graph.nodes[0].properties == (Property("p", 1),)
    assert len(tolerant.findings) == 2


def test_graphs_that_occur_twice():
    with pytest.raises(InputError, match="earlier graph of the same id"):
        loads('{"id": "g"}\n{"id": "g"}\n')
    two = '{"id": "g", "framework": "amr"}\n{"id": "g", "framework": "eds"}\n{"id": "g", "language": "zho"}\n'
    assert len(loads(two)) == 3


def test_blank_lines():
    assert loads("") == []
    assert len(loads('{"id": "1"}\n\n \n')) == 1
    with pytest.raises(InputError, match="a blank line between graphs"):
        loads('{"id": "1"}\n\n{"id": "2"}\n')


@pytest.mark.parametrize("text", ["# no graph\n", "\n\nsome\ntext\n", '{"id": "cut', "<xml/>"])
def test_a_file_without_json_is_an_error_even_in_tolerant_mode(text):
    with pytest.raises(InputError, match="no line of the file is JSON"):
        loads(text, report=Tolerant())


def test_binary_files_and_cut_gzip(tmp_path):
    (tmp_path / "binary.mrp").write_bytes(bytes(range(256)) * 10)
    (tmp_path / "latin.mrp").write_bytes('{"id": "é"}\n'.encode("latin-1"))
    (tmp_path / "utf16.mrp").write_bytes('{"id": "1"}\n'.encode("utf-16"))
    (tmp_path / "cut.mrp.gz").write_bytes(gzip.compress((LINE + "\n").encode() * 100)[:-20])
    for path in tmp_path.iterdir():
        for report in (Tolerant(), None):
            with pytest.raises(InputError, match=re.escape(str(path))):
                list(load(path, **({"report": report} if report else {})))


def test_a_line_of_fifty_megabytes(tmp_path, monkeypatch):
    monkeypatch.setenv("PERIN_MAX_LINE", "60M")
    text = "wort " * 10_000_000
    line = json.dumps({"id": "long", "input": text, "nodes": [{"id": 0, "anchors": [{"from": 5, "to": 50_000_000}]}]})
    path = tmp_path / "long.mrp"
    path.write_text(line + "\n")
    (graph,) = load(path)
    assert graph.input == text
    path.write_text(line[:-1] + "\n")
    with pytest.raises(InputError, match="cut short"):
        list(load(path))
    path.write_text(line.replace('"nodes": [', '"nodes": [7, ') + "\n")
    with pytest.raises(InputError, match="a node must be an object") as caught:
        list(load(path))
    assert len(str(caught.value)) < 300


def test_any_graph_survives(graphs):
    @given(graphs(framework="amr"))
    @settings(deadline=None, max_examples=150)
    def check(graph):
        text = dumps(graph)
        assert text.count("\n") == 1
        assert loads(text) == [graph]

    check()


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-2, 9), st.floats(), st.text("ab", max_size=2)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab", max_size=2), inner, max_size=3),
    max_leaves=6,
)
FIELD = st.sampled_from(
    ["id", "label", "properties", "values", "anchors", "from", "to", "source", "target", "normal", "attributes"]
)
PART = st.dictionaries(
    FIELD, st.one_of(JSON, st.lists(st.dictionaries(FIELD, JSON, max_size=3), max_size=2)), max_size=5
)
ALMOST = st.fixed_dictionaries(
    {"id": st.one_of(st.just("g"), JSON)},
    optional={
        "nodes": st.one_of(st.lists(st.one_of(PART, JSON), max_size=3), JSON),
        "edges": st.one_of(st.lists(st.one_of(PART, JSON), max_size=3), JSON),
        "tops": st.one_of(st.lists(JSON, max_size=2), JSON),
        "input": JSON,
        "flavor": JSON,
        "version": JSON,
        "framework": JSON,
    },
)


@given(st.lists(ALMOST.map(json.dumps) | st.text(max_size=30) | st.just(LINE), max_size=4))
@settings(deadline=None, max_examples=200)
@example(["\ufeff{}"])
def test_fuzzed_lines_are_graphs_or_findings_and_never_anything_else(lines):
    text = "\n".join(line.replace("\n", " ") for line in lines)
    tolerant = Tolerant()
    try:
        graphs = loads(text, report=tolerant)
    except InputError:
        assert tolerant.findings
        return
    assert loads(dumps(graphs), report=Tolerant()) == graphs
    try:
        assert loads(text) == graphs
    except InputError:
        assert tolerant.findings
    else:
        assert not tolerant.findings


@given(st.binary(max_size=200))
@settings(deadline=None, max_examples=150)
def test_fuzzed_bytes(tmp_path_factory, raw):
    path = tmp_path_factory.getbasetemp() / "fuzzed.mrp"
    path.write_bytes(raw)
    try:
        assert list(load(path)) == []
    except InputError as error:
        where = error.source
    else:
        where = str(path)
    assert where == str(path)


def test_encoding_and_decoding_of_single_graphs():
    graph = mrp.decode(json.loads(LINE))
    assert mrp.encode(graph) == json.loads(LINE)
    with pytest.raises(InputError):
        mrp.decode({"id": "g", "nodes": [{"id": 0, "properties": ["p"]}]})


def treebanks(shared: Path, pattern: str) -> list[Path]:
    found = sorted((shared / "data").glob(pattern))
    assert found
    return found


def check_identity(path: Path, folder: Path) -> None:
    graphs = list(load(path))
    copy = folder / "copy.mrp.gz"
    dump(graphs, copy)
    assert list(load(copy)) == graphs
    with gzip.open(path, "rt", encoding="utf-8") as before, gzip.open(copy, "rt", encoding="utf-8") as after:
        for old, new in zip(before, after, strict=True):
            assert json.loads(old) == json.loads(new)


def test_development_treebanks_are_written_as_read(shared):
    for path in treebanks(shared, "*/dev.mrp.gz"):
        for line in read_lines(path):
            data = json.loads(line)
            assert mrp.encode(mrp.decode(data)) == data


@pytest.mark.slow
def test_all_treebanks_are_written_as_read(shared, tmp_path):
    for path in treebanks(shared, "*/*.mrp.gz"):
        check_identity(path, tmp_path)
