"""Sentences as the network takes them: prepared one by one (and worth keeping), then put together in batches.

A subword belongs to every token with which it shares a character: the tokenizer's character offsets say so, whatever
its marks for word beginnings.  Nothing is cut: what exceeds the encoder's limit goes into overlapping windows.
"""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from perin.contract import Sentence
from perin.lazy import cached_property
from perin.network.encoders import encoder_folder, load_tokenizer, longest_input, read_config
from perin.network.settings import CHARACTERS, NetworkSettings

Ints: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True)
class Window:
    """``start:end`` of the subwords go into a window, of which ``first:last`` are read from it."""

    start: int
    end: int
    first: int
    last: int


class SubwordTokenizer:
    """The tokenizer of an encoder; ``limit`` is the encoder's longest input with its special symbols."""

    def __init__(self, folder: Path, limit: int) -> None:
        self.tokenizer = load_tokenizer(folder)
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()
        special = self.tokenizer.encode("")
        sample = self.tokenizer.encode("a")
        before = next((i for i, mark in enumerate(sample.special_tokens_mask) if not mark), 0)
        self.before: list[int] = special.ids[:before]
        self.after: list[int] = special.ids[before:]
        self.room = limit - len(special.ids)

    def __call__(
        self, texts: Sequence[str], spans: Sequence[Sequence[tuple[int, int]]]
    ) -> list[tuple[Ints, Ints, Ints]]:
        """The subword ids [S] of each sentence, and pairs of a subword and a token that belong together, as two arrays.

        ``spans`` are the character ranges of each sentence's tokens, in order and without overlap.
        """
        # Not encode_batch, whose threads would not live on after a fork.
        encodings = [self.tokenizer.encode(text, add_special_tokens=False) for text in texts]
        results = []
        for encoding, tokens in zip(encodings, spans, strict=True):
            offsets = np.asarray(encoding.offsets, dtype=np.int64).reshape(-1, 2)
            ids = np.asarray(encoding.ids, dtype=np.int64)
            results.append((ids, *overlaps(offsets, np.asarray(tokens, dtype=np.int64).reshape(-1, 2))))
        return results

    def count(self, text: str) -> int:
        """How many subwords a text has, special symbols apart."""
        return len(self.tokenizer.encode(text, add_special_tokens=False).ids)

    def windows(self, count: int) -> list[Window]:
        """The windows over ``count`` subwords."""
        return windows(count, self.room)


def overlaps(subwords: Ints, tokens: Ints) -> tuple[Ints, Ints]:
    """Pairs of a subword and a token whose character ranges overlap, ordered by token and then by subword.

    ``subwords`` [S, 2]; ``tokens`` [T, 2], in order and without overlap.

    >>> overlaps(np.array([[0, 3], [3, 5], [6, 8]]), np.array([[0, 2], [2, 5], [5, 6]]))
    (array([0, 0, 1]), array([0, 1, 1]))
    """
    first = np.searchsorted(tokens[:, 1], subwords[:, 0], side="right")
    last = np.searchsorted(tokens[:, 0], subwords[:, 1], side="left")
    counts = np.where(subwords[:, 1] > subwords[:, 0], np.maximum(last - first, 0), 0)
    chosen = np.repeat(np.arange(len(subwords)), counts)
    within = np.arange(len(chosen)) - np.repeat(np.cumsum(counts) - counts, counts)
    owners = first[chosen] + within
    order = np.argsort(owners, kind="stable")
    return chosen[order], owners[order]


def windows(count: int, room: int) -> list[Window]:
    """Windows of at most ``room`` subwords with about half of it in common; each subword is read from where it has
    the most context.

    >>> windows(5, 8)
    [Window(start=0, end=5, first=0, last=5)]
    >>> [(w.start, w.end, w.first, w.last) for w in windows(11, 8)]
    [(0, 8, 0, 5), (3, 11, 5, 11)]
    """
    if count <= room:
        return [Window(0, count, 0, count)]
    number = 1 + -(-(count - room) // max(1, room // 2))
    starts = [round(index * (count - room) / (number - 1)) for index in range(number)]
    borders = [0, *((left + room + right) // 2 for left, right in itertools.pairwise(starts)), count]
    return [
        Window(start, start + room, first, last)
        for start, (first, last) in zip(starts, itertools.pairwise(borders), strict=True)
    ]


class Sequences:
    """B sequences whose rows follow one another in a packed matrix ``[rows, …]``.

    >>> sequences = Sequences([2, 0, 3])
    >>> sequences.rows, sequences.starts.tolist(), sequences.sequences.tolist()
    (5, [0, 2, 2], [0, 0, 2, 2, 2])
    """

    def __init__(self, lengths: Sequence[int] | NDArray[np.int64]) -> None:
        self.lengths: NDArray[np.int64] = np.ascontiguousarray(lengths, dtype=np.int64)
        self.batch = len(self.lengths)
        self.rows = int(self.lengths.sum())

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """[B]: the first packed row of each sequence."""
        return np.cumsum(self.lengths) - self.lengths

    @cached_property
    def sequences(self) -> NDArray[np.int64]:
        """[rows]: the sequence of each packed row."""
        return np.repeat(np.arange(self.batch), self.lengths)

    @cached_property
    def places(self) -> NDArray[np.int64]:
        """[rows]: the place of each packed row in its sequence."""
        places: NDArray[np.int64] = np.arange(self.rows) - self.starts[self.sequences]
        return places

    def rows_of(self, sequences: NDArray[np.int64]) -> NDArray[np.int64]:
        """The packed rows of some sequences, one sequence after the other."""
        chosen = Sequences(self.lengths[sequences])
        rows: NDArray[np.int64] = self.starts[sequences][chosen.sequences] + chosen.places
        return rows


LONGEST_GRAM = 5
LONGEST_WORD = 48
"""Only the beginning and the end of a longer word count."""


@lru_cache(maxsize=1 << 14)
def grams(word: str, buckets: int) -> NDArray[np.int64]:
    """The table rows of a word: one for the word as it is, and one for each n-gram of its lower-case form in ``<…>``.

    >>> len(grams("cat", 1000)), len(grams("", 1000))
    (16, 4)
    """
    marked = f"<{word.lower()}>"
    if len(marked) > LONGEST_WORD:
        marked = marked[: LONGEST_WORD // 2] + marked[-LONGEST_WORD // 2 :]
    pieces = ["=" + word]
    for size in range(1, LONGEST_GRAM + 1):
        pieces += [marked[start : start + size] for start in range(len(marked) - size + 1)]
    return np.array([zlib.crc32(piece.encode("utf-8", "surrogatepass")) % buckets for piece in pieces], dtype=np.int64)


def bags(words: Iterable[str], buckets: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The table rows of several words one after the other, and where each word's begin."""
    rows = [grams(word, buckets) for word in words]
    counts = np.array([len(row) for row in rows], dtype=np.int64)
    return (np.concatenate(rows) if rows else np.zeros(0, dtype=np.int64)), np.cumsum(counts) - counts


@dataclass(frozen=True, eq=False)
class SentenceInput:
    """A prepared sentence; what the network's settings don't need is None."""

    tokens: int
    subwords: NDArray[np.int32] | None = None
    """[S]: ids."""
    pieces: NDArray[np.int32] | None = None
    """[2, P]: a subword and a token that belong together."""
    forms: tuple[str, ...] | None = None
    lemmas: tuple[str, ...] | None = None


@dataclass(frozen=True, eq=False)
class SubwordBatch:
    """The subwords of a batch in windows, packed one window after the other."""

    ids: Ints
    """[rows]"""
    windows: Sequences
    sentences: Ints
    """[rows]: the sentence of each subword."""
    rows: Ints
    """[P]: a row of ``ids`` and …"""
    tokens: Ints
    """[P]: … the packed token it belongs to.  A token without subwords has the row after the last."""


@dataclass(frozen=True, eq=False)
class InputBatch:
    """The input of the network for some sentences."""

    tokens: Sequences
    subwords: SubwordBatch | None = None
    forms: tuple[Ints, Ints] | None = None
    """Table rows of the n-grams of all tokens, and where each token's begin."""
    lemmas: tuple[Ints, Ints] | None = None
    sentences: tuple[Sentence, ...] = ()
    """What predictions are about; training needs no sentences."""


def encoder_text(sentence: Sentence) -> tuple[str, list[tuple[int, int]]]:
    """What the encoder reads, and the character range of each token in it.

    That is the sentence's text, but a Chinese one without spaces gets a space after each token: all texts of Chinese
    treebanks have them, and subwords would go across the borders of tokens otherwise.

    >>> from perin.contract import Token
    >>> tokens = (Token("我", "我", 0, 1), Token("不", "不", 1, 2), Token("饿", "饿", 2, 3))
    >>> encoder_text(Sentence("我不饿", tokens, language="zho"))
    ('我 不 饿', [(0, 1), (2, 3), (4, 5)])
    """
    spans = [(token.start, token.end) for token in sentence.tokens]
    if sentence.language != "zho":
        return sentence.text, spans
    touching = sum(end == start for (_, end), (start, _) in itertools.pairwise(spans))
    if 2 * touching < len(spans) - 1 or len(spans) < 2:
        return sentence.text, spans
    starts = itertools.accumulate((end - start + 1 for start, end in spans[:-1]), initial=0)
    text = " ".join(sentence.text[start:end] for start, end in spans)
    return text, [(at, at + end - start) for at, (start, end) in zip(starts, spans, strict=True)]


class Preparation:
    """Turns sentences into the network's input; needs the encoder's tokenizer, not its weights."""

    def __init__(self, settings: NetworkSettings) -> None:
        self.buckets = settings.buckets
        self.lemmas = settings.character_embeddings
        self.forms = settings.character_embeddings or settings.encoder == CHARACTERS
        self.tokenizer: SubwordTokenizer | None = None
        if settings.encoder != CHARACTERS:
            folder = encoder_folder(settings.encoder)
            self.tokenizer = SubwordTokenizer(folder, longest_input(read_config(folder)))

    def batch(self, sentences: Sequence[Sentence]) -> InputBatch:
        """Sentences as one batch, to be predicted."""
        return replace(self.collate(self(sentences)), sentences=tuple(sentences))

    def __call__(self, sentences: Sequence[Sentence]) -> list[SentenceInput]:
        """Prepare some sentences; many at once are faster than one by one."""
        split: list[tuple[Ints, Ints, Ints]] | list[None] = [None] * len(sentences)
        if self.tokenizer is not None:
            texts = list(map(encoder_text, sentences))
            split = self.tokenizer([text for text, _ in texts], [spans for _, spans in texts])
        return [
            SentenceInput(
                tokens=len(sentence),
                subwords=None if subwords is None else subwords[0].astype(np.int32),
                pieces=None if subwords is None else np.stack(subwords[1:]).astype(np.int32),
                forms=tuple(token.form for token in sentence.tokens) if self.forms else None,
                lemmas=tuple(token.lemma for token in sentence.tokens) if self.lemmas else None,
            )
            for sentence, subwords in zip(sentences, split, strict=True)
        ]

    def count_subwords(self, text: str) -> int:
        """How many subwords a text has; 0 for encoders that have none."""
        return 0 if self.tokenizer is None else self.tokenizer.count(text)

    def collate(self, sentences: Sequence[SentenceInput]) -> InputBatch:
        """A batch of prepared sentences."""
        tokens = Sequences([sentence.tokens for sentence in sentences])
        subwords = None if self.tokenizer is None else _subwords(sentences, tokens, self.tokenizer)
        forms = [form for sentence in sentences for form in sentence.forms or ()]
        lemmas = [lemma for sentence in sentences for lemma in sentence.lemmas or ()]
        return InputBatch(
            tokens,
            subwords,
            bags(forms, self.buckets) if self.forms else None,
            bags(lemmas, self.buckets) if self.lemmas else None,
        )


def _subwords(sentences: Sequence[SentenceInput], tokens: Sequences, tokenizer: SubwordTokenizer) -> SubwordBatch:
    ids: list[Ints] = []
    owners: list[int] = []
    pieces: list[Ints] = []
    start = 0
    before, after = np.array(tokenizer.before, dtype=np.int64), np.array(tokenizer.after, dtype=np.int64)
    for number, sentence in enumerate(sentences):
        assert sentence.subwords is not None
        assert sentence.pieces is not None
        rows = np.empty(len(sentence.subwords), dtype=np.int64)
        for window in tokenizer.windows(len(sentence.subwords)):
            ids.append(np.concatenate((before, sentence.subwords[window.start : window.end], after)))
            owners.append(number)
            read = np.arange(window.first, window.last)
            rows[read] = read + (start + len(before) - window.start)
            start += len(ids[-1])
        pieces.append(np.stack((rows[sentence.pieces[0]], sentence.pieces[1] + tokens.starts[number])))
    in_windows = Sequences([len(window) for window in ids])
    joined = np.concatenate(pieces, axis=1) if pieces else np.zeros((2, 0), dtype=np.int64)
    bare = np.setdiff1d(np.arange(tokens.rows), joined[1])
    joined = np.concatenate((joined, np.stack((np.full_like(bare, start), bare))), axis=1)
    return SubwordBatch(
        ids=np.concatenate(ids) if ids else np.zeros(0, dtype=np.int64),
        windows=in_windows,
        sentences=np.array(owners, dtype=np.int64)[in_windows.sequences],
        rows=joined[0],
        tokens=joined[1],
    )
