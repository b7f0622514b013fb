"""``perin parse-corpus`` with a small model."""

from __future__ import annotations

import json

import pytest

from perin.commands.main import main


@pytest.fixture
def run(folder, tmp_path, capsys):
    def parse(*arguments):
        options = ["--model", str(folder), "--framework", "eds", "--workers", "1", "--longest", "20"]
        code = main(["parse-corpus", *map(str, arguments), str(tmp_path / "out"), *options])
        return code, capsys.readouterr().err

    return parse


def test_a_file(run, tmp_path):
    (tmp_path / "a.txt").write_text("The dog sleeps.\n\nKim saw dogs.\n" + "word " * 30 + "\n")
    code, err = run(tmp_path / "a.txt", "--shards", 2)
    assert code == 1
    assert err.splitlines() == [
        "perin parse-corpus: 2 of 2 shards done: 2 sentences parsed, 1 failed",
        "perin parse-corpus: 1 failed: N tokens, more than the limit of N; split it or raise the limit",
    ]
    lines = [line for path in sorted(tmp_path.glob("out/*.mrp")) for line in path.read_text().splitlines()]
    assert [json.loads(line)["id"] for line in lines] == ["a.txt:1", "a.txt:3"]


def test_no_file(run, tmp_path):
    code, err = run(tmp_path / "none.txt")
    assert code == 2
    assert err == f"perin parse-corpus: error: {tmp_path}/none.txt: no such file\n"
