"""Linear layers with eight-bit numbers, for inference on processors that multiply such numbers faster.

Each output of a layer has a scale of its own for its weights, and each row of the input one for its values, so that a
row's result does not depend on the other rows.  Sums of products are exact integers.
"""

from __future__ import annotations

from torch import Tensor, nn

from perin.network.encoders.huggingface import HuggingFaceEncoder
from perin.network.kernels import Kernel, fastest, rounded


def supported() -> bool:
    """Whether there is a kernel for this processor."""
    return fastest() is not None


class EightBitLinear(nn.Module):
    """What ``linear`` computes, with weights and inputs rounded to eight bits, by the fastest kernel or a given one."""

    def __init__(self, linear: nn.Linear, kernel: type[Kernel] | None = None) -> None:
        super().__init__()
        kernel = kernel or fastest()
        assert kernel is not None
        self.multiply = kernel(*rounded(linear.weight), linear.bias)

    def forward(self, x: Tensor) -> Tensor:
        """``x`` […, D] to […, D']."""
        return self.multiply(x)


def to_eight_bits(module: nn.Module, kernel: type[Kernel] | None = None) -> None:
    """Replace all linear layers inside a module; it can't be trained or saved any more.

    Encoders that ``transformers`` runs stay as they are: it may want to see the weights of their layers.
    """
    for name, child in module.named_children():
        if isinstance(child, nn.Linear):
            setattr(module, name, EightBitLinear(child, kernel))
        elif not isinstance(child, HuggingFaceEncoder):
            to_eight_bits(child, kernel)
