"""What rules are learned from: the distinct labels with their tokens, and where parts of labels stand in the tokens.

A view is a list of tokens joined by one separator.  The tokens from i to j joined by it are a piece of the view, so one
search in the view finds the occurrences for all of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from multiprocessing import get_context
from signal import SIG_IGN, SIGINT, signal
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from perin.labels.rules import AbsoluteRule, LabelItem, NumberRule, Rule, fold
from perin.lazy import cached_property

# The distinct things to encode: many nodes have the same label on the same tokens.


class Key(NamedTuple):
    """A label and its tokens without case; see :class:`~perin.labels.rules.LabelItem`."""

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


# The case of rules: they are learned without case and written like most of the labels that they yield.


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


Ints: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]


@dataclass(frozen=True)
class Views:
    """The boundaries of the tokens of all views, and what each view is made of."""

    source: Ints
    """[V]: 0 for forms, 1 for lemmas."""
    separator: Ints
    """[V]: the separator's place in the rule space."""
    tokens: Ints
    """[V]: the number of tokens."""
    starts: Ints
    ends: Ints
    """The first character and the one after the last, of each token of the first view, then of the second, …"""

    @cached_property
    def borders(self) -> Ints:
        """[V]: the place after each view's last token in ``starts`` and ``ends``."""
        return np.cumsum(self.tokens)


@dataclass(frozen=True)
class Occurrences:
    """Occurrences of parts of labels in views, as parallel arrays."""

    key: Ints
    """The number of the key."""
    pair: Ints
    """The number of the affix pair that remains of the label."""
    view: Ints
    start: Ints
    end: Ints
    """The characters of the view that a rule keeps."""
    views: Views

    def __len__(self) -> int:
        return len(self.key)


Task: TypeAlias = tuple[str, Sequence[tuple[int, int, int]], Sequence[tuple[int, Key]]]
"""A label, its cuts (start and end of the kept part, number of the affix pair; sorted), its keys with their numbers."""


def find_occurrences(tasks: Sequence[Task], separators: Sequence[str]) -> Occurrences:
    """All occurrences of the kept parts of labels in the views of their keys.

    The views of one token do not depend on the separator; only the first is searched.
    """
    found: list[tuple[int, int, int, int, int]] = []
    views = _ViewTable(separators)
    for label, cuts, keys in tasks:
        by_start: dict[int, list[tuple[int, int]]] = {}
        for start, end, pair in cuts:
            by_start.setdefault(start, []).append((end, pair))
        for number, key in keys:
            for view, text in views.of(key):
                _search(label, by_start, number, view, text, found)
    columns = np.array(found, dtype=np.int64).reshape(-1, 5).T.copy()
    return Occurrences(columns[0], columns[1], columns[2], columns[3], columns[4], views.views())


def merged(parts: Sequence[Occurrences]) -> Occurrences:
    """One table of several, with the views numbered through."""
    offsets = np.cumsum([0, *(len(part.views.source) for part in parts)])
    return Occurrences(
        np.concatenate([part.key for part in parts]),
        np.concatenate([part.pair for part in parts]),
        np.concatenate([part.view + offset for part, offset in zip(parts, offsets, strict=False)]),
        np.concatenate([part.start for part in parts]),
        np.concatenate([part.end for part in parts]),
        Views(
            np.concatenate([part.views.source for part in parts]),
            np.concatenate([part.views.separator for part in parts]),
            np.concatenate([part.views.tokens for part in parts]),
            np.concatenate([part.views.starts for part in parts]),
            np.concatenate([part.views.ends for part in parts]),
        ),
    )


def _search(
    label: str,
    by_start: Mapping[int, Sequence[tuple[int, int]]],
    number: int,
    view: int,
    text: str,
    found: list[tuple[int, int, int, int, int]],
) -> None:
    """Append (key, pair, view, start, end) of each occurrence; ends ascend, so that the first failure ends a start."""
    for start, ends in by_start.items():
        for end, pair in ends:
            part = label[start:end]
            place = text.find(part)
            if place < 0:
                break
            length = end - start
            while place >= 0:
                found.append((number, pair, view, place, place + length))
                place = text.find(part, place + 1)


class _ViewTable:
    """The views of keys, each made once."""

    def __init__(self, separators: Sequence[str]) -> None:
        self.separators = separators
        self.known: dict[tuple[tuple[str, ...], int, int], tuple[int, str]] = {}

    def of(self, key: Key) -> list[tuple[int, str]]:
        """The number and text of each view of a key."""
        found = []
        for source, tokens in enumerate((key.forms, key.lemmas)):
            for separator in range(len(self.separators) if len(tokens) > 1 else min(len(tokens), 1)):
                place = tokens, source, separator
                if place not in self.known:
                    self.known[place] = len(self.known), self.separators[separator].join(tokens)
                found.append(self.known[place])
        return found

    def views(self) -> Views:
        """The boundaries of the tokens of all views so far."""
        counts = np.array([len(tokens) for tokens, _, _ in self.known], dtype=np.int64)
        separator = np.array([separator for _, _, separator in self.known], dtype=np.int64)
        lengths = np.array([len(token) for tokens, _, _ in self.known for token in tokens], dtype=np.int64)
        gaps = np.array([len(text) for text in self.separators], dtype=np.int64)
        places = np.cumsum(lengths + np.repeat(gaps[separator], counts)) - lengths
        firsts = np.cumsum(counts) - counts
        starts = places - np.repeat(places[firsts], counts)
        source = np.array([source for _, source, _ in self.known], dtype=np.int64)
        return Views(source, separator, counts, starts, starts + lengths)


# The search for occurrences, on several processes if wanted.


PIECE = 2_000
"""About this many keys are searched at a time."""


def search(tasks: Sequence[Task], separators: Sequence[str], *, processes: int, progress: bool) -> Occurrences:
    """All occurrences that the tasks ask for; the order does not depend on the number of processes."""
    pieces = _pieces(tasks)
    find = partial(find_occurrences, separators=separators)
    with tqdm(total=len(pieces), desc="rules", unit=" pieces", disable=not progress, leave=False) as bar:
        found = []
        for part in _mapped(find, pieces, processes):
            found.append(part)
            bar.update()
    return merged(found or [find(())])


def _mapped(
    find: Callable[[Sequence[Task]], Occurrences], pieces: Sequence[Sequence[Task]], processes: int
) -> Iterator[Occurrences]:
    """Like ``map``; an interrupt is for this process, which then ends the others."""
    if processes <= 1 or len(pieces) <= 1:
        yield from map(find, pieces)
        return
    context = get_context("spawn")
    workers = min(processes, len(pieces))
    with ProcessPoolExecutor(workers, context, initializer=signal, initargs=(SIGINT, SIG_IGN)) as pool:
        yield from pool.map(find, pieces)


def _pieces(tasks: Sequence[Task]) -> list[list[Task]]:
    """The tasks in order, in groups of about :data:`PIECE` keys."""
    pieces: list[list[Task]] = []
    size = PIECE
    for task in tasks:
        if size >= PIECE:
            pieces.append([])
            size = 0
        pieces[-1].append(task)
        size += len(task[2])
    return pieces
