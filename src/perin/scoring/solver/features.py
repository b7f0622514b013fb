"""What two graphs could match, by kind: which pairs of nodes agree on what, and which pairs of arcs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
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
"""The most numbers that a table of nodes and properties may have."""


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
    """Those of the named features that some map could match."""
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
