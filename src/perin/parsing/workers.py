"""Batches worked on at once, each by a thread on a core of its own.

The C code lets other threads of Python go on while it computes, and it is most of the work.  Threads need no copies of
the model, nothing is sent between processes, and nothing can hang after a fork, of which only one thread comes out.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Generic, TypeVar

Batch = TypeVar("Batch")
Result = TypeVar("Result")


class Workers(Generic[Batch, Result]):
    """Do ``work`` on batches with so many threads, which are started when there are two batches.

    Until then, and with one thread, the calling thread works on a batch when its result is asked for.
    """

    def __init__(self, work: Callable[[Batch], Result], threads: int | None = None) -> None:
        self.work = work
        self.threads = threads or cores()
        self._pool: ThreadPoolExecutor | None = None

    def __enter__(self) -> Workers[Batch, Result]:
        return self

    def __exit__(self, *error: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def map(self, batches: Sequence[Batch]) -> list[Callable[[], Result]]:
        """Begin the work on each batch; calling a result waits for it."""
        if self._pool is None:
            if len(batches) == 1 or self.threads == 1:
                return [partial(self.work, batch) for batch in batches]
            self._pool = ThreadPoolExecutor(self.threads, "perin")
        return [self._pool.submit(self.work, batch).result for batch in batches]


def cores() -> int:
    """How many cores this process may use; ``OMP_NUM_THREADS`` can say that it is fewer."""
    wanted = os.environ.get("OMP_NUM_THREADS", "")
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(int(wanted), available) if wanted.isdigit() and int(wanted) > 0 else available
