"""Ray: shards on a cluster, and a parser for Ray's data sets."""

from __future__ import annotations

import hashlib
import re
import socket
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from perin.bulk.plan import Settings
from perin.bulk.shards import ATTEMPTS, FailedShard, Job, Loader, Mark, ModelLoader, mrp_lines, parse_stream
from perin.bulk.storage import LockedError
from perin.errors import InputError, MissingDependencyError, PerinError, UsageError

_POLL_SECONDS = 0.5
"""Seconds between looks at shards that other runs hold."""
_HOST_AND_PORT = re.compile(r"(?:ray://)?([^:/]+):(\d{1,5})")
_CONNECT_SECONDS = 10.0
"""Seconds in which a cluster must answer."""
BATCH = 256
"""Rows that a :class:`RayParser` gets at once by default."""


def parse_on_cluster(
    job: Job, shards: Sequence[int], workers: int | None, address: str | None, progress: Callable[[int], None]
) -> Iterator[Mark | FailedShard]:
    """Do shards with actors of a Ray cluster (None: the one of this machine, else a new one on it).

    All machines of the cluster must reach the files and the folder by the same names.  An actor that dies is replaced
    and its shard is begun again, at most three times; shards that another run holds are waited for.
    """
    ray = _ray()
    own = not ray.is_initialized()
    if own:
        _connect(ray, address)
    pool = _ActorPool(ray, job, deque(shards), progress)
    try:
        pool.start(*capacity(workers, len(shards)))
        while pool.busy:
            yield from pool.results()
    finally:
        pool.stop()
        if own:
            ray.shutdown()


def capacity(workers: int | None = None, tasks: int | None = None) -> tuple[int, float]:
    """How many actors a cluster has room for, at most so many, and how many cores each of them claims.

    An actor works on one core but claims less, so that all of them together leave one core unclaimed.  Otherwise the
    tasks of a data set, such as reading it, would wait for the actors, and these for what is read.
    """
    free = int(_ray().available_resources().get("CPU", 0))
    count = max(1, min(limit for limit in (workers, tasks, free) if limit is not None))
    return count, min(1.0, max(0.0, (free - 1) / count))


class _Actor:
    """Parses shards, in a process of the cluster.  Errors are returned, for Ray would wrap them."""

    def __init__(self, job: Job) -> None:
        self.start_error: PerinError | None = None
        try:
            self.parser = job.start()
        except PerinError as error:
            self.start_error = error

    def parse(self, shard: int) -> Mark | FailedShard | PerinError | None:
        """Parse a shard; None if another process holds it."""
        if self.start_error is not None:
            return self.start_error
        try:
            return self.parser.parse(shard)
        except LockedError:
            time.sleep(_POLL_SECONDS)
            return None
        except (PerinError, OSError) as error:
            return FailedShard(shard, str(error))


@dataclass(frozen=True)
class _Task:
    shard: int
    actor: Any


class _ActorPool:
    """Actors, what each is doing, and the shards that wait."""

    def __init__(self, ray: Any, job: Job, waiting: deque[int], progress: Callable[[int], None]) -> None:
        self.ray = ray
        self.job = ray.put(job)
        self.waiting = waiting
        self.progress = progress
        self.deaths: Counter[int] = Counter()
        self.busy: dict[Any, _Task] = {}
        self.actor = ray.remote(_Actor)

    def start(self, actors: int, cores: float) -> None:
        self.actor = self.ray.remote(num_cpus=cores, max_restarts=0)(_Actor)
        for _ in range(actors):
            self._assign(self.actor.remote(self.job))

    def results(self) -> Iterator[Mark | FailedShard]:
        """Wait for a result and give out the next shards."""
        ready, _ = self.ray.wait(list(self.busy))
        for reference in ready:
            task = self.busy.pop(reference)
            try:
                result = self.ray.get(reference)
            except self.ray.exceptions.RayActorError:
                yield from self._replace(task)
                continue
            except self.ray.exceptions.RayError as error:
                result = FailedShard(task.shard, str(error).strip().splitlines()[-1])
            if isinstance(result, PerinError):
                raise result
            if result is None:
                self.waiting.append(task.shard)
            else:
                if isinstance(result, Mark):
                    self.progress(result.parsed + len(result.failures))
                yield result
            self._assign(task.actor)

    def _assign(self, actor: Any) -> None:
        if self.waiting:
            shard = self.waiting.popleft()
            self.busy[actor.parse.remote(shard)] = _Task(shard, actor)

    def _replace(self, task: _Task) -> Iterator[FailedShard]:
        self.deaths[task.shard] += 1
        if self.deaths[task.shard] == ATTEMPTS:
            yield FailedShard(task.shard, f"the process that parsed it died, {ATTEMPTS} times (out of memory?)")
        else:
            self.waiting.appendleft(task.shard)
        self._assign(self.actor.remote(self.job))

    def stop(self) -> None:
        for task in self.busy.values():
            self.ray.kill(task.actor)


class RayParser:
    """A parser for the batches of a Ray data set; an actor loads the model once.

    >>> sentences = ray.data.read_parquet("s3://bucket/sentences")  # doctest: +SKIP
    >>> graphs = sentences.map_batches(  # doctest: +SKIP
    ...     RayParser, fn_constructor_kwargs={"model": "eng", "framework": "eds"}, **RayParser.options()
    ... )

    Rows keep their columns and get two more: ``graphs``, a list with a line of MRP for each framework, and ``error``,
    null or the reason why there are none.  Texts are in ``column``.  Graphs get the id in the column ``id``, without
    one a digest of the text.  For the other parameters see :meth:`perin.Parser.stream`; give ``time``, or graphs have
    the date of the moment.
    """

    def __init__(
        self,
        model: str | Loader,
        framework: str | Sequence[str] | None = None,
        language: str | None = None,
        *,
        column: str = "text",
        probabilities: bool = False,
        empty: bool = False,
        longest: int | None = None,
        time: str | None = None,
    ) -> None:
        limit = () if longest is None else (("longest", longest),)
        self.parser = model() if callable(model) else ModelLoader(model, limit)()
        framework = framework if isinstance(framework, str | None) else ",".join(framework)
        self.settings = Settings("", framework, language, "", column, probabilities, empty, longest, time)
        self.column = column

    @staticmethod
    def options(workers: int | None = None) -> dict[str, Any]:
        """Arguments of ``map_batches`` with as many actors as the cluster has room for (at most ``workers``).

        Connects to a cluster, or starts one here, if that has not been done.
        """
        ray = _ray()
        if not ray.is_initialized():
            _connect(ray, None)
        actors, cores = capacity(workers)
        strategy = ray.data.ActorPoolStrategy(size=actors)
        return {"compute": strategy, "num_cpus": cores, "batch_format": "pyarrow", "batch_size": BATCH}

    def __call__(self, batch: Any) -> Any:
        """Parse a batch: a table of pyarrow, or columns by name; the result is a table."""
        import pyarrow

        table = batch if isinstance(batch, pyarrow.Table) else pyarrow.table(dict(batch))
        if self.column not in table.column_names:
            known = ", ".join(table.column_names)
            raise UsageError(
                f"the data set has no column {self.column!r} but {known}; say which one holds the sentences"
            )
        texts = table[self.column].to_pylist()
        ids = table["id"].to_pylist() if "id" in table.column_names else [None] * len(texts)
        contents = (text if isinstance(text, str) else InputError("the row has no text") for text in texts)
        graphs: list[list[str]] = []
        errors: list[str | None] = []
        for text, id, parsed in zip(texts, ids, parse_stream(self.parser, contents, self.settings), strict=True):
            graphs.append(mrp_lines(_digest(text) if id is None else str(id), parsed))
            errors.append(None if parsed.error is None else parsed.error.message)
        table = table.append_column("graphs", pyarrow.array(graphs, pyarrow.list_(pyarrow.string())))
        return table.append_column("error", pyarrow.array(errors, pyarrow.string()))


def _digest(text: object) -> str:
    return hashlib.sha256(str(text).encode("utf-8", "replace")).hexdigest()[:16]


def _ray() -> Any:
    try:
        import ray
        import ray.data
    except ImportError:
        raise MissingDependencyError("ray", "work on a Ray cluster", "ray") from None
    return ray


def _connect(ray: Any, address: str | None) -> None:
    try:
        if address is not None and (place := _HOST_AND_PORT.fullmatch(address)):
            socket.create_connection(
                (place[1], int(place[2])), _CONNECT_SECONDS
            ).close()  # Ray itself waits for minutes
        ray.init(address=address, logging_level="warning")
    except (OSError, OverflowError, RuntimeError, ValueError) as error:
        reason = next(iter(str(error).strip().splitlines()), type(error).__name__)
        raise UsageError(f"can't reach a Ray cluster at {address or 'this machine'}: {reason}") from None
