"""Shards on the cores of this machine: a process each, started anew (not forked), with a model of its own."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any

from perin.bulk.shards import Job, Mark
from perin.bulk.storage import Held
from perin.errors import PerinError

ATTEMPTS = 3
"""Deaths after which a shard is given up."""
_PATIENCE = 0.5
"""Seconds between reports of progress, and between looks at shards that other runs hold."""


@dataclass(frozen=True)
class Bad:
    """A shard that could not be done, and why."""

    shard: int
    reason: str


def parse_locally(
    job: Job, shards: Iterable[int], workers: int, progress: Callable[[int], None]
) -> Iterator[Mark | Bad]:
    """Do shards with so many processes; results come as they are there.

    A process that dies (out of memory, say) is replaced and its shard is begun again, at most three times.  Shards that
    another run holds are waited for.  ``progress`` is called with numbers of sentences.
    """
    crew = _Crew(job, deque(shards), progress)
    try:
        crew.hire(workers)
        while crew.workers:
            yield from crew.news()
    finally:
        crew.dismiss()


@dataclass
class _Worker:
    process: BaseProcess
    connection: Connection
    shard: int | None = None
    sentences: int = 0


class _Crew:
    """The processes, and the shards that wait for them."""

    def __init__(self, job: Job, waiting: deque[int], progress: Callable[[int], None]) -> None:
        self.job = job
        self.waiting = waiting
        self.progress = progress
        self.deaths: dict[int | None, int] = {}
        """By shard; None for processes that were loading the model."""
        self.workers: list[_Worker] = []
        self._context = multiprocessing.get_context("spawn")

    def hire(self, count: int) -> None:
        for _ in range(min(count, len(self.waiting))):
            own, other = self._context.Pipe()
            process = self._context.Process(target=work, args=(other, self.job), name="perin-shards")
            process.start()
            other.close()
            self.workers.append(_Worker(process, own))

    def dismiss(self) -> None:
        for worker in self.workers:
            worker.process.terminate()
        for worker in self.workers:
            worker.process.join(10)
            if worker.process.exitcode is None:
                worker.process.kill()
                worker.process.join()
            worker.connection.close()
        self.workers.clear()

    def news(self) -> Iterator[Mark | Bad]:
        """Wait for messages of workers and answer them."""
        ready = wait([worker.connection for worker in self.workers])
        for worker in [worker for worker in self.workers if worker.connection in ready]:
            try:
                message = worker.connection.recv()
            except (EOFError, OSError):
                yield from self._bury(worker)
                continue
            if isinstance(message, PerinError):
                raise message
            if isinstance(message, int):
                self.progress(message - worker.sentences)
                worker.sentences = message
                continue
            if isinstance(message, Held):
                assert worker.shard is not None
                self.waiting.append(worker.shard)
            elif isinstance(message, Mark):
                self.progress(message.parsed + len(message.failures) - worker.sentences)
            else:
                self.progress(-worker.sentences)
            if isinstance(message, (Mark, Bad)):
                yield message
            self._send(worker)

    def _send(self, worker: _Worker) -> None:
        """Give a worker the next shard, or let it end."""
        worker.shard = self.waiting.popleft() if self.waiting else None
        worker.sentences = 0
        with contextlib.suppress(OSError):  # if it has died, its end of the connection will say so
            worker.connection.send(worker.shard)
        if worker.shard is None:
            self._part(worker)

    def _part(self, worker: _Worker) -> None:
        worker.process.join()
        worker.connection.close()
        self.workers.remove(worker)

    def _bury(self, worker: _Worker) -> Iterator[Bad]:
        """Replace a process that has died."""
        self._part(worker)
        self.progress(-worker.sentences)
        shard, code = worker.shard, worker.process.exitcode or 0
        self.deaths[shard] = self.deaths.get(shard, 0) + 1
        cause = f"was ended by signal {-code} (out of memory?)" if code < 0 else f"ended with exit code {code}"
        if self.deaths[shard] == ATTEMPTS:
            if shard is None:
                raise WorkerError(f"the process that is to load the model {cause}, {ATTEMPTS} times")
            yield Bad(shard, f"the process that parsed it {cause}, {ATTEMPTS} times")
        elif shard is not None:
            self.waiting.appendleft(shard)
        self.hire(1)


class WorkerError(PerinError):
    """A process that can't do its work."""


def work(connection: Connection, job: Job) -> None:
    """Run a worker process: load the model, then do shard after shard."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends its children
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # such that temporary files are removed
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with contextlib.suppress(BrokenPipeError, ConnectionResetError, EOFError):  # the parent is gone
        _serve(connection, job)


def _serve(connection: Connection, job: Job) -> None:
    try:
        parser = job.start()
    except PerinError as error:
        connection.send(error)
        return
    message: Any = None
    while True:
        connection.send(message)
        shard = connection.recv()
        if shard is None:
            return
        try:
            message = parser.parse(shard, _Reports(connection))
        except Held as held:
            time.sleep(_PATIENCE)
            message = held
        except (PerinError, OSError) as error:
            message = Bad(shard, str(error))


class _Reports:
    """Reports to the parent, at intervals, how many sentences of a shard are parsed."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.next = time.monotonic() + _PATIENCE

    def __call__(self, sentences: int) -> None:
        if time.monotonic() >= self.next:
            self.connection.send(sentences)
            self.next = time.monotonic() + _PATIENCE


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    wait([parent.sentinel])
    os._exit(1)
