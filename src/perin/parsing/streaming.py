"""Any number of sentences through something that likes them in batches of one length: constant memory, order kept.

Sentences are read by windows; within a window they are sorted by cost and cut into batches, which several workers
take while the next window is read.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from perin.model.batches import BUDGET, MAX_BATCH_SIZE, cost, cut
from perin.parsing.workers import Workers

Given = TypeVar("Given")
Result = TypeVar("Result")

FIRST_WINDOW, LARGEST_WINDOW = 32, 512
"""Sentences of the first window, so that first results come soon, and of later ones."""
WINDOW_TOKENS = 40_000
"""Tokens after which a window is full, however few its sentences."""


def windows(items: Iterable[Given], size: Callable[[Given], int]) -> Iterator[list[Given]]:
    """Consecutive items, more and more at a time; ``size`` of an item in tokens.

    >>> [len(window) for window in windows(range(200), lambda item: 1)]
    [32, 64, 104]
    """
    most, window, tokens = FIRST_WINDOW, list[Given](), 0
    for item in items:
        window.append(item)
        tokens += size(item)
        if len(window) >= most or tokens >= WINDOW_TOKENS:
            yield window
            most, window, tokens = min(2 * most, LARGEST_WINDOW), [], 0
    if window:
        yield window


def in_order(
    items: Iterable[Given],
    size: Callable[[Given], int],
    work: Callable[[list[Given]], Sequence[Result]],
    *,
    threads: int | None = None,
    budget: float = BUDGET,
    max_batch_size: int = MAX_BATCH_SIZE,
) -> Iterator[Result]:
    """What ``work`` makes of each item, in the order of the items.

    ``work`` gets batches of at most ``max_batch_size`` items of about the same ``size`` in tokens and ``budget`` cost.
    """
    with Workers(work, threads) as workers:
        waiting: deque[tuple[list[list[int]], list[Callable[[], Sequence[Result]]]]] = deque()
        for window in windows(items, size):
            costs = [cost(size(item)) for item in window]
            order = sorted(range(len(window)), key=costs.__getitem__, reverse=True)
            batches = cut(order, costs, budget=budget, max_batch_size=max_batch_size)
            waiting.append((batches, workers.map([[window[index] for index in batch] for batch in batches])))
            if len(waiting) > 1:
                yield from _sorted(*waiting.popleft())
        while waiting:
            yield from _sorted(*waiting.popleft())


def _sorted(batches: list[list[int]], results: list[Callable[[], Sequence[Result]]]) -> Iterator[Result]:
    """The results of the batches of a window, by the numbers of their items."""
    by_number = {
        number: result
        for batch, found in zip(batches, results, strict=True)
        for number, result in zip(batch, found(), strict=True)
    }
    return (by_number[number] for number in sorted(by_number))
