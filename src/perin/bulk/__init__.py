"""Corpora: a parser on any number of sentences, shard by shard, on one machine, several, or a Ray cluster.

    files -> plan (which lines are which shard) -> shards, each parsed by one process -> a file and a mark for each

A folder of shards is all the state there is: whoever runs the same command on it does what is missing.  On this machine
a worker is a process of its own with one core and a model, started anew (not forked).
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import threading
import time as clock
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any

from perin.bulk.cluster import RayParser
from perin.bulk.plan import Plan, Settings, agreed_plan, check_paths
from perin.bulk.shards import ATTEMPTS, FailedShard, Job, Loader, Mark, ModelLoader, Summary, finished_mark
from perin.bulk.storage import Folder, LockedError, expand_paths, open_folder
from perin.errors import PerinError, UsageError

__all__ = ["RayParser", "Summary", "parse_corpus"]

ENGINES = ("local", "ray")
_POLL_SECONDS = 0.5
"""Seconds between reports of progress, and between looks at shards that other runs hold."""


class Progress:
    """Receives reports of progress; this one ignores them."""

    def begin(self, sentences: int, shards: int, done: int) -> None:
        """The number of sentences to parse, of all shards, and of shards that are done already."""

    def sentences(self, count: int) -> None:
        """The number of sentences parsed since the last report; negative if a shard has to be done again."""

    def shard(self, result: Mark | FailedShard) -> None:
        """A shard is done, or can't be done."""

    def end(self) -> None:
        """All work is over."""


def parse_corpus(
    inputs: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    *,
    model: str | os.PathLike[str] | Loader | None = None,
    framework: str | Sequence[str] | None = None,
    language: str | None = None,
    format: str = "mrp",
    shards: int | None = None,
    rank: int = 0,
    world: int = 1,
    workers: int | None = None,
    engine: str = "local",
    address: str | None = None,
    column: str | None = None,
    probabilities: bool = False,
    empty: bool = False,
    longest: int | None = None,
    time: str | None = None,
    revision: str | None = None,
    offline: bool = False,
    progress: Progress | None = None,
) -> Summary:
    """Parse files into a folder of shards; called again on the same folder, it does what is missing.

    ``inputs`` are paths, URLs or globs of text, JSON lines, CoNLL-U and Parquet; ``output`` is a folder or URL.
    ``format`` is ``mrp``, ``mrp.gz`` or ``parquet``.  Of ``world`` machines (or job steps) that share the folder, this
    one, number ``rank``, does every ``world``-th shard with ``workers`` processes, by default one a core.
    ``engine="ray"`` leaves the work to the Ray cluster at ``address``.  ``model`` may also be a function that makes a
    parser; it must be importable in another process.  For the other parameters see :meth:`perin.Parser.stream`.
    """
    if engine not in ENGINES:
        raise UsageError(f"unknown engine {engine!r}; known are: {', '.join(ENGINES)}")
    if not 0 <= rank < world:
        raise UsageError(f"there is no rank {rank} of {world}; ranks count from 0")
    output = os.fspath(output)
    several = [inputs] if isinstance(inputs, (str, os.PathLike)) else inputs
    paths = expand_paths([os.fspath(path) for path in several])
    framework = framework if isinstance(framework, str | None) else ",".join(framework)
    name, load = _loader(model, framework, language, revision=revision, offline=offline, longest=longest)
    settings = Settings(name, framework, language, format, column, probabilities, empty, longest, time)
    check_paths(paths, settings)
    place = open_folder(output)
    plan = agreed_plan(output, place, paths, settings, shards)
    own = range(rank, len(plan.shards), world)
    job = Job(plan, tuple(paths), output, load)
    progress = progress or Progress()
    summary = Summary(len(own))
    missing = _missing(place, plan, own, summary)
    progress.begin(sum(plan.sentences[shard] for shard in missing), summary.shards, summary.done)
    try:
        for result in _results(job, missing, workers, engine, address, progress.sentences):
            if isinstance(result, Mark):
                summary.add(result)
            else:
                summary.bad[result.shard] = result.reason
            progress.shard(result)
    finally:
        progress.end()
    return summary


def _loader(
    model: str | os.PathLike[str] | Loader | None, framework: str | None, language: str | None, **options: Any
) -> tuple[str, Loader]:
    """The name of a model in the plan, and what loads it."""
    if callable(model):
        return f"{getattr(model, '__module__', '')}.{getattr(model, '__qualname__', repr(model))}", model
    if model is None:
        from perin.model import default_model

        wanted = None if framework in (None, "all") else framework.partition(",")[0]
        model = default_model(wanted, language)
    given = tuple((name, value) for name, value in options.items() if value)
    return os.fspath(model), ModelLoader(os.fspath(model), given)


def _missing(place: Folder, plan: Plan, shards: Sequence[int], summary: Summary) -> list[int]:
    """The shards that are not done; those that are go into the summary."""
    names = place.names()
    missing = []
    for shard in shards:
        mark = finished_mark(place, plan, shard) if plan.mark(shard) in names else None
        if mark is None:
            missing.append(shard)
        else:
            summary.add(mark)
    return missing


def _results(
    job: Job, shards: list[int], workers: int | None, engine: str, address: str | None, progress: Callable[[int], None]
) -> Any:
    if not shards:
        return ()
    if engine == "ray":
        from perin.bulk.cluster import parse_on_cluster

        return parse_on_cluster(job, shards, workers, address, progress)
    return parse_locally(job, shards, workers or _cores(), progress)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def parse_locally(
    job: Job, shards: Iterable[int], workers: int, progress: Callable[[int], None]
) -> Iterator[Mark | FailedShard]:
    """Do shards with so many processes; results come as they are there.

    A process that dies (out of memory, say) is replaced and its shard is begun again, at most three times.  Shards that
    another run holds are waited for.  ``progress`` is called with numbers of sentences.
    """
    pool = _WorkerPool(job, deque(shards), progress)
    try:
        pool.start(workers)
        while pool.workers:
            yield from pool.results()
    finally:
        pool.stop()


@dataclass
class _Worker:
    process: BaseProcess
    connection: Connection
    shard: int | None = None
    sentences: int = 0


class _WorkerPool:
    """The processes, and the shards that wait for them."""

    def __init__(self, job: Job, waiting: deque[int], progress: Callable[[int], None]) -> None:
        self.job = job
        self.waiting = waiting
        self.progress = progress
        self.deaths: dict[int | None, int] = {}
        """By shard; None for processes that were loading the model."""
        self.workers: list[_Worker] = []
        self._context = multiprocessing.get_context("spawn")

    def start(self, count: int) -> None:
        for _ in range(min(count, len(self.waiting))):
            own, other = self._context.Pipe()
            process = self._context.Process(target=work, args=(other, self.job), name="perin-shards")
            process.start()
            other.close()
            self.workers.append(_Worker(process, own))

    def stop(self) -> None:
        for worker in self.workers:
            worker.process.terminate()
        for worker in self.workers:
            worker.process.join(10)
            if worker.process.exitcode is None:
                worker.process.kill()
                worker.process.join()
            worker.connection.close()
        self.workers.clear()

    def results(self) -> Iterator[Mark | FailedShard]:
        """Wait for messages of workers and answer them."""
        ready = wait([worker.connection for worker in self.workers])
        for worker in [worker for worker in self.workers if worker.connection in ready]:
            try:
                message = worker.connection.recv()
            except (EOFError, OSError):
                yield from self._replace(worker)
                continue
            if isinstance(message, PerinError):
                raise message
            if isinstance(message, int):
                self.progress(message - worker.sentences)
                worker.sentences = message
                continue
            if isinstance(message, LockedError):
                assert worker.shard is not None
                self.waiting.append(worker.shard)
            elif isinstance(message, Mark):
                self.progress(message.parsed + len(message.failures) - worker.sentences)
            else:
                self.progress(-worker.sentences)
            if isinstance(message, (Mark, FailedShard)):
                yield message
            self._send(worker)

    def _send(self, worker: _Worker) -> None:
        """Give a worker the next shard, or let it end."""
        worker.shard = self.waiting.popleft() if self.waiting else None
        worker.sentences = 0
        with contextlib.suppress(OSError):  # if it has died, its end of the connection will say so
            worker.connection.send(worker.shard)
        if worker.shard is None:
            self._remove(worker)

    def _remove(self, worker: _Worker) -> None:
        worker.process.join()
        worker.connection.close()
        self.workers.remove(worker)

    def _replace(self, worker: _Worker) -> Iterator[FailedShard]:
        """Replace a process that has died."""
        self._remove(worker)
        self.progress(-worker.sentences)
        shard, code = worker.shard, worker.process.exitcode or 0
        self.deaths[shard] = self.deaths.get(shard, 0) + 1
        cause = f"was ended by signal {-code} (out of memory?)" if code < 0 else f"ended with exit code {code}"
        if self.deaths[shard] == ATTEMPTS:
            if shard is None:
                raise WorkerError(f"the process that is to load the model {cause}, {ATTEMPTS} times")
            yield FailedShard(shard, f"the process that parsed it {cause}, {ATTEMPTS} times")
        elif shard is not None:
            self.waiting.appendleft(shard)
        self.start(1)


class WorkerError(PerinError):
    """A process that can't do its work."""


def work(connection: Connection, job: Job) -> None:
    """Run a worker process: load the model, then do shard after shard."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends its children
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that temporary files are removed
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
        except LockedError as held:
            clock.sleep(_POLL_SECONDS)
            message = held
        except (PerinError, OSError) as error:
            message = FailedShard(shard, str(error))


class _Reports:
    """Reports to the parent, at intervals, how many sentences of a shard are parsed."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.next = clock.monotonic() + _POLL_SECONDS

    def __call__(self, sentences: int) -> None:
        if clock.monotonic() >= self.next:
            self.connection.send(sentences)
            self.next = clock.monotonic() + _POLL_SECONDS


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    wait([parent.sentinel])
    os._exit(1)
