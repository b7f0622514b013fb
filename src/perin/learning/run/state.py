"""The state of a run: all that is needed to resume it as if it had never stopped.

Random numbers need no state of their own: dropout is seeded again at each step, and batches depend on seed and epoch.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from perin.errors import ModelError, one_line
from perin.files import point, pointed, sweep, whole_folder
from perin.learning.objective.balance import Balance
from perin.learning.run.folder import writing
from perin.learning.run.optimisation import MovingAverage, Optimisation
from perin.network.network import Network

PREFIX = "state-"
POINTER = "state.json"


@dataclass
class Progress:
    """How far a run has come."""

    epoch: int = 0
    """Complete epochs."""
    updates: int = 0
    """Optimizer steps made in the epoch after these."""
    step: int = 0
    """Optimizer steps made in all."""
    sentences: int = 0
    """Sentences seen in all."""
    seconds: float = 0.0
    """Time spent in training, evaluation left out."""
    best: float = -1.0
    """The best dev score so far."""
    best_epoch: int = 0
    stale: int = 0
    """Evaluations since then."""


@dataclass
class State:
    """What changes in a run."""

    network: Network
    optimisation: Optimisation
    average: MovingAverage
    balances: Mapping[str, Balance]
    progress: Progress

    def save(self, folder: Path) -> None:
        """Write a checkpoint into a run's folder; once it is safe on disk, all but the last two are removed."""
        target = folder / f"{PREFIX}{self.progress.step:08}-{self.progress.epoch:04}"
        if target.exists():
            return
        with writing(folder), whole_folder(target) as files:
            trained = {name: weight for name, weight in self.network.named_parameters() if weight.requires_grad}
            save_file(
                {name: weight.detach().contiguous() for name, weight in trained.items()}, files / "weights.safetensors"
            )
            save_file(self.optimisation.state(), files / "optimizer.safetensors")
            save_file(self.average.state(), files / "average.safetensors")
            balances = {name: balance.rule.state_dict() for name, balance in self.balances.items()}
            data = {"progress": asdict(self.progress), "balances": balances}
            (files / "progress.json").write_text(json.dumps(data, indent=1), encoding="utf-8")
        before = pointed(folder / POINTER)
        with writing(folder):
            point(folder / POINTER, target, step=self.progress.step)
        sweep(folder, PREFIX, {target} if before is None else {target, before})

    def restore(self, folder: Path) -> bool:
        """Go back to a run's last checkpoint; False if there is none.  Nothing is removed here."""
        files = pointed(folder / POINTER)
        if files is None:
            return False
        if not files.is_dir():
            others = sorted(path.name for path in folder.glob(f"{PREFIX}*"))
            there = f"; {', '.join(others)} is there: name it in {POINTER}" if others else "; start a new run"
            raise ModelError(f"{folder / POINTER} names {files.name}, which is not there{there}")
        try:
            data: dict[str, Any] = json.loads((files / "progress.json").read_text(encoding="utf-8"))
            weights = load_file(files / "weights.safetensors")
            moments = load_file(files / "optimizer.safetensors")
            averages = load_file(files / "average.safetensors")
            self._restore(data, weights, moments, averages)
        except (OSError, ValueError, LookupError, TypeError, AttributeError, RuntimeError, SafetensorError) as error:
            raise ModelError(
                f"the checkpoint {files} can't be used ({type(error).__name__}: {one_line(str(error))[:200]}); "
                f"name an older one in {POINTER}, or start a new run"
            ) from None
        return True

    @torch.no_grad()
    def _restore(
        self, data: dict[str, Any], weights: dict[str, Tensor], moments: dict[str, Tensor], averages: dict[str, Tensor]
    ) -> None:
        progress = Progress(**data["progress"])
        for name, value in vars(progress).items():
            if type(value) is not type(getattr(self.progress, name)) or not math.isfinite(value):
                raise ValueError(f"progress.json: {name} is {value!r}")
        for name, weight in self.network.named_parameters():
            if weight.requires_grad:
                weight.copy_(weights[name])
        self.optimisation.load_state(moments)
        self.average.load_state(averages)
        for name, balance in self.balances.items():
            balance.rule.load_state_dict(data["balances"][name])
        vars(self.progress).update(vars(progress))
