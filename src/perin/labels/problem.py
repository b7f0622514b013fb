"""The hitting set problem of a treebank: keys are the sets, rules their elements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from perin.labels import instances as column
from perin.labels.affixes import Cuts
from perin.labels.candidates import Candidates, shared_candidates
from perin.labels.keys import Keys
from perin.labels.number_words import number_coverage
from perin.labels.occurrences import Bools, Ints, Task
from perin.labels.rules import AbsoluteRule, NumberRule, Rule, TokenRule
from perin.labels.search import search
from perin.labels.sharing import shareable
from perin.labels.space import RuleSpace


@dataclass(frozen=True)
class Problem:
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
    def build(cls, keys: Keys, space: RuleSpace, *, processes: int = 1, progress: bool = False) -> Problem:
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
        prefix, suffix = self.pairs[row[column.PAIR]]
        return TokenRule(
            "lemma" if row[column.SOURCE] else "token",
            row[column.DROP_LEFT],
            row[column.DROP_RIGHT],
            self.space.separators[row[column.SEPARATOR]],
            row[column.CUT_LEFT],
            row[column.CUT_RIGHT],
            prefix,
            suffix,
            row[column.FIRST],
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
