"""The verb evaluate, with a small random model that knows English EDS, AMR and UCCA."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from perin.commands.main import main
from perin.contract import Sentence
from perin.errors import InputError
from perin.graphs.codecs import dump, load
from perin.graphs.graph import Anchor, Edge, Graph, Node
from perin.parsing.parser import Parser

TEXTS = ("Kim sleeps.", "Dogs bark at Kim.", "We saw it.", "Why?", "Nobody knows whether they bark.", "It rains.")
OPTIONS = ["--threads", "1"]


def graph(number: int, name: str, text: str) -> Graph:
    """Two nodes and an edge."""
    end = text.index(" ") if " " in text else len(text) - 1
    anchors = ((Anchor(0, end),), (Anchor(end, len(text)),)) if name == "eds" else (None, None)
    nodes = (Node(0, "named", (), anchors[0]), Node(1, "verb", (), anchors[1]))
    return Graph(
        str(number), name, "eng", 1, 1.1, "2026-01-01", input=text, tops=(1,), nodes=nodes, edges=(Edge(1, 0, "ARG1"),)
    )


EDS = [graph(number, "eds", text) for number, text in enumerate(TEXTS)]
AMR = [graph(number, "amr", text) for number, text in enumerate(TEXTS)]


@pytest.fixture
def trained(folder):
    """The path of the model."""
    return str(folder)


@pytest.fixture
def write(tmp_path):
    def write(name: str, graphs: list[Graph]) -> str:
        dump(graphs, tmp_path / name)
        return str(tmp_path / name)

    return write


def printed(capsys) -> dict[str, object]:
    return json.loads(capsys.readouterr().out)


def without_seconds(found):
    if isinstance(found, dict):
        return {key: without_seconds(value) for key, value in found.items() if key != "seconds"}
    return [without_seconds(item) for item in found] if isinstance(found, list) else found


def test_the_score_is_that_of_the_file_it_writes(trained, write, tmp_path, capsys):
    """Two other verbs, parse and score, must come to the same numbers."""
    gold, output, parsed = write("gold.mrp", EDS), str(tmp_path / "out.mrp"), str(tmp_path / "parsed.mrp")
    assert main(["evaluate", trained, gold, "--json", "--output", output, *OPTIONS]) == 0
    found = printed(capsys)
    assert found["graphs"] == len(TEXTS)
    assert 0 < found["all"]["f"] < 1
    assert main(["score", gold, output, "--json"]) == 0
    assert without_seconds(printed(capsys)) == without_seconds(found)
    assert main(["parse", "--model", trained, "-i", gold, "-o", parsed, "--framework", "eds", *OPTIONS]) == 0
    undated = [[replace(each, time=None) for each in load(path)] for path in (output, parsed)]
    assert undated[0] == undated[1]


def test_a_table(trained, write, capsys):
    assert main(["evaluate", trained, write("gold.mrp", EDS), *OPTIONS]) == 0
    output, errors = capsys.readouterr()
    assert output.startswith(f"mrp: {len(TEXTS)} graphs, 0 missing, {len(TEXTS)} proven optimal")
    assert "anchors" in output
    assert not errors


def test_graphs_of_several_frameworks_in_one_file(trained, write, capsys):
    mixed = [each for pair in zip(AMR, EDS, strict=True) for each in pair]
    assert main(["evaluate", trained, write("gold.mrp", mixed), "--json", *OPTIONS]) == 0
    found = printed(capsys)
    assert [(block["framework"], block["graphs"]) for block in found["blocks"]] == [("amr", 6), ("eds", 6)]
    for graphs, block in zip((AMR, EDS), found["blocks"], strict=True):
        assert main(["evaluate", trained, write("gold.mrp", graphs), "--json", *OPTIONS]) == 0
        assert printed(capsys)["all"] == block["all"]


def test_gold_without_a_language(trained, write, capsys):
    assert main(["evaluate", trained, write("gold.mrp", EDS), "--json", *OPTIONS]) == 0
    known = printed(capsys)["all"]
    unknown = [replace(each, language=None) for each in EDS]
    assert main(["evaluate", trained, write("gold.mrp", unknown), "--json", *OPTIONS]) == 0
    assert printed(capsys)["all"] == known


def test_against_another_system(trained, write, tmp_path, capsys):
    gold, output = write("gold.mrp", EDS), str(tmp_path / "out.mrp")
    other = write("other.mrp", [*EDS[:-1], replace(EDS[-1], nodes=(), edges=(), tops=())])
    assert main(["evaluate", trained, gold, "--against", other, "--output", output, "--json", *OPTIONS]) == 0
    found = printed(capsys)
    assert list(found["systems"]) == [other, trained]
    assert main(["score", gold, other, output, "--json", "--confidence", "95"]) == 0
    plain = printed(capsys)
    assert found["contrasts"][trained] == plain["contrasts"]["out"]
    assert found["contrasts"][trained]["difference"] < 0
    assert without_seconds(found["systems"][trained]) == without_seconds(plain["systems"]["out"])
    assert main(["evaluate", trained, gold, "--against", other, *OPTIONS]) == 0
    output = capsys.readouterr().out
    assert f"against {other}" in output
    assert "macro F1" in output


def test_a_limit_holds_for_both_systems(trained, write, capsys):
    gold, other = write("gold.mrp", EDS), write("other.mrp", EDS)
    assert main(["evaluate", trained, gold, "--against", other, "--limit", "2", "--json", *OPTIONS]) == 0
    output, errors = capsys.readouterr()
    assert [system["graphs"] for system in json.loads(output)["systems"].values()] == [2, 2]
    assert not errors


CONLLU = "# sent_id = 0\n# text = Kim sleeps.\n1\tKim\tKim\t{rest}\n2\tsleeps.\tsleep\t{rest}\n\n"


def test_tokens_of_a_file(trained, write, tmp_path, monkeypatch, capsys):
    tokens = tmp_path / "tokens.conllu"
    tokens.write_text(CONLLU.format(rest="\t".join("_" * 7)))
    seen: list[Sentence] = []
    plain = Parser.stream

    def stream(self, texts, *arguments, **options):
        seen.extend(texts)
        return plain(self, texts, *arguments, **options)

    monkeypatch.setattr(Parser, "stream", stream)
    assert main(["evaluate", trained, write("gold.mrp", EDS[:2]), "--tokens", str(tokens), "--json", *OPTIONS]) == 0
    output, errors = capsys.readouterr()
    assert [token.form for token in seen[0].tokens] == ["Kim", "sleeps."]
    assert isinstance(seen[1], InputError)
    assert "graph 1: there are no tokens for this graph" in errors
    assert json.loads(output)["missing"] == 1


def test_texts_that_can_not_be_parsed_count_as_missing(trained, write, capsys):
    gold = write("gold.mrp", [EDS[0], replace(EDS[1], input="dogs " * 600)])
    assert main(["evaluate", trained, gold, "--json", *OPTIONS]) == 0
    output, errors = capsys.readouterr()
    assert json.loads(output)["missing"] == 1
    assert "warning: graph 1: 600 tokens, more than the limit" in errors


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--output", "{folder}/none/out.mrp"], "there is no folder"),
        (["--output", "{folder}/out.txt"], "can't tell the format"),
        (["--output", "{folder}/out.amr"], "can't hold graphs of eds"),
        (["--output", "{folder}/gold.mrp"], "can't be both read and written"),
        (["--against", "{folder}/none.mrp"], "no such file"),
        (["--tokens", "{folder}/none.conllu"], "no such file"),
        (["--budget", "0"], "--budget must be positive"),
    ],
)
def test_requests_that_can_not_work(trained, write, tmp_path, arguments, message, capsys):
    gold = write("gold.mrp", EDS)
    before = (tmp_path / "gold.mrp").read_bytes()
    assert main(["evaluate", trained, gold, *(part.format(folder=tmp_path) for part in arguments), *OPTIONS]) == 2
    output, errors = capsys.readouterr()
    assert not output
    assert message in errors
    assert [path.name for path in tmp_path.iterdir()] == ["gold.mrp"]
    assert (tmp_path / "gold.mrp").read_bytes() == before


def test_a_framework_that_the_model_lacks_and_a_model_that_is_none(trained, write, capsys):
    gold = write("gold.mrp", [replace(EDS[0], framework="drg")])
    assert main(["evaluate", trained, gold, *OPTIONS]) == 2
    assert "the model has eds-eng, amr-eng, ucca-eng; drg eng is none of them" in capsys.readouterr().err
    assert main(["evaluate", "nonsense", gold, *OPTIONS]) == 2
    assert "there is no folder nonsense" in capsys.readouterr().err


def test_calibration(tmp_path, capsys):
    gold = tmp_path / "gold.mrp"
    assert main(["parse", "--model", "eng", "Dogs bark.", "Cats sleep.", "-o", str(gold)]) == 0
    arguments = ["evaluate", "eng", str(gold), "--calibration", "-o", str(tmp_path / "graphs.mrp")]
    assert main(arguments) == 0
    lines = capsys.readouterr().out.splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("probability of"))
    assert [line.split()[0] for line in lines[start + 1 :]] == ["node", "label", "top", "edge", "edge"]
    assert "probability" not in (tmp_path / "graphs.mrp").read_text()
    assert main([*arguments[:-2], "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["calibration"]
    assert found["node"]["right"] == 1.0
    assert 0 < found["node"]["error"] < 0.5
