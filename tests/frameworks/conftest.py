"""Small graphs of every framework, vocabularies learned from them, and predictions of random scores."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from perin.contract import Sentence, Token
from perin.contract.heads import Prediction, Target
from perin.frameworks import framework
from perin.frameworks.framework import Framework
from perin.frameworks.learn import learn_vocabulary
from perin.frameworks.vocabulary import Vocabulary
from perin.graphs.graph import Anchor, Edge, Graph, Node, Property
from perin.labels.rules import AbsoluteRule, parse
from perin.labels.ruleset import RuleSet

RELATIVE = (
    'token_first(1, "", 0, 0, "", "")',
    'token(0, 0, "", 0, 0, "", "")',
    'lemma(0, 0, "", 0, 0, "_", "_n_1")',
    'token(1, 0, "", 2, 1, "", "")',
)


@dataclass(frozen=True)
class Sample:
    """A graph with its sentence, framework and a vocabulary that knows all of it."""

    graph: Graph
    sentence: Sentence
    framework: Framework
    vocabulary: Vocabulary


def tokenized(text: str, language: str, id: str = "1") -> Sentence:
    """Words and punctuation; the lemma of a word is its lower case."""
    words = re.finditer(r"\w+|[^\w\s]", text)
    return Sentence(text, tuple(Token(w[0], w[0].lower(), w.start(), w.end()) for w in words), id, language)


def sample_of(graph: Graph) -> Sample:
    form = framework(graph.framework or "", graph.language)
    return Sample(
        graph, tokenized(graph.input or "", graph.language or "eng", graph.id), form, vocabulary_of(form, graph)
    )


def vocabulary_of(form: Framework, *graphs: Graph) -> Vocabulary:
    """Absolute rules for all labels, and a few relative ones where the framework has such."""
    labels = dict.fromkeys(node.label or "" for graph in graphs for node in form.simplified(graph).nodes)
    relative = [parse(text) for text in RELATIVE] if form.rules.separators else []
    rules = RuleSet(form.space(graphs[0].language), [*relative, *map(AbsoluteRule, labels)])
    return learn_vocabulary(form, graphs, graphs[0].language, rules)


def at(text: str, *words: str) -> tuple[Anchor, ...]:
    return tuple(Anchor(text.index(word), text.index(word) + len(word)) for word in words)


def _amr() -> Graph:
    nodes = (
        Node(0, "possible-01", (Property("polarity", "-"),)),
        Node(1, "go-02"),
        Node(2, "boy"),
        Node(3, "name", (Property("op1", "Tom"), Property("op2", "Jones"))),
        Node(4, "happy"),
        Node(5, "believe-01"),
    )
    edges = (
        Edge(0, 1, "ARG1"),
        Edge(1, 2, "ARG0"),
        Edge(1, 2, "ARG1"),
        Edge(2, 3, "name"),
        Edge(2, 4, "mod", normal="domain"),
        Edge(2, 5, "ARG0-of", normal="ARG0"),
        Edge(5, 0, "ARG1"),
    )
    return Graph(
        "1", "amr", "eng", 2, input="Happy Tom Jones believes he can't go.", nodes=nodes, edges=edges, tops=(0,)
    )


def _chinese_amr() -> Graph:
    text = "他 也 要 吃 花 罗 ？"
    nodes = (
        Node(0, "吃-01", anchors=at(text, "吃")),
        Node(1, "他", anchors=at(text, "他", "也")),
        Node(2, "花", anchors=at(text, "花")),
        Node(3, "cause"),
    )
    edges = (Edge(0, 1, "arg0"), Edge(0, 2, "arg1"), Edge(3, 0, "arg1"))
    return Graph("1", "amr", "zho", 2, input=text, nodes=nodes, edges=edges, tops=(3,))


def _drg() -> Graph:
    """Relations in the box of their source, of their target and elsewhere, twice between two nodes, between boxes."""
    labels = [None, None, "see.v.01", "time.n.08", "male.n.02", '"now"', '"tom"', None, "Theme", "Time", "TPR", "Name"]
    labels += ["Time", "Theme", "EQU", "Co-Agent"]
    nodes = tuple(Node(id, label) for id, label in enumerate(labels))
    members = [(0, 2), (0, 3), (1, 4), (0, 9), (7, 10)]
    edges = [Edge(box, node, "in") for box, node in members]
    edges += [Edge(0, 1, "PRESUPPOSITION"), Edge(0, 7, "NEGATION")]
    for relation, source, target in [
        (8, 2, 4),
        (9, 4, 3),
        (10, 3, 5),
        (11, 4, 6),
        (12, 2, 3),
        (13, 2, 4),
        (14, 1, 7),
        (15, 2, 4),
    ]:
        edges += [Edge(source, relation), Edge(relation, target)]
    return Graph("1", "drg", "eng", 2, input="Tom sees now.", nodes=nodes, edges=tuple(edges), tops=(0,))


def _eds() -> Graph:
    text = "Abrams barked, or slept."
    nodes = (
        Node(0, "proper_q", anchors=at(text, "Abrams")),
        Node(1, "named", (Property("CARG", "Abrams"), Property("NUM", "sg")), at(text, "Abrams")),
        Node(2, "_bark_v_1", (Property("TENSE", "past"),), at(text, "barked,")),
        Node(3, "_or_c", anchors=at(text, text)),
        Node(4, "_sleep_v_1", anchors=at(text, "slept.")),
        Node(5, "unknown", anchors=at(text, ".")),
    )
    edges = (Edge(0, 1, "BV"), Edge(2, 1, "ARG1"), Edge(3, 2, "ARG1"), Edge(3, 4, "ARG2"), Edge(4, 1, "ARG1"))
    return Graph("1", "eds", "eng", 1, input=text, nodes=nodes, edges=edges, tops=(3,))


def _ptg() -> Graph:
    text = "Petr a Pavel , myslím , přijdou ( brzy ) ."
    member, effective = (Property("member", True),), (Property("effective", True),)
    nodes = (
        Node(0),
        Node(1, "Petr", (Property("sempos", "n.denot"),), at(text, "Petr")),
        Node(2, "a", anchors=at(text, "a")),
        Node(3, "Pavel", (Property("sempos", "n.denot"), Property("tfa", "f")), at(text, "Pavel", ",")),
        Node(4, "přijít", (Property("sempos", "v"), Property("frame", "v#v-w5f2")), at(text, "přijdou")),
        Node(5, "brzy", (), at(text, "(", "brzy", ")")),
        Node(6, "#Gen"),
        Node(7, "myslet", (Property("frame", "v#v-w9f2"),), at(text, "myslím")),
    )
    edges = (
        Edge(0, 4, "PRED"),
        Edge(4, 2, "CONJ"),
        Edge(2, 1, "ACT", member),
        Edge(2, 3, "ACT", member),
        Edge(4, 1, "ACT", effective),
        Edge(4, 3, "ACT", effective),
        Edge(4, 5, "TWHEN"),
        Edge(4, 7, "PAR"),
        Edge(7, 6, "ACT"),
        Edge(6, 4, "coref.text"),
    )
    return Graph("1", "ptg", "ces", 1, input=text, nodes=nodes, edges=edges, tops=(0,))


def _ucca() -> Graph:
    """A discontinuous unit, one with a word of its own, a remote edge and two labels between two units."""
    text = "He looked it up because he could ."
    remote = (Property("remote", True),)
    leaves = [("He",), ("looked", "up"), ("it",), ("because",), (" he",), (".",)]
    nodes = [Node(id, anchors=at(text, *words)) for id, words in enumerate(leaves)]
    nodes[4] = Node(4, anchors=(Anchor(24, 26),))
    nodes += [Node(6), Node(7, anchors=at(text, "could")), Node(8)]
    edges = (
        Edge(8, 6, "H"),
        Edge(8, 3, "L"),
        Edge(8, 7, "H"),
        Edge(6, 0, "A"),
        Edge(6, 1, "P"),
        Edge(6, 1, "D"),
        Edge(6, 2, "A"),
        Edge(7, 4, "A"),
        Edge(7, 1, "P", remote),
        Edge(6, 5, "U"),
    )
    return Graph("1", "ucca", "eng", 1, input=text, nodes=tuple(nodes), edges=edges, tops=(8,))


def _umr() -> Graph:
    nodes = (
        Node(0, "say-01", (Property("aspect", "performance"), Property("modal-strength", "full-affirmative"))),
        Node(1, "person", (Property("refer-number", "singular"),)),
        Node(2, "name", (Property("op1", "Tom"), Property("op2", "Jones"))),
        Node(3, "go-02", (Property("polarity", "-"),)),
        Node(4, "happy"),
        Node(5, "believe-01"),
    )
    edges = (
        Edge(0, 1, "ARG0"),
        Edge(1, 2, "name"),
        Edge(0, 3, "ARG1"),
        Edge(3, 1, "ARG0"),
        Edge(3, 0, "quote"),
        Edge(1, 4, "mod", normal=""),
        Edge(1, 5, "ARG0-of", normal="ARG0"),
        Edge(5, 4, "domain"),
    )
    return Graph("1", "umr", "eng", 2, input="Happy Tom Jones said: not go!", nodes=nodes, edges=edges, tops=(0,))


def _czech_umr() -> Graph:
    text = "Petr a Pavel , kteří se řídí , přijdou ( brzy ) ."
    nodes = (
        Node(
            0, "přijít-001", (Property("aspect", "performance"), Property("refer-person", "3rd")), at(text, "přijdou")
        ),
        Node(1, "and", anchors=at(text, "a")),
        Node(2, "Petr", (Property("refer-number", "singular"),), at(text, "Petr")),
        Node(3, "person", anchors=()),
        Node(4, "řídit-se-002", (Property("polarity", "-"),), at(text, ",", "se", "řídí")),
        Node(5, "#Forn", anchors=at(text, "brzy")),
        Node(6, "name", (Property("op1", "Pavel"),), at(text, "Pavel")),
    )
    edges = (
        Edge(0, 1, "ARG0"),
        Edge(1, 2, "op1"),
        Edge(1, 3, "op2"),
        Edge(3, 6, "name"),
        Edge(2, 4, "ARG0-of", normal="ARG0"),
        Edge(4, 3, "ARG0"),
        Edge(0, 5, "mod", normal=""),
    )
    return Graph("1", "umr", "ces", 1, input=text, nodes=nodes, edges=edges, tops=(0,))


GRAPHS: dict[str, Callable[[], Graph]] = {
    "amr": _amr,
    "amr-zho": _chinese_amr,
    "drg": _drg,
    "eds": _eds,
    "ptg": _ptg,
    "ucca": _ucca,
    "umr": _umr,
    "umr-ces": _czech_umr,
}


@pytest.fixture(scope="session", params=GRAPHS)
def sample(request: pytest.FixtureRequest) -> Sample:
    """A sample of each framework in turn."""
    return sample_of(GRAPHS[request.param]())


@pytest.fixture(scope="session")
def samples() -> dict[str, Sample]:
    """The samples of all frameworks by name."""
    return {name: sample_of(make()) for name, make in GRAPHS.items()}


@pytest.fixture(scope="session")
def learn() -> Callable[..., Vocabulary]:
    """The vocabulary of a framework and its graphs."""
    return vocabulary_of


@pytest.fixture(scope="session")
def same_target() -> Callable[[Target, Target], bool]:
    """Whether two targets are the same up to the order of their nodes."""
    return lambda first, second: as_graph(first).isomorphic(as_graph(second))


@pytest.fixture(scope="session", name="shuffled")
def shuffling() -> Callable[[Graph, int], Graph]:
    """The same graph with other ids and in another order."""

    def shuffled(graph: Graph, seed: int) -> Graph:
        rng = random.Random(seed)

        def mixed(items: Sequence[Any]) -> tuple[Any, ...]:
            return tuple(rng.sample(list(items), len(items)))

        ids = dict(zip((node.id for node in graph.nodes), rng.sample(range(9999), len(graph)), strict=True))
        nodes = [replace(node, properties=mixed(node.properties)) for node in graph.nodes]
        return replace(graph, nodes=mixed(nodes), edges=mixed(graph.edges)).relabelled(ids)

    return shuffled


@pytest.fixture(scope="session")
def random_prediction() -> Callable[..., Prediction]:
    """Random scores of the shapes that the heads emit; ``sharpness`` 0 is even, larger is nearer to 0 and 1."""

    def make(
        rng: np.random.Generator, form: Framework, words: Vocabulary, sentence: Sentence, queries: int, sharpness: float
    ) -> Prediction:
        def binary(*shape: int) -> np.ndarray:
            return (1 / (1 + np.exp(-sharpness * rng.normal(size=shape)))).astype(np.float32)

        def distribution(*shape: int) -> np.ndarray:
            scores = np.exp(sharpness * rng.normal(size=shape))
            return (scores / scores.sum(axis=-1, keepdims=True)).astype(np.float32)

        tokens = len(sentence)
        labels = distribution(tokens * queries, len(words.rules) + 1)
        accepted = np.flatnonzero(labels.argmax(axis=1)) if tokens else np.zeros(0, dtype=np.int64)
        if tokens and not len(accepted):
            accepted = labels[:, :1].argmin(axis=0)
        k = len(accepted)
        return Prediction(
            sentence,
            queries,
            labels[accepted],
            accepted,
            binary(k, k),
            binary(k, k, len(words.edge_labels)),
            binary(k, tokens) if form.anchoring is not None else None,
            distribution(k, k, len(words.edge_attributes) + 1) if words.edge_attributes else None,
            binary(k) if form.has_flag else None,
            {name: distribution(k, len(values) + 1) for name, values in words.property_classes.items()},
            distribution(k) if form.has_tops else None,
        )

    return make


def as_graph(target: Target) -> Graph:
    """A target as a graph, so that equality up to the order of nodes can be tested."""

    def row(array: np.ndarray | None, index: int) -> str:
        return "" if array is None else str(np.asarray(array[index]).tolist())

    nodes = []
    for index in range(len(target)):
        own = target.rule_nodes == index
        rules = sorted(zip(target.rule_tokens[own].tolist(), target.rule_ids[own].tolist(), strict=True))
        arrays = (target.mask, target.anchors, target.properties, target.tops, *target.property_classes.values())
        nodes.append(Node(index, f"{rules} {[row(array, index) for array in arrays]}"))
    edges = [
        Edge(source, target_, f"{target.edge_labels[pair].tolist()} {row(target.edge_attributes, pair)}")
        for pair, (source, target_) in enumerate(target.edges.tolist())
    ]
    return Graph("1", nodes=tuple(nodes), edges=tuple(edges))
