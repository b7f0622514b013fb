"""What two graphs could match, by kind: which pairs of nodes agree on what, and which pairs of arcs."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from perin.scoring.items import Items

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]
Booleans: TypeAlias = NDArray[np.bool_]
Arc: TypeAlias = tuple[int, int, Hashable]
"""Source, target, and the key that must be equal for two arcs to match."""


@dataclass(frozen=True, slots=True)
class NodeFeature:
    """``matches[i, j]``: what pairing gold node i with system node j gives; ``most``: no map gives more in all."""

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


def attribute_arcs(items: Items) -> list[Arc]:
    """Edge attributes as the MRP metric reports them: with the label of their edge."""
    return [(source, target, (label, name, value)) for source, target, label, name, value in items.attributes]


def link_arcs(items: Items) -> list[Arc]:
    """Edge attributes as the official search sees them: whatever the label of their edge, once a node pair."""
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
    tables = []
    for side in (gold, system):
        table = np.zeros((len(side.ids), len(numbers)))
        for node, pairs in enumerate(side.properties):
            table[node, [numbers[pair] for pair in pairs if pair in numbers]] = 1
        tables.append(table)
    first, second = tables
    return NodeFeature(first @ second.T, float(np.minimum(first.sum(0), second.sum(0)).sum()))


def _arcs(gold: Iterable[Arc], system: Iterable[Arc]) -> ArcFeature:
    numbers: dict[Hashable, int] = {}
    sides = []
    for side in (gold, system):
        arcs = [arc for arc in side if arc[0] != arc[1]]
        ends = np.array([arc[:2] for arc in arcs], dtype=np.int64).reshape(-1, 2).T
        sides.append((ends, _numbered([arc[2] for arc in arcs], numbers)))
    (gold_ends, gold_keys), (system_ends, system_keys) = sides
    first, second = np.nonzero(gold_keys[:, None] == system_keys)
    return ArcFeature(first, second, gold_keys[first], gold_ends, system_ends, _common(gold_keys, system_keys))


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


FEATURES: dict[str, Callable[[Items, Items], Feature]] = {
    "tops": _tops,
    "labels": lambda gold, system: _equal(gold.labels, system.labels),
    "unlabelled": _unlabelled,
    "properties": _properties,
    "anchors": lambda gold, system: _equal(gold.anchors, system.anchors),
    "edges": lambda gold, system: _arcs(gold.edges, system.edges),
    "attributes": lambda gold, system: _arcs(attribute_arcs(gold), attribute_arcs(system)),
    "links": lambda gold, system: _arcs(link_arcs(gold), link_arcs(system)),
    "edge loops": lambda gold, system: _loops(gold.edges, system.edges, _shape(gold, system)),
    "attribute loops": lambda gold, system: _loops(attribute_arcs(gold), attribute_arcs(system), _shape(gold, system)),
    "loop arcs": lambda gold, system: _loops(
        [*gold.edges, *link_arcs(gold)], [*system.edges, *link_arcs(system)], _shape(gold, system), any_arc=True
    ),
}
"""How each feature is found.  ``links``, ``unlabelled`` and ``loop arcs`` exist only in the official search."""
