"""Which labels the edges have."""

from __future__ import annotations

import numpy as np

from perin.contract.arrays import Bools, Scores


def choose_edge_labels(scores: Scores, *, multilabel: bool, markers: Bools) -> Bools:
    """[M, L]: the labels of M pairs, at least one that is no marker each.

    ``scores``: [M, L].  ``markers``: [L], labels that only stand beside another.
    """
    chosen = np.zeros(scores.shape, dtype=np.bool_)
    if not scores.size:
        return chosen
    if multilabel:
        chosen |= scores >= 0.5
    plain = np.where(markers, -1.0, scores)
    bare = ~(chosen & ~markers).any(axis=1)
    chosen[bare, plain[bare].argmax(axis=1)] = True
    return chosen
