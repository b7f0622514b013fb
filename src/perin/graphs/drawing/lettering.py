"""Text as it is drawn: made printable, measured without a font, broken into lines.

The widths are those of the common sans-serif faces (Helvetica, Arial and Liberation Sans, the font of PNG and PDF) with
a little room, because nobody knows which font the reader of an SVG or HTML file has.  Letters with diacritics are as
wide as their base letters; East Asian wide characters fill the em square.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

_WIDTHS = {
    0.20: "'",
    0.23: "ijl‘’łſίιϊіј",
    0.29: " !,./:;I[\\]ft|¦ìíîïĩīĭıŧΙΪІЇї",
    0.35: "()-`r{}“”¡¨²³´·¸¹ľ·",
    0.41: '*"ª°ºŀťτѓ',
    0.52: "Jcksvxyz^ĳĸέγεζκλνξςЈгзксухчэєѕќў",
    0.58: "#$0123456789?L_abdeghnopqu«»–¢£¤¥§¯±µ¶ð÷þđħĿŁŋΓάήΰαβδηθμορυχϋόύЃГабвеийнопрцьяѐёђћѝџ€",
    0.62: "+<=>~FTZß",
    0.70: "&ABEKPSVXYÞďΑΒΔΕΚΛΡΥΧΫπφЀЁЅАБВЕЛРХЧЬжм",
    0.75: "CDHNRUw©®ÐĐĦĲŊΗΝΠψЄЍЏДИЙНПСЦЭЯы",
    0.80: "GOQØΘΟΩωώОФю",
    0.87: "Mm¼½¾ΜΦΨЂЋМЪтфшщњ",
    0.92: "%æШЫљ",
    0.98: "WœЖЩ",
    1.04: "@Æ…—ŒЊЮ",
    1.20: "Љ",
}
_BY_CHARACTER = {character: width for width, characters in _WIDTHS.items() for character in characters}
_OTHER = 0.65


def printable(text: str) -> str:
    r"""The text with control characters made visible: it stays on its line and is harmless in XML and on a terminal.

    >>> printable("a\nb\x1b")
    'a␊b␛'
    """
    return text if text.isprintable() else "".join(map(_visible, text))


def text_width(text: str, size: float) -> float:
    """The width of a line of text in a font of this size, in the unit of the size.

    >>> round(text_width("dog", 10), 2), round(text_width("小王子", 10), 2)
    (17.4, 31.2)
    """
    return size * sum(map(_character_width, text))


def is_wide(text: str) -> bool:
    """Whether the text has East Asian wide characters, which need a font that has them."""
    return not text.isascii() and any(unicodedata.east_asian_width(character) in "WF" for character in text)


def columns(text: str) -> int:
    """How many columns of a terminal the text fills.

    >>> columns("kůň"), columns("小王子")
    (3, 6)
    """
    return sum(
        0 if unicodedata.combining(character) else 2 if unicodedata.east_asian_width(character) in "WF" else 1
        for character in text
    )


def wrapped(text: str, size: float, limit: float) -> list[str]:
    """The text in lines no wider than the limit: broken after spaces if there are any, else after hyphens.

    Nothing is lost: joined, the lines are the text.

    >>> wrapped("the old dog", 10, 40)
    ['the old ', 'dog']
    """
    lines: list[str] = []
    line, width, last_space = "", 0.0, -1
    for character in text:
        step = size * _character_width(character)
        while width + step > limit and line and character != " ":
            cut = last_space + 1 if last_space >= 0 else _after_hyphen(line)
            lines.append(line[:cut])
            line = line[cut:]
            width, last_space = text_width(line, size), -1
        line += character
        width += step
        if character == " ":
            last_space = len(line) - 1
    return [*lines, line]


def _after_hyphen(line: str) -> int:
    """Where a line without spaces is broken: behind a mark in its second half, else at its end."""
    return max((line.rfind(mark, len(line) // 2) + 1 for mark in "-_/."), default=0) or len(line)


@lru_cache(maxsize=4096)
def _character_width(character: str) -> float:
    known = _BY_CHARACTER.get(character)
    if known is not None:
        return known
    if unicodedata.combining(character):
        return 0.0
    if unicodedata.east_asian_width(character) in "WF":
        return 1.04
    base = unicodedata.normalize("NFD", character)[0]
    return _OTHER if base == character else _character_width(base)


def _visible(character: str) -> str:
    code, category = ord(character), unicodedata.category(character)
    if code < 0x20:
        return chr(0x2400 + code)
    if category == "Zs":
        return " "
    illegal = category in ("Cc", "Cs", "Zl", "Zp") or code & 0xFFFE == 0xFFFE
    reordering = category == "Cf" and character not in "\u200c\u200d"
    return "\ufffd" if illegal or reordering else character
