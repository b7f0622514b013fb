"""The batches of an epoch: sentences of one treebank and of like cost, so that little is padded and none is dear."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import groupby

from perin.parsing.batches import cut


def epoch_batches(
    costs: Sequence[float],
    treebanks: Sequence[str],
    *,
    budget: float,
    most: int,
    seed: int,
    epoch: int,
    noise: float = 0.1,
) -> list[list[int]]:
    """The batches of one epoch as lists of sentence numbers: each sentence once, batches in random order.

    A batch is of one treebank: heads then work on many sentences at once.  Sentences are sorted by cost times a random
    factor within ``1 ± noise``, so that batches differ between epochs, and cut where a batch would hold more than
    ``most`` sentences or cost more than ``budget``.  The result depends on nothing but the arguments.
    """
    generator = random.Random(f"{seed} {epoch}")
    keys = [(name, cost * generator.uniform(1 - noise, 1 + noise)) for name, cost in zip(treebanks, costs, strict=True)]
    order = sorted(range(len(costs)), key=keys.__getitem__)
    batches = [
        batch
        for _, numbers in groupby(order, treebanks.__getitem__)
        for batch in cut(numbers, costs, budget=budget, most=most)
    ]
    generator.shuffle(batches)
    return batches


def share(batch: Sequence[int], costs: Sequence[float], rank: int, processes: int) -> list[int]:
    """The part of a batch that one of several processes works on: all parts together are the batch, of like cost.

    >>> [share([0, 1, 2], [9.0, 3.0, 3.0], rank, 2) for rank in (0, 1)]
    [[0], [1, 2]]
    """
    parts: list[list[int]] = [[] for _ in range(processes)]
    loads = [0.0] * processes
    for index in sorted(batch, key=lambda index: (-costs[index], index)):
        part = min(range(processes), key=lambda number: (loads[number], number))
        parts[part].append(index)
        loads[part] += costs[index]
    return parts[rank]
