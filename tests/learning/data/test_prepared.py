"""Prepared data: they come back from disk as they were, and only for the content that they were made from."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

from perin.frameworks import framework
from perin.frameworks.learn import learn_vocabulary
from perin.graphs.graph import Anchor, Graph, Node
from perin.labels.rules import AbsoluteRule
from perin.labels.ruleset import RuleSet
from perin.learning import load_recipe
from perin.learning.data import load_corpus
from perin.learning.data.batches import Example
from perin.learning.data.prepared import Prepared, Problem, content_key, load_prepared, save_prepared
from perin.model.folder import Treebank
from perin.network.inputs import SentenceInput


def sentence(seed: int, tokens: int) -> SentenceInput:
    rng = np.random.default_rng(seed)
    words = tuple(str(number) for number in rng.integers(9, size=tokens))
    subwords = rng.integers(99, size=tokens + 1).astype(np.int32)
    pieces = np.stack((np.arange(tokens), np.arange(tokens))).astype(np.int32)
    return SentenceInput(tokens, *((subwords, pieces, None, None) if seed % 2 else (None, None, words, words[::-1])))


@pytest.fixture
def treebank() -> Treebank:
    form = framework("eds", "eng")
    graph = Graph("1", "eds", "eng", input="Dogs", nodes=(Node(0, "x", (), (Anchor(0, 4),)),))
    vocabulary = learn_vocabulary(form, [graph], "eng", RuleSet(form.space("eng"), [AbsoluteRule("x")]))
    return Treebank(vocabulary, 3, "eds", ("presence", "tops"))


def assert_same(first: object, second: object) -> None:
    if isinstance(first, np.ndarray):
        assert isinstance(second, np.ndarray)
        assert first.dtype == second.dtype
        assert second.flags.writeable
        np.testing.assert_array_equal(first, second)
    elif dataclasses.is_dataclass(first):
        assert type(first) is type(second)
        for field in dataclasses.fields(first):
            assert_same(getattr(first, field.name), getattr(second, field.name))
    elif isinstance(first, dict):
        assert isinstance(second, dict)
        assert list(first) == list(second)
        for key in first:
            assert_same(first[key], second[key])
    else:
        assert first == second


@pytest.mark.parametrize("inputs", [0, 1])
def test_examples_come_back_as_they_were(sizes, make_target, treebank, inputs, tmp_path):
    shapes = [(3, 4), (0, 1), (7, 2), (1, 1)]
    examples = [
        Example(sentence(2 * number + inputs, tokens), "eds-eng", make_target(number, sizes, nodes, tokens))
        for number, (nodes, tokens) in enumerate(shapes)
    ]
    problem = Problem("eds-eng", "train", "7", "too long", "é")
    save_prepared(tmp_path / "new" / "x", Prepared([treebank], {"eds-eng": examples}, [problem]))
    found = load_prepared(tmp_path / "new" / "x")
    assert found is not None
    assert (found.treebanks, found.problems) == ([treebank], [problem])
    assert len(found.examples["eds-eng"]) == len(examples)
    for first, second in zip(examples, found.examples["eds-eng"], strict=True):
        assert_same(first, second)


def test_what_is_missing_or_damaged_is_none(tmp_path, treebank, sizes, make_target):
    path = tmp_path / "x"
    assert load_prepared(path) is None
    examples = [Example(sentence(0, 2), "eds-eng", make_target(0, sizes, 2, 2))]
    save_prepared(path, Prepared([treebank], {"eds-eng": examples}, []))
    whole = path.read_bytes()
    for cut in (0, 5, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:cut])
        assert load_prepared(path) is None


RECIPE = """
name = "toy"
data = "{data}"
[[treebanks]]
framework = "eds"
language = "eng"
train = "train.mrp"
dev = "train.mrp"
[network]
encoder = "characters"
"""
GRAPH = {
    **{"id": "1", "framework": "eds", "language": "eng", "input": "Dogs bark.", "tops": [0], "edges": []},
    "nodes": [{"id": 0, "label": "_bark_v_1", "anchors": [{"from": 5, "to": 9}]}],
}


@pytest.fixture
def data(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("PERIN_CACHE", str(tmp_path / "cache"))
    (tmp_path / "train.mrp").write_text(json.dumps(GRAPH) + "\n")
    (tmp_path / "toy.toml").write_text(RECIPE.format(data=tmp_path.as_posix()))
    return tmp_path


def test_the_key_depends_on_what_is_prepared_and_on_nothing_else(data):
    def key(*changes: str) -> str | None:
        return content_key(load_recipe(data / "toy.toml", changes))

    plain = key()
    (data / "copy.mrp").write_bytes((data / "train.mrp").read_bytes())
    for same in ("name=other", "learning.rate=1", "treebanks.0.dev=[]", "treebanks.0.train=copy.mrp", "seed=4"):
        assert key(same) == plain
    others = (
        "treebanks.0.queries=2",
        "treebanks.0.limit=1",
        "learning.longest=9",
        "network.character_embeddings=false",
    )
    assert len({plain, *map(key, (*others, 'treebanks.0.train=["train.mrp", "copy.mrp"]'))}) == 6
    (data / "train.mrp").write_text(json.dumps({**GRAPH, "id": "2"}) + "\n")
    assert key() != plain


def test_the_second_run_takes_what_the_first_prepared(data):
    said: list[str] = []
    corpora = [load_corpus(load_recipe(data / "toy.toml", [f"seed={seed}"]), said.append) for seed in (1, 2)]
    done = "eds-eng: 1 training graphs, 1 dev graphs, 1 rules"
    assert said == ["eds-eng: preparing train.mrp", done, done]
    assert corpora[0].treebanks == corpora[1].treebanks
    assert_same(corpora[0].examples[0], corpora[1].examples[0])
