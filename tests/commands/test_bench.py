from __future__ import annotations

import json

import pytest

from perin.commands.bench import SAMPLE
from perin.commands.main import main


def test_figures(folder, capsys, tmp_path):
    (tmp_path / "x.txt").write_text("It rains.\n\nThe dog sleeps.\n" + "word " * 900 + "\n")
    arguments = ["bench", str(folder), str(tmp_path / "x.txt"), "--threads", "1", "--framework", "all"]
    assert main([*arguments, "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert figures["treebanks"] == ["eds-eng", "amr-eng", "ucca-eng"]
    assert (figures["sentences"], figures["tokens"], figures["threads"]) == (2, 7, 1)
    assert list(figures["parts"]) == ["prepare", "encoder", "decoder and heads", "graph decoding"]
    assert all(figures[name] > 0 for name in ("start", "first", "latency", "seconds"))


def test_table_of_the_sample(folder, capsys, monkeypatch):
    monkeypatch.setattr("perin.commands.bench.COPIES", 1)
    assert main(["bench", str(folder), "--threads", "1"]) == 0
    rows = dict(line.split("  ", 1) for line in capsys.readouterr().out.splitlines())
    assert rows["treebanks"].strip() == "eds-eng"
    assert rows["sentences"].strip().startswith(f"{len(SAMPLE.strip().splitlines())} (")
    assert {"sentences per second", "tokens per second", "start-up", "peak memory", "encoder"} <= set(rows)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["no-such-model"], "there is no folder no-such-model"),
        (["MODEL", "missing.txt"], "the measurement failed: missing.txt: no such file"),
        (["MODEL", "--framework", "ptg"], "ptg is none of them"),
    ],
)
def test_what_can_not_be_measured(folder, capsys, arguments, message):
    assert main(["bench", *(str(folder) if argument == "MODEL" else argument for argument in arguments)]) == 2
    assert message in capsys.readouterr().err
