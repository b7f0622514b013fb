"""What people guess: options in any order, and a flag that means the same in every verb."""

from __future__ import annotations

import argparse
import importlib

import pytest

from perin.commands.main import VERBS, main
from perin.graphs import load

GRAPH = '{"id": "1", "framework": "amr", "tops": [0], "nodes": [{"id": 0, "label": "rain-01"}], "edges": []}\n'


@pytest.fixture
def mrp(tmp_path):
    path = tmp_path / "in.mrp"
    path.write_text(GRAPH)
    return path


def options(verb: str) -> dict[str, argparse.Action]:
    parser = argparse.ArgumentParser()
    importlib.import_module(f"perin.commands.{verb.replace('-', '_')}").configure(parser)
    return {name: action for action in parser._actions for name in action.option_strings}


@pytest.mark.parametrize("verb", VERBS)
def test_a_flag_means_the_same_everywhere(verb):
    found = options(verb)
    for one, other in (("--threads", "--jobs"), ("-o", "--output"), ("-i", "--input")):
        assert (one in found) == (other in found), f"perin {verb} has only one of {one}, {other}"
        assert found.get(one) is found.get(other)


@pytest.mark.parametrize("verb", ["score", "rules", "train"])
def test_a_number_of_threads_is_at_least_one(verb, capsys):
    with pytest.raises(SystemExit) as stopped:
        main([verb, "x", "y", "--jobs", "0"])
    assert stopped.value.code == 2
    assert "expected a number of at least 1" in capsys.readouterr().err


def test_what_stands_after_two_dashes_is_no_option(capsys):
    assert main(["tokens", "--language", "eng", "Go.", "--", "-5 --json"]) == 0
    assert capsys.readouterr().out.splitlines()[-3:-1] == ["3\t5\t--\t--", "5\t9\tjson\tjson"]


def test_convert_with_options_between_the_files(mrp, tmp_path):
    assert main(["convert", str(mrp), "--to", "Penman", str(tmp_path / "out.txt")]) == 0
    assert "rain-01" in (tmp_path / "out.txt").read_text()
    assert main(["convert", "-o", str(tmp_path / "out.dot"), "-i", str(mrp)]) == 0
    assert main(["convert", str(mrp), "-o", str(tmp_path / "out.amr")]) == 0
    assert [graph.id for graph in load(tmp_path / "out.amr")] == ["1"]


def test_convert_to_standard_output(mrp, capsys):
    assert main(["convert", str(mrp), "--to", "amr"]) == 0
    assert "rain-01" in capsys.readouterr().out


def test_convert_with_a_file_too_many(mrp, capsys):
    assert main(["convert", "-i", str(mrp), "a.amr", "b.amr"]) == 2
    assert "b.amr: one file too many" in capsys.readouterr().err


def test_an_unknown_format_names_the_known_ones(mrp, capsys):
    with pytest.raises(SystemExit):
        main(["convert", str(mrp), "--to", "xyz"])
    assert "unknown format 'xyz'; known are: mrp, amr" in capsys.readouterr().err


def test_draw_with_options_between_the_files(mrp, tmp_path, capsys):
    assert main(["draw", str(mrp), "--diff", str(mrp)]) == 0
    assert main(["draw", "-i", str(mrp), "-o", str(tmp_path / "x.svg")]) == 0
    assert (tmp_path / "x.svg").read_text().startswith("<svg")
    capsys.readouterr()
    assert main(["draw", str(mrp), str(mrp)]) == 2
    assert "two files need --diff" in capsys.readouterr().err
    assert main(["draw"]) == 2
    assert "name the file of graphs" in capsys.readouterr().err


def test_convert_goes_on_after_errors(tmp_path, capsys):
    bad = '{"id": "2", "framework": "amr", "tops": [7], "nodes": [{"id": 0, "label": "a"}]}\nnonsense\n'
    eds = GRAPH.replace('"1"', '"3"').replace("amr", "eds")
    (tmp_path / "in.mrp").write_text(GRAPH + bad + eds + GRAPH.replace('"1"', '"4"'))
    arguments = ["convert", str(tmp_path / "in.mrp"), str(tmp_path / "out.amr")]
    assert main(arguments) == 2
    assert not (tmp_path / "out.amr").exists()
    capsys.readouterr()
    assert main([*arguments, "--skip-errors"]) == 1
    assert [graph.id for graph in load(tmp_path / "out.amr")] == ["1", "4"]
    told = capsys.readouterr().err.splitlines()
    assert [line.startswith("perin convert: skipped: ") for line in told] == [True, True, True, False]
    assert told[-1] == "perin convert: 2 converted, 3 skipped"
