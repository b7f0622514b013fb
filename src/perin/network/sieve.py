"""A sieve: most queries become no node, and of many of them that can be told before the decoder.

Fewer queries make the decoder and the label head cheaper by as much.  A sieve is trained after the network, which stays
as it is, and is used for inference only.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

from perin.network.layout import Layout

INNER = 128
"""Width of the hidden layer."""


class Sieve(nn.Module):
    """Scores the queries of a token by the token's contextual embedding alone; those above zero pass."""

    def __init__(self, source: int, queries: int) -> None:
        super().__init__()
        self.inner = nn.Linear(source, INNER)
        self.output = nn.Linear(INNER, queries)

    def forward(self, tokens: Tensor) -> Tensor:
        """``tokens`` [T, source] to scores [T, Q]."""
        result: Tensor = self.output(self.inner(tokens).relu_())
        return result

    def passed(self, tokens: Tensor, layout: Layout) -> NDArray[np.int64]:
        """The rows of the queries that pass, ascending: at least one of each sentence that has tokens.

        ``layout`` is that of all queries; query q belongs to token q // Q.
        """
        scores = self(tokens).view(-1).cpu().numpy()
        rows: NDArray[np.int64] = np.flatnonzero(scores > 0)
        empty = (layout.lengths > 0) & (np.bincount(layout.sequences[rows], minlength=layout.batch) == 0)
        if not empty.any():
            return rows
        starts, ends = layout.starts, layout.starts + layout.lengths
        best = [starts[number] + scores[starts[number] : ends[number]].argmax() for number in np.flatnonzero(empty)]
        return np.sort(np.concatenate((rows, best)))
