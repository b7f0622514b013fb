"""Linear layers with eight-bit numbers, for inference on processors that multiply such numbers faster.

Each output of a layer has a scale of its own for its weights, and each row of the input one for its values, so that a
row's result does not depend on the other rows.  Sums of products are exact integers.
"""

from __future__ import annotations

import warnings

import torch
from torch import Tensor, nn

from perin.network.encoders.huggingface import HuggingFaceEncoder

LARGEST_INPUT = 127
"""Rounded inputs range from minus this to this."""
LARGEST_WEIGHT = 64
"""The same for weights.  Processors without vector instructions for neural networks add two products in 16 bits; with
these limits such a sum never overflows, so that all processors compute the same."""
_ZERO = 128
"""What stands for zero in the input: PyTorch's kernel wants it without sign."""


def supported() -> bool:
    """Whether this processor and this version of PyTorch have what :class:`EightBitLinear` needs."""
    if torch.backends.quantized.engine not in ("x86", "fbgemm"):
        return False
    kernels = ("linear_prepack", "linear_with_input_q_dq_qweight_dq_output_fp32")
    known = all(hasattr(torch.ops.quantized, name) for name in kernels)
    return known and hasattr(torch, "_make_per_channel_quantized_tensor")


class EightBitLinear(nn.Module):
    """What ``linear`` computes, with weights and inputs rounded to eight bits."""

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        weight = linear.weight.detach().float()
        scales = weight.abs().amax(1).clamp_min(1e-12).double() / LARGEST_WEIGHT
        rounded = (weight / scales[:, None]).round().to(torch.int8)
        zeros = torch.zeros(len(weight), dtype=torch.int64)
        with warnings.catch_warnings():
            # PyTorch is going to give up such tensors; from then on this is not supported, and 32 bits are used.
            warnings.filterwarnings("ignore", "torch.quantize_per_tensor", UserWarning)
            tensor = torch._make_per_channel_quantized_tensor(rounded, scales, zeros, 0)
        self.packed = torch.ops.quantized.linear_prepack(tensor, None)
        bias: Tensor | None = linear.bias
        self.bias = None if bias is None else bias.detach().float()

    def forward(self, x: Tensor) -> Tensor:
        """``x`` […, D] to […, D']."""
        largest = x.abs().amax(-1, keepdim=True).clamp_min_(1e-12)
        multiply = torch.ops.quantized.linear_with_input_q_dq_qweight_dq_output_fp32
        result: Tensor = multiply(x / largest, 1 / LARGEST_INPUT, _ZERO, self.packed)
        if self.bias is None:
            return result.mul_(largest)
        return torch.addcmul(self.bias, result, largest, out=result)


def to_eight_bits(module: nn.Module) -> None:
    """Replace all linear layers inside a module; it can't be trained or saved any more.

    Encoders that ``transformers`` runs stay as they are: it may want to see the weights of their layers.
    """
    for name, child in module.named_children():
        if isinstance(child, nn.Linear):
            setattr(module, name, EightBitLinear(child))
        elif not isinstance(child, HuggingFaceEncoder):
            to_eight_bits(child)
