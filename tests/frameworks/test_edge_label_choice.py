from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from perin.frameworks.decoding.structure import choose_edge_labels
from perin.frameworks.rulebook import Rulebook

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


def test_a_further_label_may_have_to_be_more_probable() -> None:
    scores = np.array([[0.9, 0.8, 0.6], [0.99, 0.97, 0.2], [0.3, 0.2, 0.1]], dtype=np.float32)
    further = np.array([0.95, 0.95, 0.5])
    chosen = choose_edge_labels(scores, multilabel=True, markers=np.array([False, False, True]), further=further)
    assert chosen.tolist() == [[True, False, True], [True, True, False], [True, False, False]]


@pytest.mark.parametrize("name", ["amr", "drg"])
def test_with_rules_a_second_label_is_rare_and_a_marker_is_not(samples: dict[str, Any], name: str) -> None:
    sample = samples[name]
    book = Rulebook(sample.framework, sample.vocabulary)
    assert {bool(value > 0.99) for value in book.further[~book.markers]} == {True}
    assert set(book.further[book.markers].tolist()) <= {0.5}
    assert book.markers.any() == (name == "drg")
