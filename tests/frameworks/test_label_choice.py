from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perin.contract.heads import Prediction
from perin.frameworks import framework
from perin.frameworks.decoding.nodes import Labelling, Ranking, Spelling, least_loss
from perin.labels.rules import AbsoluteRule, RuleSpace, parse
from perin.labels.ruleset import RuleSet
from perin.text.tokenizer import tokenize


def _scores(*values: float) -> np.ndarray:
    return np.array(values, dtype=np.float32)


def best_label(scores: np.ndarray, apply: Callable[[int], str | None]) -> tuple[str, float] | None:
    """That of a node between two others, the first of which is sure of its label."""
    others = np.zeros_like(scores)
    others[-1] = 1.0
    return Ranking(np.stack((others, scores, scores[::-1]))).best_label(1, apply)


def test_rules_that_yield_one_label_are_added_up() -> None:
    labels = {1: "dogs", 2: "dog", 3: "dog"}
    assert best_label(_scores(0.1, 0.4, 0.25, 0.25), labels.get) == ("dog", pytest.approx(0.5))
    assert best_label(_scores(0.1, 0.5, 0.2, 0.2), labels.get) == ("dogs", pytest.approx(0.5))


def test_undefined_rules_are_never_applied() -> None:
    labels = {1: None, 2: "dog"}
    assert best_label(_scores(0.0, 0.9, 0.1), labels.get) == ("dog", pytest.approx(0.1))
    assert best_label(_scores(0.0, 0.5, 0.5), {}.get) is None
    assert best_label(_scores(1.0), {}.get) is None


def test_a_defined_rule_is_found_however_improbable() -> None:
    scores = _scores(0.0, *[0.05] * 20, 0.0)
    assert best_label(scores, {21: "last"}.get) == ("last", 0.0)


@given(st.lists(st.sampled_from([0.0, 0.01, 0.02, 0.05, 0.1]) | st.floats(0, 0.25, width=32), max_size=120))
@settings(max_examples=80, deadline=None)
def test_rules_are_tried_in_the_order_of_their_scores(values: list[float]) -> None:
    tried: list[int] = []
    assert best_label(_scores(0.0, *values), lambda number: tried.append(number)) is None
    order = sorted(range(1, len(values) + 1), key=lambda number: -_scores(*values)[number - 1])
    assert tried[-len(order) :] == order if order else not tried


def test_null_is_no_rule() -> None:
    assert best_label(_scores(0.9, 0.06, 0.04), {1: "a", 2: "b"}.get) == ("a", pytest.approx(0.06))


def test_least_loss() -> None:
    assert least_loss(_scores(0.1, 0.3), _scores(0.2, 0.9)) == 0
    assert least_loss(_scores(0.0, 0.0), _scores(0.9, 0.1)) == 1


def test_no_rule_at_all_gives_no_label() -> None:
    labelling = Labelling(RuleSet(RuleSpace(), []), (), ())
    assert labelling.from_anchors(Ranking(_scores(1.0)[None]), 0, [], value=False) is None


@pytest.fixture
def anchored(samples: dict[str, Any]) -> Callable[..., list[Any]]:
    """Nodes of a Chinese AMR with one query a token, for given scores of labels and anchors."""
    sample = samples["amr-zho"]
    rules = RuleSet(sample.vocabulary.rules.space, [parse('token(0, 0, "", 0, 0, "", "-01")'), AbsoluteRule("cause")])
    vocabulary = replace(sample.vocabulary, rules=rules)

    def decode(labels: list[list[float]], anchors: list[list[float]]) -> list[Any]:
        count = len(labels)
        sentence = replace(sample.sentence, tokens=sample.sentence.tokens[:count])
        prediction = Prediction(
            sentence,
            1,
            np.array(labels, dtype=np.float32),
            np.arange(count),
            np.zeros((count, count), dtype=np.float32),
            np.zeros((count, count, len(vocabulary.edge_labels)), dtype=np.float32),
            np.array(anchors, dtype=np.float32),
            properties=np.zeros(count, dtype=np.float32),
            tops=np.ones(count, dtype=np.float32) / count,
        )
        return [(node.label, len(node.anchors or ())) for node in sample.framework.decode(prediction, vocabulary).nodes]

    return decode


def test_a_node_without_anchors_has_an_absolute_label(anchored: Callable[..., list[Any]]) -> None:
    assert anchored([[0, 0.5, 0.5]], [[0.3]]) == [("cause", 0)]
    assert anchored([[0, 0.9, 0.1]], [[0.05]]) == [("cause", 0)]


def test_a_relative_label_can_outweigh_a_missing_anchor(anchored: Callable[..., list[Any]]) -> None:
    assert anchored([[0, 0.9, 0.1]], [[0.4]]) == [("他-01", 1)]


def test_several_anchors_and_none_in_one_sentence(anchored: Callable[..., list[Any]]) -> None:
    nodes = anchored([[0, 1, 0], [0, 0, 1]], [[0.9, 0.8], [0.1, 0.2]])
    assert nodes == [("他也-01", 2), ("cause", 0)]


# Labels are spelled like words.


def _spelling(name: str, language: str, text: str, *absolute: str) -> Spelling:
    declared = framework(name, language)
    assert declared.words is not None
    return Spelling(declared.words, frozenset(absolute), tokenize(text, language))


@pytest.mark.parametrize(
    ("name", "language", "text", "right", "wrong"),
    [
        ("amr", "eng", "The sales of Zorblax fell", "fall-01 sell-01 zorblax drop-out-03", "s-01 fel-01"),
        ("eds", "eng", "an exhibition", "_exhibit_v_1 _take+off_v_1 _blorb/nn_u_unknown compound", "_blorb_n_1"),
        ("umr", "eng", "a governor", "government-organization governor", "governo"),
        ("ptg", "eng", "crisis distillation", "crisis_distillation #PersPron", "crisisdistillation"),
        ("ptg", "ces", "moci hrát", "hrát moci", "mocihrát"),
    ],
)
def test_labels_whose_words_are_none(name: str, language: str, text: str, right: str, wrong: str) -> None:
    spelling = _spelling(name, language, text, "_blorb/nn_u_unknown", "#PersPron")
    assert [label for label in right.split() if spelling.is_wrong(label)] == []
    assert [label for label in wrong.split() if not spelling.is_wrong(label)] == []


def test_labels_of_absolute_rules_are_spelled_as_they_are() -> None:
    assert _spelling("amr", "eng", "word").is_wrong("xyzzy-91")
    assert not _spelling("amr", "eng", "word", "xyzzy-91").is_wrong("xyzzy-91")


def test_chinese_labels_and_values_are_spelled_in_any_way() -> None:
    assert framework("amr", "zho").words is None
    rules = RuleSet(RuleSpace(), [parse('token(0, 0, "", 0, 2, "", "")'), parse('token(0, 0, "", 0, 0, "", "")')])
    labelling = Labelling.of(rules, tokenize("Zorblax", "eng"), r"(.+)")
    ranking = Ranking(_scores(0.0, 0.8, 0.2)[None])
    assert labelling.from_token(ranking, 0, 0, value=True) == ("Zorbl", pytest.approx(0.8))
    assert labelling.from_token(ranking, 0, 0, value=False) == ("Zorblax", pytest.approx(0.2))


def test_a_misspelled_label_loses_unless_it_is_far_more_probable() -> None:
    labels = {1: "constricte-01", 2: "constrict-01"}

    def best(*scores: float) -> str:
        found = Ranking(_scores(*scores)[None]).best_label(0, labels.get, "constricte-01".__eq__)
        assert found is not None
        return found[0]

    assert best(0.0, 0.9, 0.1) == "constrict-01"
    assert best(0.0, 0.6, 0.4) == "constrict-01"
    assert best(0.0, 0.999, 0.001) == "constricte-01"
    del labels[2]
    assert best(0.0, 0.5, 0.5) == "constricte-01"


def test_free_decoding_spells_labels_in_any_way(samples: dict[str, Any]) -> None:
    sample = samples["ptg"]
    sentence = tokenize("Dogs sleep", "eng")
    rules = RuleSet(
        sample.vocabulary.rules.space,
        [parse('token(0, 0, "", 0, 0, "", "")'), parse('token(0, 0, "", 2, 0, "", "")'), AbsoluteRule("<TOP>")],
    )
    vocabulary = replace(sample.vocabulary, rules=rules, property_classes={})
    prediction = Prediction(
        sentence,
        2,
        np.array([[0, 0, 0, 1], [0, 0.2, 0.8, 0]], dtype=np.float32),
        np.array([0, 2]),
        np.zeros((2, 2), dtype=np.float32),
        np.zeros((2, 2, len(vocabulary.edge_labels)), dtype=np.float32),
        np.array([[0, 0], [0, 1]], dtype=np.float32),
        edge_attributes=np.zeros((2, 2, len(vocabulary.edge_attributes) + 1), dtype=np.float32),
    )

    def labels(constraints: bool) -> set[str | None]:
        graph = sample.framework.decode(prediction, vocabulary, constraints=constraints)
        return {node.label for node in graph.nodes}

    assert labels(False) & {"eep", "sleep"} == {"eep"}
    assert labels(True) & {"eep", "sleep"} == {"sleep"}
