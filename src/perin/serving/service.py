"""The service behind every interface: how it is set up, what it counts, and the way to its worker processes."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from perin.errors import UsageError
from perin.serving.pool import Events, Pool, UnavailableError
from perin.serving.worker import group_of, look_until_closed, parse_until_closed
from perin.text.languages import checked

Unit = dict[str, Any]
"""A sentence to be parsed, as :mod:`perin.serving.worker` takes it."""

WINDOW = 64
"""Sentences of one request that may be in the queue at once, so that a long text does not keep short ones waiting."""
LOADER = "perin.serving.worker:load_parser"


@dataclass(frozen=True)
class Settings:
    """The options of ``perin serve``.

    Limits of a request: ``max_body`` bytes (``max_stream`` for plain text, which is streamed), ``max_sentences`` and
    ``max_words`` unless it is streamed, ``longest`` tokens of a sentence, ``seconds`` until it is given up.
    ``max_requests`` may be at work or waiting at once; more get 429.  ``patience``: seconds that a client may take to
    send its headers, or pause in the middle of a body.  ``drain``: seconds that requests have to finish when the
    service is stopped.
    """

    models: tuple[str, ...] = ("eng",)
    host: str = "127.0.0.1"
    port: int = 8080
    workers: int = 1
    keys: frozenset[str] = frozenset()
    origins: tuple[str, ...] = ()
    max_body: int = 2**20
    max_stream: int = 64 * 2**20
    max_sentences: int = 500
    max_words: int = 10_000
    longest: int = 500
    seconds: float = 60.0
    max_requests: int = 128
    patience: float = 15.0
    drain: float = 30.0
    batch: int = 32
    loader: str = LOADER
    """Where a worker finds the function that loads a parser by name, as ``module:function``."""


_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)


class Metrics:
    """The counters of one service."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        of = self.registry
        self.requests = Counter("perin_requests", "Requests by route and status", ["route", "status"], registry=of)
        self.seconds = Histogram("perin_request_seconds", "Time to answer", ["route"], buckets=_SECONDS, registry=of)
        self.sentences = Counter("perin_sentences", "Sentences parsed, by model", ["model"], registry=of)
        self.errors = Counter("perin_errors", "Answers that tell of an error, by kind", ["kind"], registry=of)
        self.batch_size = Histogram(
            "perin_batch_sentences", "Sentences at once", buckets=(1, 2, 4, 8, 16, 32, 64), registry=of
        )
        self.batch_seconds = Histogram("perin_batch_seconds", "Time to parse a batch", buckets=_SECONDS, registry=of)
        self.lost = Counter("perin_workers_lost", "Worker processes that died or were killed", registry=of)
        self.active = Gauge("perin_requests_active", "Requests at work or waiting", registry=of)
        self.queue = Gauge("perin_queue_jobs", "Jobs that no worker has taken yet", registry=of)
        self.alive = Gauge("perin_workers_ready", "Worker processes that are ready", registry=of)

    def text(self) -> bytes:
        """All counters in the text format of Prometheus."""
        return generate_latest(self.registry)


class Choice(NamedTuple):
    """What sentences are parsed by and to."""

    model: str
    language: str
    frameworks: tuple[str, ...]


class BusyError(Exception):
    """There are too many requests; ``seconds`` says when to try again."""

    def __init__(self, seconds: int) -> None:
        super().__init__(seconds)
        self.seconds = seconds


class Service:
    """Worker processes behind two queues: one for parsing, one for everything else."""

    def __init__(self, settings: Settings, metrics: Metrics) -> None:
        self.settings, self.metrics = settings, metrics
        self.active = 0
        events = Events(batch=self._note_batch, lost=metrics.lost.inc)
        self.parsers = Pool(
            parse_until_closed,
            (settings.loader, settings.models, settings.longest),
            settings.workers,
            batch=settings.batch,
            seconds=settings.seconds,
            events=events,
        )
        self.tools = Pool(
            look_until_closed, (), 1, batch=1, seconds=settings.seconds, events=Events(lost=metrics.lost.inc)
        )
        metrics.active.set_function(lambda: self.active)
        metrics.queue.set_function(lambda: self.parsers.waiting + self.tools.waiting)
        metrics.alive.set_function(lambda: self.parsers.alive)

    def _note_batch(self, size: int, seconds: float) -> None:
        self.metrics.batch_size.observe(size)
        self.metrics.batch_seconds.observe(seconds)

    def open(self) -> None:
        """Start the workers."""
        self.parsers.open()
        self.tools.open()

    def close(self) -> None:
        """End the workers."""
        self.parsers.close()
        self.tools.close()

    @property
    def ready(self) -> bool:
        """Whether a worker can parse and another can use the tools."""
        return self.parsers.alive > 0 and self.tools.alive > 0

    @property
    def treebanks(self) -> dict[str, list[str]]:
        """The treebanks of each model, such as ``eds-eng``."""
        if self.parsers.ready is None:
            raise UnavailableError("the models are being loaded; try again in a few seconds")
        found: dict[str, list[str]] = self.parsers.ready
        return found

    def choose(
        self, model: str | None = None, language: str | None = None, frameworks: Sequence[str] | str | None = None
    ) -> Choice:
        """The model, language and frameworks that are meant; the first that fit where something is left open.

        ``frameworks``: names (also in one string, with commas), ``"all"``, or none for the model's first.
        """
        known = self.treebanks
        if model is not None and model not in known:
            raise UsageError(f"there is no model {model!r} here; there are: {', '.join(known)}")
        spoken = checked(language) if language is not None else None
        names = frameworks.split(",") if isinstance(frameworks, str) else frameworks or ()
        wanted = list(dict.fromkeys(name.strip().lower() for name in names if name.strip()))
        pairs = [
            Choice(name, each, has)
            for name in ([model] if model else known)
            for each, has in by_language(known[name]).items()
            if spoken in (None, each)
        ]
        if not pairs:
            languages = dict.fromkeys(each for names in known.values() for each in by_language(names))
            raise UsageError(
                f"no model here is for the language {language!r}; there are models for: {', '.join(languages)}"
                if model is None
                else f"the model {model} is not for the language {language!r}; it has: {', '.join(known[model])}"
            )
        if "all" in wanted:
            return pairs[0]
        for pair in pairs:
            if all(name in pair.frameworks for name in wanted):
                return pair._replace(frameworks=tuple(wanted) or pair.frameworks[:1])
        who = f"the model {model}" if model else f"any model for {spoken}" if spoken else "any model here"
        has = "; ".join(f"{pair.model} ({pair.language}) has {', '.join(pair.frameworks)}" for pair in pairs)
        raise UsageError(f"{', '.join(wanted)}: that is not what {who} can parse to; {has}")

    @contextlib.contextmanager
    def admitted(self) -> Iterator[None]:
        """Let a request in, or raise :class:`BusyError`."""
        if self.active >= self.settings.max_requests:
            raise BusyError(1 + self.active // (32 * self.settings.workers))
        self.active += 1
        try:
            yield
        finally:
            self.active -= 1

    async def parse(self, units: Iterable[Unit]) -> list[bytes]:
        """The answers to the sentences of a request, in their order, within its time limit."""
        deadline = time.monotonic() + self.settings.seconds
        return [answer async for answer in self.stream(units, deadline)]

    async def stream(self, units: Iterable[Unit], deadline: float | None = None) -> AsyncIterator[bytes]:
        """Each answer as soon as those before it are there; at most a window of them is held at a time.

        ``deadline``: by ``time.monotonic()``; without it, each answer has the time of a request.
        """
        waiting: deque[asyncio.Future[bytes]] = deque()
        try:
            for unit in units:
                waiting.append(self.parsers.submit(group_of(unit), unit))
                self.metrics.sentences.labels(unit["model"]).inc()
                if len(waiting) >= WINDOW:
                    yield await self._in_time(waiting.popleft(), deadline)
            while waiting:
                yield await self._in_time(waiting.popleft(), deadline)
        finally:
            for answer in waiting:
                answer.cancel()

    async def use(self, tool: str, **arguments: Any) -> bytes:
        """The answer of one of :data:`perin.serving.tools.TOOLS`."""
        return await self._in_time(self.tools.submit(tool, (tool, arguments)))

    async def _in_time(self, answer: asyncio.Future[bytes], deadline: float | None = None) -> bytes:
        """The answer, or :class:`UnavailableError` if it does not come within the time limit."""
        seconds = self.settings.seconds if deadline is None else deadline - time.monotonic()
        try:
            return await asyncio.wait_for(answer, seconds)
        except asyncio.TimeoutError:
            raise UnavailableError(f"the request took more than {self.settings.seconds:g} seconds") from None


def by_language(treebanks: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The frameworks of each language, from names of treebanks.

    >>> by_language(["drg-deu", "ptg-ces", "umr-ces"])
    {'deu': ('drg',), 'ces': ('ptg', 'umr')}
    """
    found: dict[str, tuple[str, ...]] = {}
    for name in treebanks:
        framework, _, language = name.rpartition("-")
        found[language] = (*found.get(language, ()), framework)
    return found
