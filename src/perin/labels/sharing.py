"""Labels that can only have their absolute rule, found without looking at single rules.

A key none of whose rules is shared with another label needs a rule of its own, and the absolute rule is as good as any.
With its label out of the way, fewer affixes are shared, and further labels may turn out so.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from perin.labels.affixes import Cuts
from perin.labels.keys import Key


def shareable(
    cuts: Cuts, keys: Sequence[Sequence[Key]], separators: Sequence[str], exempt: Collection[Key]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """[labels]: the labels that need not be absolute; [cuts]: the cuts whose affixes such labels share.

    ``keys`` are those of each label; ``exempt`` keys have other rules that several labels share.
    """
    active = np.ones(len(cuts.labels), dtype=np.bool_)
    waiting = [sorted((key for key in group if key not in exempt), key=_length) for group in keys]
    checked: list[tuple[str, ...] | None] = [None] * len(keys)
    while True:
        shared = cuts.shared_by(active)
        parts = _shortest_parts(cuts, shared)
        before = active.sum()
        for number in np.flatnonzero(active).tolist():
            if checked[number] != parts[number]:
                checked[number] = parts[number]
                active[number] = all(_contains(key, parts[number], separators) for key in waiting[number])
        if active.sum() == before:
            return active, shared


def _shortest_parts(cuts: Cuts, shared: NDArray[np.bool_]) -> list[tuple[str, ...]]:
    """Of each label and start the shortest part to keep: if none of these occurs in a text, no longer one does."""
    label, start, end = cuts.label[shared], cuts.start[shared], cuts.end[shared]
    first = np.ones(len(label), dtype=np.bool_)
    first[1:] = (label[1:] != label[:-1]) | (start[1:] != start[:-1])
    parts: list[list[str]] = [[] for _ in cuts.labels]
    for number, low, high in zip(label[first].tolist(), start[first].tolist(), end[first].tolist(), strict=True):
        parts[number].append(cuts.labels[number][low:high])
    return [tuple(sorted(set(found))) for found in parts]


def _contains(key: Key, parts: Sequence[str], separators: Sequence[str]) -> bool:
    views = {separator.join(tokens) for tokens in (key.forms, key.lemmas) for separator in separators}
    return any(part in view for part in parts for view in views)


def _length(key: Key) -> int:
    return len(key.forms)
