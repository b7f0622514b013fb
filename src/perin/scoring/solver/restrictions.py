"""The official restrictions on the correspondence: node order (flavor 0) and dominance (UCCA)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from perin.scoring.items import Items
from perin.scoring.solver.features import Booleans, Floats, Integers


@dataclass(frozen=True)
class Dominance:
    """UCCA: where gold node ``upper[q]`` goes to j, gold node ``lower[q]`` may only go below j.

    ``below[j, l]``: system node l can be reached from j over primary edges.  ``count``: the number of gold nodes.
    """

    count: int
    upper: Integers
    lower: Integers
    below: Booleans

    def __len__(self) -> int:
        return len(self.upper)

    def violated(self, image: Integers) -> Booleans:
        """Which of the demands a map breaks."""
        upper, lower = image[self.upper], image[self.lower]
        broken: Booleans = (upper >= 0) & (lower >= 0) & ~self.below[upper, lower]
        return broken

    def blocked(self, image: Integers) -> Booleans:
        """``[N, M]``: where a node can't go while all others stay where the map has them."""
        placed = np.nonzero(image >= 0)[0]
        off = (~self.below).astype(np.float32)
        blocked: Booleans = self._demands[:, placed] @ off[:, image[placed]].T > 0
        blocked |= self._demands.T[:, placed] @ off[image[placed]] > 0
        return blocked

    @cached_property
    def _demands(self) -> NDArray[np.float32]:
        """``[N, N]``: 1 where there is a demand of an upper node (row) on a lower one (column)."""
        table = np.zeros((self.count, self.count), dtype=np.float32)
        table[self.upper, self.lower] = 1
        return table

    def repaired(self, image: Integers) -> Integers:
        """Take out nodes, the one that breaks most demands first, until none is broken."""
        image = image.copy()
        broken = np.nonzero(self.violated(image))[0]
        while len(broken):
            upper, lower = self.upper[broken], self.lower[broken]
            blame = np.bincount(upper, minlength=len(image)) + np.bincount(lower, minlength=len(image))
            worst = blame.argmax()
            image[worst] = -1
            broken = broken[(upper != worst) & (lower != worst)]
        return image


_OVERLAP = 2e11
_TABLE = 4e7
"""The most operations that the overlap of yields may take, and the most numbers of a table of nodes and labels."""


def ucca_restrictions_fit(gold: Items, system: Items) -> bool:
    """Whether the official restrictions can be found in seconds and some hundred megabytes."""
    labels = {edge[2] for side in (gold, system) for edge in side.edges}
    nodes = len(gold.ids), len(system.ids)
    return nodes[0] * nodes[1] * _covered_length(gold, system) <= _OVERLAP and max(nodes) * len(labels) <= _TABLE


def ucca_restrictions(gold: Items, system: Items) -> tuple[Booleans, Dominance]:
    """Which node pairs UCCA allows (leaves go with leaves, except for the node of rank 0), and what else it demands.

    The ranks are those of the official tool's first, greedy pairing; they depend on the order of nodes in both files.
    """
    gold_below, system_below = _below(gold), _below(system)
    rank = _ranks(gold, system, gold_below, system_below)
    allowed: Booleans = np.equal.outer(gold_below.any(1), system_below.any(1))
    allowed[rank == 0] = True
    upper, lower = np.nonzero(gold_below & (rank < rank[:, None]))
    return allowed, Dominance(len(gold.ids), upper, lower, system_below)


def _below(items: Items) -> Booleans:
    """``[i, k]``: node k can be reached from node i over primary edges."""
    size = len(items.ids)
    reach = np.zeros((size, size), dtype=np.float32)
    for edge in items.edges:
        if edge not in items.remote:
            reach[edge[0], edge[1]] = 1
    while True:
        further = np.minimum(reach + reach @ reach, 1)
        if np.array_equal(further, reach):
            return reach > 0
        reach = further


def _ranks(gold: Items, system: Items, gold_below: Booleans, system_below: Booleans) -> Integers:
    """The place of each gold node when pairs are taken greedily: by common items, characters below, edges alike."""
    count, width = len(gold.ids), len(system.ids) + 1
    unpaired = np.zeros((count, 1))
    reward = np.hstack((_rewards(gold, system), -_own_items(gold)[:, None]))
    overlap = np.hstack((_overlap(gold, system, gold_below, system_below), unpaired))
    edges = np.hstack((_common_edges(gold, system), unpaired))
    order = np.lexsort((-edges.ravel(), -overlap.ravel(), -reward.ravel()))
    rank = np.full(count, -1, dtype=np.int64)
    used = np.zeros(width, dtype=bool)
    place = 0
    for i, j in zip(*(part.tolist() for part in np.divmod(order, width)), strict=True):
        if rank[i] < 0 and not used[j]:
            rank[i] = place
            place += 1
            used[j] = j < width - 1
            if place == count:
                break
    return rank


def _own_items(items: Items) -> Floats:
    return np.array(
        [
            (node in items.tops) + (items.labels[node] is not None) + len(items.properties[node])
            for node in range(len(items.ids))
        ],
        dtype=np.float64,
    )


def _rewards(gold: Items, system: Items) -> Floats:
    """Top flags, labels and properties that are common, minus those that are not."""
    gold_tops, system_tops = _flags(gold), _flags(system)
    rewards = np.where(gold_tops[:, None] == system_tops, 1.0, -1.0)
    for i, (label, properties) in enumerate(zip(gold.labels, gold.properties, strict=True)):
        if label is None and not properties and not any(system.properties):
            continue
        for j, (other, others) in enumerate(zip(system.labels, system.properties, strict=True)):
            common = len(properties & others)
            rewards[i, j] += 3 * common - len(properties) - len(others)
            if label is not None:
                rewards[i, j] += 1 if label == other else -1 - (other is not None)
    return rewards


def _flags(items: Items) -> Booleans:
    flags = np.zeros(len(items.ids), dtype=bool)
    flags[list(items.tops)] = True
    return flags


def _overlap(gold: Items, system: Items, gold_below: Booleans, system_below: Booleans) -> Floats:
    """How many characters the yields of two nodes have in common."""
    own = [[node if isinstance(node, frozenset) else frozenset() for node in side.anchors] for side in (gold, system)]
    product = np.zeros((len(own[0]), len(own[1])))
    length = _covered_length(gold, system)
    width = min(length, _BLOCK)
    for start in range(0, length, _BLOCK):
        tables = []
        for side, below in zip(own, (gold_below, system_below), strict=True):
            table = np.zeros((len(side), width), dtype=np.float32)
            for node, positions in enumerate(side):
                table[node, [place - start for place in positions if start <= place < start + width]] = 1
            tables.append(np.minimum(table + below.astype(np.float32) @ table, 1))
        product += tables[0] @ tables[1].T
    return product


_BLOCK = 4096
"""Characters whose overlap is counted at once."""


def _covered_length(gold: Items, system: Items) -> int:
    """One more than the last character that a node covers."""
    ends = [
        max(positions) + 1
        for side in (gold, system)
        for positions in side.anchors
        if isinstance(positions, frozenset) and positions
    ]
    return max(ends, default=0)


def _common_edges(gold: Items, system: Items) -> Floats:
    """How many pairs of equally labelled edges leave both nodes or enter both."""
    labels = {label: number for number, label in enumerate({edge[2]: None for edge in (*gold.edges, *system.edges)})}
    tables = []
    for side in (gold, system):
        table = np.zeros((len(side.ids), 2 * len(labels)), dtype=np.float32)
        for source, target, label in side.edges:
            table[source, labels[label]] += 1
            table[target, len(labels) + labels[label]] += 1
        tables.append(table)
    product: Floats = (tables[0] @ tables[1].T).astype(np.float64)
    return product
