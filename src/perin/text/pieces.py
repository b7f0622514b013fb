"""The tokens that a word falls into: contractions, clitics, compounds, units after numbers."""

from __future__ import annotations

import re
from typing import NamedTuple

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
