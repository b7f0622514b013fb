"""Raw text to runs of characters that belong together, whatever the language: the first step of the tokenizer.

White space, control characters and invisible marks (zero-width space, byte-order mark, direction) belong to no run.
A run does not start or end inside a grapheme cluster: a letter with its combining marks, an emoji sequence, a flag.
(One exception: a mark that combines with white space is a run without that white space.)
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import regex

_INVISIBLE = r"\s\x00-\x1f\x7f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff"
_LETTER = r"\p{L}\p{M}\p{N}_\u00ad\u200c\u200d"
"""What continues a word: letters, marks, digits, soft hyphen, the two joiners."""
_URL = r"[^\s<>\"]*[^\s<>\"'’“”.,;:!?()\[\]{}]"

EXTENDING = r"[\p{GCB=Extend}\p{GCB=SpacingMark}\p{GCB=ZWJ}]"
"""A character that belongs to the same grapheme cluster as the one before it."""
_CLUSTER = rf"\p{{RI}}{{2}}{EXTENDING}*+|\X"
"""A grapheme cluster; flags (two regional indicators) are named because ``\\X`` alone is quadratic in their number."""
_VISIBLE = rf"[^{_INVISIBLE}<]"

_CHUNK = regex.compile(
    rf"(?P<markup>(?<!\p{{GCB=Prepend}})</?[A-Za-z][\w-]*+(?:\s[^<>]*+)?>(?!{EXTENDING}))"
    rf"|(?:<|{_VISIBLE}){_VISIBLE}*+(?:(?<=\p{{GCB=Prepend}})<{_VISIBLE}*+)*+"
)
"""What stands between white space; markup such as ``<a href="x">`` is one chunk although it may contain some."""

_KINDS = {
    "entity": r"&(?:[A-Za-z]{2,8}|\#\d{1,7});",
    "url": rf"(?:https?|ftp)://{_URL}|www\.[\w-]++(?:\.[\w-]++)++(?:/{_URL})?",
    "address": r"(?<![\w.+-])[\w+-]++(?:\.[\w+-]++)*+@[\w-]++(?:\.[\w-]++)++"
    r"|(?<![\w.+-])\p{L}[\w-]*+(?:\.[\w-]++)*?\.(?:com|org|net|edu|gov|info|de|cz|cn|uk|no|eu)(?!\.?[\w-])",
    "acronym": rf"(?<![{_LETTER}.])\p{{L}}(?:\.\p{{L}})++(?![{_LETTER}])\.?",
    "time": r"(?<![\d:.,])(?:[01]?\d|2[0-4]):[0-5]\d(?::[0-5]\d)?(?![\d:]|[.,]\d)",
    "clitic": rf"['’](?i:s|m|re|ve|ll|d|em)(?![{_LETTER}])",
    "word": rf"[\p{{L}}\p{{N}}_][{_LETTER}]*+(?:(?<=\d)[.,](?=\d)[{_LETTER}]++|['’](?=\p{{L}})[{_LETTER}]++)*+",
    "signs": r"(?P<sign>[\p{P}\p{Sc}\p{Sk}\p{Sm}])(?P=sign)*+",
    "cluster": _CLUSTER,
}
"""What a chunk consists of; the first that matches is taken."""

_RUN = regex.compile("|".join(f"(?P<{kind}>{pattern})" for kind, pattern in _KINDS.items()))
_CLUSTERS = regex.compile(_CLUSTER)


class Run(NamedTuple):
    """A range of characters and its kind: ``word``, ``markup``, or another key of the table of patterns."""

    kind: str
    start: int
    end: int


def chunks(text: str) -> Iterator[Run]:
    """The parts of a text between white space, of the kind ``chunk`` or ``markup``.

    >>> [text[start:end] for text in ["the <a b='c'>sea-side</a> "] for _, start, end in chunks(text)]
    ['the', "<a b='c'>", 'sea-side', '</a>']
    """
    for match in _CHUNK.finditer(text):
        yield Run(match.lastgroup or "chunk", match.start(), match.end())


def runs(chunk: str) -> list[Run]:
    """The runs of a chunk, in order; together they cover it.

    >>> [chunk[start:end] for chunk in ["(e.g.", "C3PO's,", "1,5-km!!!"] for _, start, end in runs(chunk)]
    ['(', 'e.g.', "C3PO's", ',', '1,5', '-', 'km', '!!!']
    """
    found = [Run(match.lastgroup or "cluster", match.start(), match.end()) for match in _RUN.finditer(chunk)]
    return found if chunk.isascii() else _whole_clusters(chunk, found)


def _whole_clusters(chunk: str, found: list[Run]) -> list[Run]:
    """Join neighbours whose border lies inside a grapheme cluster."""
    borders = {match.start() for match in _CLUSTERS.finditer(chunk)}
    joined = found[:1]
    for run in found[1:]:
        if run.start in borders:
            joined.append(run)
        else:
            joined[-1] = Run("cluster", joined[-1].start, run.end)
    return joined


# The tokens that a word falls into: contractions, clitics, compounds, units after numbers.


_UNIT = re.compile(r"\d(?=(?:[^\W\d_]{3,}|am|AM|pm|PM|[kcm]m|[km]g|ml|[kKMG][bB]|[kMG]?Hz|kW|ft|lb|oz|hr|yr|Kč)$)")
"""The last digit before a unit or another word: 20|mins, 3.5|km, 8|tägig; but 1990s, 2nd, 3D, 21b stay whole."""


class Piece(NamedTuple):
    """A token inside a word: where it ends, and its lemma if that is not the lemma of the piece itself."""

    end: int
    lemma: str | None = None


def pieces(word: str) -> tuple[Piece, ...]:
    """The tokens of a word of a language without rules of its own."""
    return number_and_unit(word) or (Piece(len(word)),)


def number_and_unit(word: str) -> tuple[Piece, ...]:
    """A number and what is written together with it; nothing for other words.

    >>> number_and_unit("20mins"), number_and_unit("1990s")
    ((Piece(end=2, lemma=None), Piece(end=6, lemma=None)), ())
    """
    unit = _UNIT.search(word) if word[0].isdigit() else None
    return (Piece(unit.end()), Piece(len(word))) if unit else ()


def with_endings(word: str, ending: re.Pattern[str]) -> tuple[Piece, ...]:
    """A word whose endings, one or several, are pieces of their own."""
    cuts = [len(word)]
    while match := ending.search(word, endpos=cuts[-1]):
        cuts.append(match.start())
    return tuple(Piece(cut) for cut in reversed(cuts))
