"""The token and lemma rules that can belong to a minimal rule set, with the keys that each covers.

These are the rules that yield at least two labels (see :mod:`perin.labels.affixes`); of rules that cover the same keys
the simplest is kept.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from perin.labels.instances import CUT_LEFT, CUT_RIGHT, DROP_LEFT, DROP_RIGHT, FIRST, PAIR, RuleRows, instances
from perin.labels.occurrences import Ints, Occurrences


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
    """Of the rules that cover the same keys the simplest; the simplest of all first.

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
