"""Words as bags of hashed character n-grams: no vocabulary, no unknown words, any language."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

LONGEST_GRAM = 5
LONGEST_WORD = 48
"""Of a longer word only the beginning and the end count."""


@lru_cache(maxsize=200_000)
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
