"""Small models with random weights: quick to make, and their graphs are as odd as graphs can be."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import torch

from perin.frameworks import framework
from perin.frameworks.learn import learn_vocabulary
from perin.graphs.graph import Anchor, Edge, Graph, Node, Property
from perin.labels.rules import AbsoluteRule, parse
from perin.labels.ruleset import RuleSet
from perin.model.folder import Treebank
from perin.model.model import Model
from perin.network.settings import NetworkSettings
from perin.parsing.parser import Parser

SETTINGS = NetworkSettings(
    encoder="characters",
    scratch_width=32,
    scratch_layers=1,
    scratch_heads=2,
    buckets=256,
    gram_width=16,
    layers=1,
    heads=2,
    feedforward=32,
    mixture=2,
    anchor_width=8,
    presence_width=8,
    edge_label_width=8,
    attribute_width=8,
)

TEXTS = [
    "The dog sleeps.",
    "Kim wants the old dog to bark, but it sleeps.",
    "Rain!",
    "Nobody knows whether they will come back before the end of the year.",
    "We saw 3 birds and 12 cats in the garden on Monday, May 5.",
]

TEXT = "Kim saw dogs."
RULES = ('token_first(1, "", 0, 0, "", "")', 'token(0, 0, "", 0, 0, "", "")', 'lemma(0, 0, "", 0, 0, "_", "_n_1")')


def _anchors(*words: str) -> tuple[Anchor, ...]:
    return tuple(Anchor(TEXT.index(word), TEXT.index(word) + len(word)) for word in words)


GRAPHS = {
    "eds": Graph(
        "1",
        "eds",
        "eng",
        input=TEXT,
        tops=(1,),
        nodes=(
            Node(0, "named", (Property("carg", "Kim"),), _anchors("Kim")),
            Node(1, "_see_v_1", (Property("tense", "past"),), _anchors("saw")),
            Node(2, "_dog_n_1", (Property("num", "pl"),), _anchors("dogs")),
        ),
        edges=(Edge(1, 0, "ARG1"), Edge(1, 2, "ARG2")),
    ),
    "amr": Graph(
        "1",
        "amr",
        "eng",
        input=TEXT,
        tops=(0,),
        nodes=(Node(0, "see-01"), Node(1, "person", (Property("op1", "Kim"),)), Node(2, "dog")),
        edges=(Edge(0, 1, "ARG0"), Edge(0, 2, "ARG1")),
    ),
    "ucca": Graph(
        "1",
        "ucca",
        "eng",
        input=TEXT,
        tops=(4,),
        nodes=(
            *(Node(id, anchors=_anchors(word)) for id, word in enumerate(("Kim", "saw", "dogs", "."))),
            Node(4),
            Node(5),
        ),
        edges=(
            Edge(4, 0, "A"),
            Edge(4, 1, "P"),
            Edge(4, 5, "A"),
            Edge(5, 2, "C"),
            Edge(5, 2, "S"),
            Edge(5, 0, "E", (Property("remote", True),)),
            Edge(4, 3, "U"),
        ),
    ),
}


def treebank(name: str, language: str = "eng", queries: int = 2) -> Treebank:
    """What is learned from one graph."""
    form = framework(name, language)
    graph = GRAPHS[name]
    labels = dict.fromkeys(node.label or "" for node in form.simplified(graph).nodes)
    relative = [parse(text) for text in RULES] if form.rules.separators else []
    rules = RuleSet(form.space(language), [*relative, *map(AbsoluteRule, labels)])
    return Treebank(learn_vocabulary(form, [graph], language, rules), queries)


def random_model(treebanks: Sequence[Treebank], seed: int = 6) -> Model:
    """A model that has learned nothing: some of its queries are nodes, and edges are as probable as not."""
    torch.manual_seed(seed)
    model = Model.new(SETTINGS, treebanks)
    with torch.no_grad():
        for part in (model.network.heads, model.network.queries):
            for parameter in part.parameters():
                parameter.normal_(std=0.6)
    model.network.eval()
    return model


@pytest.fixture(scope="session")
def make_treebank() -> Callable[..., Treebank]:
    return treebank


@pytest.fixture(scope="session")
def make_model() -> Callable[..., Model]:
    return random_model


@pytest.fixture(scope="session")
def texts() -> list[str]:
    return TEXTS


@pytest.fixture(scope="session")
def model() -> Model:
    """A joint model of three frameworks."""
    return random_model([treebank("eds"), treebank("amr", queries=1), treebank("ucca")])


@pytest.fixture(scope="session")
def parser(model: Model) -> Parser:
    return Parser(model, threads=2)


@pytest.fixture(scope="session")
def folder(model: Model, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the joint model."""
    folder = tmp_path_factory.mktemp("model")
    model.save(folder, half=False)
    return folder
