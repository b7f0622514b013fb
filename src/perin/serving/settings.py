"""How a service is set up: what it serves, to whom, and how much of it."""

from __future__ import annotations

from dataclasses import dataclass

LOADER = "perin.serving.worker:load_parser"


@dataclass(frozen=True)
class Settings:
    """Everything that ``perin serve`` can be told.

    Limits of a request: ``max_body`` bytes (``max_stream`` for plain text, which is streamed), ``max_sentences`` and
    ``max_words`` unless it is streamed, ``longest`` tokens of a sentence, ``seconds`` until it is given up.
    ``max_requests`` may be at work or waiting at once; more are turned away with 429.  ``patience``: seconds that a
    client may take to send its headers, or to send nothing at all in the middle of a body.  ``drain``: seconds that
    requests have to finish when the service is stopped.
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
