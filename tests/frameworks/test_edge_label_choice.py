from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from perin.frameworks.decoding.labels import choose_edge_labels
from perin.frameworks.decoding.repeats import learn_repeats, without_repeats
from perin.graphs.graph import Edge, Graph

NO_MARKERS = np.zeros(3, dtype=bool)


def test_all_labels_above_the_threshold_and_at_least_one() -> None:
    scores = np.array([[0.6, 0.7, 0.1], [0.2, 0.1, 0.3]], dtype=np.float32)
    assert choose_edge_labels(scores, multilabel=True, markers=NO_MARKERS).tolist() == [
        [True, True, False],
        [False, False, True],
    ]
    assert choose_edge_labels(scores, multilabel=False, markers=NO_MARKERS).tolist() == [
        [False, True, False],
        [False, False, True],
    ]


def test_a_marker_never_stands_alone() -> None:
    scores = np.array([[0.9, 0.1, 0.2], [0.9, 0.1, 0.6]], dtype=np.float32)
    markers = np.array([True, False, False])
    chosen = choose_edge_labels(scores, multilabel=True, markers=markers)
    assert chosen.tolist() == [[True, False, True], [True, False, True]]


def test_without_edges_or_labels() -> None:
    assert choose_edge_labels(np.zeros((0, 3), dtype=np.float32), multilabel=True, markers=NO_MARKERS).shape == (0, 3)
    assert choose_edge_labels(np.zeros((2, 0), dtype=np.float32), multilabel=True, markers=NO_MARKERS[:0]).shape == (
        2,
        0,
    )


def test_how_often_a_label_repeats_is_learned() -> None:
    once = [Graph(str(id), edges=(Edge(0, 1, "ARG0"), Edge(0, 1, "op"), Edge(0, 2, "op"))) for id in range(99)]
    assert learn_repeats(once) == {"ARG0": 0.5 / 100}


@given(st.integers(1, 3), st.integers(0, 2**32 - 1))
@settings(max_examples=60, deadline=None)
def test_no_other_labelling_is_more_probable(count: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores = rng.dirichlet(np.ones(3), size=count).astype(np.float32)
    repeats = {0: 0.01, 1: 0.2}
    chosen = choose_edge_labels(scores, multilabel=False, markers=NO_MARKERS)
    found = without_repeats(scores, chosen, np.zeros(count, dtype=np.int64), repeats).argmax(axis=1)

    def probability(labels: tuple[int, ...]) -> float:
        again = np.prod([value ** max(labels.count(label) - 1, 0) for label, value in repeats.items()])
        return float(np.prod([scores[row, label] for row, label in enumerate(labels)]) * again)

    best = max(map(probability, itertools.product(range(3), repeat=count)))
    assert np.isclose(probability(tuple(found.tolist())), best)


def test_what_the_network_is_sure_of_may_repeat() -> None:
    scores = np.array([[1, 0, 0], [1, 0, 0]], dtype=np.float32)
    chosen = choose_edge_labels(scores, multilabel=True, markers=NO_MARKERS)
    assert (without_repeats(scores, chosen, np.zeros(2, dtype=np.int64), {0: 0.001}) == chosen).all()
