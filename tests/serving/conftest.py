"""A service on a free port of this machine, with the fake parser in its workers."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn

from perin.serving.app import create_app
from perin.serving.server import configuration
from perin.serving.service import Service, Settings

HERE = str(Path(__file__).parent)
PATIENCE = 120.0
"""Seconds after which a test gives up, however busy the machine is; nothing takes that long unless it is broken."""
FAKE = Settings(
    models=("eng", "deu"), loader="fake_parser:load", workers=1, seconds=PATIENCE, patience=3.0, drain=PATIENCE
)


class Running:
    """A service and a client for it."""

    def __init__(self, url: str, service: Service) -> None:
        self.url, self.service = url, service
        self.client = httpx.Client(base_url=url, timeout=PATIENCE, trust_env=False)

    def parse(self, text: Any, **options: Any) -> httpx.Response:
        return self.client.post("/v1/parse", json={"text": text, **options})

    def connect(self) -> socket.socket:
        host, port = self.url.removeprefix("http://").split(":")
        return socket.create_connection((host, int(port)), timeout=PATIENCE)


@contextlib.contextmanager
def running(settings: Settings) -> Iterator[Running]:
    """Serve in a thread until the end of the block."""
    if HERE not in sys.path:  # spawned workers get our path, and find the fake parser there
        sys.path.append(HERE)
    app = create_app(settings)
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(configuration(app, settings))
    thread = threading.Thread(target=lambda: asyncio.run(server.serve([listener])), daemon=True)
    thread.start()
    service = app.state.service
    found = Running(f"http://127.0.0.1:{listener.getsockname()[1]}", service)
    try:
        _wait_for(lambda: service.ready, 200)
        yield found
    finally:
        found.client.close()
        server.should_exit = True
        thread.join(20)
        listener.close()


def _wait_for(condition: Any, seconds: float = PATIENCE) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.02)


@pytest.fixture
def wait_for() -> Any:
    """Wait until a condition holds; fail if it does not within so many seconds."""
    return _wait_for


@pytest.fixture(scope="module")
def served() -> Iterator[Running]:
    """The service with default limits, shared by the tests of a file."""
    with running(FAKE) as found:
        yield found


@pytest.fixture
def serving() -> Any:
    """Serve with other settings, for the length of a block."""
    return lambda **settings: running(replace(FAKE, **settings))
