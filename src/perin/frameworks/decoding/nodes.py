"""What is decided about nodes before their edges: labels and anchors, which depend on each other."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from perin.contract.heads import Bools, Prediction, Scores, true_columns
from perin.frameworks.anchoring import Anchoring
from perin.frameworks.decoding.labels import Labelling, Ranking, absolute_rules, least_loss


@dataclass(frozen=True)
class Nodes:
    """Labels, flags and anchors of K nodes."""

    labels: list[str]
    probabilities: list[float]
    """Of the labels."""
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
        self._scores = prediction.labels
        self._ranking = Ranking(prediction.labels)
        self._tokens = prediction.tokens.tolist()
        self._anchor_scores = prediction.anchors
        self._anchors = None
        self._anchored: list[list[int]] = []
        if anchoring is not None and prediction.anchors is not None:
            self._anchors = anchoring.choose(prediction.anchors)
            self._anchored = true_columns(self._anchors)

    def nodes(self, required: str | None, unique: bool) -> Nodes:
        """The most probable labels and anchors, with at least (or exactly) one node of the required label."""
        chosen = [self._label(index, self._labelling) for index in range(len(self._tokens))]
        count = sum(label == required for label, _ in chosen)
        if required is not None and (not count or (unique and count > 1)):
            chosen = self._with(required, chosen, unique)
        labels, probabilities = zip(*chosen, strict=True)
        return Nodes(list(labels), list(probabilities), self._flags, self._anchors)

    def _label(self, index: int, labelling: Labelling) -> tuple[str, float]:
        """A node's best label and its probability; the form of the query's token if no rule is defined."""
        ranking, token, value = self._ranking, self._tokens[index], bool(self._flags[index])
        if self._anchors is None or self._anchor_scores is None:
            best = labelling.from_token(ranking, index, token, value=value)
        else:
            best = labelling.from_anchors(ranking, index, self._anchored[index], value=value)
            if not self._anchored[index]:
                # Without an anchor the label is absolute.  A relative one and the anchor it needs may be more probable.
                likely = int(self._anchor_scores[index].argmax())
                odds = float(self._anchor_scores[index, likely])
                other = labelling.from_anchors(ranking, index, [likely], value=value)
                if other is not None and (best is None or _outweighs(other, best, odds)):
                    self._anchors[index, likely] = True
                    best = other
        return best or (labelling.forms[token], 0.0)

    def _with(self, required: str, chosen: list[tuple[str, float]], unique: bool) -> list[tuple[str, float]]:
        rules = absolute_rules(self._labelling.rules, required)
        if unique:
            others = replace(self._labelling, excluded=frozenset(rules))
            chosen = [self._label(index, others) if pair[0] == required else pair for index, pair in enumerate(chosen)]
        named = self._scores[:, rules].sum(axis=1)
        best = least_loss(named, np.array([probability for _, probability in chosen]))
        return [*chosen[:best], (required, float(named[best])), *chosen[best + 1 :]]


def _outweighs(anchored: tuple[str, float], bare: tuple[str, float], probability: float) -> bool:
    """Whether another label with an anchor of this probability is more probable than a label without the anchor."""
    return anchored[0] != bare[0] and anchored[1] * probability > bare[1] * (1 - probability)
