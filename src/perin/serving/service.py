"""What the service can do, whatever way it is asked: parse sentences in batches, use the tools, say no."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

from perin.errors import UsageError
from perin.serving.metrics import Metrics
from perin.serving.pool import Events, Pool, UnavailableError
from perin.serving.settings import Settings
from perin.serving.worker import look_until_closed, parse_until_closed

Result = TypeVar("Result")

Unit = dict[str, Any]
"""A sentence to be parsed, as :mod:`perin.serving.worker` takes it."""

WINDOW = 64
"""Sentences of one request that may be in the queue at once, so that a long text does not keep short ones waiting."""


class BusyError(Exception):
    """There are too many requests; ``seconds`` says when to try again."""

    def __init__(self, seconds: int) -> None:
        super().__init__(seconds)
        self.seconds = seconds


class Service:
    """The worker processes and the way to them."""

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
        """Whether there is somebody to parse and somebody to use the tools."""
        return self.parsers.alive > 0 and self.tools.alive > 0

    @property
    def treebanks(self) -> dict[str, list[str]]:
        """The treebanks of each model, such as ``eds-eng``."""
        if self.parsers.ready is None:
            raise UnavailableError("the models are being loaded; try again in a few seconds")
        found: dict[str, list[str]] = self.parsers.ready
        return found

    def model_for(self, name: str | None, language: str | None) -> str:
        """The model that is meant."""
        known = self.treebanks
        if name is not None:
            if name not in known:
                raise UsageError(f"there is no model {name!r} here; there are: {', '.join(known)}")
            return name
        fitting = [model for model, names in known.items() if language in (None, language_of(names))]
        if not fitting:
            spoken = ", ".join(dict.fromkeys(language_of(names) for names in known.values()))
            raise UsageError(f"no model here is for the language {language!r}; there are models for: {spoken}")
        return fitting[0]

    def frameworks_for(self, model: str, wanted: Sequence[str] | str | None) -> tuple[str, ...]:
        """The frameworks that are meant, each once."""
        has = [name.rpartition("-")[0] for name in self.treebanks[model]]
        if wanted is None or not wanted:
            return (has[0],)
        chosen = has if wanted == "all" or "all" in wanted else list(dict.fromkeys(wanted))
        unknown = [name for name in chosen if name not in has]
        if unknown:
            raise UsageError(f"the model {model} has no framework {unknown[0]!r}; it has: {', '.join(has)}")
        return tuple(chosen)

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

    async def parse(self, units: Iterable[Unit]) -> AsyncIterator[bytes]:
        """The answers to sentences, in their order; holds no more than a window of them."""
        waiting: deque[asyncio.Future[bytes]] = deque()
        try:
            for unit in units:
                group = (unit["model"], unit["frameworks"], unit["probabilities"])
                waiting.append(self.parsers.submit(group, unit))
                self.metrics.sentences.labels(unit["model"]).inc()
                if len(waiting) >= WINDOW:
                    yield await self.in_time(waiting.popleft())
            while waiting:
                yield await self.in_time(waiting.popleft())
        finally:
            for answer in waiting:
                answer.cancel()

    async def use(self, tool: str, **arguments: Any) -> bytes:
        """The answer of one of :data:`perin.serving.tools.TOOLS`."""
        return await self.in_time(self.tools.submit(tool, (tool, arguments)))

    async def in_time(self, answer: Awaitable[Result]) -> Result:
        """What is awaited, if it comes within the time limit."""
        try:
            return await asyncio.wait_for(answer, self.settings.seconds)
        except asyncio.TimeoutError:
            raise UnavailableError(f"the request took more than {self.settings.seconds:g} seconds") from None


def language_of(treebanks: Sequence[str]) -> str:
    """The language of a model."""
    return treebanks[0].rpartition("-")[2]
