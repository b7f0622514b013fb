"""The distinct things to encode: many nodes have the same label on the same tokens."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

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
