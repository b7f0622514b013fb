"""Lemmas: what dictionaries say about a form, and for English what its neighbours say about that."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from importlib.resources import files

from perin.text import english, german
from perin.text.dictionary import dictionary_lemma, guessed_lemma
from perin.text.languages import checked

_LONGEST = 60
"""Longer forms are not words; they are their own lemmas."""


def lemmatize(form: str, language: str | None) -> str:
    """The lemma of a form, without regard to its neighbours.

    >>> [lemmatize(form, "eng") for form in ("was", "children", "went")]
    ['be', 'child', 'go']
    """
    if language is None or language == "zho" or len(form) > _LONGEST or not any(map(str.isalpha, form)):
        return form
    return _lemma(form.replace("’", "'"), checked(language))


def lemmatize_all(forms: Sequence[str], language: str | None) -> list[str]:
    """The lemmas of the tokens of a sentence.

    >>> lemmatize_all(["She", "left", "her", "left", "shoe"], "eng")
    ['she', 'leave', 'her', 'left', 'shoe']
    """
    lemmas = [lemmatize(form, language) for form in forms]
    return english.in_context(forms, lemmas) if language == "eng" else lemmas


@lru_cache(maxsize=1 << 17)
def _lemma(form: str, language: str) -> str:
    irregular = _irregular(language)
    lower = form if len(form) <= 2 and form.isupper() else form.lower()  # US is not us
    found = irregular.get(form) or irregular.get(lower)
    if found:
        return found
    lemma = dictionary_lemma(form, language) or _guess(form, language)
    if language == "eng":
        return english.checked_lemma(form, lemma)
    return german.checked_lemma(form, lemma) if language == "deu" else lemma


def _guess(form: str, language: str) -> str:
    """The lemma of an unknown form; in Czech that of the form without its negation, if it is known."""
    positive = dictionary_lemma(form[2:], language) if language == "ces" and form[:2].lower() == "ne" else None
    return positive or guessed_lemma(form, language)


@cache
def _irregular(language: str) -> dict[str, str]:
    """Forms and lemmas of the table of irregular forms."""
    rows = (files("perin.text") / "irregular.tsv").read_text("utf-8").splitlines()
    fields = [row.split("\t") for row in rows if not row.startswith("#")]
    return {form: lemma for code, form, lemma in fields if code == language}
