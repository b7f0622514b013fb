from __future__ import annotations

import numpy as np

from perin.frameworks.decoding.structure import choose_edge_labels

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
