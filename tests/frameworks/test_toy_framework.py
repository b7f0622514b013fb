"""A sixth framework in one place: what docs/new-framework.md tells to write, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from perin.frameworks import registry
from perin.frameworks.anchoring import Anchoring
from perin.frameworks.framework import Framework
from perin.frameworks.perfect import layout, perfect_prediction
from perin.frameworks.steps.properties import PropertiesAsNodes
from perin.graphs import findings, validation
from perin.graphs.graph import Anchor, Edge, Graph, Node, Property
from perin.graphs.isomorphism import isomorphic
from perin.labels.space import RuleSpace
from perin.text.sentence import Sentence, Token

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
    monkeypatch.setitem(registry._REGISTERED, "toy", {})
    monkeypatch.setitem(validation.DEMANDS, "toy", DEMANDS)
    registry.register(TOY)
    return registry.framework("toy", "eng")


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
    decoded = toy.decode(perfect_prediction(toy, target, SENTENCE, words, 2, layout(target, 2).places), words)
    assert not list(findings(decoded))
    assert isomorphic(decoded, GRAPH, normalised=True)


def test_random_scores_give_valid_graphs(
    toy: Framework, learn: Callable[..., Any], random_prediction: Callable[..., Any]
) -> None:
    words = learn(toy, GRAPH)
    for seed in range(50):
        prediction = random_prediction(np.random.default_rng(seed), toy, words, SENTENCE, 3, 2.0)
        assert not list(findings(toy.decode(prediction, words)))
