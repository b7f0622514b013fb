"""Tables of number words, and sums of words that are written apart: two | hundred | and | one | thousand | six."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

from perin.text.numbers.digits import Value


def numbered(words: str, first: int = 1, step: int = 1, endings: str = "-") -> dict[str, int]:
    """A table of words whose numbers ascend, each with each of the endings (``-`` is none).

    >>> numbered("twenty thirty", 20, 10)
    {'twenty': 20, 'thirty': 30}
    >>> numbered("pět šest", 5, endings="- i")
    {'pět': 5, 'pěti': 5, 'šest': 6, 'šesti': 6}
    """
    return {
        word + ending.strip("-"): first + step * index
        for index, word in enumerate(words.split())
        for ending in endings.split()
    }


@dataclass(frozen=True)
class NumberWords:
    """The words of a language: those below 100, those for 100, the scales (1000 and more); ``digits`` reads digits."""

    small: Mapping[str, int]
    hundreds: Collection[str]
    scales: Mapping[str, int]
    digits: Callable[[str], Value | None]

    def value(self, words: Iterable[str]) -> Value | None:
        """The number that the words spell, or None.

        Each part must be smaller than the last place of the one before: twenty | two, but not twenty | eleven.
        """
        scaled: list[tuple[Value, int]] = []
        group: list[tuple[Value, int]] = []
        for word in words:
            if word in self.scales or word in self.hundreds:
                size = self.scales.get(word, 100)
                factor = _sum(group) if group else 1
                if factor is None or factor <= 0 or (size == 100 and factor >= 100):
                    return None
                part = (factor * size, size)
                scaled, group = (scaled, [part]) if size == 100 else ([*scaled, part], [])
            else:
                value = self.small.get(word, self.digits(word))
                if value is None:
                    return None
                group.append((value, 10 if word in self.small and value >= 20 and value % 10 == 0 else 1))
        return _sum(scaled + group)


def _sum(parts: list[tuple[Value, int]]) -> Value | None:
    """The sum of values, each smaller than the place of the one before."""
    total: Value = 0
    room: int | None = None
    for value, place in parts:
        if room is not None and not 0 < value < room:
            return None
        total += value
        room = place
    return total if parts else None
