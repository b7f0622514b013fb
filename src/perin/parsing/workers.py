"""Batches worked on at once, each on a core of its own: that wastes less than sharing every matrix.

By processes that are forked from this one where the system has that, for threads of one Python process wait for each
other between matrix products; elsewhere by threads.  Forked processes share the memory of the model.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import pickle
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from multiprocessing.connection import wait
from typing import Any, Generic, TypeVar

import torch

Batch = TypeVar("Batch")
Result = TypeVar("Result")


class Workers(Generic[Batch, Result]):
    """Do ``work`` on batches with so many cores; processes or threads are started when there are two batches.

    Until then a batch is worked on by the calling thread with all cores.  ``forked`` false: threads on any system.
    """

    def __init__(
        self, work: Callable[[Batch], Result], threads: int | None = None, *, forked: bool | None = None
    ) -> None:
        self.work = work
        self.threads = threads or torch.get_num_threads()
        self.forked = can_fork() if forked is None else forked
        self._before = self.threads
        self._pool: Executor | None = None

    def __enter__(self) -> Workers[Batch, Result]:
        self._before = torch.get_num_threads()
        torch.set_num_threads(self.threads)
        return self

    def __exit__(self, *error: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
        torch.set_num_threads(self._before)

    def map(self, batches: Sequence[Batch]) -> list[Callable[[], Result]]:
        """Begin the work on each batch; calling a result waits for it."""
        if self._pool is None:
            if len(batches) == 1 or self.threads == 1:
                return [partial(self.work, batch) for batch in batches]
            self._pool = self._started()
        with warnings.catch_warnings():
            # Newer Pythons warn of any fork beside other threads.  Those of PyTorch are idle here and of no use to the
            # children, which compute on one core.
            warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)
            return [self._begun(self._pool, batch) for batch in batches]

    def _started(self) -> Executor:
        if not self.forked:
            return ThreadPoolExecutor(self.threads, "perin", torch.set_num_threads, (1,))
        return ProcessPoolExecutor(self.threads, multiprocessing.get_context("fork"), _begin, (self.work,))

    def _begun(self, pool: Executor, batch: Batch) -> Callable[[], Result]:
        if not self.forked:
            return pool.submit(self.work, batch).result
        try:
            return partial(self._received, pool.submit(_work, batch), batch)
        except BrokenProcessPool:
            return partial(self.work, batch)

    def _received(self, future: Future[bytes], batch: Batch) -> Result:
        try:
            packed = future.result()
        except BrokenProcessPool:  # somebody ended a process, for example for want of memory
            return self.work(batch)
        collecting = gc.isenabled()
        gc.disable()  # to look for garbage again and again while many objects are made takes longer than to make them
        try:
            result: Result = pickle.loads(packed)  # from a child of this process, as multiprocessing itself does it
        finally:
            if collecting:
                gc.enable()
        return result


def can_fork() -> bool:
    """Whether this process may have forked children: on Linux, unless it is one that must have none."""
    return sys.platform == "linux" and not multiprocessing.current_process().daemon


_inherited: Callable[[Any], Any]
"""What a forked process does with a batch; it may be a closure, which could not be sent to it."""


def _begin(work: Callable[[Any], Any]) -> None:
    global _inherited
    _inherited = work
    torch.set_num_threads(1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends its children
    gc.freeze()  # what is inherited is no garbage, and memory stays shared if it is not looked at
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _work(batch: Any) -> bytes:
    return pickle.dumps(_inherited(batch), pickle.HIGHEST_PROTOCOL)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    wait([parent.sentinel])
    os._exit(1)
