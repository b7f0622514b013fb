"""Dependency trees with coordination, and what may stand beside them."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perin.contract.heads import Prediction
from perin.frameworks.decoding.dependency import _best_members
from perin.frameworks.roundtrip import assign_queries, oracle_prediction
from perin.graphs.graph import Graph
from perin.graphs.normalisation import isomorphic


@pytest.fixture(name="perfect")
def perfect_prediction(samples: dict[str, Any]) -> Prediction:
    sample = samples["ptg"]
    target = sample.framework.encode(sample.graph, sample.sentence, sample.vocabulary)
    places = assign_queries(target, 8).places
    return oracle_prediction(sample.framework, target, sample.sentence, sample.vocabulary, 8, places)


def decode(sample: Any, prediction: Prediction) -> Graph:
    return sample.framework.decode(prediction, sample.vocabulary)


def place(sample: Any, prediction: Prediction, label: str) -> int:
    """The place of the node with a label; in PTG a node's id is its place."""
    return next(node.id for node in decode(sample, prediction).nodes if node.label == label)


def links(graph: Graph) -> set[tuple[str | None, str | None, str | None, bool]]:
    label = {node.id: node.label for node in graph.nodes}
    return {(label[e.source], label[e.target], e.label, bool(e.get("effective"))) for e in graph.edges}


def test_a_perfect_prediction_gives_the_graph(samples: dict[str, Any], perfect: Prediction) -> None:
    assert isomorphic(decode(samples["ptg"], perfect), samples["ptg"].graph, normalised=True)


def test_a_second_parent_must_be_coreferent_or_shared(samples: dict[str, Any], perfect: Prediction) -> None:
    sample = samples["ptg"]
    soon, think = place(sample, perfect, "brzy"), place(sample, perfect, "myslet")
    presence, labels = perfect.presence.copy(), perfect.edge_labels.copy()
    presence[think, soon] = 0.9
    labels[think, soon] = 0.0
    labels[think, soon, sample.vocabulary.edge_labels.index("PAR")] = 1.0
    doubtful = replace(perfect, presence=presence, edge_labels=labels)
    assert links(decode(sample, doubtful)) == links(sample.graph)
    labels[think, soon] = np.eye(labels.shape[-1])[sample.vocabulary.edge_labels.index("coref.text")]
    assert links(decode(sample, doubtful)) == links(sample.graph) | {("myslet", "brzy", "coref.text", False)}


def test_an_effective_edge_goes_with_its_coordination(samples: dict[str, Any], perfect: Prediction) -> None:
    """Where nobody is a member, nothing is shared."""
    sample = samples["ptg"]
    attributes = perfect.edge_attributes
    assert attributes is not None
    head, both, *names = (place(sample, perfect, label) for label in ("přijít", "a", "Petr", "Pavel"))
    attributes[both, names] = np.eye(attributes.shape[-1])[0]
    labels = perfect.edge_labels
    labels[head, both] = np.eye(labels.shape[-1])[sample.vocabulary.edge_labels.index("PAR")]
    found = decode(sample, perfect)
    assert not any(edge.get("member") or edge.get("effective") for edge in found.edges)


def test_arguments_occur_once(samples: dict[str, Any], perfect: Prediction) -> None:
    sample = samples["ptg"]
    numbers = sample.vocabulary.edge_labels
    head, soon, think = (place(sample, perfect, label) for label in ("přijít", "brzy", "myslet"))
    for child, other in ((soon, "TWHEN"), (think, "PAR")):
        perfect.edge_labels[head, child] = 0.0
        perfect.edge_labels[head, child, numbers.index("ACT")] = 0.9 if child == think else 0.6
        perfect.edge_labels[head, child, numbers.index(other)] = 0.1 if child == think else 0.4
    assert {
        (None, "přijít", "PRED", False),
        ("přijít", "brzy", "TWHEN", False),
        ("přijít", "myslet", "ACT", False),
    } <= (links(decode(sample, perfect)))


@given(st.lists(st.floats(-9, 9), max_size=6), st.sampled_from([0.0, 0.5, 5.0]))
@settings(max_examples=80, deadline=None)
def test_no_other_members_gain_more(gains: list[float], lonely: float) -> None:
    found, chosen = _best_members(gains, list(range(len(gains))), lonely)
    sets = itertools.chain.from_iterable(itertools.combinations(range(len(gains)), size) for size in range(7))
    best = max(sum(gains[row] for row in rows) - lonely * (len(rows) < 2) for rows in sets)
    assert found == pytest.approx(best)
    assert found == pytest.approx(sum(gains[row] for row in chosen) - lonely * (len(chosen) < 2))
