"""Chinese numerals: 三百二十, 五亿一百万, 第一, 一九八四, 三点五, 1.5亿."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from perin.text.numbers.sums import Value, digit_value

_DIGITS = {digit: value for row in ("零一二三四五六七八九", "〇壹贰叁肆伍陆柒捌玖") for value, digit in enumerate(row)}
_DIGITS |= {"○": 0, "幺": 1, "两": 2, "兩": 2, "俩": 2}
_UNITS = {"十": 10, "拾": 10, "百": 100, "佰": 100, "千": 1000, "仟": 1000}
_SCALES = (("亿", 10**8), ("億", 10**8), ("万", 10**4), ("萬", 10**4))


def value(words: Sequence[str]) -> Value | None:
    """The number that words spell, or None."""
    text = "".join(words).removeprefix("第")
    if text.endswith("月") or text.endswith("年"):
        text = text[:-1]
    whole, point, decimals = text.partition("点")
    if point:
        return _with_decimals(whole, decimals)
    if len(text) > 1 and all(character in _DIGITS for character in text):
        return int("".join(str(_DIGITS[character]) for character in text))
    return _scaled(text)


def _with_decimals(whole: str, decimals: str) -> Value | None:
    number = _scaled(whole)
    if number is None or not decimals or any(character not in _DIGITS for character in decimals):
        return None
    return Decimal(f"{number}.{''.join(str(_DIGITS[character]) for character in decimals)}")


def _scaled(text: str) -> Value | None:
    """Groups of four places: what stands before 亿 and 万 is multiplied by them."""
    for scale, size in _SCALES:
        before, found, after = text.rpartition(scale)
        if found:
            factor = _scaled(before) if before else 1
            rest = _rest(after, size)
            return None if factor is None or rest is None else factor * size + rest
    digits = digit_value(text, "zho")
    return digits if digits is not None else _group(text)


def _rest(text: str, size: int) -> Value | None:
    if not text:
        return 0
    if len(text) == 1 and _DIGITS.get(text):
        return _DIGITS[text] * size // 10  # 三万五 is 35,000; with 零 it is 30,005
    rest = _scaled(text)
    return rest if rest is not None and rest < size else None


def _group(text: str) -> int | None:
    """A number below 10,000."""
    total, digit, room, zero = 0, None, 10_000, False
    for character in text:
        if character in _UNITS:
            unit = _UNITS[character]
            if unit >= room or digit == 0 or (digit is None and total and unit != 10):
                return None
            total += (1 if digit is None else digit) * unit
            digit, room, zero = None, unit, False
        elif character in _DIGITS and digit is None:
            if _DIGITS[character] == 0 and len(text) > 1:
                zero = True
            else:
                digit = _DIGITS[character]
        else:
            return None
    if digit is None:
        return total if total or text in _DIGITS else None
    return total + (digit * room // 10 if 10 < room < 10_000 and not zero else digit)
