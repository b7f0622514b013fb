from __future__ import annotations

import gzip
import io
import subprocess
import sys

import pytest

from perin.commands.convert import convert, listing
from perin.commands.main import main
from perin.graphs import Graph, Node, dump, dumps, load
from perin.graphs.codecs import FORMATS, codec

EDS = Graph("1", "eds", flavor=1, input="Dogs", tops=(0,), nodes=(Node(0, "dog"),))
LINE = dumps(EDS)


@pytest.fixture
def treebank(tmp_path):
    path = tmp_path / "in.mrp"
    path.write_text(LINE)
    return path


def test_formats_are_guessed_from_names(treebank, tmp_path, capsys):
    assert main(["convert", str(treebank), str(tmp_path / "out.eds.gz")]) == 0
    assert b"e0:dog[]" in gzip.decompress((tmp_path / "out.eds.gz").read_bytes())
    assert main(["convert", str(tmp_path / "out.eds.gz"), str(tmp_path / "back.mrp")]) == 0
    assert (tmp_path / "back.mrp").read_text() == LINE
    assert capsys.readouterr() == ("", "")


def test_formats_can_be_said(treebank, tmp_path):
    assert main(["convert", "--from", "mrp", "--to", "eds", str(treebank), str(tmp_path / "out")]) == 0
    assert main(["convert", str(tmp_path / "out"), str(tmp_path / "again"), "--from=eds", "--to=mrp"]) == 0
    assert (tmp_path / "again").read_text() == LINE


def test_standard_streams(monkeypatch, capsysbinary):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(LINE.encode()))))
    assert main(["convert", "-", "-", "--to", "eds"]) == 0
    assert capsysbinary.readouterr().out == dumps(EDS, "eds").encode()


def test_a_folder(tmp_path):
    (tmp_path / "in").mkdir()
    for number in "21":
        dump(Graph(number, "ucca", flavor=1, nodes=(Node(0),)), tmp_path / "in" / f"{number}.xml")
    assert convert(tmp_path / "in", tmp_path / "out.mrp") == 2
    assert [graph.id for graph in load(tmp_path / "out.mrp")] == ["1", "2"]


def test_a_file_can_be_replaced_by_itself(treebank):
    assert convert(treebank, treebank) == 1
    assert treebank.read_text() == LINE


@pytest.mark.parametrize("name", ["x.mrp", "x.eds", "x.xml", "x.amr"])
def test_an_empty_file_is_an_empty_treebank_with_a_warning(tmp_path, capsys, name):
    (tmp_path / name).write_text("")
    assert main(["convert", str(tmp_path / name), str(tmp_path / "out.mrp")]) == 0
    assert (tmp_path / "out.mrp").read_text() == ""
    assert capsys.readouterr().err == f"perin convert: warning: {tmp_path / name} is empty\n"


BAD = [
    (b'{"id": "1"}\n{"id": "2", "nodes": [', "in.mrp:2: the JSON object is cut short"),
    (b'{"id": "1"}\nnonsense\n', "in.mrp:2: no valid JSON"),
    (b'{"id": "1", "nodes": [{"id": "x"}]}\n', "in.mrp:1: graph 1: a node needs an integer 'id'"),
    (b'{"id": "1"}\n{"id": "1"}\n', "in.mrp:2: graph 1: there is an earlier graph"),
    (b'{"id": "1", "edges": [{"source": 0, "target": 1}]}\n', "in.mrp:1: graph 1: edge 0 -> 1"),
    (b'{"id": "1", "input": "a", "nodes": [{"id": 0, "anchors": [{"from": 0, "to": 2}]}]}', "ends after the input"),
    (b'{"id": "\xe9"}\n', "in.mrp:1: byte 9 of the line is not UTF-8"),
    (bytes(range(200)), "in.mrp:1: "),
    (gzip.compress(LINE.encode() * 50)[:-10], "in.mrp:1: the gzip stream is cut short"),
    (b"[1, 2, 3]\n", "in.mrp:1: expected a JSON object, found a list"),
    (
        b'{"id": "1", "framework": "amr"}\n',
        "graph 1: framework amr, but the format eds holds eds only",
    ),
    (b'{"id": "1", "nodes": [{"id": 0}]}\n', "graph 1: node 0 has no label"),
]


@pytest.mark.parametrize(("raw", "message"), BAD, ids=range(len(BAD)))
def test_bad_input_is_one_line_and_no_file(treebank, tmp_path, capsys, raw, message):
    treebank.write_bytes(raw)
    (tmp_path / "old.eds").write_text("kept")
    for name in ("new.eds", "old.eds", "new.eds.gz"):
        assert main(["convert", str(treebank), str(tmp_path / name)]) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert err.startswith("perin convert: error: ")
        assert err.count("\n") == 1
        assert message in err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.mrp", "old.eds"]
    assert (tmp_path / "old.eds").read_text() == "kept"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "name the file to read and the file to write"),
        (["only.mrp"], "name the file to read and the file to write"),
        (["missing.mrp", "out.eds"], "missing.mrp: no such file"),
        (["in.mrp", "out.xyz"], "can't tell the format of out.xyz"),
        (["in.xyz", "out.mrp"], "can't tell the format of in.xyz"),
        (["in.mrp", "no/such/folder.eds"], "can't write no/such/folder.eds: there is no folder no/such"),
        (["in.dot", "out.mrp"], "the format dot can be written but not read"),
    ],
)
def test_requests_that_make_no_sense(treebank, tmp_path, monkeypatch, capsys, arguments, message):
    monkeypatch.chdir(tmp_path)
    assert main(["convert", *arguments]) == 2
    err = capsys.readouterr().err
    assert err.startswith(f"perin convert: error: {message}")
    assert err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["in.mrp"]


def test_unknown_formats_and_options_are_usage_errors(capsys):
    for arguments in (["--from", "xyz", "a", "b"], ["--frm", "mrp"]):
        with pytest.raises(SystemExit) as caught:
            main(["convert", *arguments])
        assert caught.value.code == 2
        assert "Traceback" not in capsys.readouterr().err


def test_list(capsys):
    assert main(["convert", "--list"]) == 0
    head, *rows = capsys.readouterr().out.splitlines()
    assert head.split() == ["format", "reads", "writes", "suffixes", "frameworks"]
    assert [row.split()[0] for row in rows] == list(FORMATS)
    for row, name in zip(rows, FORMATS, strict=True):
        format = codec(name)
        assert row.split()[1:3] == ["yes" if format.read else "-", "yes" if format.write else "-"]
        assert all(part in row for part in (*format.suffixes, *format.frameworks, format.summary))
    assert listing().splitlines() == [head, *rows]


def test_a_closed_pipe_is_no_error(tmp_path):
    path = tmp_path / "many.mrp"
    path.write_text("".join(LINE.replace('"1"', f'"{number}"') for number in range(5000)))
    command = f"{sys.executable} -m perin convert {path} - | head -n 1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.count("\n"), done.stderr) == (0, 1, "")


def test_a_graph_that_does_not_fit_points_to_the_option_that_skips_it(tmp_path, capsys):
    (tmp_path / "in.mrp").write_text('{"id": "1", "framework": "amr"}\n')
    assert main(["convert", str(tmp_path / "in.mrp"), str(tmp_path / "out.eds")]) == 2
    assert "holds eds only; write mrp (--skip-errors leaves such graphs out)" in capsys.readouterr().err
