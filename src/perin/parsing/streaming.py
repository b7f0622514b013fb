"""Any number of sentences through something that likes them in batches of one length: constant memory, order kept.

Sentences are read by windows; within a window they are sorted by cost and cut into batches, which several threads work
on while the next window is read.  Each thread has one core to itself: that wastes less than sharing every matrix.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeVar

import torch

from perin.parsing.batches import BUDGET, MOST, cost, cut

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


class Workers:
    """Threads with one core each; they are started when there is more than one batch to work on.

    A lone batch is worked on by the calling thread with all cores.
    """

    def __init__(self, threads: int | None = None) -> None:
        self.threads = threads or torch.get_num_threads()
        self._before = self.threads
        self._pool: ThreadPoolExecutor | None = None

    def __enter__(self) -> Workers:
        self._before = torch.get_num_threads()
        torch.set_num_threads(self.threads)
        return self

    def __exit__(self, *error: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
        torch.set_num_threads(self._before)

    def map(self, work: Callable[[Given], Result], batches: Sequence[Given]) -> list[Callable[[], Result]]:
        """Begin the work on each batch; calling a result waits for it."""
        if len(batches) == 1 or self.threads == 1:
            return [partial(work, batch) for batch in batches]
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.threads, "perin", initializer=torch.set_num_threads, initargs=(1,))
        return [self._pool.submit(work, batch).result for batch in batches]


def in_order(
    items: Iterable[Given],
    size: Callable[[Given], int],
    work: Callable[[list[Given]], Sequence[Result]],
    *,
    threads: int | None = None,
    budget: float = BUDGET,
    most: int = MOST,
) -> Iterator[Result]:
    """What ``work`` makes of each item, in the order of the items.

    ``work`` gets batches of at most ``most`` items of about the same ``size`` (in tokens) and ``budget`` cost.
    """
    with Workers(threads) as workers:
        waiting: deque[tuple[list[list[int]], list[Callable[[], Sequence[Result]]]]] = deque()
        for window in windows(items, size):
            costs = [cost(size(item)) for item in window]
            order = sorted(range(len(window)), key=costs.__getitem__, reverse=True)
            batches = cut(order, costs, budget=budget, most=most)
            waiting.append((batches, workers.map(work, [[window[index] for index in batch] for batch in batches])))
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
