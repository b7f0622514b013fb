"""The layers of the network: weights as the C code and NumPy want them, and what encoders and decoder are made of.

Parts have the same names and weights as in :mod:`perin.network.layers`.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from perin.errors import ModelError

if TYPE_CHECKING:
    from perin.inference.arithmetic import Arithmetic, Ints, Value

Floats: TypeAlias = NDArray[np.float32]

LARGEST_INPUT = 127
"""Quantized inputs range from minus this to this."""
LARGEST_SUM = 128
"""The positive weights of four inputs that are added in 16 bits add up to at most this, and so do the negative ones:
255 (an input as the processor wants it, without sign) times this is less than 2 ** 15."""
STEP, PANEL = 8, 16
"""Inputs and outputs of the tiles that ``linear.c`` computes at a time."""

_SMALLEST = 1e-12
_ZERO = 128
"""What stands for zero in an input without sign."""


class LayerStructure(ctypes.Structure):
    """``struct layer`` of ``kernels.h``."""

    _fields_ = [
        *((name, ctypes.c_int64) for name in ("inputs", "outputs", "bits")),
        *((name, ctypes.c_void_p) for name in ("packed", "scales", "offsets", "bias")),
    ]


class Linear:
    """``x W' + b`` of weights W [D', D] in 32 bits or in eight.

    In eight bits each output has a scale of its own for its weights, and each row of the input one for its values, so
    that a row's result does not depend on the other rows.  Sums of products are exact whole numbers.  With ``scales``
    [D'], weights are such whole numbers already.
    """

    def __init__(
        self, weight: NDArray[Any], bias: NDArray[Any] | None, bits: int = 32, scales: Floats | None = None
    ) -> None:
        assert bits in (8, 32)
        self.outputs, self.inputs = weight.shape
        self.bits = bits
        if scales is None:
            weight = np.asarray(weight, dtype=np.float32)
            weight, scales = quantize(weight) if bits == 8 else (weight, np.zeros(0, dtype=np.float32))
        self._arrays = _packed(weight, scales, np.zeros(self.outputs) if bias is None else bias)
        self._structure = self._described()

    def __getstate__(self) -> dict[str, Any]:
        """Without addresses, which mean nothing in another process."""
        return {name: value for name, value in self.__dict__.items() if name != "_structure"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._structure = self._described()

    def _described(self) -> LayerStructure:
        return LayerStructure(self.inputs, self.outputs, self.bits, *(array.ctypes.data for array in self._arrays))

    @property
    def address(self) -> int:
        """Where the C code finds the layer."""
        return ctypes.addressof(self._structure)

    @property
    def weight(self) -> NDArray[Any]:
        """[D', D]: the weights, in eight bits as whole numbers."""
        packed = self._arrays[0]
        rows = packed.transpose(0, 2, 1, 3) if self.bits == 8 else packed.transpose(0, 2, 1)
        return rows.reshape(packed.shape[0] * PANEL, -1)[: self.outputs, : self.inputs]

    @property
    def scales(self) -> Floats:
        """[D']: in eight bits, what whole numbers are to be multiplied with."""
        return self._arrays[1][: self.outputs]

    @property
    def bias(self) -> Floats:
        """[D']."""
        return self._arrays[3][: self.outputs]

    def __call__(self, x: Floats) -> Floats:
        """``x`` [rows, D] to [rows, D'] in NumPy."""
        if self.bits == 32:
            plain: Floats = x @ self.weight.T + self.bias
            return plain
        largest = np.maximum(np.abs(x).max(1, keepdims=True, initial=0.0), np.float32(_SMALLEST))
        whole = np.rint(x * (np.float32(LARGEST_INPUT) / largest))
        # Whole numbers below 2 ** 24 are exact in 32-bit floats, and so are their sums, in any order.
        sums = whole @ self.weight.T.astype(np.float32 if self.inputs <= _EXACT else np.float64)
        scales = (largest / np.float32(LARGEST_INPUT)) * self.scales
        result: Floats = (sums.astype(np.float64) * scales + self.bias).astype(np.float32)
        return result


_EXACT = 2**24 // (LARGEST_INPUT * LARGEST_SUM) * 4
"""The most inputs whose sums of products can't exceed 2 ** 24."""


@dataclass(frozen=True, eq=False)
class Norm:
    """Rows to a mean of 0 and a variance of 1, then times ``weight`` [D] plus ``bias`` [D]."""

    weight: Floats
    bias: Floats
    epsilon: float = 1e-5

    def __post_init__(self) -> None:
        for name in ("weight", "bias"):
            object.__setattr__(self, name, np.array(getattr(self, name), dtype=np.float32))

    @property
    def epsilon_bits(self) -> int:
        """The bits of ``epsilon``, a double, as a whole number."""
        bits: int = struct.unpack("<q", struct.pack("<d", self.epsilon))[0]
        return bits

    def __call__(self, x: Floats) -> Floats:
        """``x`` [rows, D] in NumPy."""
        centred = x - x.mean(1, keepdims=True)
        variance = np.mean(np.square(centred), 1, keepdims=True)
        factor = (1 / np.sqrt(variance.astype(np.float64) + self.epsilon)).astype(np.float32)
        result: Floats = centred * factor * self.weight + self.bias
        return result


def quantize(weight: Floats) -> tuple[NDArray[np.int8], Floats]:
    """Weights [D', D] as whole numbers [D', D] of eight bits, and of each output the scale [D'] to be multiplied with.

    >>> quantize(np.array([[0.5, -1.0], [2.0, 2.0]], dtype=np.float32))
    (array([[  63, -126],
           [  63,   63]], dtype=int8), array([0.00793651, 0.03174603], dtype=float32))
    """
    quads = _added_in_16_bits(_padded(weight, STEP, 1))
    sums = np.maximum(np.maximum(quads, 0).sum(-1), -np.minimum(quads, 0).sum(-1)).max(-1)
    in_sums = np.float32(LARGEST_SUM - 2)  # each of four numbers may be rounded up by one half
    scales = np.maximum(sums / in_sums, np.float32(_SMALLEST))
    return np.rint(weight / scales[:, None]).astype(np.int8), scales


def _packed(weight: NDArray[Any], scales: Floats, bias: NDArray[Any]) -> tuple[NDArray[Any], ...]:
    """As ``struct layer`` wants them: weights, scales, offsets, bias, for whole panels of outputs."""
    biases = _padded(np.asarray(bias, dtype=np.float32), PANEL, 0)
    tiles = _padded(weight, PANEL, 0)
    if weight.dtype != np.int8:
        panels = tiles.reshape(-1, PANEL, tiles.shape[1]).transpose(0, 2, 1)
        return np.ascontiguousarray(panels), scales, np.zeros(0, dtype=np.int32), biases
    tiles = _padded(tiles, STEP, 1)
    quads = tiles.reshape(len(tiles) // PANEL, PANEL, -1, 4).transpose(0, 2, 1, 3)
    offsets = tiles.sum(1, dtype=np.int32) * np.int32(_ZERO)
    return np.ascontiguousarray(quads), _padded(scales, PANEL, 0), offsets, biases


def _padded(array: NDArray[Any], multiple: int, axis: int) -> NDArray[Any]:
    """A copy with zeros up to a multiple of a size."""
    widths = [(0, 0)] * array.ndim
    widths[axis] = (0, -array.shape[axis] % multiple)
    return np.pad(array, widths)


def _added_in_16_bits(weight: Floats) -> Floats:
    """Weights [D', D] by the sums in ``whole.h``, [D', D / 4, 4]: one instruction adds inputs 0 and 1, 2 and 3, the
    next 4 and 5, 6 and 7, and then their results are added.
    """
    pairs = weight.reshape(len(weight), -1, 2, STEP // 4, 2)
    return pairs.transpose(0, 1, 3, 2, 4).reshape(len(weight), -1, 4)


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
