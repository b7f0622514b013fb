"""Names for the array types of this package."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Bools: TypeAlias = NDArray[np.bool_]
Ints: TypeAlias = NDArray[np.int64]
Scores: TypeAlias = NDArray[np.float32]
"""Probabilities."""
