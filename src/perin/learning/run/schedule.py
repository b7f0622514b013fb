"""Learning rates over the steps of a run (paper, section "Finetuning Stabilization").

A rate is frozen at 0 for a delay, rises linearly over the warm-up, and then falls.  The paper's 2,000 and 6,000 steps
fit treebanks of tens of thousands of sentences; on a shorter run both shrink to their share of it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

Decay: TypeAlias = Literal["inverse-sqrt", "linear", "cosine", "constant"]

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
