"""AdamW in two groups, its learning rates, clipping, and the moving average of the weights, on one process or several.

The paper, section "Finetuning Stabilization".
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from perin.errors import MissingDependencyError
from perin.learning import Decay, LearningSettings
from perin.network.network import Network


class Optimisation:
    """An optimizer whose learning rates follow the recipe's schedules.

    The pretrained encoder is one group, everything else another; each is split once more, because biases and norms are
    not decayed.
    """

    def __init__(self, network: Network, settings: LearningSettings, steps: int) -> None:
        body = getattr(network.encoder, "body", None)
        pretrained = list(body.parameters()) if isinstance(body, nn.Module) else []
        known = {id(weight) for weight in pretrained}
        others = [weight for weight in network.parameters() if id(weight) not in known]
        slow = fitted(steps, settings.encoder_delay, settings.warmup, settings.schedule)
        fast = fitted(steps, 0, settings.warmup, settings.schedule)
        self.clip = settings.clip
        self.schedules: list[tuple[Schedule, float]] = []
        groups = []
        for weights, schedule, rate, decay in (
            (pretrained, slow, settings.encoder_rate, settings.encoder_decay),
            (others, fast, settings.rate, settings.decay),
        ):
            trained = [weight for weight in weights if weight.requires_grad]
            for part, part_decay in (
                ([weight for weight in trained if weight.ndim > 1], decay),
                ([weight for weight in trained if weight.ndim <= 1], 0.0),
            ):
                if part:
                    groups.append({"params": part, "lr": 0.0, "weight_decay": part_decay})
                    self.schedules.append((schedule, rate))
        self.optimizer = torch.optim.AdamW(groups, betas=(0.9, settings.beta2), eps=1e-8, fused=True)

    @property
    def weights(self) -> list[nn.Parameter]:
        """All weights that are trained."""
        return [weight for group in self.optimizer.param_groups for weight in group["params"]]

    def rates(self, step: int) -> tuple[float, float]:
        """The learning rates of the pretrained encoder (0 if there is none) and of everything else."""
        rates = [rate * schedule(step) for schedule, rate in self.schedules]
        return (rates[0] if len(rates) > 2 else 0.0), rates[-1]

    def step(self, step: int) -> float:
        """Apply the gradients of optimizer step ``step`` (from 0), clipped, and forget them; returns their norm.

        Where the norm is not finite nothing is applied: one bad batch must not ruin a run.
        """
        norm = float(nn.utils.clip_grad_norm_(self.weights, self.clip or float("inf")))
        if torch.isfinite(torch.tensor(norm)):
            for group, (schedule, rate) in zip(self.optimizer.param_groups, self.schedules, strict=True):
                group["lr"] = rate * schedule(step)
            self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        return norm

    def state(self) -> dict[str, Tensor]:
        """The moments of all weights, by number."""
        tensors = {}
        for number, weight in enumerate(self.weights):
            for name, value in self.optimizer.state.get(weight, {}).items():
                tensors[f"{number}.{name}"] = value
        return tensors

    def load_state(self, tensors: dict[str, Tensor]) -> None:
        """The inverse of :meth:`state`."""
        weights = self.weights
        for key, value in tensors.items():
            number, name = key.split(".")
            weight = weights[int(number)]
            self.optimizer.state[weight][name] = value.to(weight.device if value.ndim else "cpu")


class MovingAverage:
    """An exponential moving average of the weights, with a shorter memory while there are few steps to average."""

    def __init__(self, weights: Iterable[nn.Parameter], decay: float) -> None:
        self.decay = decay
        self.weights = list(weights) if decay else []
        self.average = [weight.detach().clone() for weight in self.weights]

    @torch.no_grad()
    def update(self, step: int) -> None:
        """Take in the weights after optimizer step ``step`` (from 0)."""
        decay = min(self.decay, (1 + step) / (10 + step))
        if self.weights:
            torch._foreach_lerp_(self.average, [weight.detach() for weight in self.weights], 1 - decay)

    @contextmanager
    def applied(self) -> Iterator[None]:
        """The average in place of the weights, while the block runs."""
        self._swap()
        try:
            yield
        finally:
            self._swap()

    @torch.no_grad()
    def _swap(self) -> None:
        for weight, average in zip(self.weights, self.average, strict=True):
            held = weight.detach().clone()
            weight.copy_(average)
            average.copy_(held)

    def state(self) -> dict[str, Tensor]:
        """The averages, by number."""
        return {str(number): average for number, average in enumerate(self.average)}

    @torch.no_grad()
    def load_state(self, tensors: dict[str, Tensor]) -> None:
        """The inverse of :meth:`state`."""
        for number, average in enumerate(self.average):
            average.copy_(tensors[str(number)])


# Learning rates over the steps of a run: frozen at 0 for a delay, then rising over the warm-up, then falling.  The
# paper's 2,000 and 6,000 steps fit treebanks of tens of thousands of sentences; in a short run both shrink to a share.

DELAY_SHARE = 0.05
WARMUP_SHARE = 0.15


@dataclass(frozen=True)
class Schedule:
    """The factor by which a peak learning rate is multiplied at each optimizer step, counted from 0.

    >>> schedule = Schedule(total=100, delay=10, warmup=20)
    >>> [round(schedule(step), 2) for step in (0, 9, 10, 19, 29, 30, 89)]
    [0.0, 0.0, 0.05, 0.5, 1.0, 0.98, 0.5]
    """

    total: int
    delay: int = 0
    warmup: int = 0
    decay: Decay = "inverse-sqrt"
    floor: float = 0.0

    def __call__(self, step: int) -> float:
        """The factor at a step, between 0 and 1."""
        position = step - self.delay + 1
        if position <= 0:
            return 0.0
        if position < self.warmup:
            return position / self.warmup
        return max(self.floor, self._decayed(position))

    def _decayed(self, position: int) -> float:
        peak = max(self.warmup, 1)
        if self.decay == "constant":
            return 1.0
        if self.decay == "inverse-sqrt":
            return math.sqrt(peak / position)
        done = min(1.0, (position - peak) / max(1, self.total - self.delay - peak))
        return 1.0 - done if self.decay == "linear" else 0.5 * (1.0 + math.cos(math.pi * done))


def fitted(total: int, delay: int, warmup: int, decay: Decay, floor: float = 0.0) -> Schedule:
    """A schedule whose delay and warm-up are at most their shares of a run of ``total`` steps.

    >>> fitted(1000, 2000, 6000, "inverse-sqrt")
    Schedule(total=1000, delay=50, warmup=150, decay='inverse-sqrt', floor=0.0)
    """
    return Schedule(total, min(delay, int(total * DELAY_SHARE)), min(warmup, int(total * WARMUP_SHARE)), decay, floor)


# One process or several, on whatever devices: a thin layer over Hugging Face Accelerate.  Accelerate starts the
# processes, knows their devices and does mixed precision.  Its wrapper for distributed models is not used: heads of
# treebanks that a batch does not hold get no gradients, the balance of losses needs gradients before they are added up,
# and one sum over a single flat tensor after the backward pass does the same.


class Processes:
    """The processes of a run, as seen from one of them."""

    def __init__(self, precision: str = "no") -> None:
        try:
            from accelerate import Accelerator
        except ImportError:
            raise MissingDependencyError("accelerate", "training", "train") from None
        # Without a GPU, Accelerate takes torchrun's processes for independent ones unless it is told to use the CPU.
        # Accelerate fixes the precision for the life of the Python process, so it is not told of it.
        self.accelerator: Any = Accelerator(mixed_precision="no", cpu=not torch.cuda.is_available())
        self.rank: int = self.accelerator.process_index
        self.count: int = self.accelerator.num_processes
        self.device: torch.device = self.accelerator.device
        self.mixed = precision == "bf16"

    @property
    def first(self) -> bool:
        """Whether this is the process that writes files and talks."""
        return self.rank == 0

    def precision(self) -> AbstractContextManager[None]:
        """The context in which the network is run."""
        return torch.autocast(self.device.type, torch.bfloat16, enabled=self.mixed)

    def backward(self, loss: Tensor) -> None:
        """Differentiate."""
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
