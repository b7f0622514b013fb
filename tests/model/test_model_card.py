from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

from perin.graphs.codecs.registry import dump
from perin.parsing.parser import Parser

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "model_card.py"


def test_a_model_is_written_as_it_is_shipped_with_a_card(parser, folder, texts, tmp_path):
    for name in ("eds", "amr", "ucca"):
        (tmp_path / f"{name}-eng").mkdir()
        graphs = parser.parse(texts[:2], name, probabilities=False, time="2026-01-31")
        dump([replace(graph, version=1.1) for graph in graphs], tmp_path / f"{name}-eng" / "dev.mrp.gz", "mrp")
    target = tmp_path / "eng"
    arguments = ["--data", tmp_path, "--output", target, "--threads", "1", "--note", "A toy."]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    subprocess.run([sys.executable, SCRIPT, folder, *arguments], check=True, capture_output=True, env=environment)
    card = (target / "README.md").read_text()
    assert card.startswith("# eng\n\nA toy.\n\nParses text to eds-eng, amr-eng, ucca-eng in one pass")
    rows = [line.strip("| ").split(" | ") for line in card.splitlines() if line.startswith("| eds-eng")]
    assert rows[0][2].startswith("MIT (delph-in/erg)")
    assert rows[1][:2] == ["eds-eng", "2"]
    assert float(rows[1][-2]) > 90
    assert "sentences a second" in card
    assert Parser.load(target).treebanks.keys() == parser.treebanks.keys()
