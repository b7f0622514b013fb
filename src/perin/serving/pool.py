"""Worker processes and the queue before them.

Each process has a thread in the web process.  It takes jobs from the queue, several of one group at once, sends them
down a pipe and waits for the answers or for the death of the process.  A process that dies, or takes too long and is
killed, is replaced.  Its jobs are tried once more, each alone, so that one that kills can't take others with it twice.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import multiprocessing
import threading
import time
from collections import deque
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any

log = logging.getLogger("perin.serving")

START_SECONDS = 300.0
"""A process that has not loaded its models by then is taken for stuck."""
_LOOK = 0.5
"""Seconds after which an idle thread checks that its process is alive."""


class RefusedError(Exception):
    """The job is invalid; the message says why and is meant for the client."""


class FailedError(Exception):
    """The job hit a bug of ours; the worker has logged it."""


class UnavailableError(Exception):
    """The job could not be done now: its workers died, took too long, or are being stopped."""


@dataclass(eq=False)
class Job:
    """Something for a worker to do; jobs of one ``group`` may be done together."""

    group: Hashable
    payload: Any
    answer: asyncio.Future[bytes]
    tried: bool = False


@dataclass(frozen=True)
class Events:
    """What a pool reports, from any thread."""

    batch: Callable[[int, float], None] = lambda size, seconds: None
    lost: Callable[[], None] = lambda: None


class _GoneError(Exception):
    """The process has died."""


class _SlowError(Exception):
    """The process has not answered in time."""


class _Process:
    """A worker process and our end of the pipe to it."""

    def __init__(self, entry: Callable[..., None], arguments: tuple[Any, ...]) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=entry, args=(theirs, *arguments), daemon=True)
        self.process.start()
        theirs.close()

    def receive(self, seconds: float) -> Any:
        ready = wait([self.pipe, self.process.sentinel], seconds)
        if not ready:
            raise _SlowError
        try:
            if self.pipe in ready:
                return self.pipe.recv()
        except (EOFError, OSError):
            pass
        raise _GoneError

    def send(self, message: Any) -> None:
        try:
            self.pipe.send(message)
        except (OSError, ValueError):
            raise _GoneError from None

    def end(self) -> int | None:
        """Kill the process, if it is alive, and forget it; returns its exit code (-9 if it was killed)."""
        self.process.join(0.1)  # a process that is going should say with which code
        self.process.kill()
        self.process.join()
        self.pipe.close()
        return self.process.exitcode


class Pool:
    """Processes that run ``entry(pipe, *arguments)``: one message when ready, then a list of answers for each batch.

    ``batch``: jobs at once.  ``seconds``: a process that takes longer for a batch is killed.  ``ready`` is what the
    processes said when they were ready; ``failure`` is why the first one could not start, for then no other one can.
    """

    def __init__(
        self,
        entry: Callable[..., None],
        arguments: tuple[Any, ...],
        size: int,
        *,
        batch: int,
        seconds: float,
        events: Events | None = None,
    ) -> None:
        self.entry, self.arguments, self.size = entry, arguments, size
        self.batch, self.seconds = batch, seconds
        self.events = events or Events()
        self.ready: Any = None
        self.failure: str | None = None
        self.alive = 0
        self._waiting: deque[Job] = deque()
        self._changed = threading.Condition()
        self._closed = False
        self._threads: list[threading.Thread] = []
        self._processes: set[_Process] = set()
        self._loop: asyncio.AbstractEventLoop | None = None

    def open(self) -> None:
        """Start the processes; ``alive`` counts those that are ready."""
        self._loop = asyncio.get_running_loop()
        for number in range(self.size):
            thread = threading.Thread(target=self._attend, name=f"worker {number}", daemon=True)
            thread.start()
            self._threads.append(thread)

    def close(self) -> None:
        """End all processes and give up unanswered jobs."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        for process in tuple(self._processes):
            process.process.kill()
        for thread in self._threads:
            thread.join(5)
        self._settle([(job, UnavailableError("the service is being stopped")) for job in self._waiting])
        self._waiting.clear()

    @property
    def waiting(self) -> int:
        """The number of jobs that no worker has taken yet."""
        return len(self._waiting)

    def pids(self) -> list[int]:
        """The ids of the live processes."""
        return [process.process.pid or 0 for process in tuple(self._processes)]

    def submit(self, group: Hashable, payload: Any) -> asyncio.Future[bytes]:
        """Queue a job; cancelling the result withdraws it unless a worker has it already."""
        assert self._loop is not None
        job = Job(group, payload, self._loop.create_future())
        with self._changed:
            if self._closed:
                raise UnavailableError("the service is being stopped")
            self._waiting.append(job)
            self._changed.notify()
        return job.answer

    def _attend(self) -> None:
        """Keep one process alive and fed."""
        failures = 0
        while not self._closed:
            process = _Process(self.entry, self.arguments)
            self._processes.add(process)
            try:
                ready, failure = process.receive(START_SECONDS)
                if failure is not None and self.ready is None:
                    self.failure = failure
                    return
                if failure is None:
                    self.ready = ready
                    failures = 0
                    self.alive += 1
                    try:
                        self._feed(process)
                    finally:
                        self.alive -= 1
            except (_GoneError, _SlowError):
                failures += 1
            finally:
                self._processes.discard(process)
                code = process.end()
            if not self._closed:
                self.events.lost()
                data = {"event": "worker lost", "exit_code": code}
                log.warning("a worker is gone and is being replaced", extra={"data": data})
                with self._changed:
                    self._changed.wait_for(lambda: self._closed, min(0.2 * 2**failures - 0.2, 20))

    def _feed(self, process: _Process) -> None:
        """Give jobs to a process until it dies or the pool is closed."""
        while (jobs := self._take(process)) is not None:
            start = time.monotonic()
            try:
                process.send([job.payload for job in jobs])
                answers = process.receive(self.seconds)
            except (_GoneError, _SlowError) as error:
                self._give_back(jobs, slow=isinstance(error, _SlowError))
                return
            self.events.batch(len(jobs), time.monotonic() - start)
            self._settle(list(zip(jobs, map(_answer, answers), strict=True)))

    def _take(self, process: _Process) -> list[Job] | None:
        """The next jobs, all of one group, in order of arrival; None if the process is dead or the pool closed."""
        with self._changed:
            while True:
                if self._closed or not process.process.is_alive():
                    return None
                while self._waiting and self._waiting[0].answer.done():
                    self._waiting.popleft()
                if self._waiting:
                    break
                self._changed.wait(_LOOK)
            first = self._waiting.popleft()
            jobs, others = [first], list[Job]()
            while self._waiting and not first.tried and len(jobs) < self.batch:
                job = self._waiting.popleft()
                if job.answer.done():
                    continue
                (jobs if job.group == first.group and not job.tried else others).append(job)
            self._waiting.extendleft(reversed(others))
            return jobs

    def _give_back(self, jobs: list[Job], *, slow: bool) -> None:
        """Queue the jobs of a dead process again, before all others, or give them up."""
        reason = "took too long" if slow else "ended a worker twice"
        lost = [job for job in jobs if job.tried or (slow and len(jobs) == 1)]
        self._settle([(job, UnavailableError(f"the request {reason}; try a smaller one")) for job in lost])
        again = [job for job in jobs if job not in lost]
        for job in again:
            job.tried = True
        with self._changed:
            self._waiting.extendleft(reversed(again))
            self._changed.notify_all()

    def _settle(self, answers: list[tuple[Job, bytes | Exception]]) -> None:
        """Hand answers to the coroutines that wait for them, in the thread of their event loop."""

        def settle() -> None:
            for job, answer in answers:
                if job.answer.done():
                    continue
                if isinstance(answer, Exception):
                    job.answer.set_exception(answer)
                else:
                    job.answer.set_result(answer)

        assert self._loop is not None
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits
            self._loop.call_soon_threadsafe(settle)


def _answer(message: tuple[str, Any]) -> bytes | Exception:
    kind, value = message
    if kind == "done":
        assert isinstance(value, bytes)
        return value
    return RefusedError(value) if kind == "refused" else FailedError(value)


def answer_batches(pipe: Connection, ready: Any, work: Callable[[list[Any]], list[tuple[str, Any]]]) -> None:
    """Run a worker process: report that it is ready, then answer batches until the pipe is closed."""
    pipe.send((ready, None))
    while True:
        try:
            batch = pipe.recv()
        except EOFError:
            return
        pipe.send(work(batch))
