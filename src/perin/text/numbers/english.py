"""English number words."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from perin.text.numbers.sums import NumberWords, Value, digit_value, numbered

_CARDINALS = numbered("zero one two three four five six seven eight nine ten", first=0) | numbered(
    "eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen", first=11
)
_TENS = numbered("twenty thirty forty fifty sixty seventy eighty ninety", first=20, step=10)
_ORDINALS = (
    {f"{word}th": value for word, value in _CARDINALS.items()}
    | {word.replace("ty", "tieth"): value for word, value in _TENS.items()}
    | {"first": 1, "second": 2, "third": 3, "fifth": 5, "eighth": 8, "ninth": 9, "twelfth": 12}
)
_SCALES = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_WHOLE = (
    {"once": 1, "twice": 2, "thrice": 3, "tens": 10, "dozens": 12, "hundreds": 100}
    | numbered("january february march april may june july august september october november december")
    | numbered("jan feb mar apr may jun jul aug sep oct nov dec")
    | {word.replace("ty", "ties"): value for word, value in _TENS.items()}
)
"""Words that spell a number alone, and are no part of a longer one."""
_AFTER_DIGITS = {"k": 10**3, "m": 10**6, "bn": 10**9}
_WORDS = NumberWords(
    _CARDINALS | _TENS | _ORDINALS,
    ("hundred", "hundredth"),
    {f"{word}{ending}": value for word, value in _SCALES.items() for ending in ("", "s", "th")}
    | _AFTER_DIGITS
    | {"dozen": 12},
    lambda word: digit_value(word, "eng"),
)
_CONNECTORS = frozenset(("and", "-", "‐", "‑", ",", "of"))


def value(words: Sequence[str]) -> Value | None:
    """The number that lower-cased words spell, or None."""
    words = [part for word in words for part in word.replace("-", " ").split() if part not in _CONNECTORS]
    if len(words) == 1:
        [word] = words
        return _WHOLE[word] if word in _WHOLE else None if word in _AFTER_DIGITS else _WORDS.value(words)
    if words[:1] in (["a"], ["an"]):
        words = words[1:] if words[1] in _WORDS.scales or words[1] in _WORDS.hundreds else []
    if "point" in words:
        return _with_decimals(words)
    found = _WORDS.value(words)
    return found if found is not None else _year(words)


def _with_decimals(words: list[str]) -> Value | None:
    """Three point one four."""
    point = words.index("point")
    whole = _WORDS.value(words[:point]) if point else 0
    digits = [_CARDINALS.get(word, 10) for word in words[point + 1 :]]
    if whole is None or not digits or max(digits) > 9:
        return None
    return Decimal(f"{whole}.{''.join(map(str, digits))}")


def _year(words: list[str]) -> Value | None:
    """Nineteen | eighty-four; twenty | oh five."""
    century = _WORDS.value(words[:1])
    zero = words[1:2] in (["oh"], ["o"])
    year = _WORDS.value(words[2:] if zero else words[1:])
    if century is None or year is None or not 10 < century < 100 or not (0 < year < 10 if zero else 9 < year < 100):
        return None
    return century * 100 + year
