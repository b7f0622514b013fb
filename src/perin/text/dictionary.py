"""The dictionaries of forms and lemmas: those of the package simplemma."""

from __future__ import annotations

from functools import lru_cache

from perin.text.languages import LANGUAGES


@lru_cache(maxsize=1 << 17)
def dictionary_lemma(form: str, language: str) -> str | None:
    """The lemma that the dictionary of the language has for a form, or None for a form that is not in it.

    A form that is there in lower case only, or with a capital only, is found in both spellings.
    """
    import simplemma

    if not form or not simplemma.is_known(form, lang=LANGUAGES[language]):
        return None
    return simplemma.lemmatize(form, lang=LANGUAGES[language])


def guessed_lemma(form: str, language: str) -> str:
    """The lemma by the package's rules for unknown words; often the form."""
    import simplemma

    return simplemma.lemmatize(form, lang=LANGUAGES[language])
