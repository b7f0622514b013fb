"""Products of eight-bit matrices by PyTorch's kernel, with the same whole numbers as in ``inference/layers.py``."""

from __future__ import annotations

import warnings
from typing import Protocol

import torch
from torch import Tensor

LARGEST_INPUT = 127
"""Rounded inputs range from minus this to this."""
LARGEST_SUM = 128
"""The positive weights of four inputs that are added in 16 bits add up to at most this, and so do the negative ones:
255 (an input as the processor wants it, without sign) times this is less than 2 ** 15."""
STEP = 8
"""Inputs of the tiles that ``linear.c`` computes at a time."""

_SMALLEST = 1e-12
_ZERO = 128
"""What stands for zero in an input without sign."""


class Kernel(Protocol):
    """Multiplies inputs with the whole numbers ``weights`` [D', D], an output's result with its scale, adds a bias."""

    def __init__(self, weights: Tensor, scales: Tensor, bias: Tensor | None) -> None: ...

    def __call__(self, x: Tensor) -> Tensor:
        """``x`` […, D] to […, D']."""


def rounded(weights: Tensor) -> tuple[Tensor, Tensor]:
    """Weights [D', D] as whole numbers [D', D] of eight bits, and of each output the scale [D'] to be multiplied with.

    >>> rounded(torch.tensor([[0.5, -1.0], [2.0, 2.0]]))
    (tensor([[  63, -126],
            [  63,   63]], dtype=torch.int8), tensor([0.0079, 0.0317]))
    """
    weights = weights.detach().float()
    quads = _added_in_16_bits(_padded(weights, STEP, 1))
    sums = torch.maximum(quads.clamp_min(0).sum(-1), quads.clamp_max(0).sum(-1).neg()).amax(-1)
    in_sums = LARGEST_SUM - 2  # each of four numbers may be rounded up by one half
    scales = (sums / in_sums).clamp_min(_SMALLEST)
    return (weights / scales[:, None]).round().to(torch.int8), scales


class TorchKernel:
    """That of PyTorch (FBGEMM), which knows scales of whole matrices only."""

    def __init__(self, weights: Tensor, scales: Tensor, bias: Tensor | None) -> None:
        zeros = torch.zeros(len(weights), dtype=torch.int64)
        with warnings.catch_warnings():
            # PyTorch is going to give up such tensors; from then on this is not supported.
            warnings.filterwarnings("ignore", "torch.quantize_per_tensor", UserWarning)
            tensor = torch._make_per_channel_quantized_tensor(weights, scales.double(), zeros, 0)
        self.packed = torch.ops.quantized.linear_prepack(tensor, None)
        self.bias = None if bias is None else bias.detach().float()

    @staticmethod
    def supported() -> bool:
        """Whether this processor and this version of PyTorch have it."""
        if torch.backends.quantized.engine not in ("x86", "fbgemm"):
            return False
        products = ("linear_prepack", "linear_with_input_q_dq_qweight_dq_output_fp32")
        known = all(hasattr(torch.ops.quantized, name) for name in products)
        return known and hasattr(torch, "_make_per_channel_quantized_tensor")

    def __call__(self, x: Tensor) -> Tensor:
        """``x`` […, D] to […, D']."""
        largest = x.abs().amax(-1, keepdim=True).clamp_min_(_SMALLEST)
        multiply = torch.ops.quantized.linear_with_input_q_dq_qweight_dq_output_fp32
        result: Tensor = multiply(x / largest, 1 / LARGEST_INPUT, _ZERO, self.packed)
        if self.bias is None:
            return result.mul_(largest)
        return torch.addcmul(self.bias, result, largest, out=result)


def _padded(tensor: Tensor, multiple: int, dimension: int) -> Tensor:
    """With zeros up to a multiple of a size."""
    missing = -tensor.shape[dimension] % multiple
    shape = list(tensor.shape)
    shape[dimension] = missing
    return torch.cat((tensor, tensor.new_zeros(shape)), dimension)


def _added_in_16_bits(weights: Tensor) -> Tensor:
    """Weights [D', D] by the sums in ``linear.c``, [D', D / 4, 4]: one instruction adds inputs 0 and 1, 2 and 3, the
    next 4 and 5, 6 and 7, and then their results are added.
    """
    pairs = weights.view(len(weights), -1, 2, STEP // 4, 2)
    return pairs.transpose(2, 3).reshape(len(weights), -1, 4)
