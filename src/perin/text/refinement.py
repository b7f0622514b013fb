"""Splitting tokens further, where something that matters lies inside a word."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import pairwise

from perin.contract.sentence import Sentence, Token


def refine(sentence: Sentence, boundaries: Iterable[int]) -> Sentence:
    """Split tokens at these offsets into the text; offsets outside or at the edge of tokens change nothing.

    A piece has the lemma of the whole token, or if that is the form (in upper or lower case), the piece itself.

    >>> sentence = Sentence("Seepflanzen", (Token("Seepflanzen", "Seepflanze", 0, 11),))
    >>> [(token.form, token.lemma) for token in refine(sentence, [3]).tokens]
    [('See', 'Seepflanze'), ('pflanzen', 'Seepflanze')]
    """
    cuts = sorted(set(boundaries))
    tokens: list[Token] = []
    position = 0
    for token in sentence.tokens:
        while position < len(cuts) and cuts[position] <= token.start:
            position += 1
        first = position
        while position < len(cuts) and cuts[position] < token.end:
            position += 1
        tokens.extend(_pieces(sentence.text, token, cuts[first:position]))
    return replace(sentence, tokens=tuple(tokens))


def _pieces(text: str, token: Token, inner: list[int]) -> list[Token]:
    if not inner:
        return [token]
    own = token.lemma.lower() == token.form.lower()
    pieces = []
    for start, end in pairwise((token.start, *inner, token.end)):
        form = text[start:end].strip()
        if form:
            start += len(text[start:end]) - len(text[start:end].lstrip())
            pieces.append(Token(form, form if own else token.lemma, start, start + len(form)))
    return pieces
