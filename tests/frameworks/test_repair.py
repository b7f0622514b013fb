"""Decoding under the rules of a framework."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perin.contract import Sentence, Token
from perin.contract.heads import Prediction
from perin.frameworks.decoding.nodes import Nodes
from perin.frameworks.decoding.repair import assign_labels, choose_roles
from perin.frameworks.decoding.structure import Structure, one_family, one_way
from perin.frameworks.roundtrip import assign_queries, oracle_prediction
from perin.frameworks.rulebook import Rulebook, cost
from perin.graphs.framework_rules import broken


def perfect(sample: Any) -> Prediction:
    target = sample.framework.encode(sample.graph, sample.sentence, sample.vocabulary)
    places = assign_queries(target, 8).places
    return oracle_prediction(sample.framework, target, sample.sentence, sample.vocabulary, 8, places)


def place(sample: Any, prediction: Prediction, label: str) -> int:
    """The place of the first node with a label."""
    graph = sample.framework.decode(prediction, sample.vocabulary, constraints=False)
    return next(node.id for node in graph.nodes if node.label == label)


def hard(graph: Any) -> list[str]:
    return [message for rule, message in broken(graph) if not rule.rate]


def test_a_predicate_has_each_argument_once(samples: dict[str, Any]) -> None:
    """The weaker of two edges gets its next label, or goes if that is too improbable."""
    sample = samples["eds"]
    prediction = perfect(sample)
    bark, quantifier, sleep = (place(sample, prediction, label) for label in ("_bark_v_1", "proper_q", "_sleep_v_1"))
    presence, labels = prediction.presence.copy(), prediction.edge_labels.copy()
    argument = {name: sample.vocabulary.edge_labels.index(name) for name in ("ARG1", "ARG2")}
    presence[bark, sleep] = 0.9
    labels[bark, sleep] = 0
    labels[bark, sleep, argument["ARG1"]] = 0.6
    labels[bark, sleep, argument["ARG2"]] = 0.4
    scores = replace(prediction, presence=presence, edge_labels=labels)
    free = sample.framework.decode(scores, sample.vocabulary, constraints=False)
    assert any("_bark_v_1) has ARG1 2 times" in message for message in hard(free))
    graph = sample.framework.decode(scores, sample.vocabulary)
    assert hard(graph) == []
    assert sorted(edge.label for edge in graph.edges if graph.node(edge.source).label == "_bark_v_1") == [
        "ARG1",
        "ARG2",
    ]
    labels[bark, sleep, argument["ARG2"]] = 0.01
    graph = sample.framework.decode(replace(scores, edge_labels=labels), sample.vocabulary)
    assert [edge.label for edge in graph.edges if graph.node(edge.source).label == "_bark_v_1"] == ["ARG1"]
    assert quantifier >= 0


def test_a_quantifier_binds_one_node(samples: dict[str, Any]) -> None:
    sample = samples["eds"]
    prediction = perfect(sample)
    quantifier, sleep = place(sample, prediction, "proper_q"), place(sample, prediction, "_sleep_v_1")
    presence, labels = prediction.presence.copy(), prediction.edge_labels.copy()
    presence[quantifier, sleep] = 0.8
    labels[quantifier, sleep, sample.vocabulary.edge_labels.index("BV")] = 1
    graph = sample.framework.decode(replace(prediction, presence=presence, edge_labels=labels), sample.vocabulary)
    bound = [graph.node(edge.target).label for edge in graph.edges if edge.label == "BV"]
    assert bound == ["named"]


def test_a_need_that_no_edge_label_serves_is_not_filled_with_another(samples: dict[str, Any]) -> None:
    """A coordination without members goes, if the vocabulary has no ``op``; it gets no ``ARG0`` instead."""
    sample = samples["amr"]
    book = Rulebook(sample.framework, replace(sample.vocabulary, edge_labels=("ARG0", "mod")))
    nodes = Nodes(["and", "dog"], [0.9, 0.9], np.zeros(2, dtype=np.bool_), None)
    half = np.full((2, 2), 0.5, dtype=np.float32)
    labels = np.array([[0.1, 0.9], [0.1, 0.9]], dtype=np.float32)
    prediction = Prediction(sample.sentence, 1, labels, np.arange(2), half, np.stack([half, half], axis=-1))
    free = Structure(np.ones(2, dtype=np.bool_), np.array([[1, 0]]), np.zeros(1, dtype=np.int64), None)
    modifier = np.array([[False, True]])
    allowed = ~np.eye(2, dtype=np.bool_)
    chosen, _ = choose_roles(prediction, nodes, book.traits(nodes), book, free, modifier, allowed)
    assert chosen.keep.tolist() == [False, True]
    assert chosen.edges.tolist() == []


def test_hard_checks_say_nothing_of_soft_rules(samples: dict[str, Any]) -> None:
    """In AMR, a second ``ARG0`` is rare, but not impossible; a name without parts is."""
    sample = samples["amr"]
    book = Rulebook(sample.framework, replace(sample.vocabulary, edge_labels=("ARG0", "op1")))
    assert [bool(mark) for mark in book.all_checks.once_out] == [True, True]
    assert book.hard_checks.once_out == [0, 0]
    (named,) = (traits.needs for traits in book.traits(Nodes(["name"], [1.0], np.zeros(1, dtype=np.bool_), None)))
    assert bin(named & book.all_checks.needs).count("1") == 2
    assert bin(named & book.hard_checks.needs).count("1") == 1
    assert book.hard_checks.leaving[1] & named & book.hard_checks.needs


def test_twins_become_one_node_with_the_edges_of_both(samples: dict[str, Any]) -> None:
    sample = samples["eds"]
    prediction = perfect(sample)
    bark = place(sample, prediction, "_bark_v_1")
    named = place(sample, prediction, "named")
    rows = [*range(len(prediction)), bark]
    pairs = np.ix_(rows, rows)
    labels = prediction.labels[rows].copy()
    labels[-1] *= 0.7
    labels[-1, 0] = 0.3
    presence = prediction.presence[pairs].copy()
    presence[bark, named] = 0.1
    presence[-1, named] = 0.9
    doubled = replace(
        prediction,
        labels=labels,
        accepted=np.array([*prediction.accepted, prediction.accepted[-1] + 1]),
        presence=presence,
        edge_labels=prediction.edge_labels[pairs],
        anchors=prediction.anchors[rows],
        properties=prediction.properties[rows],
        tops=prediction.tops[rows],
    )
    assert len(sample.framework.decode(doubled, sample.vocabulary, constraints=False)) == len(sample.graph) + 1
    graph = sample.framework.decode(doubled, sample.vocabulary)
    assert len(graph) == len(sample.graph)
    (bark_node,) = (node for node in graph.nodes if node.label == "_bark_v_1")
    assert [graph.node(edge.target).label for edge in graph.outgoing(bark_node.id)] == ["named"]


def test_of_two_edges_in_opposite_directions_the_weaker_goes(samples: dict[str, Any]) -> None:
    sample = samples["eds"]
    prediction = perfect(sample)
    graph = sample.framework.decode(prediction, sample.vocabulary)
    edge = next(edge for edge in graph.edges if edge.label == "ARG1")
    presence, labels = prediction.presence.copy(), prediction.edge_labels.copy()
    presence[edge.target, edge.source] = 0.8
    labels[edge.target, edge.source] = labels[edge.source, edge.target]
    scores = replace(prediction, presence=presence, edge_labels=labels)
    back = (edge.target, edge.source)
    free = sample.framework.decode(scores, sample.vocabulary, constraints=False)
    assert back in set(map(_ends, free.edges))
    obeying = sample.framework.decode(scores, sample.vocabulary)
    assert {_ends(each) for each in obeying.edges} == {_ends(each) for each in graph.edges}


def _ends(edge: Any) -> tuple[int, int]:
    return edge.source, edge.target


def test_the_weaker_direction_stays_if_it_is_worth_its_price() -> None:
    presence = np.array([[0, 0.9, 0.7], [0.8, 0, 0], [0, 0, 0]], dtype=np.float32)
    edge_labels = np.ones((3, 3, 1), dtype=np.float32)
    prediction = Prediction(_long_sentence(["a"]), 3, np.ones((3, 2)), np.arange(3), presence, edge_labels)
    edges = np.array([[0, 1], [0, 2], [1, 0]])
    structure = Structure(np.ones(3, dtype=np.bool_), edges, np.arange(3), None)
    assert one_way(structure, prediction, 10.0).edges.tolist() == [[0, 1], [0, 2]]
    assert one_way(structure, prediction, 10.0).attributes.tolist() == [0, 1]
    assert one_way(structure, prediction, 1.0).edges.tolist() == edges.tolist()


def test_units_have_the_labels_of_their_most_probable_family() -> None:
    """Alone, the edge to node 2 is rather a C; beside a sure P it is an A.  What has attributes does not count."""
    names = ["A", "P", "C", "F"]
    families = [np.array([True, True, False, True]), np.array([False, False, True, True])]
    edge_labels = np.zeros((4, 4, 4), dtype=np.float32)
    edge_labels[0, 1] = [0.0, 0.95, 0.05, 0.0]
    edge_labels[0, 2] = [0.4, 0.0, 0.6, 0.0]
    edge_labels[0, 3] = [0.0, 0.0, 1.0, 0.0]
    prediction = Prediction(
        _long_sentence(["a"]), 4, np.ones((4, 2)), np.arange(4), np.ones((4, 4), dtype=np.float32), edge_labels
    )
    structure = Structure(np.ones(4, dtype=np.bool_), np.array([[0, 1], [0, 2], [0, 3]]), np.array([0, 0, 1]), None)
    found = one_family(prediction, structure, families).edge_labels
    assert [names[found[0, node].argmax()] for node in (1, 2, 3)] == ["P", "A", "C"]
    assert edge_labels[0, 2].argmax() == 2


def test_families_that_a_vocabulary_lacks_are_none(samples: dict[str, Any]) -> None:
    sample = samples["ucca"]
    for labels, families in (
        (("A", "F"), [[True, True]]),
        (("F", "U"), []),
        (("A", "C"), [[True, False], [False, True]]),
    ):
        book = Rulebook(sample.framework, replace(sample.vocabulary, edge_labels=labels))
        assert [mask.tolist() for mask in book.families] == families


def test_what_gold_breaks_is_kept_where_the_network_is_sure(samples: dict[str, Any]) -> None:
    """A soft rule has a price, and a faultless prediction pays it."""
    assert 0 < cost(0.001) < -np.log(1e-9) < cost(0.0)
    sample = samples["drg"]
    graph = sample.framework.decode(perfect(sample), sample.vocabulary)
    assert any(rule.rate for rule, _ in broken(graph))


@pytest.mark.parametrize(("joint", "label"), [("_bark_v_1", "ARG2"), ("proper_q", None)])
def test_parts_are_joined_unless_a_dearer_rule_breaks(samples: dict[str, Any], joint: str, label: str | None) -> None:
    """An improbable label joins parts if the best one is taken; two parts are better than a quantifier's argument."""
    sample = samples["eds"]
    prediction = perfect(sample)
    source, target = place(sample, prediction, joint), place(sample, prediction, "unknown")
    presence, labels = prediction.presence.copy(), prediction.edge_labels.copy()
    presence[source, target] = 0.3
    labels[source, target] = 0
    labels[source, target, sample.vocabulary.edge_labels.index("ARG1")] = 0.999
    labels[source, target, sample.vocabulary.edge_labels.index("ARG2")] = 0.001
    scores = replace(prediction, presence=presence, edge_labels=labels)
    assert len(sample.framework.decode(scores, sample.vocabulary, constraints=False).components()) == 1
    graph = sample.framework.decode(scores, sample.vocabulary)
    found = [edge.label for edge in graph.edges if graph.node(edge.target).label == "unknown"]
    assert found == ([label] if label else [])
    assert hard(graph) == []


@given(st.integers(1, 4), st.integers(0, 2**32 - 1))
@settings(max_examples=60, deadline=None)
def test_no_other_labels_of_a_source_gain_more(samples: dict[str, Any], count: int, seed: int) -> None:
    """In EDS every label is unique; here the first one is not, and the second one is softly."""
    sample = samples["eds"]
    book = Rulebook(sample.framework, sample.vocabulary)
    book.once[False][:2] = 0.0, 1.5
    gains = np.random.default_rng(seed).normal(size=(count, len(book.labels))) * 3
    found = assign_labels(gains, book.once[False], 0.0)

    def worth(labels: Sequence[int]) -> float:
        again = sum(book.once[False][label] * (labels.count(label) - 1) for label in set(labels) - {-1})
        return sum(gains[row, label] for row, label in enumerate(labels) if label >= 0) - again

    best = max(worth(labels) for labels in itertools.product(range(-1, len(book.labels)), repeat=count))
    assert worth(tuple(found)) == pytest.approx(best)


WORDS = [
    "Tom",
    "saw",
    "the",
    "big",
    "dogs",
    "in",
    "Prague",
    ",",
    "but",
    "Mary",
    "and",
    "the",
    "others",
    "did",
    "not",
    ".",
]


def _long_sentence(words: list[str]) -> Sentence:
    starts = np.cumsum([0, *(len(word) + 1 for word in words)]).tolist()
    tokens = tuple(
        Token(word, word.lower(), start, start + len(word)) for word, start in zip(words, starts, strict=False)
    )
    return Sentence(" ".join(words), tokens, "1", "eng")


@pytest.mark.parametrize("words", [["Tom"] * 200, [*WORDS * 16][:200]], ids=["names", "words"])
def test_work_for_a_long_sentence_is_bounded(
    sample: Any, random_prediction: Callable[..., Any], words: list[str]
) -> None:
    """Counted in calls of Python functions, of which a second has some millions."""
    form, vocabulary = sample.framework, sample.vocabulary
    prediction = random_prediction(np.random.default_rng(1), form, vocabulary, _long_sentence(words), 1, 3.0)
    sparse = np.random.default_rng(2).random(prediction.presence.shape) < 0.05
    prediction.presence[~sparse] *= 0.01
    calls = 0

    def count(frame: Any, event: str, argument: Any) -> None:
        nonlocal calls
        calls += event == "call"

    sys.setprofile(count)
    try:
        graph = form.decode(prediction, vocabulary)
    finally:
        sys.setprofile(None)
    assert calls < 1_500_000
    assert hard(graph) == []
