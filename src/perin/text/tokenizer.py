"""Text to tokens with lemmas; the same at training and at parsing time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from typing import NamedTuple, TypeAlias

from perin.contract.sentence import Sentence, Token
from perin.text import chinese, english, german
from perin.text.dictionary import dictionary_lemma, guessed_lemma
from perin.text.languages import checked
from perin.text.scanner import Piece, chunks, pieces, runs

Splitter: TypeAlias = Callable[[str], tuple[Piece, ...]]

_SPLITTERS: dict[str | None, Splitter] = {"deu": german.pieces, "eng": english.pieces, "zho": chinese.pieces}
_LONGEST_WORD = 40
"""Longer runs of letters are not words of a language with spaces between words, and stay whole."""
_REMEMBERED = 40
"""Longer chunks are rare; remembering them would cost memory and win no time."""


class _Range(NamedTuple):
    start: int
    end: int
    lemma: str | None


def tokenize(text: str, language: str | None, id: str | None = None) -> Sentence:
    """Tokens and lemmas of a text, which is taken as one sentence.  Without a language, lemmas are the forms.

    The tokens cover all but white space and invisible characters; each is a piece of the text as it stands there.

    >>> [(token.form, token.lemma) for token in tokenize("Cats can't swim.", "eng").tokens]
    [('Cats', 'cat'), ('ca', 'can'), ("n't", 'not'), ('swim', 'swim'), ('.', '.')]
    """
    language = checked(language) if language is not None else None
    splitter = _SPLITTERS.get(language, pieces)
    if language == "zho" and chinese.segmented(text):
        splitter = chinese.word_pieces
    ranges = _ranges(text, splitter)
    forms = [text[start:end] for start, end, _ in ranges]
    lemmas = lemmatize_all(forms, language)
    tokens = (
        Token(form, given or lemma, start, end)
        for form, lemma, (start, end, given) in zip(forms, lemmas, ranges, strict=True)
    )
    return Sentence(text, tuple(tokens), id, language)


def _ranges(text: str, splitter: Splitter) -> list[_Range]:
    found = []
    for kind, start, end in chunks(text):
        if kind == "markup":
            found.append(_Range(start, end, None))
            continue
        inside = _remembered if end - start <= _REMEMBERED else _inside
        found += [
            _Range(start + left, start + right, lemma) for left, right, lemma in inside(text[start:end], splitter)
        ]
    return found


def _inside(chunk: str, splitter: Splitter) -> list[_Range]:
    """The ranges of the tokens of a chunk."""
    found = []
    for kind, start, end in runs(chunk):
        if kind != "word" or (end - start > _LONGEST_WORD and splitter is not chinese.pieces):
            found.append(_Range(start, end, None))
            continue
        left = start
        for right, lemma in splitter(chunk[start:end]):
            found.append(_Range(left, start + right, lemma))
            left = start + right
    return found


_remembered = lru_cache(maxsize=1 << 14)(_inside)


# Lemmas: what dictionaries say about a form, and for English what its neighbours say about that.


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


@lru_cache(maxsize=1 << 14)
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
