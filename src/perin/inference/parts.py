"""What encoders and decoder are made of; the same names and weights as in ``network``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from perin.errors import ModelError
from perin.inference.arithmetic import Arithmetic, Ints, Value
from perin.inference.layers import Floats, Linear, Norm


@dataclass(frozen=True, eq=False)
class Parameters:
    """Those weights of a network whose names begin with a prefix; its linear layers are to have so many bits."""

    weights: Mapping[str, NDArray[Any]]
    prefix: str = ""
    bits: int = 32
    quantized: dict[str, Linear] = field(default_factory=dict)
    """The layers that were made with eight bits so far, by the names of their weights."""

    def of(self, name: str, bits: int | None = None) -> Parameters:
        """The weights of a part."""
        return replace(self, prefix=f"{self.prefix}{name}.", bits=self.bits if bits is None else bits)

    def of_bits(self, bits: int) -> Parameters:
        """The same weights for layers of so many bits."""
        return replace(self, bits=bits)

    def has(self, name: str) -> bool:
        """Whether there are such weights."""
        return self.prefix + name in self.weights

    def stored(self, name: str) -> NDArray[Any]:
        """Weights as they are stored."""
        try:
            return self.weights[self.prefix + name]
        except KeyError:
            raise ModelError(f"the model's weights lack {self.prefix}{name}; get the model again") from None

    def scales(self, name: str) -> Floats | None:
        """The scales [rows] of weights that are stored as whole numbers [rows, …], else None."""
        if self.stored(name).dtype != np.int8:
            return None
        return np.ascontiguousarray(self.stored(f"{name}.scale"), dtype=np.float32)

    def array(self, name: str) -> Floats:
        """Weights in 32 bits."""
        weight, scales = np.ascontiguousarray(self.stored(name), dtype=np.float32), self.scales(name)
        return weight if scales is None else weight * scales[:, None]

    def linear(self, name: str) -> Linear:
        """A linear layer; in eight bits with the whole numbers that are stored, if there are any."""
        stored, scales = self.stored(f"{name}.weight"), self.scales(f"{name}.weight")
        bias = self.stored(f"{name}.bias") if self.has(f"{name}.bias") else None
        if self.bits == 8:
            layer = self.quantized[f"{self.prefix}{name}.weight"] = Linear(stored, bias, 8, scales)
            return layer
        return Linear(self.array(f"{name}.weight"), bias)

    def norm(self, name: str, epsilon: float = 1e-5) -> Norm:
        """A layer norm."""
        return Norm(self.array(f"{name}.weight"), self.array(f"{name}.bias"), epsilon)


class Context(NamedTuple):
    """What a sublayer needs besides its input: which rows belong together, and what else they may look at."""

    lengths: Ints
    """Of the sequences that follow one another in the input."""
    memory: Value | None = None
    """[memory rows, D] that is attended to instead of the input itself."""
    memory_lengths: Ints | None = None


class Attention:
    """Multi-head attention of packed rows to each other or to those of another matrix, within each sequence."""

    def __init__(self, parameters: Parameters, heads: int, *, rotary: bool = False) -> None:
        self.query = parameters.linear("query")
        self.memory = parameters.linear("memory")
        self.output = parameters.linear("output")
        self.heads = heads
        self.rotary = rotary

    def __call__(
        self, arithmetic: Arithmetic, x: Value, context: Context, added: Value | None = None, out: Value | None = None
    ) -> Value:
        """``x`` [rows, D]; the result, plus ``added``, is [rows, D]."""
        lengths, memory, memory_lengths = context
        queries = arithmetic.linear(self.query, x)
        memories = arithmetic.linear(self.memory, x if memory is None else memory)
        if self.rotary:
            for rows in (queries, memories):
                arithmetic.rotate(rows, lengths, self.heads, self.query.outputs)
        keys = lengths if memory_lengths is None else memory_lengths
        mixed = arithmetic.attention(queries, memories, lengths, keys, self.heads)
        return arithmetic.linear(self.output, mixed, added=added, out=out)


class FeedForward:
    """The position-wise layer of a Transformer."""

    def __init__(self, parameters: Parameters, activation: str) -> None:
        self.first = parameters.linear("0")
        self.second = parameters.linear("2")
        self.activation = activation

    def __call__(
        self, arithmetic: Arithmetic, x: Value, context: Context, added: Value | None = None, out: Value | None = None
    ) -> Value:
        """``x`` [rows, D]; the result, plus ``added``, is [rows, D]."""
        return arithmetic.feedforward(self.first, self.second, self.activation, x, added=added, out=out)


class Residual:
    """The pre-norm residual connection: ``x + sublayer(norm(x))``."""

    def __init__(self, parameters: Parameters, sublayer: Attention | FeedForward) -> None:
        self.norm = parameters.norm("norm")
        self.sublayer = sublayer

    def __call__(self, arithmetic: Arithmetic, x: Value, context: Context, out: Value | None = None) -> Value:
        """``x`` [rows, D]; ``out`` is another matrix."""
        with arithmetic.scratch():
            return self.sublayer(arithmetic, arithmetic.norm(self.norm, x), context, added=x, out=out)


def apply_all(arithmetic: Arithmetic, residuals: Iterable[tuple[Residual, Context]], x: Value, other: Value) -> Value:
    """``x`` [rows, D] through one residual connection after the other.

    Results are alternately in ``other``, which has the same size, and in ``x``, which is lost.
    """
    for residual, context in residuals:
        x, other = residual(arithmetic, x, context, other), x
    return x


class CharacterEmbedding:
    """The mean of a word's n-gram vectors, mapped to the wanted width and normalised."""

    def __init__(self, parameters: Parameters) -> None:
        self.table = parameters.array("table")
        self.linear = parameters.linear("linear")
        self.norm = parameters.norm("norm")

    def __call__(self, arithmetic: Arithmetic, rows: Ints, starts: Ints) -> Value:
        """``rows`` [G] of the table, of which word i has those from ``starts[i]``, to [words, D]."""
        out = arithmetic.new(len(starts), len(self.norm.weight))
        with arithmetic.scratch():
            return arithmetic.norm(
                self.norm, arithmetic.linear(self.linear, arithmetic.bag(self.table, rows, starts)), out
            )
