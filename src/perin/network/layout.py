"""Sequences of different lengths in one matrix, without padding, and the network's input in this form.

Everything that treats rows alone (linear layers, norms, dropout) works on the packed matrix, where the rows of all
sequences follow one another; only attention and pairwise products need the padded form.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from perin.lazy import cached_property
from perin.network.inputs import InputBatch, Sequences, SubwordBatch


class Layout(Sequences):
    """Where the rows of B sequences lie: packed as ``[rows, …]`` and padded as ``[B, longest, …]``.

    ``longest`` is at least 1, so that no padded tensor is empty.
    """

    def __init__(self, lengths: Sequence[int] | NDArray[np.int64], device: torch.device | str = "cpu") -> None:
        super().__init__(lengths)
        self.device = torch.device(device)
        self.longest = max(1, int(self.lengths.max(initial=0)))
        self.rectangular = bool((self.lengths == self.longest).all())

    def to(self, device: torch.device | str) -> Layout:
        """The same layout for tensors on another device."""
        return self if torch.device(device) == self.device else Layout(self.lengths, device)

    @cached_property
    def cells(self) -> NDArray[np.int64]:
        """[rows]: the place of each packed row in the padded tensor, flattened to ``[B * longest, …]``."""
        return self.sequences * self.longest + self.places

    @cached_property
    def cells_on_device(self) -> Tensor:
        """:attr:`cells` as a tensor."""
        return torch.from_numpy(self.cells).to(self.device)

    @cached_property
    def mask(self) -> Tensor:
        """[B, longest] bool: true where there is a row."""
        lengths = torch.from_numpy(self.lengths).to(self.device)
        return torch.arange(self.longest, device=self.device) < lengths[:, None]

    def repeated(self, times: int) -> Layout:
        """The layout after each row has been replaced by ``times`` rows."""
        return Layout(self.lengths * times, self.device)

    def pad(self, packed: Tensor) -> Tensor:
        """``[rows, …]`` to ``[B, longest, …]``, zero where there is no row."""
        shape = (self.batch, self.longest, *packed.shape[1:])
        if self.rectangular:
            return packed.view(shape)
        return spread(packed, self.cells_on_device, self.batch * self.longest).view(shape)

    def pack(self, padded: Tensor) -> Tensor:
        """``[B, longest, …]`` to ``[rows, …]``."""
        flat = padded.reshape(self.batch * self.longest, *padded.shape[2:])
        return flat if self.rectangular else pick(flat, self.cells_on_device)


def pick(rows: Tensor, places: Tensor) -> Tensor:
    """``rows[places]`` for places that are all different: its gradient is a copy, not a slow sum."""
    result: Tensor = _Pick.apply(rows, places)  # type: ignore[no-untyped-call]
    return result


def spread(rows: Tensor, places: Tensor, count: int) -> Tensor:
    """A tensor of ``count`` rows, zero but for ``rows`` at ``places``, which are all different."""
    result: Tensor = _Spread.apply(rows, places, count)  # type: ignore[no-untyped-call]
    return result


class _Pick(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, rows: Tensor, places: Tensor) -> Tensor:
        ctx.save_for_backward(places)
        ctx.count = len(rows)
        return rows.index_select(0, places)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        (places,) = ctx.saved_tensors
        return _placed(gradients[0], places, ctx.count), None


class _Spread(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, rows: Tensor, places: Tensor, count: int) -> Tensor:
        ctx.save_for_backward(places)
        return _placed(rows, places, count)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:
        (places,) = ctx.saved_tensors
        return gradients[0].index_select(0, places), None, None


def _placed(rows: Tensor, places: Tensor, count: int) -> Tensor:
    return rows.new_zeros(count, *rows.shape[1:]).index_copy_(0, places, rows)


@dataclass(frozen=True, eq=False)
class SubwordTensors:
    """A :class:`~perin.network.inputs.SubwordBatch` on a device."""

    ids: Tensor
    layout: Layout
    sentences: Tensor
    rows: Tensor
    tokens: Tensor


@dataclass(frozen=True, eq=False)
class InputTensors:
    """An :class:`~perin.network.inputs.InputBatch` on a device."""

    tokens: Layout
    subwords: SubwordTensors | None = None
    forms: tuple[Tensor, Tensor] | None = None
    lemmas: tuple[Tensor, Tensor] | None = None

    @classmethod
    def of(cls, batch: InputBatch, device: torch.device | str = "cpu") -> InputTensors:
        """A batch on a device."""

        def on_device(array: NDArray[np.int64]) -> Tensor:
            return torch.from_numpy(array).to(device)

        def subwords(part: SubwordBatch) -> SubwordTensors:
            layout = Layout(part.windows.lengths, device)
            return SubwordTensors(
                on_device(part.ids), layout, *map(on_device, (part.sentences, part.rows, part.tokens))
            )

        def bags(pair: tuple[NDArray[np.int64], NDArray[np.int64]]) -> tuple[Tensor, Tensor]:
            return on_device(pair[0]), on_device(pair[1])

        return cls(
            Layout(batch.tokens.lengths, device),
            None if batch.subwords is None else subwords(batch.subwords),
            None if batch.forms is None else bags(batch.forms),
            None if batch.lemmas is None else bags(batch.lemmas),
        )
