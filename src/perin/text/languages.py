"""The languages that PERIN knows, by ISO 639-3 code."""

from __future__ import annotations

from functools import cache

from perin.errors import UsageError

LANGUAGES = {"ces": "cs", "deu": "de", "eng": "en", "zho": "zh"}
"""Code to the two-letter code that most libraries use."""

SCRIPTS = {"ces": ("Latin",), "deu": ("Latin",), "eng": ("Latin",), "zho": ("Han", "Bopomofo", "Latin")}
"""Unicode's names of the scripts that texts of a language are written in."""


def word_set(words: str) -> frozenset[str]:
    """The words of a string, for tables that are easier to read without quotes."""
    return frozenset(words.split())


@cache
def checked(language: str) -> str:
    """The three-letter code of a known language, which may be given by its two-letter code.

    >>> checked("eng"), checked("de")
    ('eng', 'deu')
    """
    for long, short in LANGUAGES.items():
        if language in (long, short):
            return long
    raise UsageError(f"unknown language {language!r}; known are: {', '.join(LANGUAGES)}")
