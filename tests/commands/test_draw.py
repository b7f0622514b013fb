"""perin draw."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from dataclasses import replace

import pytest

from perin.commands.draw import select
from perin.commands.main import main
from perin.errors import InputError
from perin.graphs import Anchor, Edge, Graph, Node, dump, dumps
from perin.graphs.drawing import svg, text

DOGS = Graph(
    "1",
    "eds",
    "eng",
    flavor=1,
    input="Dogs bark",
    tops=(0,),
    nodes=(Node(0, "bark", anchors=(Anchor(5, 9),)), Node(1, "dog", anchors=(Anchor(0, 4),))),
    edges=(Edge(0, 1, "ARG1"),),
)
CATS = replace(DOGS, id="2", input="Cats bark", nodes=(DOGS.nodes[0], replace(DOGS.nodes[1], label="cat")))


@pytest.fixture
def treebank(tmp_path):
    path = tmp_path / "dev.mrp"
    dump([DOGS, CATS, replace(DOGS, id="3")], path)
    return str(path)


def test_text_on_the_terminal(treebank, capsys):
    assert main(["draw", treebank, "--n", "1-2"]) == 0
    assert capsys.readouterr() == (text(DOGS) + "\n" + text(CATS), "")


def test_one_graph_by_id_or_number(treebank, tmp_path):
    for index, choice in enumerate((["--id", "2"], ["--n", "2"], ["--id=2", "--n=1-3"])):
        assert main(["draw", treebank, "-o", str(tmp_path / f"{index}.svg"), *choice]) == 0
        assert (tmp_path / f"{index}.svg").read_text(encoding="utf-8") == svg(CATS)


def test_themes_and_several_graphs(treebank, tmp_path):
    assert main(["draw", treebank, "-o", str(tmp_path / "all.svg"), "--theme", "dark"]) == 0
    assert (tmp_path / "all.svg").read_text(encoding="utf-8").count(">cat<") == 1
    assert "#ffffff" not in (tmp_path / "all.svg").read_text(encoding="utf-8")


def test_a_page(treebank, tmp_path):
    assert main(["draw", treebank, "-o", str(tmp_path / "all.html")]) == 0
    page = (tmp_path / "all.html").read_text(encoding="utf-8")
    assert "<title>dev.mrp</title>" in page
    assert page.count('"svg":') == 3


def test_the_format_can_be_said(treebank, tmp_path, capsys):
    assert main(["draw", treebank, "--n=1", "--to", "svg"]) == 0
    assert capsys.readouterr().out == svg(DOGS)
    assert main(["draw", treebank, "--n=1", "--to", "text", "-o", str(tmp_path / "drawing")]) == 0
    assert (tmp_path / "drawing").read_text(encoding="utf-8") == text(DOGS)


def test_standard_input(monkeypatch, capsys):
    line = io.TextIOWrapper(io.BufferedReader(io.BytesIO(dumps(DOGS).encode())))
    monkeypatch.setattr(sys, "stdin", line)
    assert main(["draw", "-", "--from", "mrp"]) == 0
    assert capsys.readouterr().out == text(DOGS)


def test_pictures_of_pixels(treebank, tmp_path):
    pytest.importorskip("typst", reason="the optional package typst is not installed")
    for suffix, magic in (("png", b"\x89PNG"), ("pdf", b"%PDF")):
        assert main(["draw", treebank, "-o", str(tmp_path / f"out.{suffix}")]) == 0
        assert (tmp_path / f"out.{suffix}").read_bytes().startswith(magic)


def test_pixels_on_standard_output(treebank, capsysbinary):
    pytest.importorskip("typst", reason="the optional package typst is not installed")
    assert main(["draw", treebank, "--n", "1", "--to", "png"]) == 0
    assert capsysbinary.readouterr().out.startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--id", "9"], "no graph of the id 9"),
        (["--n", "4"], "3 graphs only"),
        (["-o", "out.jpg"], "should end in one of"),
        (["other.mrp"], "--diff takes two files"),
        (["--diff"], "--diff takes two files"),
    ],
)
def test_requests_that_make_no_sense(treebank, tmp_path, monkeypatch, capsys, arguments, message):
    monkeypatch.chdir(tmp_path)
    assert main(["draw", treebank, *arguments]) == 2
    error = capsys.readouterr().err
    assert error.startswith("perin draw: error: ")
    assert message in error
    assert [path.name for path in tmp_path.iterdir()] == ["dev.mrp"]


@pytest.mark.parametrize("number", ["0", "x", "3-2", "-1"])
def test_numbers_that_are_none(treebank, number, capsys):
    with pytest.raises(SystemExit) as raised:
        main(["draw", treebank, f"--n={number}"])
    assert raised.value.code == 2
    assert "expected a number" in capsys.readouterr().err


def test_a_broken_file_leaves_nothing_behind(tmp_path, capsys):
    path = tmp_path / "broken.mrp"
    path.write_text(dumps(DOGS) + '{"id": "2", "nodes": [')
    for name in ("out.svg", "out.html"):
        assert main(["draw", str(path), "-o", str(tmp_path / name)]) == 2
        assert "broken.mrp:2: " in capsys.readouterr().err
    assert [found.name for found in tmp_path.iterdir()] == ["broken.mrp"]


def test_a_missing_package_is_named(treebank, tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "typst", None)
    assert main(["draw", treebank, "-o", str(tmp_path / "out.png")]) == 2
    assert "pip install 'perin[draw]'" in capsys.readouterr().err
    assert not (tmp_path / "out.png").exists()


def test_an_empty_file_is_worth_a_warning(tmp_path, capsys):
    (tmp_path / "empty.mrp").write_text("")
    assert main(["draw", str(tmp_path / "empty.mrp"), "-o", str(tmp_path / "out.html")]) == 0
    assert capsys.readouterr().err.endswith("empty.mrp is empty\n")
    assert (tmp_path / "out.html").exists()


def test_selecting_reads_no_further_than_needed():
    def endless():
        number = 0
        while True:
            number += 1
            assert number <= 3
            yield Graph(str(number))

    assert [graph.id for graph in select(endless(), "x", None, range(2, 4))] == ["2", "3"]
    with pytest.raises(InputError, match="no graph of the id 7"):
        list(select(endless(), "x", ["2", "7"], range(1, 4)))


def test_a_comparison(tmp_path, capsys):
    """Nodes are paired by what they are, not by their ids; graphs by id, framework and language."""
    gold, system = tmp_path / "gold.mrp", tmp_path / "system.mrp"
    dump([DOGS, CATS], gold)
    renamed = replace(DOGS, edges=(Edge(0, 1, "ARG2"),)).relabelled({0: 7, 1: 0})
    dump([replace(DOGS, framework="ptg", edges=()), renamed, replace(DOGS, id="3")], system)
    assert main(["draw", "--diff", str(gold), str(system)]) == 0
    captured = capsys.readouterr()
    assert captured.out == (
        "# 1 (eds) F1 83.3\n# Dogs bark\n▸ bark “bark”\n  ├─ −ARG1 → [1] dog “Dogs”\n  └─ +ARG2 → see [1] dog\n\n"
        "# 2 (eds) F1 0.0\n# Cats bark\n▸ −bark −top “bark”\n  └─ −ARG1 → −cat “Cats”\n"
    )
    warnings = captured.err.splitlines()
    assert len(warnings) == 2
    assert all(line.startswith("perin draw: warning: graph ") for line in warnings)
    assert main(["draw", "--diff", str(gold), str(system), "--id", "1", "-o", str(tmp_path / "diff.html")]) == 0
    assert "<title>gold.mrp and system.mrp</title>" in (tmp_path / "diff.html").read_text(encoding="utf-8")


def test_drawing_starts_fast():
    code = "import sys, json, perin.commands.draw; print(json.dumps(sorted(sys.modules)))"
    loaded = json.loads(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)
    assert not {"numpy", "scipy", "torch", "typst", "penman"} & set(loaded)
