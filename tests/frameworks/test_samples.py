"""Graphs of every framework through encoding, a perfect prediction and decoding."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest

from perin.contract import Sentence
from perin.contract.heads import Prediction, Target
from perin.errors import InputError
from perin.frameworks.roundtrip import assign_queries, oracle_prediction
from perin.graphs import findings
from perin.graphs.graph import Edge, Graph, Node, Property
from perin.graphs.normalisation import isomorphic


def _perfect(sample: Any, target: Target, queries: int | None = None) -> Prediction:
    queries = queries or sample.framework.queries
    places = assign_queries(target, queries).places
    return oracle_prediction(sample.framework, target, sample.sentence, sample.vocabulary, queries, places)


def test_nothing_is_lost(sample: Any) -> None:
    target = sample.framework.encode(sample.graph, sample.sentence, sample.vocabulary)
    decoded = sample.framework.decode(_perfect(sample, target), sample.vocabulary)
    assert [str(finding) for finding in findings(decoded) if finding.severity == "error"] == []
    assert isomorphic(decoded, sample.graph, normalised=True)


def test_steps_are_reversible(sample: Any) -> None:
    form = sample.framework
    assert isomorphic(form.restored(form.simplified(sample.graph)), sample.graph, normalised=True)


def test_a_prediction_holds_the_sentence_and_arrays_only(sample: Any) -> None:
    """Its shapes are those of the heads, and nothing else could smuggle the gold graph to the decoder."""
    words, queries = sample.vocabulary, 7
    target = sample.framework.encode(sample.graph, sample.sentence, words)
    prediction = _perfect(sample, target, queries)
    t, k, rules, labels = len(sample.sentence), len(target), len(words.rules), len(words.edge_labels)
    shapes = {
        "labels": (k, rules + 1),
        "accepted": (k,),
        "presence": (k, k),
        "edge_labels": (k, k, labels),
        "anchors": (k, t),
        "edge_attributes": (k, k, len(words.edge_attributes) + 1),
        "properties": (k,),
        "tops": (k,),
    }
    for field in fields(prediction):
        value = getattr(prediction, field.name)
        if field.name in shapes:
            assert value is None or (type(value) is np.ndarray and value.shape == shapes[field.name])
            assert value is None or value.dtype == (np.int64 if field.name == "accepted" else np.float32)
    assert (np.diff(prediction.accepted) > 0).all()
    assert prediction.property_classes.keys() == words.property_classes.keys()
    for name, scores in prediction.property_classes.items():
        assert scores.shape == (k, len(words.property_classes[name]) + 1)
    assert type(prediction.sentence) is Sentence
    assert prediction.sentence is sample.sentence
    assert prediction.queries == queries
    assert {field.name for field in fields(prediction)} == {*shapes, "sentence", "queries", "property_classes"}


def test_every_node_lies_on_a_query_of_its_tokens(sample: Any) -> None:
    target = sample.framework.encode(sample.graph, sample.sentence, sample.vocabulary)
    found = assign_queries(target, sample.framework.queries)
    assert not (found.dropped | found.outside | found.unlabelled).any()
    assert len(set(found.places.tolist())) == len(target)
    assert target.mask[np.arange(len(target)), found.places // sample.framework.queries].all()


@pytest.mark.parametrize("seed", range(20))
def test_order_and_ids_do_not_change_the_target(
    sample: Any, shuffled: Callable[..., Graph], same_target: Callable[..., bool], seed: int
) -> None:
    encode = sample.framework.encode
    target = encode(sample.graph, sample.sentence, sample.vocabulary)
    assert same_target(encode(shuffled(sample.graph, seed), sample.sentence, sample.vocabulary), target)


def test_a_permuted_target_is_the_same_target(sample: Any, same_target: Callable[..., bool]) -> None:
    target = sample.framework.encode(sample.graph, sample.sentence, sample.vocabulary)
    order = np.random.default_rng(0).permutation(len(target))
    permuted = target.permuted(order)
    assert same_target(permuted, target)
    assert (permuted.mask == target.mask[order]).all()
    decoded = sample.framework.decode(_perfect(sample, permuted), sample.vocabulary)
    assert isomorphic(decoded, sample.graph, normalised=True)


def test_more_nodes_than_queries(sample: Any) -> None:
    few = replace(sample.sentence, tokens=sample.sentence.tokens[:2])
    target = sample.framework.encode(sample.graph, few, sample.vocabulary)
    found = assign_queries(target, 1)
    assert found.dropped.sum() == len(target) - 2
    prediction = oracle_prediction(sample.framework, target, few, sample.vocabulary, 1, found.places)
    decoded = sample.framework.decode(prediction, sample.vocabulary)
    assert not [finding for finding in findings(decoded) if finding.severity == "error"]


@pytest.mark.parametrize(("probability", "parts"), [(0.001, 2), (0.1, 1)])
def test_parts_of_eds_are_joined_where_that_is_not_too_improbable(
    samples: dict[str, Any], probability: float, parts: int
) -> None:
    sample = samples["eds"]
    target = sample.framework.encode(sample.graph, sample.sentence, sample.vocabulary)
    prediction = _perfect(sample, target)
    presence = np.where(prediction.presence > 0, prediction.presence, np.float32(probability))
    edges = sample.framework.decode(replace(prediction, presence=presence), sample.vocabulary).edges
    assert len(edges) == len(sample.graph.edges) + 2 - parts


def test_what_the_vocabulary_lacks_is_missing(samples: dict[str, Any], learn: Callable[..., Any]) -> None:
    sample = samples["ptg"]
    poor = learn(
        sample.framework,
        Graph("1", "ptg", "ces", nodes=(Node(0), Node(1, "a")), edges=(Edge(0, 1, "PRED"),), tops=(0,)),
    )
    target = sample.framework.encode(sample.graph, sample.sentence, poor)
    assert target.edge_attributes is None
    assert target.property_classes == {}
    assert target.edge_labels.any(axis=1).sum() == 1
    prediction = oracle_prediction(sample.framework, target, sample.sentence, poor, 3, assign_queries(target, 3).places)
    decoded = sample.framework.decode(prediction, poor)
    assert len(decoded) == len(sample.graph)
    assert not [finding for finding in findings(decoded) if finding.severity == "error"]


def test_tokens_of_another_text_are_refused(sample: Any) -> None:
    with pytest.raises(InputError, match="another text"):
        sample.framework.encode(replace(sample.graph, input="x"), sample.sentence, sample.vocabulary)


def test_frameworks_demand_what_their_graphs_have(samples: dict[str, Any]) -> None:
    """Choices of single frameworks that nothing else would show."""
    targets = {name: s.framework.encode(s.graph, s.sentence, s.vocabulary) for name, s in samples.items()}
    assert targets["amr"].anchors is None
    assert not targets["amr"].mask.all()  # artificial anchors: Tom
    assert targets["amr-zho"].anchors is not None
    assert not targets["amr-zho"].anchors.any(axis=1).all()  # a node without anchors
    assert targets["drg"].tops is targets["ptg"].tops is targets["ucca"].tops is None
    assert len(targets["drg"]) == len(samples["drg"].graph) - 6  # relations that became edges
    assert targets["amr"].edge_labels.sum(axis=1).max() == 2
    assert set(targets["ptg"].property_classes) == {"frame", "sempos", "tfa"}
    assert Property("polarity", "-") in samples["amr"].graph.nodes[0].properties
