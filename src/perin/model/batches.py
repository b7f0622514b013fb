"""What sentences cost, and batches of sentences of like cost.

Attention over queries and edges between nodes grow with the square of a sentence's size, the rest linearly; a batch is
full when its largest sentence's cost times its number of sentences reaches the budget.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

BUDGET = 800.0
"""Cost of a batch: many more rows than the kernels take at a time, but few enough for the processor's caches."""
MAX_BATCH_SIZE = 32
"""Sentences in a batch."""


def cost(tokens: int, nodes: int = 0) -> float:
    """Work for a sentence, in tokens of a short one."""
    return tokens * (1.0 + tokens / 60) + nodes**2 / 120


def cut(order: Iterable[int], costs: Sequence[float], *, budget: float, max_batch_size: int) -> list[list[int]]:
    """Items in a given order, cut into batches of limited size and cost, each with at least one item.

    >>> cut([0, 1, 2, 3], [1.0, 1.0, 2.0, 9.0], budget=6.0, max_batch_size=8)
    [[0, 1, 2], [3]]
    """
    batches: list[list[int]] = []
    dearest = 0.0
    for index in order:
        dearest = max(dearest, costs[index])
        if not batches or len(batches[-1]) >= max_batch_size or dearest * (len(batches[-1]) + 1) > budget:
            batches.append([])
            dearest = costs[index]
        batches[-1].append(index)
    return batches
