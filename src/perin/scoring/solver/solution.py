"""What the search carries along and what it returns."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np

from perin.scoring.solver.features import Integers
from perin.scoring.solver.problem import Problem


@dataclass(frozen=True)
class Deadline:
    """The moment when the search for one pair of graphs must stop."""

    moment: float

    @classmethod
    def after(cls, seconds: float) -> Deadline:
        """So many seconds from now."""
        return cls(time.perf_counter() + seconds)

    @property
    def left(self) -> float:
        """Seconds left; zero when it is over."""
        return max(0.0, self.moment - time.perf_counter())

    @property
    def over(self) -> bool:
        """Whether the moment has passed."""
        return time.perf_counter() >= self.moment


@dataclass
class Incumbent:
    """The best map known so far: at first none at all."""

    problem: Problem
    image: Integers = field(init=False)
    value: float = 0.0

    def __post_init__(self) -> None:
        self.image = np.full(self.problem.shape[0], -1, dtype=np.int64)

    def offer(self, image: Integers, value: float) -> None:
        """Keep this map if it is better.  It must obey the problem's restrictions."""
        if value > self.value:
            self.image, self.value = image, value


@dataclass(frozen=True, slots=True)
class Solution:
    """A map as ``pairs`` of node numbers (gold, system), its value on the first level and the proven bound on that.

    ``settled``: among the maps with the best value on the first level, none is better on the levels that break ties.
    """

    pairs: tuple[tuple[int, int], ...]
    objective: int
    bound: int
    settled: bool

    @property
    def exact(self) -> bool:
        """Whether no map has a higher value on the first level."""
        return self.objective == self.bound
