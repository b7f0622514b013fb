"""Linear layers with eight-bit numbers, for inference on processors that multiply such numbers faster.

Each output of a layer has a scale of its own for its weights, and each row of the input one for its values, so that a
row's result does not depend on the other rows.  Sums of products are exact integers.
"""

from __future__ import annotations

from collections.abc import Iterator

from torch import Tensor, nn

from perin.network.attention import FeedForward
from perin.network.encoders.huggingface import HuggingFaceEncoder
from perin.network.kernels import ACTIVATIONS, Kernel, OwnKernel, fastest, feedforward, rounded


def supported() -> bool:
    """Whether there is a kernel for this processor."""
    return fastest() is not None


class EightBitLinear(nn.Module):
    """What ``linear`` computes, with weights and inputs rounded to eight bits, by the fastest kernel or a given one."""

    def __init__(self, linear: nn.Linear, kernel: type[Kernel] | None = None) -> None:
        super().__init__()
        kernel = kernel or fastest()
        assert kernel is not None
        self.multiply = kernel(*rounding(linear), linear.bias)

    def forward(self, x: Tensor) -> Tensor:
        """``x`` […, D] to […, D']."""
        return self.multiply(x)


class EightBitFeedForward(nn.Module):
    """What ``layers`` (linear, activation, linear) compute, by the kernel of this package in one go."""

    def __init__(self, layers: FeedForward) -> None:
        super().__init__()
        self.activation = activation_number(layers[1])
        self.first, self.second = (OwnKernel(*rounding(each), each.bias) for each in layers.linear)

    def forward(self, x: Tensor) -> Tensor:
        """``x`` […, D] to […, D]."""
        assert self.activation is not None
        return feedforward(self.first, self.second, self.activation, x)


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


def activation_number(module: nn.Module) -> int | None:
    """The number of an activation that the kernel of this package has, else None."""
    if isinstance(module, nn.ReLU):
        return ACTIVATIONS["relu"]
    return ACTIVATIONS["gelu"] if isinstance(module, nn.GELU) and module.approximate == "none" else None


def to_eight_bits(module: nn.Module, kernel: type[Kernel] | None = None) -> None:
    """Replace all linear layers inside a module; it can't be trained or saved any more.

    Encoders that ``transformers`` runs stay as they are: it may want to see the weights of their layers.
    """
    own = (kernel or fastest()) is OwnKernel
    for name, child in module.named_children():
        if isinstance(child, FeedForward) and own and activation_number(child[1]) is not None:
            setattr(module, name, EightBitFeedForward(child))
        elif isinstance(child, nn.Linear):
            setattr(module, name, EightBitLinear(child, kernel))
        elif not isinstance(child, HuggingFaceEncoder):
            to_eight_bits(child, kernel)
