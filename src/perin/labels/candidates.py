"""The token and lemma rules that can belong to a minimal rule set, with the keys that each covers.

These are the rules that yield at least two labels (see :mod:`perin.labels.affixes`).  Rules are rows of numbers here,
and only the rules of some affix pairs are in memory at a time; of rules that cover the same keys the simplest is kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from perin.labels.occurrences import Ints, Occurrences

PAIR, SOURCE, SEPARATOR, DROP_LEFT, DROP_RIGHT, FIRST, CUT_LEFT, CUT_RIGHT = range(8)
"""The columns of a table of rules."""

BATCH = 4_000_000
"""About this many instances (a rule and a key) are in memory at a time."""


@dataclass(frozen=True)
class Candidates:
    """R rules, the simplest first, and the keys that each covers: ``keys[starts[r]:starts[r + 1]]``."""

    rules: NDArray[np.int32]
    """[R, 8], columns as named above."""
    cost: Ints
    """[R]: how far the rule is from copying: characters cut and added, tokens dropped, tokens taken after the first."""
    starts: Ints
    """[R + 1]"""
    keys: Ints
    shared: int
    """How many rules yield at least two labels, before those that cover the same keys were merged."""

    def __len__(self) -> int:
        return len(self.rules)


def shared_candidates(
    found: Occurrences, labels: Ints, affix_lengths: Ints, separators: int, *, anchored: bool
) -> Candidates:
    """The rules of these occurrences that yield at least two labels.

    ``labels``: [keys] the number of the label of each key; ``affix_lengths``: [pairs] characters of prefix and suffix.
    """
    parts = [
        _shared(rules, keys, labels, affix_lengths) for rules, keys in _batches(found, separators, anchored=anchored)
    ]
    if not parts:
        nothing = np.zeros(0, dtype=np.int64)
        return Candidates(np.zeros((0, 8), dtype=np.int32), nothing, np.zeros(1, dtype=np.int64), nothing, 0)
    counts = np.concatenate([np.diff(part.starts) for part in parts])
    return _simplest(
        np.concatenate([part.rules for part in parts]),
        np.concatenate([part.cost for part in parts]),
        np.concatenate([[0], np.cumsum(counts)]),
        np.concatenate([part.keys for part in parts]),
        sum(part.shared for part in parts),
    )


def _batches(found: Occurrences, separators: int, *, anchored: bool) -> Iterator[tuple[NDArray[np.int32], Ints]]:
    """Tables of rules with their keys; all instances of an affix pair are in the same batch."""
    views = found.views
    offsets = np.concatenate([[0], np.cumsum(views.tokens)])
    numbers = np.repeat(np.arange(len(views.tokens)), views.tokens) << 32
    before = np.searchsorted(numbers + views.starts, (found.view << 32) + found.start, side="right")
    after = np.searchsorted(numbers + views.ends, (found.view << 32) + found.end, side="left")
    order = np.argsort(found.pair, kind="stable")
    first_tokens = before - offsets[found.view]
    last_tokens = offsets[found.view + 1] - after
    sizes = first_tokens * last_tokens if anchored else np.ones(len(found), dtype=np.int64)
    for chosen in _pieces(found.pair[order], sizes[order]):
        part = order[chosen]
        if anchored:
            yield _spans(found, part, before[part], after[part], offsets, separators)
        else:
            yield _windows(found, part, before[part] - 1, after[part])


def _pieces(pairs: Ints, sizes: Ints) -> Iterator[slice]:
    """Slices of about :data:`BATCH` instances that end where the pair changes."""
    borders = np.append(np.flatnonzero(np.diff(pairs)) + 1, len(pairs))
    total = np.append(0, np.cumsum(sizes))
    start = 0
    for border, following in zip(borders, np.append(borders[1:], -1), strict=True):
        if border > start and (following < 0 or total[following] - total[start] > BATCH):
            yield slice(start, int(border))
            start = int(border)


def _spans(
    found: Occurrences, part: Ints, before: Ints, after: Ints, offsets: Ints, separators: int
) -> tuple[NDArray[np.int32], Ints]:
    """Anchored: of each occurrence a rule for every span of tokens around it; of a single token for every separator."""
    views = found.views
    low, high = offsets[found.view[part]], offsets[found.view[part] + 1]
    counts = (before - low) * (high - after)
    rows = np.repeat(np.arange(len(part)), counts)
    place = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
    width = (high - after)[rows]
    left, right = low[rows] + place // width, after[rows] + place % width
    occurrence = part[rows]
    view = found.view[occurrence]
    rules = np.empty((len(rows), 8), dtype=np.int32)
    rules[:, PAIR] = found.pair[occurrence]
    rules[:, SOURCE] = views.source[view]
    rules[:, SEPARATOR] = views.separator[view]
    rules[:, DROP_LEFT] = left - low[rows]
    rules[:, DROP_RIGHT] = high[rows] - 1 - right
    rules[:, FIRST] = 0
    rules[:, CUT_LEFT] = found.start[occurrence] - views.starts[left]
    rules[:, CUT_RIGHT] = views.ends[right] - found.end[occurrence]
    keys = found.key[occurrence]
    single = views.tokens[view] == 1
    copies = [rules]
    for separator in range(1, separators):
        copy = rules[single]
        copy[:, SEPARATOR] = separator
        copies.append(copy)
    return np.concatenate(copies), np.concatenate([keys, *[keys[single]] * (separators - 1)])


def _windows(found: Occurrences, part: Ints, left: Ints, right: Ints) -> tuple[NDArray[np.int32], Ints]:
    """Without anchors: of each occurrence the rule that takes exactly the tokens in which it begins and ends."""
    views = found.views
    view = found.view[part]
    rules = np.empty((len(part), 8), dtype=np.int32)
    rules[:, PAIR] = found.pair[part]
    rules[:, SOURCE] = views.source[view]
    rules[:, SEPARATOR] = views.separator[view]
    rules[:, DROP_LEFT] = 0
    rules[:, DROP_RIGHT] = 0
    rules[:, FIRST] = right - left + 1
    rules[:, CUT_LEFT] = found.start[part] - views.starts[left]
    rules[:, CUT_RIGHT] = views.ends[right] - found.end[part]
    inside = (found.start[part] < views.ends[left]) & (found.end[part] > views.starts[right])
    inside &= (rules[:, FIRST] > 1) | (rules[:, SEPARATOR] == 0)
    return rules[inside], found.key[part[inside]]


def _shared(rules: NDArray[np.int32], keys: Ints, labels: Ints, affix_lengths: Ints) -> Candidates:
    """The rules that yield two labels, of instances that hold all keys of each rule."""
    identity = _hashed(rules)
    order = np.lexsort((keys, identity))
    identity, keys = identity[order], keys[order]
    repeated = (identity[1:] == identity[:-1]) & (keys[1:] == keys[:-1])
    kept = np.concatenate([[True], ~repeated])
    order, identity, keys = order[kept], identity[kept], keys[kept]
    starts = np.flatnonzero(np.concatenate([[True], identity[1:] != identity[:-1]]))
    label = labels[keys]
    several = np.minimum.reduceat(label, starts) != np.maximum.reduceat(label, starts)
    counts = np.diff(np.append(starts, len(keys)))
    table = rules[order[starts[several]]]
    cost = affix_lengths[table[:, PAIR]] + table[:, [DROP_LEFT, DROP_RIGHT, CUT_LEFT, CUT_RIGHT]].sum(axis=1)
    cost += np.maximum(table[:, FIRST] - 1, 0)
    keys = keys[np.repeat(several, counts)]
    return _simplest(table, cost, np.concatenate([[0], np.cumsum(counts[several])]), keys, len(table))


def _simplest(rules: NDArray[np.int32], cost: Ints, starts: Ints, keys: Ints, shared: int) -> Candidates:
    """Of the rules that cover the same keys the simplest; the simplest of all first."""
    counts = np.diff(starts)
    rows = np.repeat(np.arange(len(rules)), counts)
    content = np.zeros(len(rules), dtype=np.uint64)
    np.add.at(content, rows, _mixed(keys.astype(np.uint64)))
    order = np.lexsort(np.column_stack([rules[:, ::-1], cost]).T)
    _, first = np.unique(content[order], return_index=True)
    order = order[np.sort(first)]
    pieces = np.repeat(starts[order] - np.append(0, np.cumsum(counts[order])[:-1]), counts[order])
    members = keys[np.arange(len(pieces)) + pieces]
    return Candidates(rules[order], cost[order], np.append(0, np.cumsum(counts[order])), members, shared)


def _hashed(rules: NDArray[np.int32]) -> NDArray[np.uint64]:
    """64-bit hashes of rows.

    Two rules that collide would count as one that covers the keys of both: the lower bound stays one, and a label that
    the chosen rules do not yield after all would be found in the end (:mod:`perin.labels.minimal`).
    """
    value = np.zeros(len(rules), dtype=np.uint64)
    for column in range(rules.shape[1]):
        value = _mixed(value + rules[:, column].astype(np.uint64))
    return value


def _mixed(value: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The finaliser of the generator SplitMix64, which spreads every bit over the whole word."""
    value = value + np.uint64(0x9E3779B97F4A7C15)
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))
