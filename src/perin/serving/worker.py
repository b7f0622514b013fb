"""What worker processes do: parse sentences, or look at graphs (:mod:`perin.serving.tools`).

A sentence comes as a dictionary: ``model``, ``language``, ``frameworks``, ``probabilities``, ``alternatives`` (how
many), ``format``, ``tokens`` (whether they are wanted), ``id``, and one of ``text``, ``forms`` (with ``lemmas`` or
None, and ``text`` or None) and ``conllu``.  The answer is the JSON object that the client gets for it.
"""

from __future__ import annotations

import importlib
import json
import logging
import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from multiprocessing.connection import Connection
from typing import Any, Protocol

from perin.errors import InputError, PerinError
from perin.graphs import Graph, dumps
from perin.graphs.codecs import refusal
from perin.serving.pool import answer_batches
from perin.text import Sentence, Token, lemmatize, tokenize
from perin.text.adapters import read_conllu
from perin.text.alignment import locate

log = logging.getLogger("perin.serving")

Answer = tuple[str, Any]


class Outcome(Protocol):
    """What became of a sentence."""

    @property
    def sentence(self) -> Sentence:
        """The sentence."""

    @property
    def graphs(self) -> tuple[Graph, ...]:
        """Its graphs, unless there is an error."""

    @property
    def error(self) -> InputError | None:
        """What was wrong with it."""


class ParserLike(Protocol):
    """The part of :class:`perin.Parser` that the service uses."""

    @property
    def treebanks(self) -> Any:
        """A mapping from names such as ``eds-eng``."""

    def stream(
        self,
        texts: Iterable[Any],
        framework: list[str],
        language: str | None = None,
        *,
        probabilities: bool,
        alternatives: int,
    ) -> Iterator[Any]:
        """An :class:`Outcome` for each of the sentences, with the graphs in the order of the frameworks."""


def group_of(item: dict[str, Any]) -> tuple[Any, ...]:
    """Sentences with the same group can be parsed together."""
    return tuple(item[name] for name in ("model", "language", "frameworks", "probabilities", "alternatives"))


def load_parser(name: str, longest: int) -> ParserLike:
    """The parser of a model, on one core, because there is one worker per core."""
    import perin

    return perin.load(name, threads=1, longest=longest)


def parse_until_closed(pipe: Connection, loader: str, models: tuple[str, ...], longest: int) -> None:
    """Run a worker that parses."""
    _ignore_signals()
    load = _import_loader(loader)
    try:
        parsers = {name: load(name, longest) for name in models}
    except PerinError as error:
        pipe.send((None, str(error)))
        return
    ready = {name: list(parser.treebanks) for name, parser in parsers.items()}
    answer_batches(pipe, ready, lambda batch: _guarded(lambda: parse(parsers, batch), len(batch)))


def look_until_closed(pipe: Connection) -> None:
    """Run a worker that converts, draws, validates and scores graphs."""
    _ignore_signals()
    from perin.serving.tools import TOOLS

    def work(batch: list[Any]) -> list[Answer]:
        return [answer for tool, arguments in batch for answer in _guarded(lambda: [_used(tool, arguments)], 1)]  # noqa: B023

    def _used(tool: str, arguments: dict[str, Any]) -> Answer:
        return "done", TOOLS[tool](**arguments)

    answer_batches(pipe, True, work)


def parse(parsers: dict[str, ParserLike], batch: list[dict[str, Any]]) -> list[Answer]:
    """The answers to sentences of one group."""
    first = batch[0]
    results = parsers[first["model"]].stream(
        [_sentence(item, first["language"]) for item in batch],
        list(first["frameworks"]),
        first["language"],
        probabilities=first["probabilities"],
        alternatives=first["alternatives"],
    )
    return [("done", _encoded(item, result)) for item, result in zip(batch, results, strict=True)]


def _sentence(item: dict[str, Any], language: str) -> Sentence | InputError:
    """The sentence that is to be parsed, or what is wrong with it."""
    try:
        if item.get("conllu") is not None:
            found = list(read_conllu(item["conllu"], "<request>", language))
            if len(found) != 1:
                return InputError("no tokens", graph=item["id"])
            [sentence] = found
            return Sentence(sentence.text, sentence.tokens, sentence.id or item["id"], language)
        if item.get("forms") is not None:
            return _of_tokens(item, language)
        return tokenize(item["text"], language, item["id"])
    except InputError as error:
        return InputError(error.message, None, error.line, error.graph or item["id"])


def _of_tokens(item: dict[str, Any], language: str) -> Sentence:
    forms: list[str] = item["forms"]
    text = item.get("text") or " ".join(forms)
    lemmas = item.get("lemmas") or [lemmatize(form, language) for form in forms]
    ranges = locate(forms, text)
    tokens = tuple(
        Token(form, lemma, start, end) for form, lemma, (start, end) in zip(forms, lemmas, ranges, strict=True)
    )
    return Sentence(text, tokens, item["id"], language)


def _encoded(item: dict[str, Any], result: Outcome) -> bytes:
    head: dict[str, Any] = {"id": result.sentence.id or item["id"], "text": result.sentence.text}
    if item.get("tokens"):
        names = ("form", "lemma", "start", "end")
        head["tokens"] = [{name: getattr(token, name) for name in names} for token in result.sentence.tokens]
    if result.error is not None:
        head["error"] = result.error.message
        return json.dumps(head).encode()
    try:
        graphs = ",".join(_written(graph, item["format"]) for graph in result.graphs)
        return (json.dumps(head, ensure_ascii=False)[:-1] + f',"graphs":[{graphs}]}}').encode()
    except InputError as error:
        return json.dumps({**head, "error": refusal(item["format"], error)}).encode()


def _written(graph: Graph, format: str) -> str:
    """A graph as JSON: MRP as it is, other formats as text in an object."""
    if format == "mrp":
        return dumps(graph).rstrip("\n")
    from perin.serving.tools import text_of

    held = {"framework": graph.framework, "format": format, "text": text_of([graph], format)}
    return json.dumps(held, ensure_ascii=False)


def _guarded(work: Callable[[], list[Answer]], count: int) -> list[Answer]:
    """The answers, or what was wrong, once per job; of our own bugs only that there was one."""
    try:
        return work()
    except PerinError as error:
        return [("refused", str(error))] * count
    except UnicodeEncodeError:
        return [("refused", "a text contains an unpaired surrogate; remove it")] * count
    except RecursionError:
        return [("refused", "the graph is nested too deeply")] * count
    except Exception:  # the outermost handler of a worker: it logs, and survives whatever one request does to it
        log.exception("a worker hit a bug")
        return [("failed", None)] * count


def _import_loader(loader: str) -> Callable[[str, int], ParserLike]:
    module, _, name = loader.partition(":")
    found: Callable[[str, int], ParserLike] = getattr(importlib.import_module(module), name)
    return found


def _ignore_signals() -> None:
    """Ignore signals to the process group: a worker finishes its work and ends when its pipe is closed."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
