"""Documents: running text or one sentence a line, with the place of each sentence in the document."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from perin.contract.sentence import Sentence
from perin.errors import UsageError
from perin.text.sentences import split_sentences
from perin.text.tokenizer import tokenize

LAYOUTS = ("lines", "paragraphs")
"""``lines``: one sentence a line; ``paragraphs``: running text, in which blank lines end a sentence."""


class Passage(NamedTuple):
    """A sentence of a document and where it starts there: token ranges plus ``start`` index the document."""

    start: int
    sentence: Sentence


def passages(
    text: str, language: str, layout: str = "paragraphs", tokenizer: Callable[[str], Sentence] | None = None
) -> Iterator[Passage]:
    """The sentences of a document, tokenized; what is white space only is left out.

    >>> [(start, sentence.text) for start, sentence in passages("Go. Stop.", "eng")]
    [(0, 'Go.'), (4, 'Stop.')]
    """
    if layout not in LAYOUTS:
        raise UsageError(f"unknown layout {layout!r}; known are: {', '.join(LAYOUTS)}")
    ranges = split_sentences(text, language) if layout == "paragraphs" else _lines(text)
    for start, end in ranges:
        sentence = text[start:end]
        if not sentence.isspace() and sentence:
            yield Passage(start, tokenizer(sentence) if tokenizer else tokenize(sentence, language))


def _lines(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for line in text.split("\n"):
        yield start, start + len(line.removesuffix("\r"))
        start += len(line) + 1
