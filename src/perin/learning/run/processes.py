"""One process or several, on whatever devices: a thin layer over Hugging Face Accelerate.

Accelerate starts the processes, knows their devices and does mixed precision.  Its wrapper for distributed models is
not used: heads of treebanks that a batch does not hold get no gradients, the balance of losses needs gradients before
they are added up, and one sum over a single flat tensor after the backward pass does the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from perin.errors import MissingDependencyError


class Processes:
    """The processes of a run, as seen from one of them."""

    def __init__(self, precision: str = "no") -> None:
        try:
            from accelerate import Accelerator
        except ImportError:
            raise MissingDependencyError("accelerate", "training", "train") from None
        # Without a GPU, Accelerate takes torchrun's processes for independent ones unless it is told to use the CPU.
        self.accelerator: Any = Accelerator(mixed_precision=precision, cpu=not torch.cuda.is_available())
        self.rank: int = self.accelerator.process_index
        self.count: int = self.accelerator.num_processes
        self.device: torch.device = self.accelerator.device

    @property
    def first(self) -> bool:
        """Whether this is the process that writes files and talks."""
        return self.rank == 0

    def precision(self) -> AbstractContextManager[None]:
        """The context in which the network is run."""
        context: AbstractContextManager[None] = self.accelerator.autocast()
        return context

    def backward(self, loss: Tensor) -> None:
        """Differentiate, with the loss scaled if the precision asks for it."""
        self.accelerator.backward(loss)

    def common(self, array: NDArray[np.float64]) -> NDArray[np.float64]:
        """The sum of an array over all processes."""
        if self.count == 1:
            return array
        tensor = torch.from_numpy(array).to(self.device, torch.float64)
        total: NDArray[np.float64] = self.accelerator.reduce(tensor, "sum").cpu().numpy()
        return total

    @torch.no_grad()
    def sum_gradients(self, weights: Iterable[nn.Parameter]) -> None:
        """Replace gradients by their sums over all processes; a weight without one counts as having 0."""
        if self.count == 1:
            return
        listed = list(weights)
        parts = [torch.zeros_like(weight) if weight.grad is None else weight.grad for weight in listed]
        flat = self.accelerator.reduce(torch.cat([part.reshape(-1) for part in parts]), "sum")
        for weight, part in zip(listed, flat.split([weight.numel() for weight in listed]), strict=True):
            weight.grad = part.view_as(weight).clone()

    def wait(self) -> None:
        """Until all processes have come here."""
        self.accelerator.wait_for_everyone()

    def close(self) -> None:
        """Wait for all processes and end their connection; a process that exits with it open may be aborted."""
        self.wait()
        if self.count > 1:
            torch.distributed.destroy_process_group()

    def agreed(self, number: float) -> float:
        """What the first process says."""
        array = np.array([number if self.first else 0.0])
        return float(self.common(array)[0])
