"""Batches by cost: sentences of like size together, so that little is padded and no batch is much dearer than another.

Attention over queries and edges between nodes grow with the square of a sentence's size, the rest linearly; a batch is
full when its largest sentence's cost times its number of sentences reaches the budget.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Size:
    """What a sentence costs: its tokens and nodes."""

    tokens: int
    nodes: int

    @property
    def cost(self) -> float:
        """Work for this sentence, in tokens of a short sentence."""
        return self.tokens * (1.0 + self.tokens / 60) + self.nodes**2 / 120


def epoch_batches(
    sizes: Sequence[Size], *, budget: float, most: int, seed: int, epoch: int, noise: float = 0.1
) -> list[list[int]]:
    """The batches of one epoch as lists of sentence numbers: each sentence once, batches in random order.

    Sentences are sorted by cost times a random factor within ``1 ± noise``, so that batches differ between epochs, and
    cut where a batch would hold more than ``most`` sentences or cost more than ``budget``.  The result depends on
    nothing but the arguments.
    """
    generator = random.Random(f"{seed} {epoch}")
    keys = [size.cost * generator.uniform(1 - noise, 1 + noise) for size in sizes]
    batches: list[list[int]] = []
    dearest = 0.0
    for index in sorted(range(len(sizes)), key=keys.__getitem__):
        dearest = max(dearest, sizes[index].cost)
        if not batches or len(batches[-1]) >= most or dearest * (len(batches[-1]) + 1) > budget:
            batches.append([])
            dearest = sizes[index].cost
        batches[-1].append(index)
    generator.shuffle(batches)
    return batches


def share(batch: Sequence[int], sizes: Sequence[Size], rank: int, processes: int) -> list[int]:
    """The part of a batch that one of several processes works on: all parts together are the batch, of like cost.

    >>> [share([0, 1, 2], [Size(9, 9), Size(3, 3), Size(3, 3)], rank, 2) for rank in (0, 1)]
    [[0], [1, 2]]
    """
    parts: list[list[int]] = [[] for _ in range(processes)]
    loads = [0.0] * processes
    for index in sorted(batch, key=lambda index: (-sizes[index].cost, index)):
        part = min(range(processes), key=lambda number: (loads[number], number))
        parts[part].append(index)
        loads[part] += sizes[index].cost
    return parts[rank]
