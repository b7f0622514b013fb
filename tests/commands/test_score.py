"""The verb score."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from perin.commands.main import main

GOLD = [
    {"id": "1", "framework": "amr", "language": "eng", "nodes": [{"id": 0, "label": "a"}, {"id": 1, "label": "b"}]},
    {"id": "2", "framework": "eds", "language": "eng", "nodes": [{"id": 0, "label": "a"}]},
]


def lines(graphs):
    return "".join(json.dumps({"time": "2020-01-01", **graph}) + "\n" for graph in graphs)


@pytest.fixture
def gold(tmp_path):
    path = tmp_path / "gold.mrp"
    path.write_text(lines(GOLD))
    return str(path)


@pytest.fixture
def system(tmp_path):
    path = tmp_path / "system.mrp"
    path.write_text(lines([{**GOLD[0], "nodes": [{"id": 5, "label": "B"}]}]))
    return str(path)


def test_a_table(gold, system, capsys):
    assert main(["score", gold, system]) == 0
    output, errors = capsys.readouterr()
    assert output.startswith("mrp: 2 graphs, 1 missing, 2 proven optimal")
    assert "50.00" in output
    assert errors == "perin score: warning: graph 2: the system has no such graph (eds, eng)\n"


def test_many_warnings_are_counted(tmp_path, capsys):
    graphs = [{**GOLD[0], "id": str(number)} for number in range(50)]
    (tmp_path / "gold.mrp").write_text(lines(graphs))
    (tmp_path / "system.mrp").write_text(lines(graphs[:1]))
    assert main(["score", str(tmp_path / "gold.mrp"), str(tmp_path / "system.mrp")]) == 0
    errors = capsys.readouterr().err.splitlines()
    assert len(errors) == 4
    assert errors[2] == "perin score: warning: graph 3: the system has no such graph (amr, eng)"
    assert errors[3].startswith("perin score: warning: 46 more like this: the system has no such graph")


def test_nothing_to_compare_is_code_1(gold, tmp_path, capsys):
    (tmp_path / "other.mrp").write_text(lines([{**GOLD[0], "id": "elsewhere"}]))
    assert main(["score", gold, str(tmp_path / "other.mrp")]) == 1
    assert "nothing could be compared: no graph of other belongs to a gold graph" in capsys.readouterr().err


@pytest.mark.parametrize("metric", ["smatch", "ucca", "sdp"])
def test_a_metric_of_another_framework_is_refused(gold, metric, capsys):
    assert main(["score", gold, gold, "--metric", metric]) == 2
    assert f"{metric} is for " in capsys.readouterr().err


def test_json(gold, system, capsys):
    assert main(["score", gold, system, "--json", "--per-graph", "--confidence", "90"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["labels"] == {"g": 3, "s": 1, "c": 1, "p": 1.0, "r": 1 / 3, "f": 0.5}
    assert [graph["id"] for graph in found["per_graph"]] == ["1", "2"]
    assert found["per_graph"][0]["correspondence"] == [[1, 5]]
    assert found["confidence"]["percent"] == 90
    low, high = found["confidence"]["all"]
    assert low <= 0.5 <= high


@pytest.mark.parametrize("metric", ["mrp", "mrp-max", "smatch", "smatch-fine", "edm", "ucca", "sdp"])
def test_every_metric(tmp_path, metric, capsys):
    framework = {"edm": "eds", "ucca": "ucca", "sdp": "dm"}.get(metric, "amr")
    (tmp_path / "gold.mrp").write_text(lines([{**graph, "framework": framework} for graph in GOLD]))
    gold = str(tmp_path / "gold.mrp")
    assert main(["score", gold, gold, "--metric", metric, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["metric"] == metric
    assert main(["score", gold, gold, "--metric", metric, "--per-graph"]) == 0
    assert metric in capsys.readouterr().out


def test_several_systems(gold, system, tmp_path, capsys):
    assert main(["score", gold, system, gold, "--confidence", "95"]) == 0
    output = capsys.readouterr().out
    assert "cross-framework" in output
    assert "against system" in output
    assert main(["score", gold, system, gold, "--confidence", "95", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["systems"].keys() == {"system", "gold"}
    assert found["contrasts"]["gold"]["difference"] == pytest.approx(0.5)
    twin = tmp_path / "other" / "system.mrp"
    twin.parent.mkdir()
    twin.write_text(lines(GOLD))
    assert main(["score", gold, system, str(twin), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["systems"].keys() == {system, str(twin)}


def test_tables_of_one_system(gold, system, capsys):
    assert main(["score", gold, system, "--tables"]) == 0
    assert capsys.readouterr().out.count("\nsystem") == 2


def test_errors_to_a_file(gold, system, tmp_path, capsys):
    assert main(["score", gold, system, "--errors", str(tmp_path / "errors.json")]) == 0
    first, second = json.loads((tmp_path / "errors.json").read_text())
    assert first["labels"] == {"missing": [[0, "a"]], "surplus": []}
    assert second["labels"]["missing"] == [[0, "a"]]
    assert main(["score", gold, system, "--errors", str(tmp_path / "errors.html")]) == 0
    page = (tmp_path / "errors.html").read_text()
    assert page.startswith("<!DOCTYPE html>")
    assert '"id": "2"' in page.replace('":"', '": "')


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--errors", "x.json", "--metric", "edm"], "--errors needs to know which nodes correspond"),
        (["--budget", "-1"], "must be positive"),
        (["--budget", "nan"], "must be positive"),
        (["--confidence", "100"], "between 0 and 100"),
        (["--errors", "-"], "name of a file"),
        (["--errors", "no/such/folder/errors.html"], "there is no folder"),
    ],
)
def test_requests_that_make_no_sense_are_refused_before_the_work(gold, system, options, message, capsys):
    assert main(["score", gold, system, *options]) == 2
    errors = capsys.readouterr().err
    assert message in errors
    assert "warning" not in errors


def test_two_files_from_standard_input_or_with_errors(gold, system, capsys):
    assert main(["score", "-", "-"]) == 2
    assert "standard input" in capsys.readouterr().err
    assert main(["score", gold, system, gold, "--errors", "x.json"]) == 2
    assert "one SYSTEM" in capsys.readouterr().err


def test_broken_gold_is_an_error_and_broken_system_graphs_are_told(gold, tmp_path, capsys):
    broken = tmp_path / "broken.mrp"
    broken.write_text(lines(GOLD) + '{"id": "3", "nodes": [\n')
    assert main(["score", str(broken), gold]) == 2
    output, errors = capsys.readouterr()
    assert not output
    assert errors.startswith(f"perin score: error: {broken}:3: the JSON object is cut short")
    assert main(["score", gold, str(broken), "--json"]) == 0
    output, errors = capsys.readouterr()
    assert json.loads(output)["all"]["f"] == 1
    assert f"warning: {broken}:3: the JSON object is cut short" in errors


def test_what_could_not_be_proven_is_told(gold, capsys, monkeypatch):
    from perin.scoring.metrics import METRICS
    from perin.scoring.result import Comparison, Metric, Tally

    def compare(graph, other, seconds):
        unproven = graph.id == "1"
        return Comparison({"all": Tally(3, 3, 2)}, (), 2, 3 if unproven else 2, settled=False)

    monkeypatch.setitem(METRICS, "mrp", Metric("mrp", ("all",), "all", compare))
    assert main(["score", gold, gold, "--json"]) == 0
    output, errors = capsys.readouterr()
    assert json.loads(output)["exact"] == 1
    assert "graph 1: found 2 matches and proved that there are no more than 3 with a budget of 10 s" in errors
    assert "graph 2: counts by type are those of one of several" in errors


def test_help_starts_without_heavy_packages():
    code = "import sys; from perin.commands.main import main\ntry: main(['score', '--help'])\nexcept SystemExit: pass\n"
    code += "print([name for name in ('numpy', 'scipy', 'highspy', 'tqdm') if name in sys.modules])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.endswith("[]\n")
    assert "--budget SECONDS" in result.stdout
