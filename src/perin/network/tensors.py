"""The network's input as tensors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from perin.network.inputs import InputBatch, SubwordBatch
from perin.network.layout import Layout


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
