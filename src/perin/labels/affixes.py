"""Which affixes labels share: the first reason why only few rules can belong to a minimal rule set.

A rule that yields a single label can be replaced by the absolute rule of that label, which covers at least as many
nodes.  So a token or lemma rule is only worth considering if its prefix and suffix fit at least two labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

LONGEST_LABEL = 1000
"""Longer labels have absolute rules only."""


class Cuts:
    """The ways to cut labels into prefix, kept part and suffix such that another label has the same affixes.

    ``labels`` are sorted and distinct.  Cuts are parallel arrays ordered by label, start and end: ``label[start:end]``
    is kept, and ``pair`` is the number of the pair of affixes around it.
    """

    def __init__(self, labels: Sequence[str]) -> None:
        self.labels = labels
        prefixes = _shared_lengths(labels)
        mirrored = sorted((label[::-1], number) for number, label in enumerate(labels))
        suffixes = [0] * len(labels)
        for length, (_, number) in zip(_shared_lengths([label for label, _ in mirrored]), mirrored, strict=True):
            suffixes[number] = length
        known: dict[str, int] = {}
        tables = [np.zeros((5, 0), dtype=np.int32)]
        for number, label in enumerate(labels):
            if 0 < len(label) <= LONGEST_LABEL:
                starts = range(min(prefixes[number], len(label) - 1) + 1)
                ends = range(max(len(label) - suffixes[number], 1), len(label) + 1)
                before = [known.setdefault(label[:start], len(known)) for start in starts]
                after = [known.setdefault(label[end:], len(known)) for end in ends]
                table = np.empty((5, len(starts), len(ends)), dtype=np.int32)
                table[0] = number
                table[1], table[3] = np.array((starts, before))[:, :, None]
                table[2], table[4] = np.array((ends, after))[:, None, :]
                tables.append(table[:, table[2] > table[1]])
        self.label, self.start, self.end, prefix, suffix = np.concatenate(tables, axis=1)
        self.pair = np.unique(prefix.astype(np.int64) * len(known) + suffix, return_inverse=True)[1]

    def __len__(self) -> int:
        return len(self.pair)

    def shared_by(self, active: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """[cuts]: whether a cut belongs to an active label and another active label has the same affixes."""
        mine = active[self.label]
        counts = np.bincount(self.pair[mine], minlength=len(self.pair))
        shared: NDArray[np.bool_] = mine & (counts[self.pair] > 1)
        return shared


def _shared_lengths(ordered: Sequence[str]) -> list[int]:
    """The length of the longest prefix that each of these sorted labels shares with another, which is a neighbour."""
    common = [_common(left, right) for left, right in pairwise(ordered)]
    return [max(before, after) for before, after in zip([0, *common], [*common, 0], strict=True)][: len(ordered)]


def _common(left: str, right: str) -> int:
    length = 0
    for first, second in zip(left, right, strict=False):
        if first != second:
            break
        length += 1
    return length
