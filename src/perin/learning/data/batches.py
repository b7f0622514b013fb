"""Examples, the batches of an epoch, and the targets of a batch."""

from __future__ import annotations

import queue
import random
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from perin.contract.heads import Target
from perin.model.batches import cut
from perin.network.inputs import InputBatch, Preparation, SentenceInput
from perin.network.layers import Layout

Ints: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]
Item = TypeVar("Item")
Made = TypeVar("Made")


class TargetBatch:
    """The targets of one or more sentences of a treebank; nodes, tokens and queries are packed as in the network.

    ``queries`` is Q, the number of queries per token: packed query q belongs to packed token q // Q.
    """

    def __init__(self, targets: Sequence[Target], queries: int) -> None:
        self.targets = targets
        self.queries = queries
        self.nodes = Layout([len(target) for target in targets])
        self.tokens = Layout([target.mask.shape[1] for target in targets])
        self.query_layout = self.tokens.repeated(queries)

    def joined(self, field: Callable[[Target], NDArray[Any] | None], starts: Ints | None = None) -> NDArray[Any]:
        """A field of all targets, concatenated; with ``starts``, each sentence's values are shifted by its start."""
        parts = [_present(field(target)) for target in self.targets]
        if starts is not None:
            parts = [part + start for part, start in zip(parts, starts, strict=True)]
        return np.concatenate(parts)

    @cached_property
    def rule_nodes(self) -> Ints:
        """[E]: the packed node of each entry of the rule table."""
        return self.joined(lambda target: target.rule_nodes, self.nodes.starts)

    @cached_property
    def rule_tokens(self) -> Ints:
        """[E]: the packed token of each entry, -1 for any."""
        tokens = self.joined(lambda target: target.rule_tokens)
        starts = self.tokens.starts[self.nodes.sequences[self.rule_nodes]]
        result: Ints = np.where(tokens < 0, -1, tokens + starts)
        return result

    @cached_property
    def rule_ids(self) -> Ints:
        """[E]"""
        return self.joined(lambda target: target.rule_ids)

    @cached_property
    def edges(self) -> Ints:
        """[M, 2]: packed nodes."""
        return self.joined(lambda target: target.edges, self.nodes.starts)

    @cached_property
    def edge_labels(self) -> Bools:
        """[M, L]"""
        return self.joined(lambda target: target.edge_labels)

    @cached_property
    def masks(self) -> Bools:
        """[B, N, T]: the tokens whose queries may be matched with each node, padded with false."""
        return self._padded(lambda target: target.mask)

    @cached_property
    def anchors(self) -> Bools:
        """[B, N, T]: the anchors of each node, padded with false."""
        return self._padded(lambda target: target.anchors)

    @cached_property
    def candidates(self) -> tuple[Ints, Ints, Ints]:
        """Every way in which a query can yield a node's label: packed node, packed query, rule."""
        anywhere = self.rule_tokens < 0
        sentences = self.nodes.sequences[self.rule_nodes]
        counts = np.where(anywhere, self.query_layout.lengths[sentences], self.queries)
        first = np.where(anywhere, self.query_layout.starts[sentences], self.rule_tokens * self.queries)
        entries = np.repeat(np.arange(len(counts)), counts)
        within = np.arange(len(entries)) - np.repeat(np.cumsum(counts) - counts, counts)
        return self.rule_nodes[entries], first[entries] + within, self.rule_ids[entries]

    @cached_property
    def groups(self) -> Ints:
        """[nodes]: nodes of one sentence with the same number differ in their edges only."""
        return self.joined(tie_groups, self.nodes.starts)

    def _padded(self, field: Callable[[Target], Bools | None]) -> Bools:
        result = np.zeros((len(self.targets), self.nodes.longest, self.tokens.longest), dtype=np.bool_)
        for number, target in enumerate(self.targets):
            part = _present(field(target))
            result[number, : part.shape[0], : part.shape[1]] = part
        return result


def _present(array: NDArray[Any] | None) -> NDArray[Any]:
    if array is None:
        raise ValueError("the targets of this batch lack a field that their treebank has a head for")
    return array


def tie_groups(target: Target) -> Ints:
    """[N]: the first node with the same rules, mask and anchors.

    Nodes with some rules in common have all in common, since a rule yields one label from given tokens.
    """
    first: dict[tuple[bytes, ...], int] = {}
    groups = [first.setdefault(key, node) for node, key in enumerate(node_keys(target))]
    return np.array(groups, dtype=np.int64)


def node_keys(target: Target) -> list[tuple[bytes, ...]]:
    """All that decides about the matching of each node: its rules, mask and anchors."""
    order = np.lexsort((target.rule_ids, target.rule_tokens, target.rule_nodes))
    entries = np.stack((target.rule_tokens[order], target.rule_ids[order]), axis=1)
    borders = np.searchsorted(target.rule_nodes[order], np.arange(len(target) + 1))
    return [
        (
            entries[borders[node] : borders[node + 1]].tobytes(),
            target.mask[node].tobytes(),
            b"" if target.anchors is None else target.anchors[node].tobytes(),
        )
        for node in range(len(target))
    ]


@dataclass(frozen=True, eq=False)
class Example:
    """A prepared sentence with its target for one treebank."""

    input: SentenceInput
    treebank: str
    target: Target


@dataclass(frozen=True, eq=False)
class Batch:
    """Sentences, and for each treebank its targets and the sentences that have them."""

    inputs: InputBatch
    targets: Mapping[str, TargetBatch]
    sentences: Mapping[str, NDArray[np.int64]]


def collate(examples: Sequence[Example], preparation: Preparation, queries: Mapping[str, int]) -> Batch:
    """A batch of examples; ``queries`` per token of each treebank."""
    sentences = {
        treebank: np.array([i for i, example in enumerate(examples) if example.treebank == treebank], dtype=np.int64)
        for treebank in sorted({example.treebank for example in examples})
    }
    targets = {
        treebank: TargetBatch([examples[number].target for number in numbers], queries[treebank])
        for treebank, numbers in sentences.items()
    }
    return Batch(preparation.collate([example.input for example in examples]), targets, sentences)


# The batches of an epoch: sentences of one treebank and of similar cost, so that there is little padding.


def epoch_batches(
    costs: Sequence[float],
    treebanks: Sequence[str],
    *,
    budget: float,
    max_batch_size: int,
    seed: int,
    epoch: int,
    noise: float = 0.1,
) -> list[list[int]]:
    """The batches of one epoch as lists of sentence numbers: each sentence once, batches in random order.

    A batch is of one treebank: heads then work on many sentences at once.  Sentences are sorted by cost times a random
    factor within ``1 ± noise``, so that batches differ between epochs, and cut where a batch would hold more than
    ``max_batch_size`` sentences or cost more than ``budget``.  The result depends on nothing but the arguments.
    """
    generator = random.Random(f"{seed} {epoch}")
    keys = [(name, cost * generator.uniform(1 - noise, 1 + noise)) for name, cost in zip(treebanks, costs, strict=True)]
    order = sorted(range(len(costs)), key=keys.__getitem__)
    batches = [
        batch
        for _, numbers in groupby(order, treebanks.__getitem__)
        for batch in cut(numbers, costs, budget=budget, max_batch_size=max_batch_size)
    ]
    generator.shuffle(batches)
    return batches


def share(batch: Sequence[int], costs: Sequence[float], rank: int, processes: int) -> list[int]:
    """The part of a batch for one of several processes; the parts make up the batch and cost about the same.

    >>> [share([0, 1, 2], [9.0, 3.0, 3.0], rank, 2) for rank in (0, 1)]
    [[0], [1, 2]]
    """
    parts: list[list[int]] = [[] for _ in range(processes)]
    loads = [0.0] * processes
    for index in sorted(batch, key=lambda index: (-costs[index], index)):
        part = min(range(processes), key=lambda number: (loads[number], number))
        parts[part].append(index)
        loads[part] += costs[index]
    return parts[rank]


def prefetched(items: Iterable[Item], make: Callable[[Item], Made], ahead: int = 2) -> Iterator[Made]:
    """``map(make, items)``, computed a little ahead by a thread of its own.

    >>> list(prefetched([1, 2, 3], str))
    ['1', '2', '3']
    """
    made: queue.Queue[Made | BaseException | None] = queue.Queue(ahead)
    stopped = threading.Event()

    def put(item: Made | BaseException | None) -> None:
        while not stopped.is_set():
            try:
                return made.put(item, timeout=0.1)
            except queue.Full:
                continue

    def work() -> None:
        try:
            for item in items:
                if stopped.is_set():
                    return
                put(make(item))
            put(None)
        except BaseException as error:  # noqa: BLE001 - handed to the thread that waits for it
            put(error)

    threading.Thread(target=work, daemon=True).start()
    try:
        while (item := made.get()) is not None:
            if isinstance(item, BaseException):
                raise item
            yield item
    finally:
        stopped.set()
