"""Text to tokens with lemmas; the same at training and at parsing time."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

from perin.text.cuts import cuts
from perin.text.languages import checked
from perin.text.lemmas import lemmatize
from perin.text.scanner import chunks, runs
from perin.text.sentence import Sentence, Token

_CACHED_LENGTH = 40
"""Longer chunks are rare; remembering them would cost memory and no time would be won."""


def tokenize(text: str, language: str | None, id: str | None = None) -> Sentence:
    """Tokens and lemmas of a text, which is taken as one sentence.  Without a language, lemmas are the forms.

    The tokens cover all but white space and invisible characters; each is a piece of the text as it stands there.

    >>> [(token.form, token.lemma) for token in tokenize("Cats can't swim.", "eng").tokens]
    [('Cats', 'cat'), ('ca', 'can'), ("n't", 'not'), ('swim', 'swim'), ('.', '.')]
    """
    language = checked(language) if language is not None else None
    tokens = []
    for kind, start, end in chunks(text):
        chunk = text[start:end]
        if kind == "markup":
            tokens.append(Token(chunk, chunk, start, end))
            continue
        pieces = _cached_pieces(chunk, language) if end - start <= _CACHED_LENGTH else _pieces(chunk, language)
        tokens.extend(Token(form, lemma, start + offset, start + offset + len(form)) for form, lemma, offset in pieces)
    return Sentence(text, tuple(tokens), id, language)


def _pieces(chunk: str, language: str | None) -> tuple[tuple[str, str, int], ...]:
    """Form, lemma and offset of each token of a chunk."""
    return tuple((chunk[a:b], lemmatize(chunk[a:b], language), a) for a, b in _ranges(chunk, language))


_cached_pieces = lru_cache(maxsize=1 << 17)(_pieces)


def _ranges(chunk: str, language: str | None) -> Iterator[tuple[int, int]]:
    for kind, start, end in runs(chunk):
        inner = [start + cut for cut in cuts(chunk[start:end], language)] if kind == "word" else []
        yield from pairwise((start, *inner, end))
