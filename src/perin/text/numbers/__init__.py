"""Number words to digits: ``forty-two`` to ``42``, in English, German, Czech and Chinese."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from decimal import Decimal
from functools import lru_cache

from perin.text.languages import checked
from perin.text.numbers.sums import Value, read_digits

__all__ = ["to_number"]

_MODULES = {"ces": "czech", "deu": "german", "eng": "english", "zho": "chinese"}
_MINUS = ("-", "−", "–", "minus", "负")
_LONGEST = 100
"""More words than this, or more characters in one, are no number that anybody writes in words."""


def to_number(words: Sequence[str], language: str) -> str | None:
    """The number that all the words together spell, in digits; None if they spell none.

    Cardinals, ordinals, multiplicatives (``twice``), names of months (``May`` is 5), digits, and mixtures.

    >>> to_number(["forty", "-", "two"], "eng"), to_number(["two", "hundred", "million"], "eng")
    ('42', '200000000')
    >>> to_number(["zweiundvierzigste"], "deu"), to_number(["dvacet", "tři"], "ces"), to_number(["三百二十"], "zho")
    ('42', '23', '320')
    >>> to_number(["1.5", "million"], "eng"), to_number(["8.586"], "deu"), to_number(["two", "dogs"], "eng")
    ('1500000', '8586', None)
    """
    if not words or len(words) > _LONGEST or any(len(word) > _LONGEST for word in words):
        return None
    return _number(tuple(word.lower() for word in words), checked(language))


@lru_cache(maxsize=1 << 16)
def _number(words: tuple[str, ...], language: str) -> str | None:
    if len(words) > 1 and words[0] in _MINUS:
        positive = _number(words[1:], language)
        return None if positive is None or positive.startswith("-") else f"-{positive}"
    digits = read_digits("".join(words), language)
    if digits is not None:
        return digits
    module = importlib.import_module(f"perin.text.numbers.{_MODULES[language]}")
    value: Value | None = module.value(words)
    return None if value is None else _written(value)


def _written(value: Value) -> str:
    """Digits without an exponent and without zeros after the last decimal place.

    >>> _written(Decimal("1.50")), _written(Decimal("2E+3"))
    ('1.5', '2000')
    """
    text = f"{value:f}" if isinstance(value, Decimal) else str(value)
    return text.rstrip("0").rstrip(".") if "." in text else text
