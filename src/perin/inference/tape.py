"""The operations of the network in C.

:class:`Tape` writes steps down and hands them to the C code all at once (:meth:`Tape.run`): Python's part is small, and
other threads of Python go on meanwhile.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from perin.inference.arithmetic import ACTIVATIONS, Accepted, Arithmetic, Eager, Ints, turns
from perin.inference.layers import PANEL, Floats, Linear, Norm
from perin.native import level, library

_STEPS = ("linear", "feedforward", "attention", "norm", "mix", "pool", "bag", "rotate", "add", "labels", "pairs")
"""As ``run.c`` numbers them."""
_NUMBER = {name: number for number, name in enumerate(_STEPS)}
_WIDTH = 12


def choose_arithmetic() -> Arithmetic:
    """The C code if there is any, else NumPy."""
    return Eager() if library() is None else Tape()


class Matrix(NamedTuple):
    """Where a matrix of 32-bit floats begins, and its size."""

    address: int
    rows: int
    width: int


class _LabelsStructure(ctypes.Structure):
    """``struct labels`` of ``kernels.h``."""

    _fields_ = [
        ("output", ctypes.c_void_p),
        ("components", ctypes.c_int64),
        ("prior", ctypes.c_void_p),
        ("latent", ctypes.c_void_p),
        ("lengths", ctypes.c_void_p),
        ("sequences", ctypes.c_int64),
        ("limit", ctypes.c_double),
        ("distributions", ctypes.c_void_p),
        ("accepted", ctypes.c_void_p),
    ]


class _Arena(threading.local):
    """Memory of a thread for the results of steps, kept from one batch to the next."""

    FIRST, LARGEST = 1 << 20, 1 << 24
    """Floats to begin with, and floats above which nothing is kept."""

    def __init__(self) -> None:
        self.blocks: list[Floats] = []
        self.block = self.used = self.taken = self.most = 0

    def start(self) -> None:
        """Forget everything; what did not fit one block will do so from now on."""
        if len(self.blocks) > 1:
            self.blocks = []
            self.blocks = [np.empty(min(self.most, self.LARGEST), dtype=np.float32)]
        self.block = self.used = self.taken = 0

    def take(self, count: int) -> int:
        """The address of some floats."""
        count = -(-count // PANEL) * PANEL
        while self.block < len(self.blocks) and self.used + count > len(self.blocks[self.block]):
            self.block, self.used = self.block + 1, 0
        if self.block == len(self.blocks):
            self.blocks.append(np.empty(max(count, self.FIRST), dtype=np.float32))
        address = self.blocks[self.block].ctypes.data + 4 * self.used
        self.used += count
        self.taken += count
        self.most = max(self.most, self.taken)
        return address

    @contextmanager
    def scratch(self) -> Iterator[None]:
        """Forget at the end what is taken inside."""
        before = self.block, self.used, self.taken
        yield
        self.block, self.used, self.taken = before


_arena = _Arena()


class Tape:
    """Steps for the C code.

    A thread has one tape at a time: a new one takes over the memory of the last.
    """

    def __init__(self, chosen: int | None = None) -> None:
        found = library()
        assert found is not None
        self._library = found
        self._level = level() if chosen is None else chosen
        self._steps: list[tuple[int, ...]] = []
        self._kept: list[object] = []
        _arena.start()

    def _step(self, name: str, *numbers: int) -> None:
        self._steps.append((_NUMBER[name], *numbers, *(0,) * (_WIDTH - 1 - len(numbers))))

    def _address(self, array: NDArray[Any], kind: type[np.generic]) -> int:
        """Of an array that stays where it is as long as the tape."""
        if array.dtype != kind or not array.flags.c_contiguous:
            raise TypeError(f"the C code needs a contiguous array of {kind.__name__}, not of {array.dtype}")
        self._kept.append(array)
        return array.ctypes.data

    def run(self) -> None:
        """Compute what is on the tape."""
        if not self._steps:
            return
        steps = np.array(self._steps, dtype=np.int64)
        failed = self._library.run(self._level, steps.ctypes.data, len(steps))
        self._steps = []
        if failed:
            raise MemoryError("no memory for the network's results")

    def given(self, array: Floats) -> Matrix:
        """See :class:`Arithmetic`, also for the other methods."""
        rows, width = array.shape
        return Matrix(self._address(array, np.float32), rows, width)

    def array(self, value: Matrix) -> Floats:  # noqa: D102
        self.run()
        result = np.empty((value.rows, value.width), dtype=np.float32)
        ctypes.memmove(result.ctypes.data, value.address, result.nbytes)
        return result

    def new(self, rows: int, width: int) -> Matrix:  # noqa: D102
        return Matrix(_arena.take(rows * width), rows, width)

    def scratch(self) -> AbstractContextManager[None]:  # noqa: D102
        return _arena.scratch()

    def linear(  # noqa: D102
        self,
        layer: Linear,
        x: Matrix,
        activation: str = "none",
        added: Matrix | None = None,
        out: Matrix | None = None,
    ) -> Matrix:
        _check(x.width, layer.inputs)
        out = self._room(x.rows, layer.outputs, out)
        more = self._like(added, out)
        self._step("linear", layer.address, x.address, x.rows, ACTIVATIONS.index(activation), more, out.address)
        self._kept.append(layer)
        return out

    def feedforward(  # noqa: D102
        self,
        first: Linear,
        second: Linear,
        activation: str,
        x: Matrix,
        added: Matrix | None = None,
        out: Matrix | None = None,
    ) -> Matrix:
        _check((x.width, first.outputs), (first.inputs, second.inputs))
        out = self._room(x.rows, second.outputs, out)
        more = self._like(added, out)
        kind = ACTIVATIONS.index(activation)
        self._step("feedforward", first.address, second.address, kind, x.address, x.rows, more, out.address)
        self._kept += (first, second)
        return out

    def attention(  # noqa: D102
        self, queries: Matrix, memories: Matrix, lengths: Ints, memory_lengths: Ints, heads: int
    ) -> Matrix:
        _check((memories.width, queries.width % heads), (2 * queries.width, 0))
        _check((int(lengths.sum()), int(memory_lengths.sum())), (queries.rows, memories.rows))
        _check(len(lengths), len(memory_lengths))
        out = self._room(queries.rows, queries.width)
        places = (self._address(lengths, np.int64), self._address(memory_lengths, np.int64))
        sizes = (len(lengths), heads, queries.width // heads)
        self._step("attention", queries.address, memories.address, *places, *sizes, out.address)
        return out

    def norm(self, norm: Norm, x: Matrix, out: Matrix | None = None) -> Matrix:  # noqa: D102
        _check(x.width, len(norm.weight))
        out = self._room(x.rows, x.width, out)
        weights = (self._address(norm.weight, np.float32), self._address(norm.bias, np.float32))
        self._step("norm", x.address, x.rows, x.width, *weights, norm.epsilon_bits, out.address)
        return out

    def mix(  # noqa: D102
        self, states: Sequence[Matrix], weights: Floats, last: Floats, out: Matrix | None = None
    ) -> Matrix:
        rows, width = states[0].rows, states[0].width
        _check([(state.rows, state.width) for state in states], [(rows, width)] * len(weights))
        _check(last.shape, (width,))
        out = self._room(rows + 1, width, out)
        self._weighted([state.address for state in states], weights, rows * width, out.address)
        one = np.ones(1, dtype=np.float32)
        self._weighted([self._address(last, np.float32)], one, width, out.address + 4 * rows * width)
        return out

    def _weighted(self, addresses: list[int], weights: Floats, count: int, out: int) -> None:
        states = np.array(addresses, dtype=np.int64)
        weights_at = self._address(weights, np.float32)
        self._step("mix", self._address(states, np.int64), weights_at, len(states), count, out)

    def pool(self, x: Matrix, sources: Ints, targets: Ints, rows: int) -> Matrix:  # noqa: D102
        _check(len(sources), len(targets))
        _check_range(sources, x.rows)
        _check_range(targets, rows)
        out = self._room(rows, x.width)
        places = (self._address(sources, np.int64), self._address(targets, np.int64))
        self._step("pool", x.address, x.width, *places, len(sources), rows, out.address)
        return out

    def bag(self, table: Floats, members: Ints, starts: Ints) -> Matrix:  # noqa: D102
        _check_range(members, len(table))
        _check_range(starts, len(members) + 1)
        out = self._room(len(starts), table.shape[1])
        places = (self._address(members, np.int64), self._address(starts, np.int64))
        table_at = self._address(table, np.float32)
        self._step("bag", table_at, table.shape[1], *places, len(members), len(starts), out.address)
        return out

    def rotate(self, x: Matrix, lengths: Ints, heads: int, width: int) -> None:  # noqa: D102
        _check((int(lengths.sum()), width % (2 * heads)), (x.rows, 0))
        size = width // heads
        cos, sin = turns(int(lengths.max(initial=0)), size // 2)
        tables = (self._address(cos, np.float32), self._address(sin, np.float32))
        self._step("rotate", x.address, self._address(lengths, np.int64), len(lengths), heads, size, x.width, *tables)

    def add(self, x: Matrix, y: Matrix) -> Matrix:  # noqa: D102
        _check(x[1:], y[1:])
        out = self._room(x.rows, x.width)
        self._step("add", x.address, y.address, x.rows * x.width, out.address)
        return out

    def reshape(self, x: Matrix, width: int) -> Matrix:  # noqa: D102
        _check(x.width % width, 0)
        return Matrix(x.address, x.rows * (x.width // width), width)

    def labels(  # noqa: D102
        self, output: Linear, prior: Matrix | None, latent: Matrix, lengths: Ints, threshold: float
    ) -> Accepted:
        components = 1 if prior is None else prior.width
        _check((latent.rows, latent.width), (int(lengths.sum()), components * output.inputs))
        # Only what is written takes memory, and at most this many rows are.
        distributions = np.empty((latent.rows, output.outputs), dtype=np.float32)
        accepted = np.zeros(latent.rows + 1, dtype=np.int64)
        task = _LabelsStructure(
            output.address,
            components,
            0 if prior is None else prior.address,
            latent.address,
            self._address(lengths, np.int64),
            len(lengths),
            threshold,
            distributions.ctypes.data,
            accepted.ctypes.data,
        )
        self._kept += (task, output)
        self._step("labels", ctypes.addressof(task))
        self.run()
        count = int(accepted[0])
        return Accepted(accepted[1 : 1 + count], distributions[:count].copy())

    def pairs(  # noqa: D102
        self,
        pair: Linear,
        x: Matrix,
        single: Matrix,
        right: Matrix,
        lengths: Ints,
        right_lengths: Ints,
        *,
        distribution: bool,
    ) -> list[Floats]:
        outputs, inner = single.width, right.width
        _check((x.rows, x.width, single.rows), (int(lengths.sum()), pair.inputs, x.rows))
        _check(
            (right.rows, len(lengths), pair.outputs), (int(right_lengths.sum()), len(right_lengths), outputs * inner)
        )
        padded = -(-right_lengths // PANEL) * PANEL
        sizes = lengths * padded * outputs
        result = np.empty(int(sizes.sum()), dtype=np.float32)
        places = (self._address(lengths, np.int64), self._address(right_lengths, np.int64))
        matrices = (pair.address, x.address, single.address, right.address)
        self._step("pairs", *matrices, *places, len(lengths), outputs, inner, int(distribution), result.ctypes.data)
        self._kept.append(pair)
        self.run()
        ends = np.cumsum(sizes).tolist()
        shapes = zip(lengths.tolist(), padded.tolist(), right_lengths.tolist(), strict=True)
        return [
            result[end - size : end].reshape(rows, outputs, wide)[:, :, :real].transpose(0, 2, 1)
            for end, size, (rows, wide, real) in zip(ends, sizes.tolist(), shapes, strict=True)
        ]

    def _room(self, rows: int, width: int, out: Matrix | None = None) -> Matrix:
        if out is None:
            return self.new(rows, width)
        _check(out[1:], (rows, width))
        return out

    @staticmethod
    def _like(added: Matrix | None, out: Matrix) -> int:
        if added is None:
            return 0
        _check(added[1:], out[1:])
        return added.address


def _check(found: object, wanted: object) -> None:
    """Sizes that do not fit would make the C code read beyond its arrays."""
    if found != wanted:
        raise ValueError(f"sizes do not fit: {found} and {wanted}")


def _check_range(numbers: Ints, count: int) -> None:
    if len(numbers) and not (int(numbers.min()) >= 0 and int(numbers.max()) < count):
        raise IndexError(f"rows from {numbers.min()} to {numbers.max()} of {count}")
