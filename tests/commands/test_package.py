"""``perin package`` makes a folder that can be shipped."""

from __future__ import annotations

import importlib.util
import json
from dataclasses import replace
from pathlib import Path

import pytest

from perin.commands.main import main
from perin.graphs.codecs import dump
from perin.graphs.graph import Edge, Graph, Node, Property
from perin.model.packaging import read_card
from perin.parsing.parser import Parser

_path = Path(__file__).parents[1] / "parsing" / "conftest.py"
_spec = importlib.util.spec_from_file_location("models_of_the_parser_tests", _path)
_models = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_models)
model, folder, texts, parser = _models.model, _models.folder, _models.texts, _models.parser


@pytest.fixture(scope="module")
def data(parser, texts, tmp_path_factory):
    """Treebanks whose dev graphs are what the parser says."""
    place = tmp_path_factory.mktemp("data")
    for name in ("eds", "amr", "ucca"):
        (place / f"{name}-eng").mkdir()
        graphs = parser.parse(texts[:3], name, probabilities=False, time="2026-01-31")
        dump([replace(graph, version=1.1) for graph in graphs], place / f"{name}-eng" / "dev.mrp.gz", "mrp")
    return place


def test_a_model_is_written_with_a_card(folder, data, tmp_path, capsys):
    target = tmp_path / "toys"
    arguments = [str(folder), "-o", str(target), "--data", str(data), "--limit", "2", "-j", "1", "--note", "A toy."]
    assert main(["package", *arguments]) == 0
    card = (target / "README.md").read_text()
    printed = capsys.readouterr()
    assert printed.out == card
    assert "8 bits, also in heads  eds-eng" in printed.err
    assert card.startswith("# toys\n\nA toy.\n\nParses text to eds-eng, amr-eng, ucca-eng in one pass")
    assert "| eds-eng | English Resource Grammar" in card
    found = read_card(target)
    assert [treebank.name for treebank in found.treebanks] == ["eds-eng", "amr-eng", "ucca-eng"]
    assert found.treebanks[0].f1["all"] > 90
    assert found.treebanks[0].ceiling is not None
    config = json.loads((target / "config.json").read_text())
    assert config["notes"]["dev"]["eds-eng"]["all"] == pytest.approx(found.treebanks[0].f1["all"] / 100, abs=1e-4)
    temperatures = {name: entry["temperatures"] for name, entry in config["treebanks"].items()}
    assert all(each.keys() <= {"node", "label", "top", "edge", "edge_label"} for each in temperatures.values())
    assert Parser.load(target).treebanks.keys() == {"eds-eng", "amr-eng", "ucca-eng"}


def test_scores_are_kept_as_long_as_they_hold(folder, data, tmp_path):
    first, again, other = (tmp_path / name for name in ("first", "again", "other"))
    options = ["--data", str(data), "--limit", "2", "-j", "1", "--bits", "8", "--quantize-heads", "eds-eng"]
    assert main(["package", str(folder), "-o", str(first), *options]) == 0
    before = {each.name: each for each in read_card(first).treebanks}
    assert all(each.f1 and each.ceiling is not None for each in before.values())
    assert main(["package", str(first), "-o", str(again), "--treebanks", "eds-eng", "amr-eng"]) == 0
    assert [before[each.name] for each in read_card(again).treebanks] == list(read_card(again).treebanks)
    assert "| eds-eng | – |" in (again / "README.md").read_text()
    assert main(["package", str(first), "-o", str(other), "--bits", "8", "--quantize-heads", "ucca-eng"]) == 0
    assert [each.name for each in read_card(other).treebanks if each.f1] == ["amr-eng"]


def test_a_model_gets_the_signatures_of_its_training_graphs(folder, tmp_path):
    nodes = (Node(0, "compound"), Node(1, "named", (Property("CARG", "Tom"),)))
    train = [Graph(str(number), "eds", "eng", 1, nodes=nodes, edges=(Edge(0, 1, "ARG1"),)) for number in range(40)]
    (tmp_path / "data" / "eds-eng").mkdir(parents=True)
    dump(train, tmp_path / "data" / "eds-eng" / "train-more.mrp.gz", "mrp")
    (tmp_path / "data" / "eds-eng" / "train.conllu.gz").write_bytes(b"no graphs")
    target = tmp_path / "toys"
    assert main(["package", str(folder), "-o", str(target), "--data", str(tmp_path / "data"), "--no-scores"]) == 0
    words = Parser.load(target).treebanks["eds-eng"].vocabulary
    assert words.signatures.barred["compound"] == ("CARG",)


def test_without_data_nothing_is_measured(folder, tmp_path):
    target = tmp_path / "toys"
    arguments = [
        str(folder),
        "-o",
        str(target),
        "--bits",
        "8",
        "--treebanks",
        "ucca-eng",
        "--quantize-heads",
        "ucca-eng",
    ]
    assert main(["package", *arguments]) == 0
    assert "## Scores" not in (target / "README.md").read_text()
    config = json.loads((target / "config.json").read_text())
    assert (list(config["treebanks"]), config["quantization"]) == (["ucca-eng"], {"bits": 8, "heads": ["ucca-eng"]})
    assert Parser.load(target).model.bits == 8


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--bits", "auto"], "--bits auto needs dev graphs"),
        (["--treebanks", "drg-eng"], "the model has eds-eng, amr-eng, ucca-eng; drg-eng is none of them"),
        (["--quantize-heads", "eds-eng"], "goes with --bits 8"),
        (["--bits", "8", "--quantize-heads", "drg-eng"], "drg-eng is none of them"),
        (["--data", "/no/such/folder"], "there is no folder"),
    ],
)
def test_what_can_t_be_done_leaves_nothing(folder, tmp_path, capsys, arguments, message):
    assert main(["package", str(folder), "-o", str(tmp_path / "x"), *arguments]) == 2
    assert message in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_folders_that_exist_are_not_written_to(folder, tmp_path, capsys):
    assert main(["package", str(folder), "-o", str(tmp_path)]) == 2
    assert "exists already" in capsys.readouterr().err
