"""What is decided about nodes before their edges: labels and anchors, which depend on each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from perin.frameworks.anchoring import Anchoring
from perin.frameworks.arrays import Bools, Scores
from perin.frameworks.decoding.labels import Labelling, absolute_rules, least_loss
from perin.frameworks.prediction import Prediction


@dataclass(frozen=True)
class Nodes:
    """Labels, flags and anchors of K nodes."""

    labels: list[str]
    flags: Bools
    """[K]"""
    anchors: Bools | None
    """[K, T]"""


def choose_flags(scores: Scores | None, count: int, *, owned: bool) -> Bools:
    """[K]: the flagged nodes; if flagged nodes must have an owner, at least one node is not flagged."""
    if scores is None:
        return np.zeros(count, dtype=np.bool_)
    flags: Bools = scores >= 0.5
    if owned and flags.all():
        flags[scores.argmin()] = False
    return flags


class NodeChoice:
    """Chooses labels and anchors of the accepted queries of one prediction."""

    def __init__(self, prediction: Prediction, labelling: Labelling, flags: Bools, anchoring: Anchoring | None) -> None:
        self._labelling = labelling
        self._flags = flags
        self._scores = prediction.labels[prediction.accepted]
        self._tokens = prediction.tokens.tolist()
        self._anchor_scores = prediction.anchors
        self._anchors = None
        if anchoring is not None and prediction.anchors is not None:
            self._anchors = anchoring.choose(prediction.anchors)

    def nodes(self, required: str | None, unique: bool) -> Nodes:
        """The most probable labels and anchors, with at least (or exactly) one node of the required label."""
        chosen = [self._label(index, scores) for index, scores in enumerate(self._scores)]
        labels = [label for label, _ in chosen]
        if required is not None and (required not in labels or (unique and labels.count(required) > 1)):
            labels = self._with(required, chosen, unique)
        return Nodes(labels, self._flags, self._anchors)

    def _label(self, index: int, scores: Scores) -> tuple[str, float]:
        value = bool(self._flags[index])
        if self._anchors is None or self._anchor_scores is None:
            return self._labelling.from_token(scores, self._tokens[index], value=value)
        own = np.flatnonzero(self._anchors[index]).tolist()
        label, probability = self._labelling.from_anchors(scores, own, value=value)
        if own or not len(self._labelling.forms):
            return label, probability
        # A node without anchors has an absolute label.  If a relative one is so much more probable that it outweighs
        # the anchor which it needs, the node gets both.
        token = int(self._anchor_scores[index].argmax())
        odds = float(self._anchor_scores[index, token])
        other, better = self._labelling.from_anchors(scores, [token], value=value)
        if other != label and better * odds > probability * (1 - odds):
            self._anchors[index, token] = True
            return other, better
        return label, probability

    def _with(self, required: str, chosen: Sequence[tuple[str, float]], unique: bool) -> list[str]:
        rules = absolute_rules(self._labelling.rules, required)
        named = self._scores[:, rules].sum(axis=1)
        if unique:
            rest = self._scores.copy()
            rest[:, rules] = 0
            chosen = [
                self._label(index, rest[index]) if label == required else (label, probability)
                for index, (label, probability) in enumerate(chosen)
            ]
        labels = [label for label, _ in chosen]
        labels[least_loss(named, np.array([probability for _, probability in chosen]))] = required
        return labels
