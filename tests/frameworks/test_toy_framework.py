"""A sixth framework in one place: what docs/new-framework.md tells to write, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from perin import frameworks
from perin.contract import Sentence, Token
from perin.frameworks.encoding import Anchoring
from perin.frameworks.framework import Framework
from perin.frameworks.roundtrip import assign_queries, oracle_prediction
from perin.frameworks.steps import PropertiesAsNodes
from perin.graphs import dump, findings, validation
from perin.graphs.graph import Anchor, Edge, Graph, Node, Property
from perin.graphs.normalisation import isomorphic
from perin.labels.rules import RuleSpace

# The framework: words are nodes, labelled by their lemmas in capitals; "shout" is a property of the edge before "!".


@dataclass(frozen=True)
class Capitals:
    def encode(self, graph: Graph) -> Graph:
        return self._changed(graph, str.lower)

    def decode(self, graph: Graph) -> Graph:
        return self._changed(graph, str.upper)

    def _changed(self, graph: Graph, change: Callable[[str], str]) -> Graph:
        return replace(graph, nodes=tuple(replace(node, label=change(node.label or "")) for node in graph.nodes))


TOY = Framework(
    "toy",
    flavor=1,
    queries=2,
    steps=(PropertiesAsNodes(frozenset(("number",))), Capitals()),
    rules=RuleSpace(("", "-")),
    anchoring=Anchoring(required=True),
    has_flag=True,
    owned=True,
    has_classes=True,
    has_attributes=True,
    empty="nothing",
)
DEMANDS = validation.Demands((1,), attributes=frozenset(("loud",)))


@pytest.fixture(autouse=True)
def toy(monkeypatch: pytest.MonkeyPatch) -> Framework:
    monkeypatch.setitem(frameworks._REGISTERED, "toy", {})
    monkeypatch.setitem(validation.DEMANDS, "toy", DEMANDS)
    frameworks.register(TOY)
    return frameworks.framework("toy", "eng")


SENTENCE = Sentence("cats bark", (Token("cats", "cat", 0, 4), Token("bark", "bark", 5, 9)), "1", "eng")
GRAPH = Graph(
    "1",
    "toy",
    "eng",
    1,
    input="cats bark",
    nodes=(
        Node(0, "CAT", (Property("number", "many"), Property("size", "BIG")), (Anchor(0, 4),)),
        Node(1, "BARK", (), (Anchor(5, 9),)),
    ),
    edges=(Edge(1, 0, "who", (Property("loud", True),)),),
    tops=(1,),
)


def test_nothing_is_lost(toy: Framework, learn: Callable[..., Any]) -> None:
    words = learn(toy, GRAPH)
    assert words.property_classes == {"number": ("many",)}
    target = toy.encode(GRAPH, SENTENCE, words)
    assert target.properties is not None
    assert target.properties.tolist() == [False, False, True]
    decoded = toy.decode(oracle_prediction(toy, target, SENTENCE, words, 2, assign_queries(target, 2).places), words)
    assert not list(findings(decoded))
    assert isomorphic(decoded, GRAPH, normalised=True)


def test_random_scores_give_valid_graphs(
    toy: Framework, learn: Callable[..., Any], random_prediction: Callable[..., Any]
) -> None:
    words = learn(toy, GRAPH)
    for seed in range(50):
        prediction = random_prediction(np.random.default_rng(seed), toy, words, SENTENCE, 3, 2.0)
        assert not list(findings(toy.decode(prediction, words)))


RECIPE = """
name = "toy"
data = "{data}"
[[treebanks]]
framework = "toy"
language = "eng"
train = "train.mrp"
dev = "dev.mrp"
queries = 2
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
attribute_width = 16
word_dropout = 0.0
label_dropout = 0.0
anchor_dropout = 0.0
edge_dropout = 0.0
property_dropout = 0.0
top_dropout = 0.0
[learning]
epochs = 40
sentences = 4
warmup = 2
rate = 1e-2
label_smoothing = 0.0
average = 0.0
[evaluation]
every = 20
"""


def _shouted(number: int, noun: str, many: bool, verb: str, loud: bool) -> Graph:
    """``Big cats bark!``: the noun has a class (number) and a property node (size), the edge an attribute."""
    subject, predicate = noun + "s" * many, verb + "s" * (not many)
    end = 4 + len(subject)
    nodes = (
        Node(
            0, noun.upper(), (Property("number", "many" if many else "one"), Property("size", "BIG")), (Anchor(4, end),)
        ),
        Node(1, verb.upper(), (), (Anchor(end + 1, end + 1 + len(predicate)),)),
    )
    edge = Edge(1, 0, "who", (Property("loud", True),) if loud else ())
    text = f"Big {subject} {predicate}{'!' if loud else '.'}"
    return Graph(str(number), "toy", "eng", 1, 1.1, "2026-01-01", input=text, nodes=nodes, edges=(edge,), tops=(1,))


def test_it_is_trained_and_parses(toy: Framework, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Through the trainer and the parser, which know nothing of it; every sentence of dev is new to the network."""
    import torch

    from perin.learning import load_recipe
    from perin.learning.run import train
    from perin.parsing.parser import Parser

    monkeypatch.setenv("PERIN_CACHE", str(tmp_path / "cache"))
    words = product(("cat", "dog", "bird", "horse"), (False, True), ("bark", "sleep", "sing"), (False, True))
    graphs = [_shouted(number, *choice) for number, choice in enumerate(words)]
    dev = graphs[::7]
    dump([graph for graph in graphs if graph not in dev], tmp_path / "train.mrp")
    dump(dev, tmp_path / "dev.mrp")
    (tmp_path / "toy.toml").write_text(RECIPE.format(data=tmp_path.as_posix()))
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        folder = train(load_recipe(tmp_path / "toy.toml"), tmp_path / "run")
        parser = Parser.load(folder, threads=1)
        parsed = parser.parse([graph.input or "" for graph in dev], probabilities=False)
    finally:
        torch.set_num_threads(threads)
    assert list(parser.treebanks) == ["toy-eng"]
    assert not [finding for graph in parsed for finding in findings(graph)]
    right = [isomorphic(graph, gold, normalised=True) for graph, gold in zip(parsed, dev, strict=True)]
    assert sum(right) >= len(dev) - 1
