"""The operations of the network, to be done in C or in NumPy.

A network says what is to be computed by calling the methods of an :class:`Arithmetic`: a
:class:`~perin.inference.tape.Tape`, which hands them to the C code all at once, or :class:`Eager`, which computes each
in NumPy where nothing was compiled.  What a method returns is for the methods of the same object only, until
:meth:`Arithmetic.array` makes an array of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from perin.inference.layers import Floats, Linear, Norm

Ints: TypeAlias = NDArray[np.int64]
Value: TypeAlias = Any
"""A matrix [rows, width] of 32-bit floats, computed already or not."""

ACTIVATIONS = ("none", "relu", "gelu", "gelu_new", "tanh", "elu", "sigmoid")
"""As ``kernels.h`` numbers them."""


class Accepted(NamedTuple):
    """The queries that become nodes."""

    rows: Ints
    """[nodes], ascending."""
    distributions: Floats
    """[nodes, R + 1]: over null and the rules."""


class Arithmetic(Protocol):
    """What a network is computed with."""

    def given(self, array: Floats) -> Value:
        """A matrix [rows, width] that is there already."""

    def array(self, value: Value) -> Floats:
        """What was computed, as an array of its own; all steps must have been run."""

    def new(self, rows: int, width: int) -> Value:
        """Room for a result that outlives :meth:`scratch`, to be given as ``out``."""

    def scratch(self) -> AbstractContextManager[None]:
        """Results of steps inside, but for those in ``out``, are of no use after it."""

    def linear(
        self,
        layer: Linear,
        x: Value,
        activation: str = "none",
        added: Value | None = None,
        out: Value | None = None,
    ) -> Value:
        """``x`` [rows, D] through a layer and an activation, plus ``added`` [rows, D']."""

    def feedforward(
        self,
        first: Linear,
        second: Linear,
        activation: str,
        x: Value,
        added: Value | None = None,
        out: Value | None = None,
    ) -> Value:
        """``x`` [rows, D] through two layers with an activation between them, plus ``added`` [rows, D']."""

    def attention(self, queries: Value, memories: Value, lengths: Ints, memory_lengths: Ints, heads: int) -> Value:
        """``queries`` [rows, D] to ``memories`` [memory rows, 2 D], keys before values, within each sequence."""

    def norm(self, norm: Norm, x: Value, out: Value | None = None) -> Value:
        """``x`` [rows, D] normalised."""

    def mix(self, states: Sequence[Value], weights: Floats, last: Floats, out: Value | None = None) -> Value:
        """The weighted sum of ``states`` [rows, D], with the row ``last`` after the last."""

    def pool(self, x: Value, sources: Ints, targets: Ints, rows: int) -> Value:
        """[rows, D]: the sums of the rows ``sources`` of ``x`` that go to the rows ``targets``."""

    def bag(self, table: Floats, members: Ints, starts: Ints) -> Value:
        """[bags, D]: the means of the rows ``members`` of ``table`` from each start to the next."""

    def rotate(self, x: Value, lengths: Ints, heads: int, width: int) -> None:
        """Turn the first ``width`` features of ``x`` [rows, …], pair by pair, by angles that grow with the position."""

    def add(self, x: Value, y: Value) -> Value:
        """``x + y``."""

    def reshape(self, x: Value, width: int) -> Value:
        """The same numbers in rows of another width."""

    def labels(self, output: Linear, prior: Value | None, latent: Value, lengths: Ints, threshold: float) -> Accepted:
        """Run all steps and choose the queries whose probability of null is below ``threshold``.

        ``latent`` [queries, C * D] of a mixture of C softmaxes weighted by ``prior`` [queries, C]; None for one.  In
        each sequence that has queries, at least the one that is least likely null is chosen.
        """

    def pairs(
        self,
        pair: Linear,
        x: Value,
        single: Value,
        right: Value,
        lengths: Ints,
        right_lengths: Ints,
        *,
        distribution: bool,
    ) -> list[Floats]:
        """Run all steps; the probabilities [rows, right rows, outputs] of all pairs of each sequence.

        The layer ``pair`` makes of each row of ``x`` [rows, D] as many vectors as ``single`` [rows, outputs] has
        columns, to be multiplied with ``right`` [right rows, inner].  ``distribution``: the outputs of a pair add up
        to 1; else each is a probability by itself.
        """


def turns(length: int, half: int) -> tuple[Floats, Floats]:
    """Cosines and sines [length, half] of the angles by which pairs of features are turned at each position."""
    speeds = np.exp(np.arange(half, dtype=np.float32) * np.float32(-np.log(10000.0) / half))
    angles = np.arange(length, dtype=np.float32)[:, None] * speeds
    return np.cos(angles), np.sin(angles)


class Eager:
    """Computes each step right away."""

    def given(self, array: Floats) -> Floats:
        """See :class:`Arithmetic`, also for the other methods."""
        return array

    def array(self, value: Floats) -> Floats:  # noqa: D102
        return value

    def new(self, rows: int, width: int) -> None:  # noqa: D102
        return None

    def scratch(self) -> AbstractContextManager[None]:  # noqa: D102
        return nullcontext()

    def linear(  # noqa: D102
        self,
        layer: Linear,
        x: Floats,
        activation: str = "none",
        added: Floats | None = None,
        out: Value | None = None,
    ) -> Floats:
        result = activated(layer(x), activation)
        return result if added is None else result + added

    def feedforward(  # noqa: D102
        self,
        first: Linear,
        second: Linear,
        activation: str,
        x: Floats,
        added: Floats | None = None,
        out: Value | None = None,
    ) -> Floats:
        result = second(activated(first(x), activation))
        return result if added is None else result + added

    def attention(  # noqa: D102
        self, queries: Floats, memories: Floats, lengths: Ints, memory_lengths: Ints, heads: int
    ) -> Floats:
        result = np.zeros_like(queries)
        size = queries.shape[1] // heads
        scale = np.float32(size**-0.5)
        for own, others in zip(_slices(lengths), _slices(memory_lengths), strict=True):
            if own.stop == own.start or others.stop == others.start:
                continue
            query = queries[own].reshape(-1, heads, size).transpose(1, 0, 2)
            key, value = memories[others].reshape(-1, 2, heads, size).transpose(1, 2, 0, 3)
            mixed = softmax(query @ (key * scale).transpose(0, 2, 1)) @ value
            result[own] = mixed.transpose(1, 0, 2).reshape(-1, heads * size)
        return result

    def norm(self, norm: Norm, x: Floats, out: Value | None = None) -> Floats:  # noqa: D102
        return norm(x)

    def mix(  # noqa: D102
        self, states: Sequence[Floats], weights: Floats, last: Floats, out: Value | None = None
    ) -> Floats:
        mixed = states[0] * weights[0]
        for state, weight in zip(states[1:], weights[1:], strict=True):
            mixed += state * weight
        return np.concatenate((mixed, last[None]))

    def pool(self, x: Floats, sources: Ints, targets: Ints, rows: int) -> Floats:  # noqa: D102
        pooled = np.zeros((rows, x.shape[1]), dtype=np.float32)
        np.add.at(pooled, targets, x[sources])
        return pooled

    def bag(self, table: Floats, members: Ints, starts: Ints) -> Floats:  # noqa: D102
        counts = np.diff(starts, append=len(members))
        owners = np.repeat(np.arange(len(starts)), counts)
        sums = self.pool(table, members, owners, len(starts))
        means: Floats = sums / np.maximum(counts, 1).astype(np.float32)[:, None]
        return means

    def rotate(self, x: Floats, lengths: Ints, heads: int, width: int) -> None:  # noqa: D102
        half = width // heads // 2
        places = np.concatenate([np.arange(length) for length in lengths.tolist()] or [np.zeros(0, np.int64)])
        tables = turns(int(lengths.max(initial=0)), half)
        cos, sin = (table[places][:, None] for table in tables)
        parts = x[:, :width].reshape(len(x), heads, 2, half)
        first, second = parts[:, :, 0].copy(), parts[:, :, 1].copy()
        turned = np.stack((first * cos - second * sin, first * sin + second * cos), axis=2)
        x[:, :width] = turned.reshape(len(x), width)

    def add(self, x: Floats, y: Floats) -> Floats:  # noqa: D102
        return x + y

    def reshape(self, x: Floats, width: int) -> Floats:  # noqa: D102
        return x.reshape(-1, width)

    def labels(  # noqa: D102
        self, output: Linear, prior: Floats | None, latent: Floats, lengths: Ints, threshold: float
    ) -> Accepted:
        parts = 1 if prior is None else prior.shape[1]
        latents = latent.reshape(len(latent), parts, output.inputs)
        mixed = np.zeros((len(latent), output.outputs), dtype=np.float32)
        for part in range(parts):
            own = softmax(output(np.ascontiguousarray(latents[:, part])))
            mixed += own if prior is None else own * prior[:, part : part + 1]
        accepted = mixed[:, 0] < np.float32(threshold)
        for sequence in _slices(lengths):
            if sequence.stop > sequence.start and not accepted[sequence].any():
                accepted[sequence.start + int(mixed[sequence, 0].argmin())] = True
        rows = np.flatnonzero(accepted)
        return Accepted(rows, mixed[rows])

    def pairs(  # noqa: D102
        self,
        pair: Linear,
        x: Floats,
        single: Floats,
        right: Floats,
        lengths: Ints,
        right_lengths: Ints,
        *,
        distribution: bool,
    ) -> list[Floats]:
        left, outputs, inner = pair(x), single.shape[1], right.shape[1]
        results = []
        for own, others in zip(_slices(lengths), _slices(right_lengths), strict=True):
            rows = own.stop - own.start
            scores = left[own].reshape(rows * outputs, inner) @ right[others].T
            scores = scores.reshape(rows, outputs, others.stop - others.start) + single[own][:, :, None]
            probable = softmax(scores, 1) if distribution else activated(scores, "sigmoid")
            results.append(probable.transpose(0, 2, 1))
        return results


def activated(x: Floats, activation: str) -> Floats:
    """One of :data:`ACTIVATIONS` in NumPy."""
    result: Floats = x
    if activation == "relu":
        result = np.maximum(x, np.float32(0))
    elif activation == "gelu":
        result = x * np.float32(0.5) * (1 + _error_function(x * np.float32(0.5**0.5)))
    elif activation == "gelu_new":
        inner = np.float32((2 / np.pi) ** 0.5) * (x + np.float32(0.044715) * x * x * x)
        result = np.float32(0.5) * x * (1 + np.tanh(inner))
    elif activation == "tanh":
        result = np.tanh(x)
    elif activation == "elu":
        result = np.where(x > 0, x, np.expm1(np.minimum(x, 0)))
    elif activation == "sigmoid":
        small = np.exp(-np.abs(x))
        result = np.where(x < 0, small, np.float32(1)) / (1 + small)
    return result


def softmax(x: Floats, axis: int = -1) -> Floats:
    """Scores to distributions over an axis."""
    weights = np.exp(x - x.max(axis, keepdims=True, initial=-np.inf))
    result: Floats = weights / weights.sum(axis, keepdims=True)
    return result


def _error_function(x: Floats) -> Floats:
    """Abramowitz and Stegun, 7.1.26, to 1.5e-7."""
    z = np.abs(x)
    t = 1 / (1 + np.float32(0.3275911) * z)
    tail: Floats = np.full_like(x, 1.061405429)
    for factor in (-1.453152027, 1.421413741, -0.284496736, 0.254829592):
        tail = np.asarray(tail * t + np.float32(factor), dtype=np.float32)
    result: Floats = np.copysign(1 - tail * t * np.exp(-z * z), x)
    return result


def _slices(lengths: Ints) -> list[slice]:
    ends = np.cumsum(lengths).tolist()
    return [slice(end - length, end) for end, length in zip(ends, lengths.tolist(), strict=True)]
