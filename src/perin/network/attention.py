"""Multi-head attention between packed sequences, by PyTorch's fused kernel."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

from perin.errors import UsageError
from perin.network.dropout import Dropout, dropped
from perin.network.layout import Layout


class Attention(nn.Module):
    """Attention of the rows of a packed matrix to each other or to those of another, within each sequence.

    Dropout hides a key from a query in all heads at once and lets the other keys share its weight; unlike dropout on
    the attention weights it leaves the fused kernel usable.  ``rotary`` encodes relative positions, of any distance,
    for self-attention.
    """

    def __init__(self, width: int, heads: int, dropout: float, *, rotary: bool = False) -> None:
        super().__init__()
        if width % (2 * heads if rotary else heads):
            raise UsageError(f"a width of {width} can't be divided among {heads} attention heads; choose other sizes")
        self.heads = heads
        self.rate = dropout
        self.rotary = rotary
        self.query = nn.Linear(width, width)
        self.memory = nn.Linear(width, 2 * width)
        self.output = nn.Linear(width, width)

    def forward(
        self, x: Tensor, layout: Layout, memory: Tensor | None = None, memory_layout: Layout | None = None
    ) -> Tensor:
        """``x`` [rows, D] attends to ``memory`` [memory rows, D], or else to itself; the result is [rows, D]."""
        keys = memory_layout or layout
        query = self._split(layout.pad(self.query(x)))
        key, value = map(self._split, keys.pad(self.memory(x if memory is None else memory)).chunk(2, dim=-1))
        if self.rotary:
            query, key = rotated(query), rotated(key)
        mask = visible(keys, layout.longest, self.rate if self.training else 0.0)
        mixed = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        result: Tensor = self.output(layout.pack(mixed.transpose(1, 2).flatten(2)))
        return result

    def _split(self, x: Tensor) -> Tensor:
        return x.view(*x.shape[:-1], self.heads, x.shape[-1] // self.heads).transpose(1, 2)


class FeedForward(nn.Sequential):
    """The position-wise layer of a Transformer."""

    def __init__(self, width: int, inner: int, activation: nn.Module) -> None:
        super().__init__(nn.Linear(width, inner), activation, nn.Linear(inner, width))


class Residual(nn.Module):
    """The pre-norm residual connection: ``x + dropout(sublayer(norm(x)))``."""

    def __init__(self, width: int, dropout: float, sublayer: nn.Module) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.sublayer = sublayer
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor, *context: Tensor | Layout) -> Tensor:
        """``context`` is what the sublayer needs besides its normalised input."""
        result: Tensor = x + self.dropout(self.sublayer(self.norm(x), *context))
        return result


def visible(keys: Layout, queries: int, rate: float) -> Tensor | None:
    """Which keys a query may see: None for all, else a boolean mask [B, 1, queries or 1, keys].

    No row of it is all false, not even of an empty sequence, for then the softmax would have no value.
    """
    mask = None if keys.rectangular else keys.mask[:, None, None, :]
    if rate > 0:
        kept = ~dropped((keys.batch, 1, queries, keys.longest), rate, keys.device)
        kept = kept if mask is None else kept & mask
        mask = torch.where(kept.any(-1, keepdim=True), kept, True if mask is None else mask)
    if mask is None or keys.lengths.all():
        return mask
    first = torch.zeros(keys.longest, dtype=torch.bool, device=keys.device)
    first[0] = True
    return torch.where(mask.any(-1, keepdim=True), mask, first)


def rotated(x: Tensor) -> Tensor:
    """``x`` [B, heads, S, d] with each pair of features turned by an angle proportional to its position in S.

    The product of a rotated query and a rotated key then depends on their distance, not on where they are.
    """
    half = x.shape[-1] // 2
    speeds = torch.exp(torch.arange(half, device=x.device) * (-math.log(10000.0) / half))
    angles = torch.arange(x.shape[-2], device=x.device)[:, None] * speeds
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    first, second = x[..., :half], x[..., half:]
    return torch.cat((first * cos - second * sin, first * sin + second * cos), dim=-1)
