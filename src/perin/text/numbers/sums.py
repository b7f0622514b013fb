"""Tables of number words, and sums of words that are written apart: two | hundred | and | one | thousand | six."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeAlias

# Numbers written in digits: thousands separators, decimal points, ordinal endings.


Value: TypeAlias = int | Decimal
"""Decimal only where there are decimal places."""

_SEPARATORS = {"ces": ("[ \u00a0.]", ","), "deu": (r"\.", ","), "eng": (",", r"\."), "zho": (",", r"\.")}
"""Language to the patterns of its thousands separator and of its decimal point."""
_ENDINGS = {"ces": r"\.|[.]?krát", "deu": r"\.|-?te[rnms]?|-?mal", "eng": "st|nd|rd|th|['’]?s", "zho": "月|年|日|号"}
_NUMBERS = {
    language: re.compile(
        rf"(?P<whole>\d+|\d{{1,3}}(?:{separator}\d{{3}})+)(?:{point}(?P<decimals>\d+))?(?:{_ENDINGS[language]})?",
        re.ASCII,
    )
    for language, (separator, point) in _SEPARATORS.items()
}
_PLAIN = re.compile(r"(?P<whole>\d+)\.(?P<decimals>\d+)", re.ASCII)


def read_digits(text: str, language: str) -> str | None:
    """The plain digits of a number written in digits: no separators, a point before decimals, no ordinal ending.

    >>> read_digits("20,000", "eng"), read_digits("1.513,75", "deu"), read_digits("31.", "ces")
    ('20000', '1513.75', '31')
    """
    match = _NUMBERS[language].fullmatch(text) or _PLAIN.fullmatch(text)
    if match is None:
        return None
    whole = re.sub(r"\D", "", match["whole"])
    return f"{whole}.{match['decimals']}" if match["decimals"] else whole


def digit_value(text: str, language: str) -> Value | None:
    """What :func:`read_digits` finds, as a number."""
    digits = read_digits(text, language)
    return None if digits is None else Decimal(digits) if "." in digits else int(digits)


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
