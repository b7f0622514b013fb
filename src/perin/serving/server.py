"""Run the service: uvicorn, with a limit on how slowly a client may send its headers."""

from __future__ import annotations

import asyncio
import logging
import signal
import sys
from typing import Any

import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.h11_impl import H11Protocol

from perin.errors import ModelError, UsageError
from perin.serving.app import create_app
from perin.serving.guard import JsonLines
from perin.serving.service import Service, Settings

_HEADER_BYTES = 64 * 2**10
_BACKLOG = 512
_KEEP_ALIVE = 15


def serve(settings: Settings) -> None:
    """Serve until SIGINT or SIGTERM, then let requests finish; ModelError if a model can't be loaded."""
    _log_to(sys.stderr)
    app = create_app(settings)
    server = _Server(configuration(app, settings), app.state.service)
    for number in (signal.SIGINT, signal.SIGTERM):  # what uvicorn restores and raises again when it is done
        signal.signal(number, lambda number, frame: None)
    try:
        server.run()
    except SystemExit:
        raise UsageError(f"can't listen on {settings.host}:{settings.port}; is another service there?") from None
    if app.state.service.parsers.failure:
        raise ModelError(app.state.service.parsers.failure)


def configuration(app: FastAPI, settings: Settings) -> uvicorn.Config:
    """How uvicorn runs the application."""
    return uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        http=_protocol(settings.patience),
        ws="none",
        lifespan="on",
        access_log=False,
        log_config=None,
        server_header=False,
        proxy_headers=False,
        date_header=False,
        backlog=_BACKLOG,
        timeout_keep_alive=_KEEP_ALIVE,
        timeout_graceful_shutdown=round(settings.drain),
        h11_max_incomplete_event_size=_HEADER_BYTES,
    )


class _Server(uvicorn.Server):
    """Stops if the models can't be loaded; prints its address when it is ready."""

    def __init__(self, config: uvicorn.Config, service: Service) -> None:
        super().__init__(config)
        self.service = service
        self.told = False

    async def on_tick(self, counter: int) -> bool:
        if not self.told and self.service.ready:
            self.told = True
            port = self.servers[0].sockets[0].getsockname()[1] if self.servers else self.config.port
            host = f"[{self.config.host}]" if ":" in self.config.host else self.config.host
            print(f"perin serve: ready at http://{host}:{port}/", file=sys.stderr, flush=True)
        return self.service.parsers.failure is not None or await super().on_tick(counter)


def _protocol(patience: float) -> type[asyncio.Protocol]:
    class Patient(H11Protocol):
        """Closes a connection whose client does not finish its headers in time."""

        _timer: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._watch()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self._idle():
                self._watch()
            else:
                self._relax()

        def connection_lost(self, exc: Exception | None) -> None:
            self._relax()
            super().connection_lost(exc)

        def _idle(self) -> bool:
            return self.cycle is None or self.cycle.response_complete

        def _watch(self) -> None:
            if self._timer is None:
                self._timer = self.loop.call_later(patience, self._give_up)

        def _relax(self) -> None:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None

        def _give_up(self) -> None:
            self._timer = None
            if self._idle():
                self.transport.close()

    return Patient


def _log_to(stream: Any) -> None:
    # What a line of the log does not have need not be found out: the caller, the thread, the process.
    logging._srcfile = None
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonLines())
    for name, level in (("perin.serving", logging.INFO), ("uvicorn.error", logging.WARNING)):
        logger = logging.getLogger(name)
        logger.handlers[:] = [handler]
        logger.setLevel(level)
        logger.propagate = False
