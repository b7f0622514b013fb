"""Alternatives to labels leave the graph as it is, and are labels of its framework."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from perin.frameworks.decoding.assembly import FIELD
from perin.frameworks.decoding.nodes import absolute_rules
from perin.frameworks.roundtrip import assign_queries, oracle_prediction
from perin.graphs.graph import Edge, Graph, Node


def _without(item: Node | Edge) -> Node | Edge:
    return replace(item, extra={name: value for name, value in (item.extra or {}).items() if name != FIELD} or None)


def _bare(graph: Graph) -> Graph:
    return replace(graph, nodes=tuple(map(_without, graph.nodes)), edges=tuple(map(_without, graph.edges)))


@given(st.integers(1, 3), st.sampled_from([0.3, 3.0, 30.0]), st.integers(0, 2**32 - 1), st.booleans())
@settings(max_examples=60, deadline=None)
def test_the_graph_stays_the_same(
    sample: Any, random_prediction: Callable[..., Any], count: int, sharpness: float, seed: int, constraints: bool
) -> None:
    form, words = sample.framework, sample.vocabulary
    prediction = random_prediction(np.random.default_rng(seed), form, words, sample.sentence, 2, sharpness)
    options = {"probabilities": True, "constraints": constraints}
    graph = form.decode(prediction, words, alternatives=count, **options)
    assert _bare(graph) == form.decode(prediction, words, **options)
    for item in (*graph.nodes, *graph.edges):
        listed = (item.extra or {}).get(FIELD, [])
        assert len(listed) <= count
        assert item.label not in [label for label, _ in listed]
        assert [odds for _, odds in listed] == sorted((odds for _, odds in listed), reverse=True)
        assert all(0 < odds <= 1 for _, odds in listed)


def _second_thoughts(sample: Any, nodes: dict[str, str], edge_label: str) -> Graph:
    """The graph of a sample, decoded from an oracle that is not quite sure.

    ``nodes``: label -> the next best one, with a probability of .2.  ``edge_label`` has .125 at every edge.
    """
    form, words = sample.framework, sample.vocabulary
    target = form.encode(sample.graph, sample.sentence, words)
    places = assign_queries(target, form.queries).places
    oracle = oracle_prediction(form, target, sample.sentence, words, form.queries, places)
    names = [node.label for node in form.simplified(sample.graph).nodes]
    labels, edge_labels = oracle.labels.copy(), oracle.edge_labels.copy()
    for first, second in nodes.items():
        row = np.searchsorted(oracle.accepted, places[names.index(first)])
        labels[row] *= 0.8
        labels[row, absolute_rules(words.rules, second)] = 0.2
    column = words.edge_labels.index(edge_label)
    edge_labels[:, :, column] = np.maximum(edge_labels[:, :, column], np.float32(0.125))
    return form.decode(replace(oracle, labels=labels, edge_labels=edge_labels), words, alternatives=2)


def _alternatives(graph: Graph, label: str) -> list[Any]:
    return [(item.extra or {}).get(FIELD) for item in (*graph.nodes, *graph.edges) if item.label == label]


def test_inverted_edges_have_inverted_alternatives(samples: dict[str, Any]) -> None:
    graph = _second_thoughts(samples["amr"], {"boy": "happy"}, "ARG1")
    assert _alternatives(graph, "boy") == [[["happy", 0.2]]]
    assert _alternatives(graph, "ARG0-of") == [[["ARG1-of", 0.125]]]
    assert _alternatives(graph, "ARG1") == [None] * len(_alternatives(graph, "ARG1"))


def test_relations_of_drg_are_nodes_with_alternatives(samples: dict[str, Any]) -> None:
    graph = _second_thoughts(samples["drg"], {"male.n.02": "time.n.08", "now": "tom"}, "@Theme")
    assert _alternatives(graph, "male.n.02") == [[["time.n.08", 0.2]]]
    assert _alternatives(graph, '"now"') == [[['"tom"', 0.2]]]
    assert _alternatives(graph, "Name") == [[["Theme", 0.125]]]
    assert [label for label in ("in", "NEGATION") if any(_alternatives(graph, label))] == []


def test_alternatives_have_senses_of_their_own(samples: dict[str, Any]) -> None:
    graph = _second_thoughts(samples["umr-ces"], {"přijít": "řídit-se"}, "op1")
    assert _alternatives(graph, "přijít-001") == [[["řídit-se-002", 0.2]]]
