"""Numbers written in digits: thousands separators, decimal points, ordinal endings."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TypeAlias

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
