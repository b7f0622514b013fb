from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from perin.commands.main import main
from perin.graphs import dump, load
from perin.graphs.graph import Anchor, Edge, Graph, Node, Property

TYPES = ("tops", "labels", "properties", "anchors", "edges")


def _graph(id: str, name: str, verb: str) -> Graph:
    text = f"{name} {verb}ed."
    subject, predicate = Anchor(0, len(name)), Anchor(len(name) + 1, len(text))
    nodes = (
        Node(0, "proper_q", anchors=(subject,)),
        Node(1, "named", (Property("CARG", name), Property("NUM", "sg")), (subject,)),
        Node(2, f"_{verb}_v_1", anchors=(predicate,)),
    )
    edges = (Edge(0, 1, "BV"), Edge(2, 1, "ARG1"))
    return Graph(id, "eds", "eng", 1, time="2025-01-01", input=text, nodes=nodes, edges=edges, tops=(2,))


@pytest.fixture
def treebank(tmp_path: Path) -> Path:
    path = tmp_path / "dev.mrp"
    dump([_graph("1", "Abrams", "bark"), _graph("2", "Browne", "yell")], path)
    return path


def _tokens(path: Path, *sentences: tuple[str, Iterable[tuple[str, str]]]) -> Path:
    lines = []
    for id, tokens in sentences:
        text = " ".join(form for form, _ in tokens)
        lines += [f"# sent_id = {id}", f"# text = {text}"]
        lines += [f"{n}\t{form}\t{lemma}" + "\t_" * 7 for n, (form, lemma) in enumerate(tokens, start=1)] + [""]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def _run(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict:
    assert main(["roundtrip", *map(str, arguments), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_nothing_is_lost_with_own_rules(capsys: pytest.CaptureFixture[str], treebank: Path) -> None:
    data = _run(capsys, treebank)
    assert [data[name]["f"] for name in (*TYPES, "all")] == [1.0] * 6
    losses = data["roundtrip"]
    assert losses["nodes"] == 10
    assert losses["queries"] == 6
    assert losses["differences"] == losses["invalid"] == losses["without_tokens"] == []
    assert losses["lost_anchors"] == {"nodes": 0, "list": []}


def test_the_score_has_the_keys_of_score(capsys: pytest.CaptureFixture[str], treebank: Path) -> None:
    from perin.scoring import score

    data = _run(capsys, treebank)
    assert data.keys() - {"roundtrip"} == score(treebank, treebank).as_json().keys()


def test_rules_of_another_file_give_a_ceiling(
    capsys: pytest.CaptureFixture[str], treebank: Path, tmp_path: Path
) -> None:
    train = tmp_path / "train.mrp"
    dump([_graph("3", "Chiang", "bark")], train)
    data = _run(capsys, treebank, "--rules", train)
    assert data["labels"]["f"] < 1
    assert data["anchors"]["f"] == data["tops"]["f"] == 1
    assert data["roundtrip"]["without_rule"]["nodes"] > 0
    assert [item["id"] for item in data["roundtrip"]["differences"]] == data["roundtrip"]["without_rule"]["graphs"]


def test_tokens_of_a_file_are_split_where_anchors_end(
    capsys: pytest.CaptureFixture[str], treebank: Path, tmp_path: Path
) -> None:
    tokens = _tokens(tmp_path / "dev.conllu", ("1", [("Abrams", "Abrams"), ("barked.", "bark")]))
    losses = _run(capsys, treebank, "--tokens", tokens, "--split")["roundtrip"]
    assert losses["without_tokens"] == ["2"]
    assert losses["differences"] == []


def test_tokens_of_a_file_are_those_of_training(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    graph = _graph("1", "Abrams", "bark")
    within = replace(graph, nodes=(*graph.nodes[:2], replace(graph.nodes[2], anchors=(Anchor(7, 11),))))
    dump([within], tmp_path / "x.mrp")
    tokens = _tokens(tmp_path / "x.conllu", ("1", [("Abrams", "Abrams"), ("barked.", "bark")]))
    assert len(_run(capsys, tmp_path / "x.mrp", "--tokens", tokens)["roundtrip"]["lost_anchors"]["list"]) == 1
    assert _run(capsys, tmp_path / "x.mrp", "--tokens", tokens, "--split")["roundtrip"]["lost_anchors"]["list"] == []


def test_anchors_inside_our_own_tokens_are_listed(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    nodes = (Node(0, "_tooth_n_1", anchors=(Anchor(0, 5),)), Node(1, "_ache_n_1", anchors=(Anchor(5, 9),)))
    graph = Graph(
        "9", "eds", "eng", 1, time="2025-01-01", input="toothache", nodes=nodes, edges=(Edge(1, 0, "ARG1"),), tops=(1,)
    )
    dump([graph], tmp_path / "x.mrp")
    data = _run(capsys, tmp_path / "x.mrp")
    assert data["labels"]["f"] == data["edges"]["f"] == 1
    assert data["anchors"]["f"] == 0
    assert data["roundtrip"]["lost_anchors"]["list"][0] == {
        "graph": "9",
        "node": 0,
        "anchors": [[0, 5]],
        "tokens": [[0, 9]],
    }
    assert data["roundtrip"]["differences"] == [{"id": "9", "missing": {"anchors": 2}, "surplus": {"anchors": 2}}]


def test_nodes_without_a_query_are_counted(capsys: pytest.CaptureFixture[str], treebank: Path) -> None:
    losses = _run(capsys, treebank, "--queries", 1)["roundtrip"]
    assert losses["without_query"] == {"nodes": 4, "graphs": ["1", "2"]}
    assert losses["invalid"] == ["1", "2"], "what is left of them breaks the rules of EDS, and decoding is free"


def test_graphs_that_came_back_can_be_written(
    capsys: pytest.CaptureFixture[str], treebank: Path, tmp_path: Path
) -> None:
    assert main(["roundtrip", str(treebank), "--output", str(tmp_path / "back.mrp")]) == 0
    assert "labels       100.00" in capsys.readouterr().out
    assert [graph.id for graph in load(tmp_path / "back.mrp")] == ["1", "2"]
    assert main(["validate", str(tmp_path / "back.mrp")]) == 0


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "no graphs"),
        ('{"id":"1","framework":"eds","tops":[],"nodes":[],"edges":[]}', "no input text"),
        ('{"id":"1","framework":"xyz","input":"a","tops":[],"nodes":[],"edges":[]}', "unknown framework 'xyz'"),
        (
            '{"id":"1","framework":"eds","input":"a","tops":[],"nodes":[],"edges":[]}\n'
            '{"id":"2","framework":"amr","input":"a","tops":[],"nodes":[],"edges":[]}',
            "several kinds",
        ),
    ],
)
def test_files_that_can_not_be_used(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, content: str, message: str
) -> None:
    (tmp_path / "x.mrp").write_text(content, encoding="utf-8")
    assert main(["roundtrip", str(tmp_path / "x.mrp")]) == 2
    assert message in capsys.readouterr().err


def test_requests_that_make_no_sense(capsys: pytest.CaptureFixture[str], treebank: Path, tmp_path: Path) -> None:
    assert main(["roundtrip", str(treebank), "--queries", "0"]) == 2
    assert "at least one query" in capsys.readouterr().err
    assert main(["roundtrip", str(treebank), "--rules", str(treebank), "--rules-tokens", "a", "b"]) == 2
    assert "belong together" in capsys.readouterr().err
    other = tmp_path / "amr.mrp"
    dump([Graph("1", "amr", "eng", input="a", nodes=(Node(0, "a"),), tops=(0,))], other)
    assert main(["roundtrip", str(treebank), "--rules", str(other)]) == 2
    assert "another framework" in capsys.readouterr().err
