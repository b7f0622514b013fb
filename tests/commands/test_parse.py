from __future__ import annotations

import gzip
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import time

import pytest

from perin.commands.main import main
from perin.graphs import load
from perin.graphs.codecs import FORMATS
from perin.graphs.validation import findings

SENTENCES = "The dog sleeps.\n\n \t\nKim saw dogs.\n"
CONLLU = """\
# sent_id = a
# text = Dogs bark
1\tDogs\tdog\t_\t_\t_\t_\t_\t_\t_
2\tbark\tbark\t_\t_\t_\t_\t_\t_\t_

# sent_id = b
1\tDogs\tdog

# sent_id = c
# text = Go
1\tGo\tgo\t_\t_\t_\t_\t_\t_\t_
"""


@pytest.fixture
def run(folder, capsysbinary, monkeypatch):
    """Runs ``perin parse`` with the small model; returns exit code, output and messages."""

    def parse(*arguments, stdin=b"", model=folder):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(stdin))))
        code = main(["parse", *map(str, arguments), "--model", str(model), "--threads", "1"])
        captured = capsysbinary.readouterr()
        return code, captured.out.decode(), captured.err.decode()

    return parse


def ids(text):
    return [json.loads(line)["id"] for line in text.splitlines()]


def test_text_as_argument(run):
    code, out, err = run("The dog sleeps.", "Kim saw dogs.", "--time", "2026-01-31")
    assert (code, err) == (0, "")
    graphs = [json.loads(line) for line in out.splitlines()]
    assert [(graph["id"], graph["input"]) for graph in graphs] == [("1", "The dog sleeps."), ("2", "Kim saw dogs.")]
    assert {graph["time"] for graph in graphs} == {"2026-01-31"}


def test_a_file_is_parsed_by_its_name(run, tmp_path):
    (tmp_path / "notes.txt").write_text(SENTENCES)
    code, out, err = run(tmp_path / "notes.txt", "--time", "2026-01-31")
    assert (code, ids(out), err) == (0, ["1", "4"], "")
    assert out == run("-i", tmp_path / "notes.txt", "--time", "2026-01-31")[1]
    code, _, err = run(tmp_path / "notes.txt", tmp_path / "notes.txt")
    assert (code, "several files" in err) == (2, True)


def test_a_name_of_no_file_is_a_sentence_with_a_hint(run):
    code, out, err = run("notes.txt", "Go.")
    assert (code, ids(out)) == (0, ["1", "2"])
    assert err == "perin parse: warning: there is no file notes.txt; it is taken for a sentence\n"


def test_options_stand_anywhere(run):
    code, out, _ = run("Go.", "--framework", "amr", "Stop.", "--time", "2026-01-31", "Run.")
    assert (code, ids(out)) == (0, ["1", "2", "3"])


@pytest.mark.parametrize(
    ("asked", "frameworks"), [("AMR", ["amr"]), ("ucca,EDS", ["ucca", "eds"]), ("All", ["eds", "amr", "ucca"])]
)
def test_frameworks_in_any_case_and_several(run, asked, frameworks):
    code, out, _ = run("Go.", "--framework", asked)
    assert (code, [json.loads(line)["framework"] for line in out.splitlines()]) == (0, frameworks)


def test_a_framework_that_the_model_does_not_have(run):
    code, out, err = run("Go.", "--framework", "eds,ptg")
    assert (code, out) == (2, "")
    assert "the model has eds-eng, amr-eng, ucca-eng; ptg is none of them" in err


def test_the_format_tells_the_framework(run, tmp_path):
    assert run("Go.", "--to", "penman")[:2] == run("Go.", "--to", "penman", "--framework", "amr")[:2]
    assert run("Go.", "-o", tmp_path / "x.xml")[0] == 0
    assert [graph.framework for graph in load(tmp_path / "x.xml")] == ["ucca"]
    code, _, err = run("Go.", "--to", "penman", "--framework", "eds")
    assert code == 2
    assert "the format amr can't hold graphs of eds" in err


def test_penman_is_a_name_of_amr(run):
    code, out, _ = run("Go.", "--framework", "amr", "--to", "PENMAN")
    assert code == 0
    assert out.startswith("# ::id 1")


def test_hard_wrapped_text_is_split(run, tmp_path):
    (tmp_path / "x.txt").write_text(
        "Kim saw\ndogs. It rained. We\nwent. Go.\n\n\nA title\n\nAll in one line. Really.\n"
    )
    code, out, _ = run(tmp_path / "x.txt", "--split")
    found = [(json.loads(line)["id"], json.loads(line)["input"]) for line in out.splitlines()]
    assert code == 0
    assert found == [
        ("1.1", "Kim saw dogs."),
        ("2.1", "It rained."),
        ("2.2", "We went."),
        ("3.1", "Go."),
        ("6.1", "A title"),
        ("8.1", "All in one line."),
        ("8.2", "Really."),
    ]


def test_long_running_text_is_not_held_in_memory(run, tmp_path, monkeypatch):
    monkeypatch.setattr("perin.parsing.reading._LONG_PARAGRAPH", 2)
    (tmp_path / "x.txt").write_text("Go\non. Kim saw\ndogs.\nGo\non.\n")
    code, out, _ = run(tmp_path / "x.txt", "--split")
    assert (code, ids(out)) == (0, ["1.1", "2.1", "4.1"])


def test_a_text_in_another_language_is_warned_of(run):
    code, _, err = run("Wir haben heute leider keine Zeit für das.")
    assert code == 0
    assert err.startswith("perin parse: warning: the text looks like deu, but the model is for eng; try --language deu")
    code, _, err = run("Nous avons le temps, mais il n'est pas dans la maison.")
    assert "looks like fra, but the model is for eng; no model in the box is for fra" in err
    assert run("We have no time for this, and they will not have it.")[2] == ""


@pytest.mark.parametrize("arguments", [(), ("-i", "-")])
def test_standard_input_is_read_line_by_line(run, arguments):
    code, out, err = run(*arguments, stdin=SENTENCES.encode())
    assert (code, ids(out), err) == (0, ["1", "4"], "")


def test_a_file_to_a_file(run, tmp_path):
    (tmp_path / "in.txt").write_text(SENTENCES)
    assert run("-i", tmp_path / "in.txt", "-o", tmp_path / "out.mrp", "--batch", 1) == (0, "", "")
    assert [graph.id for graph in load(tmp_path / "out.mrp")] == ["1", "4"]


@pytest.mark.parametrize("format", [*FORMATS, "text", "svg", "html", "png", "pdf"])
def test_every_format_is_written_or_refused(run, tmp_path, format):
    framework = format if format in ("amr", "eds", "ucca") else "eds"
    target = tmp_path / "out"
    code, _, err = run("Go", "--to", format, "--framework", framework, "-o", target)
    if format in ("drg", "sbn", "umr"):
        assert code == 2
        assert "error: the format" in err
        assert not target.exists()
    else:
        assert err == ""
        assert code == 0
        assert target.stat().st_size > 20


def test_formats_on_standard_output(run):
    assert run("The dog sleeps.", "--to", "text")[1].startswith("# 1 (eds)\n# The dog sleeps.\n")
    assert run("The dog sleeps.", "--to", "amr", "--framework", "amr")[1].startswith("# ::id 1\n")


def test_all_frameworks_of_a_model(run):
    code, out, _ = run("The dog sleeps.", "--framework", "all")
    assert code == 0
    assert [json.loads(line)["framework"] for line in out.splitlines()] == ["eds", "amr", "ucca"]


def test_languages(run):
    assert run("The dog sleeps.", "--language", "en")[0] == 0
    code, out, err = run("Der Hund.", "--language", "deu")
    assert (code, out) == (2, "")
    assert err == "perin parse: error: the model has eds-eng, amr-eng, ucca-eng; deu is none of them\n"


def test_tokens(run, tmp_path):
    (tmp_path / "x.txt").write_text(CONLLU)
    code, out, err = run("--tokens", tmp_path / "x.txt")
    assert (code, ids(out)) == (1, ["a", "c"])
    assert err.splitlines()[0].startswith(f"perin parse: {tmp_path / 'x.txt'}:7: graph")
    assert err.splitlines()[1] == "perin parse: 1 of 3 sentences failed"


def test_companion_tokens(run, tmp_path):
    nodes = [{"id": 0, "label": "Dogs", "anchors": [{"from": 0, "to": 4}]}]
    graphs = [
        {"id": id, "framework": framework, "flavor": 0, "input": "Dogs", "nodes": nodes, "edges": []}
        for id, framework in (("x", "ud"), ("y", "dm"), ("z", "ud"))
    ]
    (tmp_path / "x.mrp").write_text("".join(json.dumps(graph) + "\n" for graph in graphs))
    code, out, err = run("--tokens", tmp_path / "x.mrp")
    assert (code, ids(out)) == (1, ["x", "z"])
    assert "x.mrp:2: graph y: no companion graph: its framework is 'dm' instead of 'ud'" in err


def test_running_text_is_split(run, tmp_path):
    (tmp_path / "x.txt").write_text("Go. Stop!\n\nIt rains.\n")
    assert ids(run("-i", tmp_path / "x.txt", "--split")[1]) == ["1.1", "1.2", "3.1"]
    assert ids(run("Go. Stop!", "It rains.", "--split")[1]) == ["1.1", "1.2", "2.1"]


def test_one_bad_sentence_does_not_stop_the_others(run, tmp_path):
    (tmp_path / "x.txt").write_bytes(b"It rains.\n" + b"word " * 5000 + b"\nna\xefve\nDogs bark.\n")
    code, out, err = run("-i", tmp_path / "x.txt")
    assert (code, ids(out)) == (1, ["1", "4"])
    assert err.splitlines() == [
        "perin parse: graph 2: 5000 tokens, more than the limit of 500; split it or raise the limit",
        f"perin parse: {tmp_path / 'x.txt'}: graph 3: byte 3 of the line is not UTF-8 (0xef); "
        "convert the file to UTF-8",
        "perin parse: 2 of 4 sentences failed",
    ]
    code, out, err = run("-i", tmp_path / "x.txt", "--empty-on-error")
    assert (code, ids(out)) == (1, ["1", "2", "3", "4"])
    assert [len(json.loads(line)["nodes"]) for line in out.splitlines()][1:3] == [1, 1]


def test_a_higher_limit_lets_long_sentences_through(run):
    assert run("word " * 40, "--longest", "39")[0] == 1
    assert run("word " * 40, "--longest", "40")[0] == 0


def test_other_scripts_and_control_characters_give_valid_graphs(run, tmp_path):
    lines = ["你好，世界。", "مرحبا بالعالم", "Здравствуй, мир!", "a\x07b \x1b[31m c\x7f", "\u202eabc\ufeff 🏳️‍🌈"]
    (tmp_path / "x.txt").write_text("\n".join(lines))
    assert run("-i", tmp_path / "x.txt", "-o", tmp_path / "x.mrp", "--framework", "all") == (0, "", "")
    graphs = list(load(tmp_path / "x.mrp"))
    assert [graph.input for graph in graphs] == [line for line in lines for _ in range(3)]
    assert [finding for graph in graphs for finding in findings(graph) if finding.severity == "error"] == []


def test_binary_files_are_refused_and_nothing_is_written(run, tmp_path):
    (tmp_path / "x.bin").write_bytes(bytes(range(256)) * 10)
    code, out, err = run("-i", tmp_path / "x.bin", "-o", tmp_path / "out.mrp")
    assert (code, out) == (2, "")
    assert "is no text but binary data" in err
    assert not (tmp_path / "out.mrp").exists()


def test_nothing_to_parse_is_worth_a_word(run):
    assert run(stdin=b"\n \n") == (0, "", "perin parse: warning: there is nothing to parse\n")
    assert run("") != (0, "", "")


def test_probabilities_need_mrp(run):
    code, out, _ = run("The dog sleeps.", "--probabilities")
    assert code == 0
    assert all(0 <= node["probability"] <= 1 for node in json.loads(out)["nodes"])
    code, out, err = run("The dog sleeps.", "--probabilities", "--to", "eds")
    assert (code, out) == (2, "")
    assert err == "perin parse: error: the format eds can't hold probabilities; write mrp\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["x", "-i", "y.txt"], "one of them only"),
        (["-i", "missing.txt"], "missing.txt: no such file"),
        (["x", "-o", "."], ". is a folder; name a file"),
        (["x", "-o", "no/x.mrp"], "there is no folder no"),
        (["x", "-o", "x.xyz"], "can't tell the format"),
        (["x", "--framework", "drg"], "drg is none of them"),
        (["x", "--time", "today"], "'today' is no date"),
        (["x", "--resume"], "can be resumed"),
    ],
)
def test_requests_that_make_no_sense(run, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_file_can_not_be_read_and_written(run, tmp_path):
    (tmp_path / "x.txt").write_text("It rains.\n")
    code, _, err = run("-i", tmp_path / "x.txt", "-o", tmp_path / "x.txt", "--to", "mrp")
    assert (code, (tmp_path / "x.txt").read_text()) == (2, "It rains.\n")
    assert "can't be both read and written" in err


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("weights.safetensors", None, "weights.safetensors is missing"),
        ("weights.safetensors", b"\x00\x01", "weights.safetensors is damaged"),
        ("config.json", None, "config.json is missing"),
        ("config.json", b"{", "config.json can't be read"),
        ("config.json", b"\xff\xfe", "config.json can't be read"),
        ("config.json", b"[]", "contains no JSON object"),
        ("config.json", b'{"format": 99}', "has format 99, this PERIN reads up to 3; run: pip install -U perin"),
        ("vocabularies/eds-eng.json", None, "eds-eng.json is missing"),
        ("vocabularies/eds-eng.json", b"{}", "eds-eng.json is damaged"),
    ],
)
def test_broken_models(run, folder, tmp_path, file, content, message):
    broken = tmp_path / "model"
    shutil.copytree(folder, broken)
    (broken / file).unlink()
    if content is not None:
        (broken / file).write_bytes(content)
    code, out, err = run("x", model=broken)
    assert (code, out) == (2, "")
    assert err.startswith("perin parse: error: ")
    assert message in err
    assert err.count("\n") == 1


def test_weights_that_are_cut_short(run, folder, tmp_path):
    broken = tmp_path / "model"
    shutil.copytree(folder, broken)
    whole = (broken / "weights.safetensors").read_bytes()
    (broken / "weights.safetensors").write_bytes(whole[: len(whole) // 2])
    code, _, err = run("x", model=broken)
    assert code == 2
    assert "weights.safetensors is damaged" in err


def test_no_such_model(run):
    code, out, err = run("x", model="no-such-model")
    assert (code, out) == (2, "")
    assert "there is no folder no-such-model, and no model in the box has this name" in err


def heed_interrupts():
    """Even if these tests run in the background of a shell, which makes its processes ignore interrupts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_interrupted_and_gone_on_with(folder, tmp_path):
    """The first run waits for more input when it is interrupted."""
    source, target = tmp_path / "in.txt", tmp_path / "out.mrp"
    lines = "".join(f"The dog number {number} sleeps.\n" for number in range(300))
    source.write_text(lines)
    arguments = ["parse", "--model", str(folder), "--time", "2026-01-31", "--threads", "1"]
    command = [sys.executable, "-m", "perin", *arguments, "-o", str(target)]
    options = {"stdin": subprocess.PIPE, "stderr": subprocess.PIPE, "preexec_fn": heed_interrupts}
    with subprocess.Popen(command, env={**os.environ, "OMP_NUM_THREADS": "1"}, **options) as process:
        process.stdin.write(lines.encode())
        process.stdin.flush()
        while process.poll() is None and not (target.exists() and target.stat().st_size):
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        message = process.communicate()[1].decode()
    assert process.returncode == 130
    assert "Traceback" not in message
    raw = target.read_bytes()
    assert raw.endswith(b"\n")
    assert 0 < raw.count(b"\n") < 300
    target.write_bytes(raw[:-7])
    arguments += ["-i", str(source), "-o"]
    assert main([*arguments, str(target), "--resume"]) == 0
    assert main([*arguments, str(tmp_path / "whole.mrp")]) == 0
    assert target.read_bytes() == (tmp_path / "whole.mrp").read_bytes()
    assert target.read_bytes().count(b"\n") == 300


def test_gzip_in_and_out(run, tmp_path):
    (tmp_path / "x.txt.gz").write_bytes(gzip.compress(b"It rains.\n"))
    assert run("-i", tmp_path / "x.txt.gz", "-o", tmp_path / "x.mrp.gz") == (0, "", "")
    assert ids(gzip.decompress((tmp_path / "x.mrp.gz").read_bytes()).decode()) == ["1"]
