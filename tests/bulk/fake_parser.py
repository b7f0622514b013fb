"""A parser that needs no model: quick to load in another process, and it can be told to fail, die or dawdle."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass

from perin.errors import InputError, ModelError
from perin.graphs import Graph, Node

DELAY = "FAKE_PARSER_DELAY"
"""Environment variable: seconds that a sentence takes."""


@dataclass(frozen=True)
class Parsed:
    graphs: tuple[Graph, ...] = ()
    error: InputError | None = None


class FakeParser:
    def language(self, framework, language):
        return language

    def stream(self, texts, framework=None, language=None, *, probabilities=True, empty=False, time=None):
        for text in texts:
            yield parsed(text, framework or "eds", time)


def parsed(text, framework, moment):
    time.sleep(float(os.environ.get(DELAY, "0")))
    if isinstance(text, InputError):
        return Parsed(error=text)
    if not isinstance(text, str):
        text = text.text
    if text.startswith("fail"):
        return Parsed(error=InputError(f"{len(text)} letters are too many"))
    if text.startswith("die"):
        os.kill(os.getpid(), signal.SIGKILL)
    return Parsed((Graph("?", framework, "eng", time=moment, input=text, nodes=(Node(0, text),), tops=(0,)),))


def load():
    return FakeParser()


def no_model():
    raise ModelError("there is no such model")
