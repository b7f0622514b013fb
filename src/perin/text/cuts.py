"""Where a word falls into several tokens: contractions, clitics, infinitives with inner 'zu', units."""

from __future__ import annotations

import re

from perin.text.lemmas import dictionary_lemma

_UNIT = re.compile(r"\d(?=(?:[^\W\d_]{3,}|am|AM|pm|PM|[kcm]m|[km]g|ml|[kKMG][bB]|[kMG]?Hz|kW|ft|lb|oz|hr|yr|Uhr|Kč)$)")
"""The last digit before a unit or another word: 20|mins, 3.5|km, 8|tägig; but 1990s, 2nd, 3D, 21b stay whole."""

_ENGLISH_SUFFIX = re.compile(r"(?<=.)(?:n['’]t|['’](?:s|m|re|ve|ll|d))$", re.IGNORECASE)
_NEGATED = ("are", "could", "did", "do", "does", "had", "has", "have", "is", "should", "was", "were", "would")
_ENGLISH_WORDS = {
    "alot": (1,),
    "c'mon": (3,),
    "cannot": (3,),
    "d'you": (2,),
    "dunno": (2, 3),
    "gimme": (3,),
    "gonna": (3,),
    "gotta": (3,),
    "lemme": (3,),
    "outta": (3,),
    "wanna": (3,),
    "y'all": (2,),
} | {f"{verb}nt": (len(verb),) for verb in (*_NEGATED, "ai", "ca", "wo")}
_GERMAN_SUFFIX = re.compile(r"(?<=.)['’](?:s|n|ne|nen|nem|ner)$", re.IGNORECASE)
_LONGEST = 40
"""Longer words are not words of the language and stay whole."""


def cuts(word: str, language: str | None) -> tuple[int, ...]:
    """The inner offsets at which a word is split, ascending.

    >>> cuts("couldn't've", "eng"), cuts("cannot", "eng"), cuts("20mins", "eng"), cuts("O'Hara", "eng")
    ((5, 8), (3,), (2,), ())
    >>> cuts("auszuhalten", "deu"), cuts("hinzufügen", "deu"), cuts("gibt's", "deu")
    ((3, 5), (), (4,))
    """
    if len(word) > _LONGEST:
        return ()
    unit = _UNIT.search(word)
    if unit:
        return (unit.end(),)
    if language == "eng":
        return _ENGLISH_WORDS.get(word.lower().replace("’", "'")) or _from_the_end(word, _ENGLISH_SUFFIX)
    if language == "deu":
        return _infinitive(word) or _from_the_end(word, _GERMAN_SUFFIX)
    return ()


def _from_the_end(word: str, suffix: re.Pattern[str]) -> tuple[int, ...]:
    found: list[int] = []
    match = suffix.search(word)
    while match:
        found.append(match.start())
        match = suffix.search(word, endpos=match.start())
    return tuple(reversed(found))


def _infinitive(word: str) -> tuple[int, ...]:
    """A verb whose dictionary form lacks an inner 'zu': aus|zu|halten, but not hinzufügen."""
    for position in range(2, len(word) - 4):
        if word.startswith("zu", position) and dictionary_lemma(word, "deu") == word[:position] + word[position + 2 :]:
            return position, position + 2
    return ()
