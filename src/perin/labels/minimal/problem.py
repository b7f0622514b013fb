"""The hitting set problem of a treebank: keys are the sets, rules their elements.

The rules are those that can belong to a minimal rule set.  Token and lemma rules must yield at least two labels (see
:class:`Cuts`); of rules that cover the same keys the simplest is kept.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from perin.labels.minimal.occurrences import Bools, Ints, Key, Keys, Occurrences, Task, search
from perin.labels.rules import AbsoluteRule, NumberRule, Rule, RuleSpace, TokenRule, apply, may_be_number, number_rules

# Which affixes labels share: the first reason why only few rules can belong to a minimal rule set.
#
# A rule that yields a single label can be replaced by the absolute rule of that label, which covers at least as many
# nodes.  So a token or lemma rule is only worth considering if its prefix and suffix fit at least two labels.


LONGEST_LABEL = 1000
"""Longer labels have absolute rules only."""


class Cuts:
    """The ways to cut labels into prefix, kept part and suffix where another label has the same affixes.

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


# Labels that can only have their absolute rule, found without looking at single rules.
#
# A key none of whose rules is shared with another label needs a rule of its own, and the absolute rule is as good as
# any. With its label out of the way, fewer affixes are shared, and further labels may turn out so.


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
    """The shortest part to keep for each label and start: if none of these occurs in a text, no longer one does."""
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


# The number rules that yield the labels of a treebank.


def number_coverage(keys: Sequence[Key], space: RuleSpace) -> dict[NumberRule, list[int]]:
    """The numbers of the keys that each number rule covers, for the rules that yield at least two labels."""
    if space.number_language is None:
        return {}
    by_text: dict[tuple[str, ...], list[int]] = {}
    for number, key in enumerate(keys):
        if may_be_number(key.label):
            by_text.setdefault(key.forms, []).append(number)
    covered: dict[NumberRule, set[int]] = {}
    for forms, numbers in by_text.items():
        for anchor in range(1 if space.anchored else len(forms)):
            seen = forms[anchor:]
            for rule in number_rules(len(seen), space):
                yielded = apply(rule, seen, ())
                if yielded is not None:
                    covered.setdefault(rule, set()).update(n for n in numbers if keys[n].label == yielded)
    shared = {rule: found for rule, found in covered.items() if len({keys[number].label for number in found}) > 1}
    return {rule: sorted(shared[rule]) for rule in sorted(shared, key=str)}


@dataclass(frozen=True)
class HittingSetProblem:
    """Rules by number: the absolute rules of the undecided labels, then number rules, then token and lemma rules.

    Rules of the same coverage are preferred in this order, simple ones first.
    """

    space: RuleSpace
    labels: Sequence[str]
    """All labels, sorted; their keys are ``numbers``."""
    numbers: Sequence[Sequence[int]]
    decided: Sequence[int]
    """The labels that must have their absolute rule."""
    undecided: Sequence[int]
    """All others."""
    number_rules: Sequence[tuple[NumberRule, Sequence[int]]]
    candidates: Candidates
    pairs: Sequence[tuple[str, str]]
    """Prefix and suffix by number, as the candidates name them."""

    @classmethod
    def build(cls, keys: Keys, space: RuleSpace, *, processes: int = 1, progress: bool = False) -> HittingSetProblem:
        """Enumerate the rules of a treebank, as far as they matter."""
        by_label = keys.by_label()
        labels, numbers = tuple(by_label), tuple(by_label.values())
        number_rules = number_coverage(keys.keys, space)
        exempt = {keys.keys[number] for covered in number_rules.values() for number in covered}
        cuts = Cuts(labels)
        groups = [[keys.keys[number] for number in group] for group in numbers]
        active, shared = shareable(cuts, groups, space.separators, exempt)
        decided, undecided = np.flatnonzero(~active).tolist(), np.flatnonzero(active).tolist()
        pairs, pair = _pairs(cuts, shared)
        tasks = _tasks(cuts, shared, pair, keys, numbers)
        found = search(tasks, space.separators, processes=processes, progress=progress)
        label_of = np.empty(len(keys), dtype=np.int64)
        for label, group in enumerate(numbers):
            label_of[group] = label
        lengths = np.array([len(prefix) + len(suffix) for prefix, suffix in pairs], dtype=np.int64)
        candidates = shared_candidates(
            found, label_of, lengths, separators=len(space.separators), anchored=space.anchored
        )
        return cls(space, labels, numbers, decided, undecided, tuple(number_rules.items()), candidates, pairs)

    @property
    def size(self) -> int:
        """How many rules could belong to a minimal set."""
        return len(self.labels) + len(self.number_rules) + self.candidates.shared

    def rule(self, element: int) -> Rule:
        """The rule of a number."""
        if element < len(self.undecided):
            return AbsoluteRule(self.labels[self.undecided[element]])
        element -= len(self.undecided)
        if element < len(self.number_rules):
            return self.number_rules[element][0]
        row = self.candidates.rules[element - len(self.number_rules)].tolist()
        prefix, suffix = self.pairs[row[PAIR]]
        return TokenRule(
            "lemma" if row[SOURCE] else "token",
            row[DROP_LEFT],
            row[DROP_RIGHT],
            self.space.separators[row[SEPARATOR]],
            row[CUT_LEFT],
            row[CUT_RIGHT],
            prefix,
            suffix,
            row[FIRST],
        )

    def covered(self, element: int) -> Sequence[int]:
        """The keys that the rule of a number covers."""
        if element < len(self.undecided):
            return self.numbers[self.undecided[element]]
        element -= len(self.undecided)
        if element < len(self.number_rules):
            return self.number_rules[element][1]
        element -= len(self.number_rules)
        start, end = self.candidates.starts[element : element + 2]
        covered: list[int] = self.candidates.keys[start:end].tolist()
        return covered

    def cost(self, element: int) -> int:
        """How far the rule of a number is from copying."""
        if element < len(self.undecided):
            return len(self.labels[self.undecided[element]])
        element -= len(self.undecided) + len(self.number_rules)
        return int(self.candidates.cost[element]) if element >= 0 else 0

    def absolute(self) -> dict[Rule, Sequence[int]]:
        """The rules of the decided labels, with the keys that they cover."""
        return {AbsoluteRule(self.labels[label]): self.numbers[label] for label in self.decided}

    def sets(self) -> list[list[int]]:
        """The rules of each key of an undecided label."""
        place = {
            number: place for place, number in enumerate(n for label in self.undecided for n in self.numbers[label])
        }
        sets: list[list[int]] = [[] for _ in place]
        for element in range(len(self.undecided) + len(self.number_rules) + len(self.candidates)):
            for number in self.covered(element):
                if number in place:
                    sets[place[number]].append(element)
        return sets


def _pairs(cuts: Cuts, shared: Bools) -> tuple[list[tuple[str, str]], Ints]:
    """The affix pairs of the shared cuts, and the number of the pair of each of these cuts."""
    _, first, pair = np.unique(cuts.pair[shared], return_index=True, return_inverse=True)
    places = np.flatnonzero(shared)[first]
    pairs = []
    for label, start, end in zip(cuts.label[places], cuts.start[places], cuts.end[places], strict=True):
        text = cuts.labels[label]
        pairs.append((text[:start], text[end:]))
    return pairs, pair


def _tasks(cuts: Cuts, shared: Bools, pair: Ints, keys: Keys, numbers: Sequence[Sequence[int]]) -> list[Task]:
    """What to search for, label by label."""
    by_label: dict[int, list[tuple[int, int, int]]] = {}
    rows = zip(
        cuts.label[shared].tolist(), cuts.start[shared].tolist(), cuts.end[shared].tolist(), pair.tolist(), strict=True
    )
    for label, start, end, affixes in rows:
        by_label.setdefault(label, []).append((start, end, affixes))
    return [
        (cuts.labels[label], parts, [(number, keys.keys[number]) for number in numbers[label]])
        for label, parts in by_label.items()
    ]
