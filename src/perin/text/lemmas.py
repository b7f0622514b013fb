"""Lemmas without context: what a dictionary says about a form."""

from __future__ import annotations

from functools import lru_cache

from perin.text.languages import LANGUAGES


@lru_cache(maxsize=1 << 17)
def lookup(form: str, language: str) -> str | None:
    """The lemma that the dictionary of the language has for a form, or None for a form that is not in it."""
    import simplemma

    if language == "zho" or not simplemma.is_known(form, lang=LANGUAGES[language]):
        return None
    return simplemma.lemmatize(form, lang=LANGUAGES[language])


def lemmatize(form: str, language: str | None) -> str:
    """The lemma of a form, by the dictionary, or by rules for unknown words.

    >>> [lemmatize(form, "eng") for form in ("was", "children", "went")]
    ['be', 'child', 'go']
    """
    if language is None or language == "zho":
        return form
    return lookup(form, language) or _guess(form, language)


@lru_cache(maxsize=1 << 17)
def _guess(form: str, language: str) -> str:
    import simplemma

    return simplemma.lemmatize(form, lang=LANGUAGES[language])
