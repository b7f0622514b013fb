"""The vectors of words as bags of hashed character n-grams."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional


class CharacterEmbedding(nn.Module):
    """The mean of a word's n-gram vectors, mapped to the wanted width and normalised."""

    def __init__(self, buckets: int, gram_width: int, width: int) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.randn(buckets, gram_width) * gram_width**-0.5)
        self.linear = nn.Linear(gram_width, width)
        self.norm = nn.LayerNorm(width)

    def forward(self, rows: Tensor, starts: Tensor) -> Tensor:
        """``rows`` [G] of the table, of which word i has those from ``starts[i]``, to [words, width]."""
        bag = functional.embedding_bag(rows, self.table, starts, mode="mean")
        result: Tensor = self.norm(self.linear(bag))
        return result
