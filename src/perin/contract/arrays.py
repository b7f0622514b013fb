"""Names for the array types of this package."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Bools: TypeAlias = NDArray[np.bool_]
Ints: TypeAlias = NDArray[np.int64]
Scores: TypeAlias = NDArray[np.float32]
"""Probabilities."""


def true_columns(rows: Bools) -> list[list[int]]:
    """The numbers of the columns that are true in each row.

    >>> true_columns(np.array([[True, False, True], [False, False, False]]))
    [[0, 2], []]
    """
    columns: list[list[int]] = [[] for _ in rows]
    for row, column in np.argwhere(rows).tolist():
        columns[row].append(column)
    return columns
