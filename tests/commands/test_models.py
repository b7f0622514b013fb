from __future__ import annotations

import json
import subprocess
import sys

from perin.commands.main import main
from perin.model import bundled
from perin.model.packaging import cards, read_card


def test_what_is_in_the_box(capsys):
    assert main(["models"]) == 0
    header, *rows = capsys.readouterr().out.splitlines()
    assert header.split() == ["model", "language", "framework", "F1", "ceiling", "weakest", "size"]
    assert len(rows) == sum(len(card.treebanks) for card in cards())
    assert [row.split()[0] for row in rows if not row.startswith(" ")] == bundled()


def test_json_and_markdown_say_the_same(capsys):
    assert main(["models", "--json"]) == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert main(["models", "--markdown"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1] == "| --- | --- | --- | --- | --- | --- | --- |"
    scores = [f"{treebank['f1']['all']:.1f}" for model in found for treebank in model["treebanks"].values()]
    assert [line.split(" | ")[3] for line in lines[2:]] == scores


def test_a_card_is_read(tmp_path):
    (tmp_path / "config.json").write_text('{"treebanks": {"eds-eng": {}, "umr-eng": {}}}')
    (tmp_path / "README.md").write_text(
        "# x\n\n## Scores\n\n| treebank | graphs | tops | edges | attributes | all | ceiling |\n"
        "|---|---|---|---|---|---|---|\n"
        "| eds-eng | 617 | 90.00 | 80.15 | – | 85.31 | 99.94 |\n\n## Speed\n\n| a | b |\n"
    )
    card = read_card(tmp_path)
    eds, umr = card.treebanks
    assert (eds.framework, eds.language, eds.f1["all"], eds.ceiling, eds.weakest) == (
        "eds",
        "eng",
        85.31,
        99.94,
        "edges",
    )
    assert (umr.name, umr.f1, umr.weakest) == ("umr-eng", {}, None)
    assert card.size == sum(path.stat().st_size for path in tmp_path.iterdir())


def test_no_model_is_loaded():
    code = "import sys; from perin.commands.main import main; main(['models']); print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.splitlines()[-1] == "False"
