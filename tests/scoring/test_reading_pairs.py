"""Which graphs are compared: reading and pairing as the official scorer does, every oddity told."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace

import pytest

from perin import Graph, InputError, Node, UsageError
from perin.graphs import Edge, Tolerant
from perin.scoring import score
from perin.scoring.reading import pair, read_gold, read_system

LINE = {
    "id": "1",
    "flavor": 2,
    "framework": "amr",
    "time": "2020-01-01",
    "tops": [0],
    "nodes": [{"id": 0, "label": "a"}, {"id": 1, "label": "b"}],
    "edges": [{"source": 0, "target": 1, "label": "r"}],
}


def line(**changes):
    return json.dumps({key: value for key, value in {**LINE, **changes}.items() if value is not None})


@pytest.fixture
def files(tmp_path):
    """Writes gold and system files and scores them."""

    def run(gold, system):
        paths = tmp_path / "gold.mrp", tmp_path / "system.mrp"
        for path, lines in zip(paths, (gold, system), strict=True):
            path.write_text("".join(each + "\n" for each in lines))
        result = score(*paths)
        return result, [str(finding).replace(str(tmp_path) + "/", "") for finding in result.findings]

    return run


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        ("{", "system.mrp:1: the JSON object is cut short"),
        ('["no graph"]', "expected a JSON object"),
        (line(id=None), "'id' is missing"),
        (line(time=None), "has no 'time'"),
        (line(time="yesterday"), "has no 'time'"),
        (line(time="2020-13-01"), "has no 'time'"),
        (line(nodes=[{"label": "a"}]), "a node needs an integer 'id'"),
        (line(tops=[77]), "top 77 is no node"),
        (line(edges=[{"source": 0, "target": 77}]), "77 is no node"),
    ],
)
def test_a_line_that_official_readers_ignore(files, broken, message):
    result, findings = files([line(), line(id="2")], [broken, line(id="2")])
    assert result.total.missing == 1
    assert result.total.tallies["all"].c == 4
    assert any(message in finding for finding in findings)
    assert "graph 1: the system has no such graph (amr)" in findings
    with pytest.raises(InputError):
        files([broken, line()], [line()])


@pytest.mark.parametrize("time", ["2020-01-01", "2020-01-01 (12:30)"])
def test_times_that_official_readers_understand(files, time):
    result, findings = files([line()], [line(time=time)])
    assert result.f1 == 1
    assert not findings


def test_blank_lines_are_told_and_no_error(files):
    result, findings = files([line(), "", line(id="2")], ["", line(), line(id="2")])
    assert result.f1 == 1
    assert [finding.split(": ")[1] for finding in findings] == ["a blank line between graphs"] * 2


def test_duplicates_last_in_gold_first_in_system(files):
    other = line(nodes=[{"id": 0, "label": "z"}], edges=[])
    result, findings = files([line(), other], [other, line()])
    assert result.f1 == 1
    assert len(result.graphs) == 1
    assert findings[0].startswith("gold.mrp:2: graph 1: there is an earlier gold graph")
    assert findings[1].startswith("system.mrp:2: graph 1: there is an earlier graph")


def test_extra_missing_and_empty_graphs(files):
    result, findings = files([line(), line(id="2")], [line(id="9"), line(id="2", tops=[], nodes=[], edges=[])])
    assert result.total.missing == 2
    assert result.total.tallies["all"].s == 0
    assert findings == [
        "graph 9: gold has no such graph (amr); it does not count",
        "graph 1: the system has no such graph (amr)",
        "graph 2: the system's graph has no nodes (amr)",
    ]


def test_faults_that_leave_a_graph_are_told(files):
    unfit = [{"id": 0, "label": "a", "properties": ["p", "q"], "values": ["1"]}, {"id": 1, "label": "b"}]
    far = [{"id": 0, "label": "a", "anchors": [{"from": 0, "to": 99}]}, {"id": 1, "label": "b"}]
    result, findings = files([line(nodes=unfit), line(id="2", input="a b", nodes=far)], [line(), line(id="2")])
    assert len(result.graphs) == 2
    assert result.total.tallies["properties"].g == 1
    assert "2 names but 1 values" in findings[0]
    assert "ends after the input" in findings[1]


def test_a_node_id_that_occurs_twice_in_a_system_graph(files):
    twice = [{"id": 0, "label": "a"}, {"id": 1, "label": "b"}, {"id": 1, "label": "b"}]
    result, findings = files([line()], [line(nodes=twice)])
    assert result.total.tallies["labels"].s == 3
    assert result.total.tallies["edges"].c == 1
    assert result.graphs[0].comparison.pairs == ((0, 0), (1, 1))
    assert "node id 1 occurs twice" in findings[0]


@pytest.mark.parametrize(
    ("gold", "system", "found"), [("eng", None, True), ("deu", None, False), (None, "eng", False), (None, None, True)]
)
def test_languages(gold, system, found):
    graph = Graph("1", "amr", nodes=(Node(0, "a"),))
    pairs = pair([replace(graph, language=gold)], [replace(graph, language=system)], report=Tolerant())
    assert (pairs[0][1] is not None) == found


def test_a_graph_without_language_does_not_displace_an_english_one():
    graph = Graph("1", "amr", "eng", nodes=(Node(0, "a"),))
    bare = replace(graph, language=None, nodes=())
    report = Tolerant()
    assert pair([graph], [graph, bare], report=report) == [(graph, graph)]
    assert "another graph" in str(report.findings[0])


def test_graphs_need_no_time():
    graph = Graph("1", "amr", nodes=(Node(0, "a"),))
    assert score([graph], iter([graph])).f1 == 1


def test_graphs_with_loose_ends():
    loose = Graph("1", nodes=(Node(0, "a"),), edges=(Edge(0, 9),))
    sound = replace(loose, edges=())
    assert score([sound], [loose]).total.missing == 1
    with pytest.raises(InputError, match="9 is no node"):
        score([loose], [sound])


def test_a_line_of_a_system_that_is_not_utf8(tmp_path):
    (tmp_path / "gold.mrp").write_text(line() + "\n" + line(id="2") + "\n")
    content = line().encode() + b"\n" + line(id="3").encode() + b"\xff\n" + line(id="2").encode() + b"\n"
    (tmp_path / "system.mrp").write_bytes(content)
    result = score(tmp_path / "gold.mrp", tmp_path / "system.mrp")
    assert result.f1 == 1
    (finding,) = result.findings
    assert finding.line == 2
    assert "not UTF-8 (0xff)" in finding.message
    with pytest.raises(InputError, match="not UTF-8"):
        score(tmp_path / "system.mrp", tmp_path / "gold.mrp")


def test_nothing_to_score_against(files, tmp_path):
    with pytest.raises(InputError, match=r"gold.mrp: there is no gold graph"):
        files([], [line()])
    with pytest.raises(InputError, match="no such file"):
        score(tmp_path / "none.mrp", tmp_path / "gold.mrp")
    with pytest.raises(InputError, match="no line of the file is JSON"):
        files([line()], ["# ::id 1"])


def test_other_formats_and_gzip(tmp_path):
    text = "# ::id 1\n(a / dog)\n"
    (tmp_path / "gold.amr").write_text(text)
    (tmp_path / "system.amr.gz").write_bytes(gzip.compress(text.encode()))
    assert score(tmp_path / "gold.amr", tmp_path / "system.amr.gz", "smatch").f1 == 1
    (tmp_path / "broken.amr").write_text("# ::id 1\n(a / dog\n")
    with pytest.raises(InputError):
        score(tmp_path / "broken.amr", tmp_path / "gold.amr")
    assert score(tmp_path / "gold.amr", tmp_path / "broken.amr").total.tallies["all"].g == 2
    with pytest.raises(UsageError, match="can be written but not read"):
        read_gold(tmp_path / "gold.amr", "dot", report=Tolerant())


def test_a_system_may_have_no_graph_at_all(tmp_path):
    (tmp_path / "system.mrp").write_text("")
    assert read_system(tmp_path / "system.mrp", report=Tolerant()) == []
