"""Finding the tokens of one source in the text of another, and what of a graph's anchors tokens can express."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

from perin.contract import Sentence, Token
from perin.errors import InputError
from perin.graphs.graph import Graph
from perin.graphs.normalisation import trimmed, trimmed_runs


@dataclass(frozen=True, slots=True)
class Place:
    """Where a sentence was read, for messages."""

    source: str | None = None
    line: int | None = None
    id: str | None = None

    def error(self, message: str) -> InputError:
        """An error at this place."""
        return InputError(message, source=self.source, line=self.line, graph=self.id)


def locate(forms: Iterable[str], text: str, place: Place | None = None) -> list[tuple[int, int]]:
    """The ranges of forms that follow one another in a text; between and inside them white space may differ.

    >>> locate(["post office", "!"], "post  office !")
    [(0, 12), (13, 14)]
    """
    place = place or Place()
    ranges: list[tuple[int, int]] = []
    position = 0
    for form in forms:
        start = None
        for character in form:
            if character.isspace():
                continue
            position = _next_visible(text, position)
            if text[position : position + 1] != character:
                found = f"{text[position]!r}" if position < len(text) else "its end"
                raise place.error(
                    f"the tokens are not those of the text: token {len(ranges) + 1} is {form!r}, "
                    f"and at character {position} of the text there is {found} instead of {character!r}"
                )
            start = position if start is None else start
            position += 1
        if start is None:
            raise place.error(f"token {len(ranges) + 1} is empty; remove it")
        ranges.append((start, position))
    rest = _next_visible(text, position)
    if rest < len(text):
        raise place.error(
            f"the tokens are not those of the text: they end before character {rest}, where it goes on: "
            f"{_shown(text[rest:])}"
        )
    return ranges


def placed(
    forms: Sequence[str], lemmas: Sequence[str], ranges: Sequence[tuple[int, int]], text: str, place: Place
) -> tuple[Token, ...]:
    """Tokens at given ranges; an error unless they are in order and the text there is the form.

    White space may differ.  Punctuation may be written in another way (``--`` for a dash): then the text's way counts.
    """
    tokens = []
    before = 0
    for form, lemma, (start, end) in zip(forms, lemmas, ranges, strict=True):
        if not before <= start < end <= len(text):
            raise place.error(f"token {form!r}: the range {start}:{end} overlaps another or lies outside the text")
        before = end
        found = text[start:end]
        if found != form and "".join(found.split()) != "".join(form.split()):
            if any(character.isalnum() for character in found):
                differing = start + next(
                    (i for i, pair in enumerate(zip(found, form, strict=False)) if pair[0] != pair[1]),
                    min(len(found), len(form)),
                )
                raise place.error(
                    f"the tokens are not those of the text: token {form!r} has the range {start}:{end}, where the text "
                    f"has {_shown(found)}; they differ at character {differing}"
                )
            lemma = found if lemma == form else lemma
            form = found
        tokens.append(Token(form, lemma, start, end))
    return tuple(tokens)


def align(sentence: Sentence, text: str, source: str | None = None) -> Sentence:
    """The tokens of a sentence on another copy of its text, which may differ in white space only.

    Raises :class:`~perin.errors.InputError` with the sentence id and the first differing character.

    >>> align(Sentence("a b", (Token("a", "a", 0, 1), Token("b", "b", 2, 3))), "a  b").tokens[1].start
    3
    """
    if text == sentence.text:
        return sentence
    place = Place(source, id=sentence.id)
    written = [sentence.text[token.start : token.end] for token in sentence.tokens]
    ranges = locate(written, text, place)
    tokens = (replace(token, start=start, end=end) for token, (start, end) in zip(sentence.tokens, ranges, strict=True))
    return replace(sentence, text=text, tokens=tuple(tokens))


def _next_visible(text: str, position: int) -> int:
    while position < len(text) and text[position].isspace():
        position += 1
    return position


def _shown(text: str) -> str:
    return repr(text if len(text) <= 30 else text[:27] + "...")


# Splitting tokens further, where something that matters lies inside a word.


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


# How many anchors of a graph the tokens of its sentence can express.


class Coverage(NamedTuple):
    """Anchors whose two ends are ends of tokens, and all anchors (punctuation alone does not count)."""

    expressible: int
    anchors: int

    def plus(self, other: Coverage) -> Coverage:
        """The sum of two counts."""
        return Coverage(self.expressible + other.expressible, self.anchors + other.anchors)


def coverage(graph: Graph, sentence: Sentence) -> Coverage:
    """Count the anchors of a graph, joined and trimmed of punctuation (as the tokens are) as the MRP metric does."""
    text = sentence.text
    ranges = [(token.start, token.end) for token in sentence.tokens]
    ranges += [trimmed(start, end, text) for start, end in ranges]
    starts, ends = {start for start, _ in ranges}, {end for _, end in ranges}
    anchors = [run for node in graph.nodes for run in trimmed_runs(node.anchors or (), text) if run[0] < run[1]]
    return Coverage(sum(start in starts and end in ends for start, end in anchors), len(anchors))
