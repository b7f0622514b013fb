"""From the layers of a subword encoder to one vector a token (paper, section "Contextual Embedding Extraction")."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from perin.network.dropout import dropped
from perin.network.tensors import SubwordTensors


class LayerMixture(nn.Module):
    """The sum of an encoder's layers, weighted by a learned softmax.

    In training each layer of each sentence is left out with probability ``rate``; a sentence that would lose all of
    them keeps them.  The weights start all alike, or (``middle``) as a bell around the middle layers, in which the last
    has a fortieth of the middle's weight.
    """

    def __init__(self, depth: int, rate: float, *, middle: bool = False) -> None:
        super().__init__()
        distances = (torch.arange(depth) - (depth - 1) / 2) / (depth / 6)
        self.scores = nn.Parameter(-distances.square() / 2 if middle else torch.zeros(depth))
        self.rate = rate

    def forward(self, states: list[Tensor], sentences: Tensor, count: int) -> Tensor:
        """``states``: of each layer [rows, D]; ``sentences`` [rows] of ``count``.  The result is [rows, D]."""
        weights = self.scores.softmax(-1)[None]
        if self.training and self.rate > 0:
            weights = self.weights(dropped((count, len(states)), self.rate, self.scores.device))[sentences]
        mixed = states[0] * weights[:, :1]
        for number, state in enumerate(states[1:], start=1):
            mixed.addcmul_(state, weights[:, number : number + 1])
        return mixed

    def weights(self, left_out: Tensor) -> Tensor:
        """[sentences, layers]: distributions without the layers that are ``left_out`` [sentences, layers]."""
        left_out = left_out & ~left_out.all(-1, keepdim=True)
        return self.scores.expand(left_out.shape).masked_fill(left_out, -torch.inf).softmax(-1)


class TokenPooling(nn.Module):
    """Subword vectors summed to tokens, then normalised.

    A token without subwords (of characters that the tokenizer drops) gets a learned vector.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.bare = nn.Parameter(torch.randn(width) * 0.02)
        self.norm = nn.LayerNorm(width)

    def forward(self, subwords: Tensor, batch: SubwordTensors, tokens: int) -> Tensor:
        """``subwords`` [rows, D] to [tokens, D]."""
        rows = torch.cat((subwords, self.bare[None]))
        pooled = rows.new_zeros(tokens, rows.shape[1]).index_add(0, batch.tokens, rows.index_select(0, batch.rows))
        result: Tensor = self.norm(pooled)
        return result
