"""Number words and digits to plain digits: ``forty-two`` to ``42``, in English, German, Czech and Chinese."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import TypeAlias

from perin.text.languages import checked

Value: TypeAlias = int | Decimal
"""Decimal only where there are decimal places."""

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


@lru_cache(maxsize=1 << 14)
def _number(words: tuple[str, ...], language: str) -> str | None:
    if len(words) > 1 and words[0] in _MINUS:
        positive = _number(words[1:], language)
        return None if positive is None or positive.startswith("-") else f"-{positive}"
    digits = read_digits("".join(words), language)
    if digits is not None:
        return digits
    value = _READERS[language](words)
    return None if value is None else _written(value)


def _written(value: Value) -> str:
    """Digits without an exponent and without zeros after the last decimal place.

    >>> _written(Decimal("1.50")), _written(Decimal("2E+3"))
    ('1.5', '2000')
    """
    text = f"{value:f}" if isinstance(value, Decimal) else str(value)
    return text.rstrip("0").rstrip(".") if "." in text else text


# Numbers written in digits: thousands separators, decimal points, ordinal endings.


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


# Words that are written apart: two | hundred | and | one | thousand | six.


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


# English.

_ENG_CARDINALS = numbered("zero one two three four five six seven eight nine ten", first=0) | numbered(
    "eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen", first=11
)
_ENG_TENS = numbered("twenty thirty forty fifty sixty seventy eighty ninety", first=20, step=10)
_ENG_ORDINALS = (
    {f"{word}th": value for word, value in _ENG_CARDINALS.items()}
    | {word.replace("ty", "tieth"): value for word, value in _ENG_TENS.items()}
    | {"first": 1, "second": 2, "third": 3, "fifth": 5, "eighth": 8, "ninth": 9, "twelfth": 12}
)
_ENG_SCALES = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_ENG_WHOLE = (
    {"once": 1, "twice": 2, "thrice": 3, "tens": 10, "dozens": 12, "hundreds": 100}
    | numbered("january february march april may june july august september october november december")
    | numbered("jan feb mar apr may jun jul aug sep oct nov dec")
    | {word.replace("ty", "ties"): value for word, value in _ENG_TENS.items()}
)
"""Words that spell a number alone, and are no part of a longer one."""
_ENG_AFTER_DIGITS = {"k": 10**3, "m": 10**6, "bn": 10**9}
_ENG_WORDS = NumberWords(
    _ENG_CARDINALS | _ENG_TENS | _ENG_ORDINALS,
    ("hundred", "hundredth"),
    {f"{word}{ending}": value for word, value in _ENG_SCALES.items() for ending in ("", "s", "th")}
    | _ENG_AFTER_DIGITS
    | {"dozen": 12},
    lambda word: digit_value(word, "eng"),
)
_ENG_CONNECTORS = frozenset(("and", "-", "‐", "‑", ",", "of"))


def _english(words: Sequence[str]) -> Value | None:
    words = [part for word in words for part in word.replace("-", " ").split() if part not in _ENG_CONNECTORS]
    if len(words) == 1:
        [word] = words
        if word in _ENG_WHOLE:
            return _ENG_WHOLE[word]
        return None if word in _ENG_AFTER_DIGITS else _ENG_WORDS.value(words)
    if words[:1] in (["a"], ["an"]):
        words = words[1:] if words[1] in _ENG_WORDS.scales or words[1] in _ENG_WORDS.hundreds else []
    if "point" in words:
        return _english_with_decimals(words)
    found = _ENG_WORDS.value(words)
    return found if found is not None else _english_year(words)


def _english_with_decimals(words: list[str]) -> Value | None:
    """Three point one four."""
    point = words.index("point")
    whole = _ENG_WORDS.value(words[:point]) if point else 0
    digits = [_ENG_CARDINALS.get(word, 10) for word in words[point + 1 :]]
    if whole is None or not digits or max(digits) > 9:
        return None
    return Decimal(f"{whole}.{''.join(map(str, digits))}")


def _english_year(words: list[str]) -> Value | None:
    """Nineteen | eighty-four; twenty | oh five."""
    century = _ENG_WORDS.value(words[:1])
    zero = words[1:2] in (["oh"], ["o"])
    year = _ENG_WORDS.value(words[2:] if zero else words[1:])
    if century is None or year is None or not 10 < century < 100 or not (0 < year < 10 if zero else 9 < year < 100):
        return None
    return century * 100 + year


# German, written together: zweitausenddreihundertfünfundvierzig.

_DEU_UNITS = numbered("ein zwei drei vier fünf sechs sieben acht neun") | {"zwo": 2}
_DEU_TENS = {"zwanzig": 20, "dreißig": 30, "dreissig": 30, "sechzig": 60, "siebzig": 70} | {
    f"{unit}zig": 10 * value for unit, value in _DEU_UNITS.items() if value in (4, 5, 8, 9)
}
_DEU_BELOW_100 = (
    _DEU_UNITS
    | {"eins": 1, "zehn": 10, "elf": 11, "zwölf": 12, "sechzehn": 16, "siebzehn": 17}
    | {f"{unit}zehn": value + 10 for unit, value in _DEU_UNITS.items() if value in (3, 4, 5, 8, 9)}
    | _DEU_TENS
    | {f"{unit}und{ten}": value + tens for unit, value in _DEU_UNITS.items() for ten, tens in _DEU_TENS.items()}
)
_DEU_SCALES = tuple(
    (re.compile(scale), value)
    for scale, value in (
        ("billion(?:en)?", 10**12),
        ("milliarde(?:n(?!eun))?", 10**9),
        ("million(?:en)?", 10**6),
        ("tausend", 10**3),
        ("hundert", 10**2),
    )
)
_DEU_INFLECTED = {"eine": 1, "einen": 1, "einem": 1, "einer": 1, "eines": 1, "zweier": 2, "dreier": 3}
_DEU_WHOLE = {"null": 0, "jänner": 1, "dutzend": 12, "dutzende": 12, "hunderte": 100, "tausende": 1000} | numbered(
    "januar februar märz april mai juni juli august september oktober november dezember"
)
"""Words that spell a number alone, and are no part of a longer one."""
_DEU_ORDINAL = re.compile(r"(.+)e[rnms]?")
_DEU_ORDINAL_STEMS = (("erst", "ein"), ("dritt", "drei"), ("siebt", "sieben"), ("acht", "acht"), ("st", ""), ("t", ""))


def _german(words: Sequence[str]) -> Value | None:
    text = "".join(words).replace("-", "")
    if text in _DEU_WHOLE:
        return _DEU_WHOLE[text]
    cardinal = _german_cardinal(text.removesuffix("mal"))
    return cardinal if cardinal is not None else _german_ordinal(text)


def _german_cardinal(text: str) -> Value | None:
    for scale, size in _DEU_SCALES:
        match = scale.search(text)
        if match:
            factor = _german_factor(text[: match.start()], size)
            rest = _german_rest(text[match.end() :], size)
            return None if factor is None or rest is None else factor * size + rest
    return _DEU_BELOW_100.get(text, _DEU_INFLECTED.get(text))


def _german_factor(text: str, size: int) -> Value | None:
    """What stands before a scale; nothing means one: hundert, tausend."""
    if not text:
        return 1
    digits = digit_value(text, "deu")
    factor = digits if digits is not None else _german_cardinal(text)
    return factor if factor is not None and factor < (20 if size == 100 else 1000) else None


def _german_rest(text: str, size: int) -> Value | None:
    if not text:
        return 0
    rest = _german_cardinal(text)
    if rest is None:
        rest = _german_cardinal(text.removeprefix("und"))
    return rest if rest is not None and rest < size else None


def _german_ordinal(text: str) -> Value | None:
    match = _DEU_ORDINAL.fullmatch(text)
    stem = match[1] if match else ""
    for ending, cardinal in _DEU_ORDINAL_STEMS:
        if stem.endswith(ending):
            found = _german_cardinal(stem.removesuffix(ending) + cardinal)
            if found is not None:
                return found
    return None


# Czech, with its cases.

_CES_HARD = "ý á é ého ému ém ým ou í ých ými"
_CES_SOFT = "í ího ímu ím ích ími"
_CES_NOUN = "- u y e em ů ům ech"
_CES_TEENS = "jedenáct dvanáct třináct čtrnáct patnáct šestnáct sedmnáct osmnáct devatenáct"
_CES_CARDINALS = (
    numbered("nul", 0, endings="a y e u ou")
    | numbered("jed", 1, endings="en na no noho nomu nom ním né nu nou")
    | numbered("dv", 2, endings="a ě ou ěma")
    | numbered("tř", 3, endings="i í em ech emi")
    | numbered("čtyř", 4, endings="i - em ech mi")
    | numbered("pět šest sedm osm devět deset", 5, endings="- i")
    | numbered("devíti desíti", 9)
    | numbered(_CES_TEENS, 11, endings="- i")
    | numbered("dvacet třicet čtyřicet padesát šedesát sedmdesát osmdesát devadesát", 20, 10, endings="- i")
)
_CES_ORDINALS = (
    numbered("prvn", 1, endings=_CES_SOFT)
    | numbered("druh", 2, endings=_CES_HARD)
    | numbered("třet", 3, endings=_CES_SOFT)
    | numbered("čtvrt pát šest sedm osm devát desát", 4, endings=_CES_HARD)
    | numbered(_CES_TEENS, 11, endings=_CES_HARD)
    | numbered("dvacát třicát čtyřicát padesát šedesát sedmdesát osmdesát devadesát", 20, 10, endings=_CES_HARD)
)
_CES_JOINED = {
    f"{unit}a{ten}": value + tens
    for unit, value in numbered("jedn dva tři čtyři pět šest sedm osm devět").items()
    for ten, tens in (_CES_CARDINALS | _CES_ORDINALS).items()
    if tens >= 20
}
"""The order of German: pětadvacet."""
_CES_SCALES = (
    numbered("tisíc", 10**3, endings=f"- e i ů ům em {_CES_SOFT}")
    | numbered("milion milión", 10**6, 0, endings=_CES_NOUN)
    | numbered("miliont", 10**6, endings=_CES_HARD)
    | numbered("miliard", 10**9, endings="a y ě u ou - ám ách ami")
    | numbered("bilion bilión", 10**12, 0, endings=_CES_NOUN)
)
_CES_WHOLE = (
    numbered("ledna února března dubna května června července srpna září října listopadu prosince")
    | numbered("leden únor březen duben květen červen červenec srpen září říjen listopad prosinec")
    | numbered("lednu únoru březnu dubnu květnu červnu červenci srpnu září říjnu listopadu prosinci")
)
"""Words that spell a number alone, and are no part of a longer one."""
_CES_WORDS = NumberWords(
    _CES_CARDINALS | _CES_ORDINALS | _CES_JOINED,
    numbered("st", 100, endings=f"o a u em ě ům ech y {_CES_HARD}") | {"set": 100},
    _CES_SCALES,
    lambda word: digit_value(word, "ces"),
)


def _czech(words: Sequence[str]) -> Value | None:
    words = [word for word in words if word not in ("a", "-", ",")]
    if len(words) == 1:
        if words[0] in _CES_WHOLE:
            return _CES_WHOLE[words[0]]
        words = [words[0].removesuffix("krát")]
    return _CES_WORDS.value(words)


# Chinese: 三百二十, 五亿一百万, 第一, 一九八四, 三点五, 1.5亿.

_ZHO_DIGITS = {
    digit: value for row in ("零一二三四五六七八九", "〇壹贰叁肆伍陆柒捌玖") for value, digit in enumerate(row)
}
_ZHO_DIGITS |= {"○": 0, "幺": 1, "两": 2, "兩": 2, "俩": 2}
_ZHO_UNITS = {"十": 10, "拾": 10, "百": 100, "佰": 100, "千": 1000, "仟": 1000}
_ZHO_SCALES = (("亿", 10**8), ("億", 10**8), ("万", 10**4), ("萬", 10**4))


def _chinese(words: Sequence[str]) -> Value | None:
    text = "".join(words).removeprefix("第")
    if text.endswith("月") or text.endswith("年"):
        text = text[:-1]
    whole, point, decimals = text.partition("点")
    if point:
        return _chinese_with_decimals(whole, decimals)
    if len(text) > 1 and all(character in _ZHO_DIGITS for character in text):
        return int("".join(str(_ZHO_DIGITS[character]) for character in text))
    return _chinese_scaled(text)


def _chinese_with_decimals(whole: str, decimals: str) -> Value | None:
    number = _chinese_scaled(whole)
    if number is None or not decimals or any(character not in _ZHO_DIGITS for character in decimals):
        return None
    return Decimal(f"{number}.{''.join(str(_ZHO_DIGITS[character]) for character in decimals)}")


def _chinese_scaled(text: str) -> Value | None:
    """Groups of four places: what stands before 亿 and 万 is multiplied by them."""
    for scale, size in _ZHO_SCALES:
        before, found, after = text.rpartition(scale)
        if found:
            factor = _chinese_scaled(before) if before else 1
            rest = _chinese_rest(after, size)
            return None if factor is None or rest is None else factor * size + rest
    digits = digit_value(text, "zho")
    return digits if digits is not None else _chinese_group(text)


def _chinese_rest(text: str, size: int) -> Value | None:
    if not text:
        return 0
    if len(text) == 1 and _ZHO_DIGITS.get(text):
        return _ZHO_DIGITS[text] * size // 10  # 三万五 is 35,000; with 零 it is 30,005
    rest = _chinese_scaled(text)
    return rest if rest is not None and rest < size else None


def _chinese_group(text: str) -> int | None:
    """A number below 10,000."""
    total, digit, room, zero = 0, None, 10_000, False
    for character in text:
        if character in _ZHO_UNITS:
            unit = _ZHO_UNITS[character]
            if unit >= room or digit == 0 or (digit is None and total and unit != 10):
                return None
            total += (1 if digit is None else digit) * unit
            digit, room, zero = None, unit, False
        elif character in _ZHO_DIGITS and digit is None:
            if _ZHO_DIGITS[character] == 0 and len(text) > 1:
                zero = True
            else:
                digit = _ZHO_DIGITS[character]
        else:
            return None
    if digit is None:
        return total if total or text in _ZHO_DIGITS else None
    return total + (digit * room // 10 if 10 < room < 10_000 and not zero else digit)


_READERS = {"ces": _czech, "deu": _german, "eng": _english, "zho": _chinese}
"""The number that lower-cased words of a language spell, or None."""
