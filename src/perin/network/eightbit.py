"""Linear layers with eight-bit numbers, for inference on processors that multiply such numbers faster.

Each output of a layer has a scale of its own for its weights, and each row of the input one for its values, so that a
row's result does not depend on the other rows.  Sums of products are exact integers.
"""

from __future__ import annotations

from collections.abc import Iterator

from torch import Tensor, nn

from perin.network.encoders.huggingface import HuggingFaceEncoder
from perin.network.kernels import Kernel, TorchKernel, rounded


def supported() -> bool:
    """Whether there is a kernel for this processor."""
    return TorchKernel.supported()


class EightBitLinear(nn.Module):
    """What ``linear`` computes, with weights and inputs rounded to eight bits, by PyTorch's kernel or a given one."""

    def __init__(self, linear: nn.Linear, kernel: type[Kernel] | None = None) -> None:
        super().__init__()
        self.multiply = (kernel or TorchKernel)(*rounding(linear), linear.bias)

    def forward(self, x: Tensor) -> Tensor:
        """``x`` […, D] to […, D']."""
        return self.multiply(x)


def rounding(linear: nn.Linear) -> tuple[Tensor, Tensor]:
    """A layer's weights as whole numbers and scales: those that :func:`keep_rounding` gave it, or else new ones."""
    numbers, scales = getattr(linear, _NUMBERS, None), getattr(linear, _SCALES, None)
    return rounded(linear.weight) if numbers is None or scales is None else (numbers, scales)


def keep_rounding(linear: nn.Linear, numbers: Tensor, scales: Tensor) -> None:
    """Remember the whole numbers [D', D] and scales [D'] that a layer's weights were made from.

    Rounding is not idempotent: the sums by which it scales change with it.
    """
    linear.register_buffer(_NUMBERS, numbers, persistent=False)
    linear.register_buffer(_SCALES, scales, persistent=False)


_NUMBERS, _SCALES = "whole_numbers", "scales"


def linear_layers(module: nn.Module, prefix: str = "") -> Iterator[tuple[str, nn.Linear]]:
    """The layers that :func:`to_eight_bits` replaces inside a module, with their names."""
    for name, child in module.named_children():
        if isinstance(child, nn.Linear):
            yield f"{prefix}{name}", child
        elif not isinstance(child, HuggingFaceEncoder):
            yield from linear_layers(child, f"{prefix}{name}.")


def to_eight_bits(module: nn.Module, kernel: type[Kernel] | None = None) -> None:
    """Replace all linear layers inside a module; it can't be trained or saved any more.

    Encoders that ``transformers`` runs stay as they are: it may want to see the weights of their layers.
    """
    for name, child in module.named_children():
        if isinstance(child, nn.Linear):
            setattr(module, name, EightBitLinear(child, kernel))
        elif not isinstance(child, HuggingFaceEncoder):
            to_eight_bits(child, kernel)
