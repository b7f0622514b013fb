"""From occurrences to rules: an instance is a rule and a key whose label it yields.

Rules are rows of numbers.  Instances come in batches such that all instances of a rule are in the same batch: by affix
pair and, for anchored nodes, by the number of tokens deleted at the left.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from perin.labels.occurrences import Ints, Occurrences

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
    """Without anchors: of each occurrence the rule that takes exactly the tokens in which it begins and ends."""
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
