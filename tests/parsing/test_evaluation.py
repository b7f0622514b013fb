"""What a parser's graphs are worth, and what follows from that for a model."""

from __future__ import annotations

from dataclasses import replace

import pytest

from perin.model.folder import ModelFolder, Quantization
from perin.parsing import evaluation
from perin.parsing.evaluation import choose_quantization, dev_graphs, dev_scores


@pytest.fixture
def gold(parser, texts):
    return {
        f"{name}-eng": [replace(graph, version=1.1) for graph in parser.parse(texts * 4, name, probabilities=False)]
        for name in ("eds", "amr")
    }


def test_a_parser_agrees_with_itself(parser, gold):
    found = dev_scores(parser, gold["eds-eng"][:5], budget=2.0)
    assert found.graphs == 5
    assert found.f1["all"] == 1.0
    assert "attributes" not in found.f1


def test_eight_bits_unless_they_cost_something(folder, gold, monkeypatch):
    read = ModelFolder.read(folder)
    lines = []
    assert choose_quantization(read, gold, threads=1, budget=2.0, report=lines.append).bits in (8, 32)
    assert [line.partition("  ")[0] for line in lines] == ["32 bits", "8 bits", "8 bits, also in heads"]

    monkeypatch.setattr(evaluation, "contrast", lambda *blocks: type("Contrast", (), {"p": 1.0}))
    assert choose_quantization(read, gold, threads=1, budget=2.0) == Quantization(8, ("eds-eng", "amr-eng"))

    lost = []  # whichever is asked first
    monkeypatch.setattr(evaluation, "_loses", lambda exact, other: lost.append(1) or len(lost) == 1)
    assert choose_quantization(read, gold, threads=1, budget=2.0) == Quantization()
    lost[:] = [1]
    monkeypatch.setattr(evaluation, "_loses", lambda exact, other: lost.append(1) or len(lost) == 4)
    assert choose_quantization(read, gold, threads=1, budget=2.0) == Quantization(8, ("amr-eng",))


def test_treebanks_without_dev_graphs(tmp_path):
    (tmp_path / "eds-eng").mkdir()
    (tmp_path / "eds-eng" / "dev.conllu.gz").write_bytes(b"")
    assert dev_graphs(tmp_path, "eds-eng") == []
    assert dev_graphs(tmp_path, "amr-eng") == []
