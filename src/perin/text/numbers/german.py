"""German number words, which are written together: zweitausenddreihundertfünfundvierzig."""

from __future__ import annotations

import re
from collections.abc import Sequence

from perin.text.numbers.sums import Value, digit_value, numbered

_UNITS = {"ein": 1, "zwei": 2, "zwo": 2, "drei": 3, "vier": 4, "fünf": 5, "sechs": 6, "sieben": 7, "acht": 8, "neun": 9}
_TENS = {"zwanzig": 20, "dreißig": 30, "dreissig": 30, "sechzig": 60, "siebzig": 70} | {
    f"{unit}zig": 10 * value for unit, value in _UNITS.items() if value in (4, 5, 8, 9)
}
_BELOW_100 = (
    _UNITS
    | {"eins": 1, "zehn": 10, "elf": 11, "zwölf": 12, "sechzehn": 16, "siebzehn": 17}
    | {f"{unit}zehn": value + 10 for unit, value in _UNITS.items() if value in (3, 4, 5, 8, 9)}
    | _TENS
    | {f"{unit}und{ten}": value + tens for unit, value in _UNITS.items() for ten, tens in _TENS.items()}
)
_SCALES = tuple(
    (re.compile(scale), value)
    for scale, value in (
        ("billion(?:en)?", 10**12),
        ("milliarde(?:n(?!eun))?", 10**9),
        ("million(?:en)?", 10**6),
        ("tausend", 10**3),
        ("hundert", 10**2),
    )
)
_INFLECTED = {"eine": 1, "einen": 1, "einem": 1, "einer": 1, "eines": 1, "zweier": 2, "dreier": 3}
_WHOLE = {"null": 0, "jänner": 1, "dutzend": 12, "dutzende": 12, "hunderte": 100, "tausende": 1000} | numbered(
    "januar februar märz april mai juni juli august september oktober november dezember"
)
"""Words that spell a number alone, and are no part of a longer one."""
_ORDINAL = re.compile(r"(.+)e[rnms]?")
_ORDINAL_STEMS = (("erst", "ein"), ("dritt", "drei"), ("siebt", "sieben"), ("acht", "acht"), ("st", ""), ("t", ""))


def value(words: Sequence[str]) -> Value | None:
    """The number that lower-cased words spell, or None."""
    text = "".join(words).replace("-", "")
    if text in _WHOLE:
        return _WHOLE[text]
    cardinal = _cardinal(text.removesuffix("mal"))
    return cardinal if cardinal is not None else _ordinal(text)


def _cardinal(text: str) -> Value | None:
    for scale, size in _SCALES:
        match = scale.search(text)
        if match:
            factor = _factor(text[: match.start()], size)
            rest = _rest(text[match.end() :], size)
            return None if factor is None or rest is None else factor * size + rest
    return _BELOW_100.get(text, _INFLECTED.get(text))


def _factor(text: str, size: int) -> Value | None:
    """What stands before a scale; nothing means one: hundert, tausend."""
    if not text:
        return 1
    digits = digit_value(text, "deu")
    factor = digits if digits is not None else _cardinal(text)
    return factor if factor is not None and factor < (20 if size == 100 else 1000) else None


def _rest(text: str, size: int) -> Value | None:
    if not text:
        return 0
    rest = _cardinal(text)
    if rest is None:
        rest = _cardinal(text.removeprefix("und"))
    return rest if rest is not None and rest < size else None


def _ordinal(text: str) -> Value | None:
    match = _ORDINAL.fullmatch(text)
    stem = match[1] if match else ""
    for ending, cardinal in _ORDINAL_STEMS:
        if stem.endswith(ending):
            found = _cardinal(stem.removesuffix(ending) + cardinal)
            if found is not None:
                return found
    return None
