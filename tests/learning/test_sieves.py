"""Sieves learn what the network says, and are kept only where that costs little on dev."""

from __future__ import annotations

import pytest
import torch

from perin.frameworks.vocabulary import Vocabulary
from perin.labels.rules import AbsoluteRule
from perin.labels.ruleset import RuleSet
from perin.labels.space import RuleSpace
from perin.learning import sieves
from perin.learning.corpus import Split
from perin.learning.evaluation import Evaluation
from perin.learning.sieves import CUTS, TOLERATED, add_sieves
from perin.network.inputs import Words
from perin.parsing.model import Model, Treebank

WORDS = ("rain", "dogs", "sleep", "and", "cats", "do", "not")


def treebank(framework):
    return Treebank(Vocabulary(framework, "eng", RuleSet(RuleSpace(), [AbsoluteRule("a")]), ("x",)), queries=2)


@pytest.fixture
def model(settings):
    torch.manual_seed(0)
    model = Model.new(settings, map(treebank, ("eds", "amr")))
    with torch.no_grad():
        for name in model.treebanks:
            model.network.heads_of(name).heads["labels"].output.weight.normal_(std=1.0)
    return model


@pytest.fixture
def inputs(model):
    """Sentences of three words, in all orders."""
    sentences = [(a, b, c) for a in WORDS for b in WORDS for c in WORDS]
    made = []
    for forms in sentences:
        starts = [sum(map(len, forms[:number])) + number for number in range(3)]
        spans = [(start, start + len(form)) for start, form in zip(starts, forms, strict=True)]
        made.append(Words(" ".join(forms), spans, forms, forms))
    return model.preparation(made)


def scored(monkeypatch, model, f1):
    """Let ``f1`` say what a sieve of a given cut is worth; it is asked in the order of the cuts."""
    asked = []

    def evaluate(model, dev, *, budget):
        (name,) = dev
        asked.append(name in model.network.sieves)
        return Evaluation({name: {"all": f1(len(asked) - 2) if asked[-1] else 0.8}}, {}, {})

    monkeypatch.setattr(sieves, "evaluate", evaluate)
    return asked


SOME = Split([object()], [object()])


def test_the_sharpest_that_costs_little_is_taken(monkeypatch, model, inputs):
    asked = scored(monkeypatch, model, lambda number: 0.8 - (0.02 if number < 2 else 0.9 * TOLERATED / 100))
    choice = add_sieves(model, {"eds-eng": inputs}, {"eds-eng": SOME, "amr-eng": Split([], [])}, budget=1.0)["eds-eng"]
    assert choice.cut == CUTS[2]
    assert list(choice.trials) == list(CUTS[:3])
    assert asked == [False, True, True, True]
    shares = [trial.passed for trial in choice.trials.values()]
    assert shares == sorted(shares)
    assert set(model.network.sieves) == {"eds-eng"}
    assert "80.00 without" in str(choice)


def test_no_sieve_rather_than_a_bad_one(monkeypatch, model, inputs):
    scored(monkeypatch, model, lambda number: 0.7)
    choice = add_sieves(model, {"eds-eng": inputs}, {"eds-eng": SOME}, budget=1.0)["eds-eng"]
    assert choice.cut is None
    assert list(choice.trials) == list(CUTS)
    assert not model.network.sieves
    assert "no sieve" in str(choice)


def test_the_nodes_are_those_of_the_network(model, inputs):
    model.network.eval()
    tokens, nodes = sieves._examples(model, "eds-eng", inputs)
    assert len(tokens) == len(nodes) == 3 * len(inputs)
    assert 0.05 < nodes.mean() < 0.95
    with torch.inference_mode():
        batch = model.preparation.collate(inputs)
        null = model.network.heads_of("eds-eng").label_probabilities(
            model.network(batch, {"eds-eng": None})["eds-eng"].queries
        )[:, 0]
    torch.testing.assert_close(nodes.view(-1), (null < model.treebanks["eds-eng"].null_limit).float())


def test_a_sieve_lets_nodes_pass_and_little_else(monkeypatch, model, inputs):
    generator = torch.Generator().manual_seed(0)
    width = model.network.width
    tokens = torch.randn(6000, width, generator=generator)
    nodes = (tokens @ torch.randn(width, 2, generator=generator) > 3).float()
    monkeypatch.setattr(sieves, "_examples", lambda *_: (tokens, nodes))
    scored(monkeypatch, model, lambda number: 0.8)
    add_sieves(model, {"eds-eng": inputs}, {"eds-eng": SOME}, budget=1.0)
    with torch.inference_mode():
        passed = model.network.sieves["eds-eng"](tokens) > 0
    assert passed[nodes.bool()].float().mean() > 0.97
    assert passed[~nodes.bool()].float().mean() < 0.4


def test_the_same_examples_give_the_same_sieve(monkeypatch, model, inputs):
    scored(monkeypatch, model, lambda number: 0.8)
    found = []
    for seed in (1, 2):
        torch.manual_seed(seed)
        add_sieves(model, {"eds-eng": inputs}, {"eds-eng": SOME}, budget=1.0)
        found.append(model.network.sieves["eds-eng"].inner.weight.detach().clone())
    assert torch.equal(*found)
