"""The operations of the network, to be done in C or in NumPy.

A network says what is to be computed by calling the methods of an :class:`Arithmetic`: a
:class:`~perin.inference.tape.Tape`, which hands them to the C code all at once, or
:class:`~perin.inference.eager.Eager`, which computes each in NumPy.  What a method returns is for the methods of the
same object only, until :meth:`Arithmetic.array` makes an array of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
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

        ``latent`` [queries, C * D] of a mixture of C softmaxes weighted by ``prior`` [queries, C]; None for one.  Of
        each sequence that has queries at least the one least likely null is chosen.
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
        """Run all steps; of each sequence the probabilities [rows, right rows, outputs] of all pairs.

        The layer ``pair`` makes of each row of ``x`` [rows, D] as many vectors as ``single`` [rows, outputs] has
        columns, to be multiplied with ``right`` [right rows, inner].  ``distribution``: the outputs of a pair add up
        to 1; else each is a probability by itself.
        """


def turns(length: int, half: int) -> tuple[Floats, Floats]:
    """Cosines and sines [length, half] of the angles by which pairs of features are turned at each position."""
    speeds = np.exp(np.arange(half, dtype=np.float32) * np.float32(-np.log(10000.0) / half))
    angles = np.arange(length, dtype=np.float32)[:, None] * speeds
    return np.cos(angles), np.sin(angles)
