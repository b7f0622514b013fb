"""Text to tokens with lemmas; the same at training and at parsing time."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from perin.contract.sentence import Sentence, Token
from perin.text import chinese, english, german
from perin.text.languages import checked
from perin.text.lemmas import lemmatize_all
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


_remembered = lru_cache(maxsize=1 << 17)(_inside)
