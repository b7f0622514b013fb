"""From sentences to graphs: batches of like cost through the network, then each sentence through its framework.

Any number of sentences takes constant memory and comes back in order: sentences are read by windows; within a window
they are sorted by cost and cut into batches, which several threads take while the next window is read.
"""

from __future__ import annotations

import os
import reprlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

from perin.contract import Sentence
from perin.contract.heads import Prediction
from perin.errors import InputError, PerinError
from perin.graphs.graph import Graph
from perin.model.batches import BUDGET, MAX_BATCH_SIZE, cost, cut
from perin.model.trained import Predictor
from perin.parsing.calibration import calibrate

FIRST_WINDOW, LARGEST_WINDOW = 32, 512
"""Sentences of the first window, so that first results come soon, and of later ones."""
WINDOW_TOKENS = 40_000
"""Tokens after which a window is full, however few its sentences."""
SURVIVED = (PerinError, ArithmeticError, LookupError, MemoryError, RuntimeError, ValueError)
"""What may go wrong with one sentence, including out-of-memory, without stopping the others."""

Batch = TypeVar("Batch")
Given = TypeVar("Given")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Parsed:
    """What became of a sentence: its graphs, one of each framework that was asked for, or what was wrong with it."""

    sentence: Sentence
    graphs: tuple[Graph, ...] = ()
    error: InputError | None = None

    def __repr__(self) -> str:
        """One line: the sentence, and the frameworks of its graphs or what was wrong."""
        said = f"<Parsed {self.sentence.id}: {reprlib.repr(self.sentence.text)}"
        if self.error is not None:
            return f"{said}, error: {self.error.message}>"
        return f"{said}, {', '.join(str(graph.framework) for graph in self.graphs) or 'no graphs'}>"


def decode(
    model: Predictor,
    predictions: Mapping[str, Sequence[Prediction]],
    *,
    probabilities: bool = False,
    alternatives: int = 0,
    constraints: bool = True,
) -> list[tuple[Graph, ...]]:
    """The graphs of each sentence, in the order of the treebanks, from the predictions for each treebank."""

    def graph(name: str, prediction: Prediction) -> Graph:
        treebank = model.treebanks[name]
        found = treebank.framework.decode(
            prediction,
            treebank.vocabulary,
            probabilities=probabilities,
            alternatives=alternatives,
            constraints=constraints,
        )
        return calibrate(found, treebank.temperatures) if probabilities else found

    graphs = ([graph(name, each) for each in of_treebank] for name, of_treebank in predictions.items())
    return list(zip(*graphs, strict=True))


def parse_batch(
    model: Predictor,
    sentences: Sequence[Sentence],
    treebanks: Sequence[str],
    *,
    probabilities: bool,
    alternatives: int = 0,
    constraints: bool = True,
) -> list[Parsed]:
    """What becomes of each sentence; one that fails does not harm the others."""
    try:
        found = model.predict(model.preparation.batch(sentences), treebanks)
        graphs = decode(model, found, probabilities=probabilities, alternatives=alternatives, constraints=constraints)
        return [Parsed(*pair) for pair in zip(sentences, graphs, strict=True)]
    except SURVIVED as error:
        if len(sentences) == 1:
            reason = str(error) if isinstance(error, PerinError) else f"{type(error).__name__}: {error}"
            failure = InputError(f"can't be parsed ({reason})", graph=sentences[0].id)
            return [Parsed(sentences[0], error=failure)]
    return [
        parsed
        for sentence in sentences
        for parsed in parse_batch(
            model,
            [sentence],
            treebanks,
            probabilities=probabilities,
            alternatives=alternatives,
            constraints=constraints,
        )
    ]


def predictions(
    model: Predictor,
    sentences: Sequence[Sentence],
    treebanks: Sequence[str],
    *,
    budget: float = BUDGET,
    max_batch_size: int = MAX_BATCH_SIZE,
) -> Iterator[tuple[int, dict[str, Prediction]]]:
    """The number of each sentence and what the network says about it for each treebank, in order of cost.

    A network in PyTorch must be in evaluation mode.
    """
    costs = [cost(len(sentence)) for sentence in sentences]
    order = sorted(range(len(sentences)), key=costs.__getitem__)
    for batch in cut(order, costs, budget=budget, max_batch_size=max_batch_size):
        chosen = [sentences[index] for index in batch]
        found = model.predict(model.preparation.batch(chosen), treebanks)
        for place, index in enumerate(batch):
            yield index, {name: of_treebank[place] for name, of_treebank in found.items()}


def graphs_of(model: Predictor, sentences: Sequence[Sentence], treebank: str) -> list[Graph]:
    """The graph of each sentence, in the order of the sentences."""
    known = model.treebanks[treebank]
    graphs: dict[int, Graph] = {}
    for index, found in predictions(model, sentences, [treebank]):
        graphs[index] = known.framework.decode(found[treebank], known.vocabulary)
    return [graphs[index] for index in range(len(sentences))]


class Workers(Generic[Batch, Result]):
    """Do ``work`` on batches with so many threads, which are started when there are two batches.

    Until then, and with one thread, the calling thread works on a batch when its result is asked for.  The C code lets
    other threads of Python go on while it computes, and it is most of the work.  Threads need no copies of the model,
    nothing is sent between processes, and nothing can hang after a fork, of which only one thread comes out.
    """

    def __init__(self, work: Callable[[Batch], Result], threads: int | None = None) -> None:
        self.work = work
        self.threads = threads or cores()
        self._pool: ThreadPoolExecutor | None = None

    def __enter__(self) -> Workers[Batch, Result]:
        return self

    def __exit__(self, *error: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def map(self, batches: Sequence[Batch]) -> list[Callable[[], Result]]:
        """Begin the work on each batch; calling a result waits for it."""
        if self._pool is None:
            if len(batches) == 1 or self.threads == 1:
                return [partial(self.work, batch) for batch in batches]
            self._pool = ThreadPoolExecutor(self.threads, "perin")
        return [self._pool.submit(self.work, batch).result for batch in batches]


def cores() -> int:
    """How many cores this process may use; ``OMP_NUM_THREADS`` can say that it is fewer."""
    wanted = os.environ.get("OMP_NUM_THREADS", "")
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(int(wanted), available) if wanted.isdigit() and int(wanted) > 0 else available


def windows(items: Iterable[Given], size: Callable[[Given], int]) -> Iterator[list[Given]]:
    """Consecutive items, more and more at a time; ``size`` of an item in tokens.

    >>> [len(window) for window in windows(range(200), lambda item: 1)]
    [32, 64, 104]
    """
    most, window, tokens = FIRST_WINDOW, list[Given](), 0
    for item in items:
        window.append(item)
        tokens += size(item)
        if len(window) >= most or tokens >= WINDOW_TOKENS:
            yield window
            most, window, tokens = min(2 * most, LARGEST_WINDOW), [], 0
    if window:
        yield window


def in_order(
    items: Iterable[Given],
    size: Callable[[Given], int],
    work: Callable[[list[Given]], Sequence[Result]],
    *,
    threads: int | None = None,
    budget: float = BUDGET,
    max_batch_size: int = MAX_BATCH_SIZE,
) -> Iterator[Result]:
    """What ``work`` makes of each item, in the order of the items.

    ``work`` gets batches of at most ``max_batch_size`` items of about the same ``size`` in tokens and ``budget`` cost.
    """
    with Workers(work, threads) as workers:
        waiting: deque[tuple[list[list[int]], list[Callable[[], Sequence[Result]]]]] = deque()
        for window in windows(items, size):
            costs = [cost(size(item)) for item in window]
            order = sorted(range(len(window)), key=costs.__getitem__, reverse=True)
            batches = cut(order, costs, budget=budget, max_batch_size=max_batch_size)
            waiting.append((batches, workers.map([[window[index] for index in batch] for batch in batches])))
            if len(waiting) > 1:
                yield from _sorted(*waiting.popleft())
        while waiting:
            yield from _sorted(*waiting.popleft())


def _sorted(batches: list[list[int]], results: list[Callable[[], Sequence[Result]]]) -> Iterator[Result]:
    """The results of the batches of a window, by the numbers of their items."""
    by_number = {
        number: result
        for batch, found in zip(batches, results, strict=True)
        for number, result in zip(batch, found(), strict=True)
    }
    return (by_number[number] for number in sorted(by_number))
