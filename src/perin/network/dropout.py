"""Dropout that is cheap on a CPU.

PyTorch draws a random float an element, which on a CPU takes as long as the matrix product before it.  Here a random
byte an element decides, eight of them drawn at once, so a rate is rounded to the nearest multiple of 1/256.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional


def dropout(x: Tensor, rate: float, training: bool) -> Tensor:
    """Zero each element with probability ``rate`` and scale the others so that the mean is kept."""
    if not training or rate == 0:
        return x
    if x.device.type != "cpu":
        return functional.dropout(x, rate, True)
    result: Tensor = _Drop.apply(x, rate)  # type: ignore[no-untyped-call]
    return result


def dropped(shape: tuple[int, ...], rate: float, device: torch.device) -> Tensor:
    """A boolean tensor of which a share of ``rate``, rounded to 1/256, is true."""
    count = 1
    for size in shape:
        count *= size
    draws = torch.empty((count + 7) // 8, dtype=torch.int64, device=device).random_(-(2**63), None)
    return draws.view(torch.uint8)[:count].view(shape) < _of_256(rate)


class Dropout(nn.Module):
    """:func:`dropout` as a module; takes the place of ``torch.nn.Dropout``, of which it has the attribute ``p``."""

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.p = rate

    def forward(self, x: Tensor) -> Tensor:
        """Drop elements of ``x`` in training."""
        return dropout(x, self.p, self.training)

    def extra_repr(self) -> str:
        """What ``print`` shows."""
        return f"p={self.p}"


class _Drop(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, rate: float) -> Tensor:
        kept = ~dropped(tuple(x.shape), rate, x.device)
        ctx.save_for_backward(kept)
        ctx.scale = 256 / (256 - _of_256(rate))
        return _masked(x, kept, ctx.scale)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        (kept,) = ctx.saved_tensors
        return _masked(gradients[0], kept, ctx.scale), None


def _masked(x: Tensor, kept: Tensor, scale: float) -> Tensor:
    """A product with a mask of floats, several times faster than what PyTorch does with one of booleans."""
    return kept.view(torch.uint8).to(x.dtype).mul_(scale).mul_(x)


def _of_256(rate: float) -> int:
    return min(255, max(1, round(rate * 256)))
