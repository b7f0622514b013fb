"""The distinct things to encode: many nodes have the same label on the same tokens."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

from perin.labels.rules import AbsoluteRule, NumberRule, Rule
from perin.labels.space import LabelItem, fold


class Key(NamedTuple):
    """A label and its tokens without case; see :class:`~perin.labels.space.LabelItem`."""

    label: str
    forms: tuple[str, ...]
    lemmas: tuple[str, ...]


@dataclass(frozen=True)
class Keys:
    """Sorted distinct keys; a key's number is its place, so numbers do not depend on the order of nodes."""

    keys: tuple[Key, ...]
    nodes: tuple[int, ...]
    """How many nodes have each key."""
    spellings: tuple[Counter[str], ...]
    """The labels of the nodes of each key as they are written, with their numbers of nodes."""
    capitals: Mapping[bool, float]
    """The share of nodes with capitals, among names and property values (True) and among other labels (False)."""

    def __len__(self) -> int:
        return len(self.keys)

    def by_label(self) -> dict[str, list[int]]:
        """The numbers of the keys of each label; labels in sorted order."""
        numbers: dict[str, list[int]] = {}
        for number, key in enumerate(self.keys):
            numbers.setdefault(key.label, []).append(number)
        return numbers


def distinct_keys(items: Iterable[LabelItem]) -> Keys:
    """The keys of all items.

    >>> keys = distinct_keys([LabelItem("A", ("a",), ("a",)), LabelItem("a", ("A",), ("a",))])
    >>> keys.keys, keys.nodes
    ((Key(label='a', forms=('a',), lemmas=('a',)),), (2,))
    """
    spellings: dict[Key, Counter[str]] = {}
    with_capitals: Counter[bool] = Counter()
    nodes: Counter[bool] = Counter()
    for (label, forms, lemmas, value), count in Counter(items).items():
        key = Key(_folded(label), tuple(map(_folded, forms)), tuple(map(_folded, lemmas)))
        spellings.setdefault(key, Counter())[label] += count
        nodes[value] += count
        with_capitals[value] += count * (key.label != label)
    ordered = sorted(spellings)
    counters = tuple(spellings[key] for key in ordered)
    capitals = {value: with_capitals[value] / max(nodes[value], 1) for value in (False, True)}
    return Keys(tuple(ordered), tuple(counter.total() for counter in counters), counters, capitals)


@lru_cache(maxsize=1 << 17)
def _folded(text: str) -> str:
    return fold(text)


# The case of rules: they are learned without case and written as most of the labels are that they yield.


def spelled(chosen: Mapping[Rule, Sequence[int]], keys: Keys) -> list[Rule]:
    """Rules with the usual case of their affixes or labels, the rules of the most nodes first.

    ``chosen`` are rules in lower case with the keys that they cover.
    """
    counts = {rule: sum(keys.nodes[number] for number in numbers) for rule, numbers in chosen.items()}
    ordered = sorted(chosen, key=lambda rule: (-counts[rule], str(rule)))
    return [_spelled(rule, chosen[rule], keys) for rule in ordered]


def _spelled(rule: Rule, numbers: Sequence[int], keys: Keys) -> Rule:
    if isinstance(rule, NumberRule):
        return rule
    labels: Counter[str] = Counter()
    for number in numbers:
        labels.update(keys.spellings[number])
    if isinstance(rule, AbsoluteRule):
        return AbsoluteRule(_most_common(labels))
    before, after = len(rule.prefix), len(rule.suffix)
    affixes: Counter[tuple[str, str]] = Counter()
    for label, count in labels.items():
        affixes[label[:before], label[len(label) - after :]] += count
    prefix, suffix = min(affixes, key=lambda pair: (-affixes[pair], pair))
    return replace(rule, prefix=prefix, suffix=suffix)


def _most_common(labels: Counter[str]) -> str:
    return min(labels, key=lambda label: (-labels[label], label))
