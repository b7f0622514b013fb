"""An order of a target's nodes that does not depend on the order in which they come."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from perin.frameworks.target import Target
from perin.learning.targets import node_keys

Ints: TypeAlias = NDArray[np.int64]


def node_ranks(target: Target) -> Ints:
    """[N]: ranks such that nodes of the same rank look alike, as do their neighbours, and theirs, and so on.

    Nodes of the same rank are all but always interchangeable.  (Colour refinement, with colours sorted by what they
    mean, so that they are the same for every order of the nodes.)
    """
    ranks = _ranked([(key, *_appearance(target, node)) for node, key in enumerate(node_keys(target))])
    edges = [
        (int(source), int(end), _edge_appearance(target, number)) for number, (source, end) in enumerate(target.edges)
    ]
    while True:
        around: list[list[tuple[bool, Hashable, int]]] = [[] for _ in ranks]
        for source, end, look in edges:
            around[source].append((True, look, ranks[end]))
            around[end].append((False, look, ranks[source]))
        finer = _ranked([(rank, *sorted(seen, key=repr)) for rank, seen in zip(ranks, around, strict=True)])
        if len(set(finer)) == len(set(ranks)):
            return np.array(finer, dtype=np.int64)
        ranks = finer


def _ranked(looks: list[Any]) -> list[int]:
    numbers = {text: number for number, text in enumerate(sorted({repr(look) for look in looks}))}
    return [numbers[repr(look)] for look in looks]


def _appearance(target: Target, node: int) -> tuple[Hashable, ...]:
    """What is known of a node alone besides labels and anchors."""
    return (
        None if target.properties is None else bool(target.properties[node]),
        None if target.tops is None else bool(target.tops[node]),
        tuple((name, int(classes[node])) for name, classes in sorted(target.property_classes.items())),
    )


def _edge_appearance(target: Target, edge: int) -> Hashable:
    attribute = None if target.edge_attributes is None else int(target.edge_attributes[edge])
    return target.edge_labels[edge].tobytes(), attribute
