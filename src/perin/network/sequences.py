"""Sequences of different lengths in one matrix, without padding: where their rows lie."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from perin.lazy import cached_property


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
