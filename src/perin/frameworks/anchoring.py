"""Between anchors, which are ranges of characters, and tokens."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from perin.contract.heads import Bools, Scores
from perin.contract.sentence import Sentence
from perin.graphs.graph import Anchor
from perin.graphs.normalisation import trimmed_runs

_SMALLEST = 1e-9


@dataclass(frozen=True)
class Anchoring:
    """How a framework anchors its nodes.

    ``required``: every node has an anchor.  ``continuous``: in one piece.  ``trimmed``: punctuation at the ends of a
    piece does not count, as in the MRP metric, and neighbouring tokens are written as one range; otherwise each token
    has a range of its own.
    """

    required: bool = False
    continuous: bool = False
    trimmed: bool = False

    def tokens(self, anchors: Sequence[Iterable[Anchor] | None], sentence: Sentence) -> Bools:
        """[N, T]: the tokens that overlap with the anchors of each node."""
        starts = [token.start for token in sentence.tokens]
        ends = [token.end for token in sentence.tokens]
        found = np.zeros((len(anchors), len(starts)), dtype=np.bool_)
        for row, pieces in zip(found, anchors, strict=True):
            if pieces and self.trimmed:
                _mark(row, trimmed_runs(pieces, sentence.text), starts, ends)
            if pieces and not row.any():
                _mark(row, pieces, starts, ends)
        return found

    def choose(self, scores: Scores) -> Bools:
        """[K, T]: the most probable tokens of each node that the framework allows; ``scores``: [K, T]."""
        if not scores.size:
            return np.zeros(scores.shape, dtype=np.bool_)
        if self.continuous:
            return _best_pieces(scores)
        chosen: Bools = scores >= 0.5
        if self.required:
            chosen[np.arange(len(chosen)), scores.argmax(axis=1)] = True
        return chosen

    def ranges(self, tokens: Iterable[int], sentence: Sentence) -> tuple[Anchor, ...]:
        """The anchors of a node with these tokens, ascending numbers."""
        pieces: list[Anchor] = []
        last = -2
        for index in tokens:
            token = sentence.tokens[index]
            if self.trimmed and index == last + 1:
                pieces[-1] = Anchor(pieces[-1].start, token.end)
            else:
                pieces.append(Anchor(token.start, token.end))
            last = index
        return tuple(pieces)


def _mark(row: Bools, ranges: Iterable[tuple[int, int]], starts: list[int], ends: list[int]) -> None:
    for start, end in ranges:
        if start < end:
            row[bisect_right(ends, start) : bisect_left(starts, end)] = True


def _best_pieces(scores: Scores) -> Bools:
    """[K, T]: of each row the one piece of neighbouring tokens, at least one, with the greatest product of odds.

    The odds of a piece are a difference of two prefix sums of log odds, so its best start for each end is where the
    prefix before it is lowest; the first of equally good pieces is taken.
    """
    clipped = np.clip(scores.astype(np.float64), _SMALLEST, 1 - _SMALLEST)
    sums = np.cumsum(np.log(clipped) - np.log1p(-clipped), axis=1)
    before = np.concatenate([np.zeros((len(sums), 1)), sums[:, :-1]], axis=1)
    lowest = np.minimum.accumulate(before, axis=1)
    rows = np.arange(len(sums))
    end = (sums - lowest).argmax(axis=1)
    start = (before == lowest[rows, end][:, None]).argmax(axis=1)
    positions = np.arange(scores.shape[1])
    pieces: Bools = (positions >= start[:, None]) & (positions <= end[:, None])
    return pieces
