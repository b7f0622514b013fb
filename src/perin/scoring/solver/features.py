"""What two graphs could match, by kind: which pairs of nodes agree on what, and which pairs of arcs.

Below it, what they may not match by the rules of the official metric: node order (flavor 0) and dominance (UCCA).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from perin.scoring.items import Items, Pair

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]
Booleans: TypeAlias = NDArray[np.bool_]
Arc: TypeAlias = tuple[int, int, Hashable]
"""Source, target, and the key that must be equal for two arcs to match."""


TABLE = 4_000_000
"""Limit on the size of a table of nodes and properties."""


@dataclass(frozen=True, slots=True)
class NodeFeature:
    """``matches[i, j]``: what pairing gold node i with system node j gives; ``most``: no map gives more."""

    matches: Floats
    most: float


@dataclass(frozen=True, slots=True)
class ArcFeature:
    """Pairs of arcs with equal keys, loops left out: pair p is gold arc ``gold[p]`` and system arc ``system[p]``.

    ``keys[p]`` is the number of their key; ``gold_ends`` and ``system_ends`` are ``[2, arcs]``: sources, targets.
    """

    gold: Integers
    system: Integers
    keys: Integers
    gold_ends: Integers
    system_ends: Integers
    most: float


Feature: TypeAlias = NodeFeature | ArcFeature


def shared_features(gold: Items, system: Items, names: Iterable[str]) -> dict[str, Feature]:
    """The named features that some map could match."""
    found = {name: FEATURES[name](gold, system) for name in names}
    return {name: feature for name, feature in found.items() if feature.most}


def count_arc_pairs(gold: Items, system: Items, names: Iterable[str]) -> int:
    """How many pairs of arcs the named features have: what a search needs memory for."""
    total = 0
    for name in ARCS.keys() & set(names):
        keys = [Counter(key for source, target, key in ARCS[name](side) if source != target) for side in (gold, system)]
        total += sum(count * keys[1][key] for key, count in keys[0].items())
    return total


def attribute_arcs(items: Items) -> list[Arc]:
    """Edge attributes as the MRP metric reports them: with the label of their edge."""
    return [(source, target, (label, name, value)) for source, target, label, name, value in items.attributes]


def link_arcs(items: Items) -> list[Arc]:
    """Edge attributes as the official search sees them: without the label of their edge, once per node pair."""
    links = {(source, target, (name, value)): None for source, target, _, name, value in items.attributes}
    return list(links)


def _tops(gold: Items, system: Items) -> NodeFeature:
    matches = np.zeros((len(gold.ids), len(system.ids)))
    matches[np.ix_(list(gold.tops), list(system.tops))] = 1
    return NodeFeature(matches, min(len(gold.tops), len(system.tops)))


def _unlabelled(gold: Items, system: Items) -> NodeFeature:
    first = np.array([label is None for label in gold.labels], dtype=bool)
    second = np.array([label is None for label in system.labels], dtype=bool)
    return NodeFeature((first[:, None] & second).astype(np.float64), float(min(first.sum(), second.sum())))


def _equal(gold: Sequence[Hashable], system: Sequence[Hashable]) -> NodeFeature:
    """Equal values other than None."""
    numbers: dict[Hashable, int] = {None: 0}
    first, second = _numbered(gold, numbers), _numbered(system, numbers)
    matches = ((first[:, None] == second) & (first > 0)[:, None]).astype(np.float64)
    return NodeFeature(matches, _common(first, second) - min((first == 0).sum(), (second == 0).sum()))


def _properties(gold: Items, system: Items) -> NodeFeature:
    known = frozenset().union(*gold.properties) & frozenset().union(*system.properties)
    numbers = {pair: number for number, pair in enumerate(known)}
    if max(len(gold.ids), len(system.ids)) * len(numbers) > TABLE:
        return _rare_properties(gold, system, numbers)
    tables = []
    for side in (gold, system):
        table = np.zeros((len(side.ids), len(numbers)))
        for node, pairs in enumerate(side.properties):
            table[node, [numbers[pair] for pair in pairs if pair in numbers]] = 1
        tables.append(table)
    first, second = tables
    return NodeFeature(first @ second.T, float(np.minimum(first.sum(0), second.sum(0)).sum()))


def _rare_properties(gold: Items, system: Items, known: Mapping[Pair, int]) -> NodeFeature:
    """The same where a table of nodes and properties would be too large."""
    owners: list[dict[int, list[int]]] = []
    for side in (gold, system):
        found: dict[int, list[int]] = {}
        for node, pairs in enumerate(side.properties):
            for pair in pairs & known.keys():
                found.setdefault(known[pair], []).append(node)
        owners.append(found)
    matches = np.zeros((len(gold.ids), len(system.ids)))
    for number, nodes in owners[0].items():
        matches[np.ix_(nodes, owners[1][number])] += 1
    return NodeFeature(matches, float(sum(min(len(nodes), len(owners[1][n])) for n, nodes in owners[0].items())))


def _arcs(gold: Iterable[Arc], system: Iterable[Arc]) -> ArcFeature:
    numbers: dict[Hashable, int] = {}
    sides = []
    for side in (gold, system):
        arcs = [arc for arc in side if arc[0] != arc[1]]
        ends = np.array([arc[:2] for arc in arcs], dtype=np.int64).reshape(-1, 2).T
        sides.append((ends, _numbered([arc[2] for arc in arcs], numbers)))
    (gold_ends, gold_keys), (system_ends, system_keys) = sides
    first, second = _joined(gold_keys, system_keys)
    return ArcFeature(first, second, gold_keys[first], gold_ends, system_ends, _common(gold_keys, system_keys))


def _joined(first: Integers, second: Integers) -> tuple[Integers, Integers]:
    """The places of all pairs of equal numbers, in the order of the first, then of the second."""
    order = np.argsort(second, kind="stable")
    starts, ends = (np.searchsorted(second[order], first, side=side) for side in ("left", "right"))
    counts = ends - starts
    left = np.repeat(np.arange(len(first)), counts)
    within = np.arange(len(left)) - np.repeat(np.cumsum(counts) - counts, counts)
    return left, order[np.repeat(starts, counts) + within]


def _loops(gold: Iterable[Arc], system: Iterable[Arc], shape: tuple[int, int], *, any_arc: bool = False) -> NodeFeature:
    """Loops of gold nodes that the system node has too; with ``any_arc``, any arc of the same key at it will do."""
    matches = np.zeros(shape)
    loops = [(source, key) for source, target, key in gold if source == target]
    if loops:
        at: dict[Hashable, set[int]] = {}
        for source, target, key in system:
            if any_arc or source == target:
                at.setdefault(key, set()).update((source, target))
        for node, key in loops:
            matches[node, list(at.get(key, ()))] += 1
    return NodeFeature(matches, float(matches.max(1, initial=0).sum()))


def _numbered(values: Iterable[Hashable], numbers: dict[Hashable, int]) -> Integers:
    return np.array([numbers.setdefault(value, len(numbers)) for value in values], dtype=np.int64)


def _common(first: Integers, second: Integers) -> float:
    """The size of the intersection of two bags of small numbers."""
    length = max(first.max(initial=0), second.max(initial=0)) + 1
    return float(np.minimum(np.bincount(first, minlength=length), np.bincount(second, minlength=length)).sum())


def _shape(gold: Items, system: Items) -> tuple[int, int]:
    return len(gold.ids), len(system.ids)


def _arc_finder(name: str) -> Callable[[Items, Items], ArcFeature]:
    return lambda gold, system: _arcs(ARCS[name](gold), ARCS[name](system))


ARCS: dict[str, Callable[[Items], Iterable[Arc]]] = {
    "edges": lambda items: items.edges,
    "attributes": attribute_arcs,
    "links": link_arcs,
}
"""The features that pair arcs, and where the arcs come from."""

FEATURES: dict[str, Callable[[Items, Items], Feature]] = {
    "tops": _tops,
    "labels": lambda gold, system: _equal(gold.labels, system.labels),
    "unlabelled": _unlabelled,
    "properties": _properties,
    "anchors": lambda gold, system: _equal(gold.anchors, system.anchors),
    **{name: _arc_finder(name) for name in ARCS},
    "edge loops": lambda gold, system: _loops(gold.edges, system.edges, _shape(gold, system)),
    "attribute loops": lambda gold, system: _loops(attribute_arcs(gold), attribute_arcs(system), _shape(gold, system)),
    "loop arcs": lambda gold, system: _loops(
        [*gold.edges, *link_arcs(gold)], [*system.edges, *link_arcs(system)], _shape(gold, system), any_arc=True
    ),
}
"""How each feature is found.  ``links``, ``unlabelled`` and ``loop arcs`` exist only in the official search."""


# The official restrictions on the correspondence: node order (flavor 0) and dominance (UCCA).


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
"""Limits on the operations for the overlap of yields, and on the size of a table of nodes and labels."""


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
