"""Text to tokens with lemmas; the same at training and at parsing time."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

from perin.text.cuts import cuts
from perin.text.languages import checked
from perin.text.lemmas import lemmatize_all
from perin.text.scanner import chunks, runs
from perin.text.sentence import Sentence, Token

_REMEMBERED = 40
"""Longer chunks are rare; remembering them would cost memory and win no time."""


def tokenize(text: str, language: str | None, id: str | None = None) -> Sentence:
    """Tokens and lemmas of a text, which is taken as one sentence.  Without a language, lemmas are the forms.

    The tokens cover all but white space and invisible characters; each is a piece of the text as it stands there.

    >>> [(token.form, token.lemma) for token in tokenize("Cats can't swim.", "eng").tokens]
    [('Cats', 'cat'), ('ca', 'can'), ("n't", 'not'), ('swim', 'swim'), ('.', '.')]
    """
    language = checked(language) if language is not None else None
    ranges: list[tuple[int, int]] = []
    for kind, start, end in chunks(text):
        if kind == "markup":
            ranges.append((start, end))
            continue
        find = _remembered_ranges if end - start <= _REMEMBERED else _ranges
        ranges.extend((start + left, start + right) for left, right in find(text[start:end], language))
    forms = [text[start:end] for start, end in ranges]
    lemmas = lemmatize_all(forms, language)
    tokens = tuple(Token(form, lemma, *range) for form, lemma, range in zip(forms, lemmas, ranges, strict=True))
    return Sentence(text, tokens, id, language)


def _ranges(chunk: str, language: str | None) -> tuple[tuple[int, int], ...]:
    """The ranges of the tokens of a chunk."""
    return tuple(_cut(chunk, language))


_remembered_ranges = lru_cache(maxsize=1 << 17)(_ranges)


def _cut(chunk: str, language: str | None) -> Iterator[tuple[int, int]]:
    for kind, start, end in runs(chunk):
        inner = [start + cut for cut in cuts(chunk[start:end], language)] if kind == "word" else []
        yield from pairwise((start, *inner, end))
