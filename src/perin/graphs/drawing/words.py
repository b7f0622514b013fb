"""The words under an anchored graph: pieces of the input that no anchor cuts, and which node stands for which."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from perin.graphs.drawing.lettering import printable
from perin.graphs.graph import Anchor, Graph


class Word(NamedTuple):
    """A piece of the input; ``spaced`` says whether white space precedes it."""

    text: str
    start: int
    end: int
    spaced: bool


def split_words(text: str, anchors: Iterable[Anchor]) -> tuple[Word, ...]:
    """The input cut at white space and at the ends of anchors.

    >>> [word.text for word in split_words("Dogs bark.", [Anchor(5, 9)])]
    ['Dogs', 'bark', '.']
    """
    cuts = sorted({position for anchor in anchors for position in anchor})
    words: list[Word] = []
    for chunk in re.finditer(r"\S+", text):
        inner = [cut for cut in cuts if chunk.start() < cut < chunk.end()]
        ends = [chunk.start(), *inner, chunk.end()]
        words.extend(Word(printable(text[start:end]), start, end, start == ends[0]) for start, end in pairwise(ends))
    return tuple(words)


def anchored_words(graph: Graph) -> tuple[tuple[Word, ...], list[tuple[int, ...]]]:
    """The words of a graph and, for each of its nodes in order, the numbers of the words that its anchors touch.

    Both are empty of content for a graph without anchors or without input.
    """
    anchors = [anchor for node in graph.nodes for anchor in node.anchors or ()]
    words = split_words(graph.input or "", anchors) if anchors else ()
    return words, [touched_words(words, node.anchors) for node in graph.nodes]


def owned_words(words: Sequence[Word], anchored: Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
    """For each node, the words that it stands for: no other node has fewer words and touches them.

    A node that stands for less than half of its words (an EDS quantifier over a whole noun phrase) merely stretches
    over them and gets none.  Punctuation counts only for a node that has nothing else.
    """
    contents = [content_words(words, touched) for touched in anchored]
    fewest: dict[int, int] = {}
    for content in contents:
        for number in content:
            fewest[number] = min(fewest.get(number, len(content)), len(content))
    owned = [tuple(number for number in content if fewest[number] == len(content)) for content in contents]
    return [mine if 2 * len(mine) >= len(content) else () for mine, content in zip(owned, contents, strict=True)]


def content_words(words: Sequence[Word], touched: Sequence[int]) -> list[int]:
    """Those of the words that are no punctuation, or all if none is left."""
    return [number for number in touched if any(map(str.isalnum, words[number].text))] or list(touched)


def touched_words(words: Sequence[Word], anchors: Iterable[Anchor] | None) -> tuple[int, ...]:
    """The numbers of the words that anchors touch, ascending."""
    touched = {
        number
        for start, end in anchors or ()
        for number, word in enumerate(words)
        if word.start < end and start < word.end
    }
    return tuple(sorted(touched))
