"""Training runs: they learn, are resumed after interruptions and kills to the same weights, and share work."""

from __future__ import annotations

import html
import json
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from perin.errors import UsageError
from perin.files import pointed
from perin.learning import Recipe, load_recipe
from perin.learning.run import train
from perin.learning.run.journal import Console, read_journal
from perin.model.model import Model

NOUNS = ("dog", "cat", "bird", "horse", "child", "teacher")
VERBS = ("sleep", "bark", "sing", "walk")

RECIPE = """
name = "toy"
data = "{data}"
[[treebanks]]
framework = "eds"
language = "eng"
train = "train.mrp"
dev = "dev.mrp"
queries = 3
[network]
encoder = "characters"
scratch_width = 32
scratch_layers = 1
scratch_heads = 2
buckets = 512
gram_width = 16
layers = 1
heads = 2
feedforward = 32
mixture = 1
anchor_width = 16
presence_width = 16
edge_label_width = 16
word_dropout = 0.0
label_dropout = 0.1
anchor_dropout = 0.1
edge_dropout = 0.1
property_dropout = 0.1
top_dropout = 0.1
[learning]
epochs = 2
sentences = 4
accumulation = 2
warmup = 2
rate = 3e-3
checkpoint = 1
average = 0.9
balance = "hidden"
"""


def graph(number: int, noun: str, verb: str) -> dict[str, object]:
    """``The dog sleeps.`` as a small EDS."""
    text = f"The {noun} {verb}s."
    noun_end = 4 + len(noun)
    verb_range = {"from": noun_end + 1, "to": noun_end + 2 + len(verb)}
    nodes = [
        {"id": 0, "label": "_the_q", "anchors": [{"from": 0, "to": 3}]},
        {
            "id": 1,
            "label": f"_{noun}_n_1",
            "anchors": [{"from": 4, "to": noun_end}],
            "properties": ["NUM"],
            "values": ["sg"],
        },
        {"id": 2, "label": f"_{verb}_v_1", "anchors": [verb_range]},
    ]
    edges = [{"source": 0, "target": 1, "label": "BV"}, {"source": 2, "target": 1, "label": "ARG1"}]
    head = {"id": str(number), "flavor": 1, "framework": "eds", "version": 1.1, "time": "2026-01-01", "language": "eng"}
    return {**head, "input": text, "tops": [2], "nodes": nodes, "edges": edges}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    graphs = [graph(n, *pair) for n, pair in enumerate((noun, verb) for noun in NOUNS for verb in VERBS)]
    dev = graphs[::6]
    for name, part in (("train.mrp", [item for item in graphs if item not in dev]), ("dev.mrp", dev)):
        (folder / name).write_text("".join(json.dumps(item) + "\n" for item in part))
    (folder / "toy.toml").write_text(RECIPE.format(data=folder.as_posix()))
    return folder


@pytest.fixture(autouse=True)
def surroundings(monkeypatch, data, one_thread):
    monkeypatch.setenv("PERIN_CACHE", str(data / "cache"))


def recipe(data: Path, *assignments: str) -> Recipe:
    return load_recipe(data / "toy.toml", assignments)


def last_weights(run: Path) -> dict[str, torch.Tensor]:
    folder = pointed(run / "state.json")
    assert folder is not None
    return load_file(folder / "weights.safetensors")


def assert_same(first: dict[str, torch.Tensor], second: dict[str, torch.Tensor], tolerance: float = 0.0) -> None:
    assert first.keys() == second.keys()
    for name in first:
        torch.testing.assert_close(first[name], second[name], rtol=tolerance, atol=tolerance, msg=name)


def test_loss_weights_that_never_change_are_not_drawn(data, tmp_path):
    train(recipe(data, "learning.epochs=1", "learning.balance=equal"), tmp_path / "run")
    report = (tmp_path / "run" / "report.html").read_text()
    assert "Losses, eds-eng" in report
    assert "Weights of the losses" not in report


def test_a_run_learns_and_leaves_a_model_and_a_report(data, tmp_path, capsys):
    model_folder = train(recipe(data, "learning.epochs=40", "learning.rate=1e-2"), tmp_path / "run")
    entries = read_journal(tmp_path / "run" / "log.jsonl")
    scores = [entry["mean"] for entry in entries if entry["event"] == "evaluation"]
    assert max(scores) > 0.9
    model = Model.load(model_folder)
    assert model.notes["dev"]["eds-eng"]["all"] == max(scores)
    report = (tmp_path / "run" / "report.html").read_text()
    for part in ("Weights of the losses", "Worst dev graphs of eds-eng", "Rules of eds-eng", "learning.rate", "torch"):
        assert part in report
    assert f"<dd>{100 * max(scores):.2f}</dd>" in report
    assert "http" not in report.replace("http://www.w3.org/2000/svg", "")
    said = capsys.readouterr().err
    assert "20 training graphs" in said
    assert not list((tmp_path / "run").glob(".*"))


def test_a_run_resumed_after_an_interruption_ends_with_the_same_weights(data, tmp_path, monkeypatch):
    train(recipe(data), tmp_path / "whole")
    shown = Console.show
    calls = 0

    def interrupt(self: Console, step: int, total: int, text: str) -> None:
        nonlocal calls
        calls += 1
        if calls == 4:
            raise KeyboardInterrupt
        shown(self, step, total, text)

    monkeypatch.setattr(Console, "show", interrupt)
    with pytest.raises(KeyboardInterrupt):
        train(recipe(data), tmp_path / "parts")
    train(recipe(data), tmp_path / "parts", resume=True)
    assert_same(last_weights(tmp_path / "whole"), last_weights(tmp_path / "parts"))
    steps = [entry["step"] for entry in read_journal(tmp_path / "parts" / "log.jsonl") if entry["event"] == "step"]
    assert steps == list(range(1, len(steps) + 1))


def test_a_folder_that_holds_a_run_is_not_overwritten(data, tmp_path):
    train(recipe(data, "learning.epochs=1"), tmp_path / "run")
    with pytest.raises(UsageError, match="--resume"):
        train(recipe(data, "learning.epochs=1"), tmp_path / "run")
    with pytest.raises(UsageError, match="another recipe"):
        train(recipe(data, "learning.epochs=2"), tmp_path / "run", resume=True)


def test_what_can_not_be_used_is_counted_and_listed_at_the_start_and_in_the_report(data, tmp_path, capsys):
    lines = (data / "train.mrp").read_text().splitlines()
    plain = json.loads(lines[0])
    long = "dogs " * 20
    crowd = [{"id": number, "label": "x", "anchors": [{"from": 0, "to": 3}]} for number in range(20)]
    odd = [
        {**plain, "id": "empty", "input": "", "nodes": [{"id": 0, "label": "x"}], "edges": [], "tops": [0]},
        {**plain, "id": "long", "input": long},
        {**plain, "id": "crowded", "nodes": crowd, "edges": [], "tops": [0]},
        {**plain, "id": "german", "language": "deu"},
        {**plain, "id": "textless", "input": None},
    ]
    odd = [{key: value for key, value in item.items() if value is not None} for item in odd]
    (data / "odd.mrp").write_text("\n".join([*lines, *map(json.dumps, odd)]) + "\n")
    tokens = "".join(conllu(json.loads(line)) for line in lines[1:])
    (data / "train.conllu").write_text(tokens + "".join(conllu(item) for item in odd[:4]))
    (data / "dev.conllu").write_text("")
    files = ["treebanks.0.train=odd.mrp", "treebanks.0.train_tokens=train.conllu", "treebanks.0.dev_tokens=dev.conllu"]
    train(recipe(data, *files, "learning.epochs=1", "learning.longest=10"), tmp_path / "run")
    problems = [json.loads(line) for line in (tmp_path / "run" / "problems.jsonl").read_text().splitlines()]
    kinds = {problem["graph"]: problem["kind"] for problem in problems if problem["split"] == "train"}
    assert kinds == {
        plain["id"]: "without tokens, not used",
        "empty": "without tokens, not used",
        "textless": "without tokens, not used",
        "german": "of another treebank, not used",
        "long": "too long, not learned",
        "crowded": "more nodes than queries, learned in part",
    }
    said = capsys.readouterr().err
    assert "eds-eng: 4 dev graphs with a problem: without tokens, not used" in said
    assert "eds-eng: 1 train graph with a problem: too long, not learned" in said
    report = (tmp_path / "run" / "report.html").read_text()
    for problem in problems:
        assert f"<td>{problem['graph']}</td><td>{html.escape(problem['what'])}</td>" in report


def conllu(item: dict[str, Any]) -> str:
    """The words of a text as CoNLL-U."""
    rows = [f"{n}\t{word}\t{word}" + 7 * "\t_" for n, word in enumerate(item["input"].split(), start=1)]
    return "\n".join([f"# sent_id = {item['id']}", f"# text = {item['input'].strip()}", *rows]) + "\n\n"


def test_two_treebanks_of_a_framework_share_heads(data, tmp_path):
    text = (data / "toy.toml").read_text()
    treebank = text[text.index("[[treebanks]]") : text.index("[network]")]
    german = treebank.replace('"eng"', '"deu"').replace('"train', '"deu-train').replace('"dev.', '"deu-dev.')
    for name in ("train.mrp", "dev.mrp"):
        (data / f"deu-{name}").write_text((data / name).read_text().replace('"eng"', '"deu"'))
    (data / "joint.toml").write_text(text.replace(treebank, treebank + german))
    folder = train(load_recipe(data / "joint.toml", ["learning.epochs=1"]), tmp_path / "run")
    model = Model.load(folder)
    assert set(model.treebanks) == {"eds-eng", "eds-deu"}
    assert len(model.network.heads.get_submodule("presence")._modules) == 1


def wait_for_checkpoint(run: Path, step: int, process: multiprocessing.process.BaseProcess) -> None:
    """Until a run has a checkpoint of a step or a later one, or has ended."""
    pointer = run / "state.json"
    while process.is_alive():
        if pointer.exists() and json.loads(pointer.read_text())["step"] >= step:
            return
        time.sleep(0.005)


def test_killed_at_any_moment_a_run_ends_with_the_same_weights(data, tmp_path, monkeypatch):
    """Processes come from a server that has imported everything, and runs are long, so that each can be killed."""
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["perin.learning.run", "accelerate", "lemminflect"])
    long = recipe(data, "learning.epochs=20")
    train(long, tmp_path / "whole")
    run, moments = tmp_path / "killed", random.Random(8)
    for step in sorted(moments.sample(range(1, 20), 5)):
        resume = {"resume": (run / "recipe.json").exists()}
        process = context.Process(target=train, args=(long, run), kwargs=resume)
        process.start()
        wait_for_checkpoint(run, step, process)
        time.sleep(moments.uniform(0, 0.05))
        process.kill()
        process.join()
        assert process.exitcode == -signal.SIGKILL
    train(long, run, resume=True)
    assert_same(last_weights(tmp_path / "whole"), last_weights(run))
    assert_same(*(load_file(folder / "model" / "weights.safetensors") for folder in (tmp_path / "whole", run)))
    assert (run / "report.html").exists()
    assert not list(run.glob(".*"))
    steps = [entry["step"] for entry in read_journal(run / "log.jsonl") if entry["event"] == "step"]
    assert steps == list(range(1, len(steps) + 1))


def test_two_processes_do_what_one_does(data, tmp_path):
    kinds = ("", "attention_", "label_", "anchor_", "edge_", "property_", "top_", "layer_")
    changes = ["learning.epochs=3", *(f"network.{kind}dropout=0.0" for kind in kinds)]
    train(recipe(data, *changes), tmp_path / "one")
    launch = ["-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2"]
    launch += ["-m", "perin", "train", str(data / "toy.toml")]
    launch += ["--threads", "1", "--output", str(tmp_path / "two"), *(f"--set={change}" for change in changes)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    two = subprocess.run([sys.executable, *launch], capture_output=True, env=environment)
    assert two.returncode == 0, two.stderr.decode()
    assert two.stderr.decode().count("2 processes share each batch") == 1
    assert_same(last_weights(tmp_path / "one"), last_weights(tmp_path / "two"), tolerance=1e-3)
    first, second = (read_journal(tmp_path / name / "log.jsonl") for name in ("one", "two"))
    ends = [next(entry for entry in entries if entry["event"] == "end") for entries in (first, second)]
    assert ends[0]["step"] == ends[1]["step"]
    for a, b in zip(first, second, strict=True):
        if a["event"] == "step":
            for kind, weight in a["weights"]["eds-eng"].items():
                assert b["weights"]["eds-eng"][kind] == pytest.approx(weight, rel=1e-3)
