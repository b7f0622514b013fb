"""Lemmas: what dictionaries say about a form, and for English what its neighbours say about that."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from importlib.resources import files

from perin.text import english
from perin.text.languages import LANGUAGES

_GERMAN_PARTICLES = (
    *("ab", "an", "auf", "aus", "bei", "durch", "ein", "fort", "gerade", "her", "hin"),
    *("los", "mit", "nach", "um", "vor", "weg", "weiter", "zu", "zurück", "zusammen"),
)
_LONGEST = 60
"""Longer forms are not words; they are their own lemmas."""


def lemmatize(form: str, language: str | None) -> str:
    """The lemma of a form, without regard to its neighbours.

    >>> [lemmatize(form, "eng") for form in ("was", "children", "went")]
    ['be', 'child', 'go']
    """
    if language is None or language == "zho" or len(form) > _LONGEST or not any(map(str.isalpha, form)):
        return form
    return _lemma(form.replace("’", "'"), language)


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
    found = irregular.get(form) or (irregular.get(form.lower()) if not form.isupper() or len(form) > 2 else None)
    if found:
        return found
    lemma = dictionary_lemma(form, language) or _guess(form, language)
    if language == "eng":
        return english.checked_lemma(form, lemma)
    if language == "deu":
        return _checked_german(form, lemma)
    return lemma


@lru_cache(maxsize=1 << 17)
def dictionary_lemma(form: str, language: str) -> str | None:
    """The lemma that the dictionary of the language has for a form, or None for a form that is not in it."""
    import simplemma

    if not simplemma.is_known(form, lang=LANGUAGES[language]):
        return None
    return simplemma.lemmatize(form, lang=LANGUAGES[language])


def _guess(form: str, language: str) -> str:
    """By the rules of the dictionary's package; in Czech after taking off the negation."""
    import simplemma

    if language == "ces" and form[:2].lower() == "ne":
        positive = dictionary_lemma(form[2:], language)
        if positive:
            return positive
    return simplemma.lemmatize(form, lang=LANGUAGES[language])


def _checked_german(form: str, lemma: str) -> str:
    """Without a verb's particle that the form does not have, and in the form's own spelling of ß and ss."""
    if lemma.islower() and lemma.endswith("n"):
        for particle in _GERMAN_PARTICLES:
            if lemma.startswith(particle) and not form.lower().startswith(particle):
                return lemma.removeprefix(particle)
    return form if lemma.replace("ß", "ss") == form else lemma


@cache
def _irregular(language: str) -> dict[str, str]:
    """Forms and lemmas of the table of irregular forms."""
    rows = (files("perin.text") / "irregular.tsv").read_text("utf-8").splitlines()
    fields = [row.split("\t") for row in rows if not row.startswith("#")]
    return {form: lemma for code, form, lemma in fields if code == language}
