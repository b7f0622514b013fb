from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path

import pytest

from perin.commands.main import main
from perin.commands.validate import validate
from perin.errors import InputError
from perin.graphs import Finding, Graph, Node, Tolerant, dump, dumps

SOUND = dumps(Graph("1", "eds", flavor=1, input="Dogs", tops=(0,), nodes=(Node(0, "dog"),)))
UNLABELLED = dumps(Graph("2", "eds", flavor=1, tops=(0,), nodes=(Node(0),)))
DISCONNECTED = dumps(Graph("3", "eds", flavor=1, tops=(0,), nodes=(Node(0, "a"), Node(1, "b"))))


@pytest.fixture
def written(tmp_path, monkeypatch):
    """Writes x.mrp in the current folder."""
    monkeypatch.chdir(tmp_path)

    def write(content: str | bytes) -> None:
        Path("x.mrp").write_bytes(content if isinstance(content, bytes) else content.encode())

    return write


def test_clean(written, capsys):
    written(SOUND)
    assert main(["validate", "x.mrp"]) == 0
    assert capsys.readouterr() == ("", "x.mrp: 1 graph, 0 findings, 0 notes\n")


def test_notes_are_no_findings(written, capsys):
    written(SOUND + DISCONNECTED)
    assert main(["validate", "x.mrp"]) == 0
    out, err = capsys.readouterr()
    assert out == "x.mrp:2: graph 3: note: the graph falls into 2 parts\n"
    assert err == "x.mrp: 2 graphs, 0 findings, 1 note\n"


def test_each_finding_has_file_line_and_graph(written, capsys):
    broken = '{"id": "4", "framework": "eds", "tops": [9], "nodes": [{"id": 0, "label": "x"}]}\n'
    written(SOUND + UNLABELLED + "{\n" + broken + SOUND)
    assert main(["validate", "x.mrp"]) == 1
    out, err = capsys.readouterr()
    assert out.splitlines() == [
        "x.mrp:2: graph 2: node 0 has no label",
        "x.mrp:3: the JSON object is cut short",
        "x.mrp:4: graph 4: top 9 is no node",
        "x.mrp:5: graph 1: there is an earlier graph of the same id, framework and language",
    ]
    assert err == "x.mrp: 4 graphs, 4 findings, 0 notes\n"


def test_json_output(written, capsys):
    written(UNLABELLED + DISCONNECTED)
    assert main(["validate", "--json", "x.mrp"]) == 1
    first, second = map(json.loads, capsys.readouterr().out.splitlines())
    assert first == {"file": "x.mrp", "line": 1, "graph": "2", "severity": "error", "message": "node 0 has no label"}
    assert (second["severity"], second["line"]) == ("note", 2)


@pytest.mark.parametrize(
    "raw",
    [
        b'{"id": "\xe9"}\n',
        b"\x00\xff\x00" * 40,
        gzip.compress(SOUND.encode())[:-9],
        b"no JSON\nat all\n",
        SOUND.encode()[:-9],
        '{"id": "1"}'.encode("utf-16"),
    ],
)
def test_unreadable(written, capsys, raw):
    written(raw)
    assert main(["validate", "x.mrp"]) == 2
    err = capsys.readouterr().err
    assert err.startswith("perin validate: error: x.mrp:1: ")
    assert err.count("\n") == 1


@pytest.mark.parametrize("line", ["[1, 2]", "5", '{"no": "graph"}', '{"id": "1", "nodes": 7}'])
def test_json_that_is_no_graph_is_a_finding(written, capsys, line):
    written(line + "\n")
    assert main(["validate", "x.mrp"]) == 1
    out, err = capsys.readouterr()
    assert out.startswith("x.mrp:1: ")
    assert err == "x.mrp: 0 graphs, 1 finding, 0 notes\n"


def test_an_empty_file(written, capsys):
    written("")
    assert main(["validate", "x.mrp"]) == 0
    assert capsys.readouterr().err == "perin validate: warning: x.mrp is empty\nx.mrp: 0 graphs, 0 findings, 0 notes\n"


def test_the_worst_of_several_files_counts(written, capsys):
    written(UNLABELLED)
    Path("good.mrp").write_text(SOUND)
    assert main(["validate", "x.mrp", "good.mrp"]) == 1
    assert main(["validate", "missing.mrp", "x.mrp", "good.mrp"]) == 2
    out, err = capsys.readouterr()
    assert out.count("node 0 has no label") == 2
    assert "missing.mrp: no such file" in err
    assert "good.mrp: 1 graph," in err


def test_other_formats_and_folders(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("x.eds").write_text("{e0:\n e0:a[ARG1 e5]\n e1:b[]\n}\n")
    assert main(["validate", "x.eds"]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "x.eds:2: graph 1: edge ARG1 of a node points to e5, which is no node",
        "x.eds:1: graph 1: note: the graph falls into 2 parts",
    ]
    Path("folder").mkdir()
    dump(Graph("1", "ucca", nodes=(Node(0), Node(1)), tops=(0,)), "folder/a.xml")
    assert main(["validate", "folder"]) == 1
    assert capsys.readouterr().out.splitlines()[0] == "folder/a.xml:2: graph 1: the graph falls into 2 parts"
    assert main(["validate", "x.eds", "--from", "mrp"]) == 2


def test_as_a_function(written):
    written(SOUND + UNLABELLED)
    tolerant = Tolerant()
    assert validate("x.mrp", tolerant) == 2
    assert tolerant.findings == [Finding("node 0 has no label", "x.mrp", 2, "2")]
    with pytest.raises(InputError):
        validate("missing.mrp", tolerant)


@pytest.mark.slow
def test_the_treebanks_are_clean(shared):
    """Notes on shape: 2018 disconnected EDS graphs and one UCCA sentence with a stray quotation mark.

    Two sentences of the automatic Czech analyses have members without a coordination.
    """
    notes = Counter[tuple[str, str]]()
    wrong = set()
    paths = sorted((shared / "data").glob("*/*.mrp.gz"))
    assert len(paths) == 22
    for path in paths:
        tolerant = Tolerant()
        assert validate(path, tolerant)
        for finding in tolerant.findings:
            if finding.severity == "error":
                wrong.add((f"{path.parent.name}/{path.name}", finding.graph))
            for kind in ("the graph falls into", "no node is anchored"):
                notes[path.parent.name, kind] += finding.message.startswith(kind)
    assert +notes == {("eds-eng", "the graph falls into"): 2018, ("ucca-eng", "no node is anchored"): 1}
    assert wrong == {
        ("ptg-ces/train-silver.mrp.gz", "paraweb-b37-00train-f00002-s190-cs"),
        ("ptg-ces/train-silver.mrp.gz", "paraweb-b39-00train-f00003-s19-cs"),
    }
