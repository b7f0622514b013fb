"""The token and lemma rules that can belong to a minimal rule set, with the keys that each covers.

These are the rules that yield at least two labels (see :mod:`perin.labels.minimal.problem`); of rules that cover the
same keys the simplest is kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from perin.labels.minimal.occurrences import Ints, Occurrences

# From occurrences to rules: an instance is a rule and a key whose label it yields.
#
# Rules are rows of numbers.  Instances come in batches, with all instances of a rule in the same batch: by
# affix pair and, for anchored nodes, by the number of tokens deleted at the left.


RuleRows: TypeAlias = NDArray[np.int32]
"""[R, 8]: rules, columns as named below."""

PAIR, SOURCE, SEPARATOR, DROP_LEFT, DROP_RIGHT, FIRST, CUT_LEFT, CUT_RIGHT = range(8)

BATCH = 2_000_000
"""A batch has about this many instances, or those of one affix pair."""


def instances(found: Occurrences, separators: int, *, anchored: bool) -> Iterator[tuple[RuleRows, Ints]]:
    """Batches of rules and of the keys that they cover, row by row."""
    views = found.views
    numbers = np.repeat(np.arange(len(views.tokens)), views.tokens) << 32
    last_starts = np.searchsorted(numbers + views.starts, (found.view << 32) + found.start, side="right") - 1
    first_ends = np.searchsorted(numbers + views.ends, (found.view << 32) + found.end, side="left")
    sizes = views.borders[found.view] - first_ends if anchored else np.ones(len(found), dtype=np.int64)
    order = np.argsort(found.pair, kind="stable")
    for chosen in _pieces(found.pair[order], sizes[order]):
        part = order[chosen]
        if anchored:
            first = (views.borders - views.tokens)[found.view[part]]
            deepest = last_starts[part] - first
            for dropped in range(int(deepest.max()) + 1):
                deep = deepest >= dropped
                yield _spans(found, part[deep], first[deep] + dropped, first_ends[part[deep]], dropped, separators)
        else:
            yield _windows(found, part, last_starts[part], first_ends[part])


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
    found: Occurrences, part: Ints, left: Ints, last: Ints, dropped: int, separators: int
) -> tuple[RuleRows, Ints]:
    """Anchored: rules that delete so many tokens at the left, so that ``left`` is the first token of each occurrence.

    A rule for every last token from ``last`` to the end, and if there is a single token in all for every separator.
    """
    views = found.views
    view = found.view[part]
    borders = views.borders[view]
    counts = borders - last
    rows = np.repeat(np.arange(len(part)), counts)
    right = last[rows] + np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
    rules = _rules(found, part[rows], left[rows], right)
    rules[:, DROP_LEFT] = dropped
    rules[:, DROP_RIGHT] = borders[rows] - 1 - right
    keys = found.key[part[rows]]
    single = views.tokens[view[rows]] == 1
    copies = [rules]
    for separator in range(1, separators):
        copy = rules[single]
        copy[:, SEPARATOR] = separator
        copies.append(copy)
    return np.concatenate(copies), np.concatenate([keys, *[keys[single]] * (separators - 1)])


def _windows(found: Occurrences, part: Ints, left: Ints, right: Ints) -> tuple[RuleRows, Ints]:
    """Without anchors: for each occurrence, the rule that takes exactly the tokens in which it begins and ends."""
    rules = _rules(found, part, left, right)
    rules[:, FIRST] = right - left + 1
    inside = (found.start[part] < found.views.ends[left]) & (found.end[part] > found.views.starts[right])
    inside &= (rules[:, FIRST] > 1) | (rules[:, SEPARATOR] == 0)
    return rules[inside], found.key[part[inside]]


def _rules(found: Occurrences, part: Ints, left: Ints, right: Ints) -> RuleRows:
    """Rules that keep an occurrence each of the tokens from ``left`` to ``right``; how they take these is not said."""
    view = found.view[part]
    rules = np.zeros((len(part), 8), dtype=np.int32)
    rules[:, PAIR] = found.pair[part]
    rules[:, SOURCE] = found.views.source[view]
    rules[:, SEPARATOR] = found.views.separator[view]
    rules[:, CUT_LEFT] = found.start[part] - found.views.starts[left]
    rules[:, CUT_RIGHT] = found.views.ends[right] - found.end[part]
    return rules


@dataclass(frozen=True)
class Candidates:
    """R rules, the simplest first, and the keys that each covers: ``keys[starts[r]:starts[r + 1]]``."""

    rules: RuleRows
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
        _shared(rules, keys, labels, affix_lengths)
        for rules, keys in instances(found, separators, anchored=anchored)
        if len(rules)
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


def _shared(rules: RuleRows, keys: Ints, labels: Ints, affix_lengths: Ints) -> Candidates:
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


def _simplest(rules: RuleRows, cost: Ints, starts: Ints, keys: Ints, shared: int) -> Candidates:
    """The simplest of the rules that cover the same keys; the simplest of all first.

    That they cover the same keys is told by two hashes of 64 bits, so that no rule can be lost by chance.
    """
    counts = np.diff(starts)
    owners = np.repeat(np.arange(len(rules)), counts)
    contents = np.zeros((2, len(rules)), dtype=np.uint64)
    hashed = _mixed(keys.astype(np.uint64))
    np.add.at(contents[0], owners, hashed)
    np.add.at(contents[1], owners, _mixed(hashed))
    order = np.lexsort(np.column_stack([rules[:, ::-1], cost]).T)
    contents = contents[:, order]
    grouped = np.lexsort((np.arange(len(order)), contents[0], contents[1]))
    first = np.ones(len(order), dtype=np.bool_)
    first[1:] = (contents[:, grouped[1:]] != contents[:, grouped[:-1]]).any(axis=0)
    order = order[np.sort(grouped[first])]
    pieces = np.repeat(starts[order] - np.append(0, np.cumsum(counts[order])[:-1]), counts[order])
    members = keys[np.arange(len(pieces)) + pieces]
    return Candidates(rules[order], cost[order], np.append(0, np.cumsum(counts[order])), members, shared)


def _hashed(rules: RuleRows) -> NDArray[np.uint64]:
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
