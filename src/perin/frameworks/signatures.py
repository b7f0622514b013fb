"""Signatures: which properties the nodes of a kind of label can have, and which values, learned from a treebank.

A verb has a tense and no number; ``compound`` has neither.  A property is barred for a kind of label if it never
occurs there although, at its rate in the whole treebank, it would be expected several times.  Here a property is
everything that leads from a node to a constant, as in :mod:`perin.graphs.constraints`, and what a classifier chooses.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from perin.frameworks.steps import FLAG, flagged
from perin.graphs.graph import Graph
from perin.labels.rules import fold

_EXPECTED = 7.0
"""How often a property must be expected for its absence to mean something: by chance that is one case in a thousand."""
_FREQUENT = 25
"""Labels that occur at least as often are a kind of their own."""
_USES, _USES_OF_VALUE = 20, 3
"""How often a property, and each of its values, must occur for its values to be all that there are."""
_RARE = "*"


@dataclass(frozen=True)
class Signatures:
    """What a treebank says about properties; empty: no restriction.

    Kinds are labels in lower case; ``*_v`` stands for all lexical labels of one part of speech (see
    :attr:`~perin.frameworks.framework.Framework.lexical_labels`) and ``*`` for rare labels.
    """

    barred: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By kind: the properties that its nodes never have."""
    values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By property: all values in lower case, where they are a closed list."""

    def bars(self, label: str, lexical: str | None) -> tuple[str, ...]:
        """The properties that a node of this label can't have."""
        own = _kind(label, lexical)
        return self.barred.get(own, self.barred.get(_RARE, ()) if own == fold(label) else ())

    def to_json(self) -> dict[str, Any]:
        """As a JSON object."""
        return {
            "barred": {kind: list(names) for kind, names in self.barred.items()},
            "values": {name: list(values) for name, values in self.values.items()},
        }

    @classmethod
    def from_json(cls, data: Any) -> Signatures:
        """From :meth:`to_json`."""
        barred, values = data.get("barred", {}), data.get("values", {})
        return cls(
            {kind: tuple(names) for kind, names in barred.items()},
            {name: tuple(listed) for name, listed in values.items()},
        )


def count_signatures(graphs: Iterable[Graph], lexical: str | None, listed: Collection[str] = ()) -> Signatures:
    """The signatures of a treebank's graphs after the steps of their framework.

    ``lexical``: the pattern of labels made from words.  ``listed``: properties that a lexicon lists by label, which
    need no signature.
    """
    nodes: Counter[str] = Counter()
    uses: dict[str, Counter[str]] = defaultdict(Counter)
    values: dict[str, Counter[str]] = defaultdict(Counter)
    for graph in graphs:
        for label, names in _properties(graph, values):
            nodes[kind := _kind(label, lexical)] += 1
            uses[kind].update(names.difference(listed))
    everywhere: Counter[str] = Counter()
    pooled: Counter[str] = Counter()
    uses_of: dict[str, Counter[str]] = defaultdict(Counter)
    for kind, count in nodes.items():
        group = kind if count >= _FREQUENT else _RARE
        pooled[group] += count
        uses_of[group] += uses[kind]
        everywhere += uses[kind]
    rates = {name: count / nodes.total() for name, count in sorted(everywhere.items())}
    barred = {
        kind: tuple(name for name, rate in rates.items() if not uses_of[kind][name] and rate * count >= _EXPECTED)
        for kind, count in sorted(pooled.items())
    }
    if not barred.get(_RARE):  # then kinds without a bar need not be told from rare ones
        barred = {kind: names for kind, names in barred.items() if names}
    closed = {name: tuple(sorted(found)) for name, found in sorted(values.items()) if _is_closed(found)}
    return Signatures(barred, closed)


def _properties(graph: Graph, values: Mapping[str, Counter[str]]) -> Iterator[tuple[str, set[str]]]:
    """The label and the names of the properties of each node that is no constant; counts the values of constants."""
    names: dict[int, set[str]] = defaultdict(set)
    constants = {node.id: node.label or "" for node in graph.nodes if flagged(node)}
    for edge in graph.edges:
        if edge.target in constants and edge.label is not None:
            names[edge.source].add(edge.label)
            values[edge.label][fold(constants[edge.target])] += 1
    for node in graph.nodes:
        if node.id not in constants:
            yield node.label or "", names[node.id] | {pair.name for pair in node.properties if pair != FLAG}


def _is_closed(values: Counter[str]) -> bool:
    return values.total() >= _USES and min(values.values()) >= _USES_OF_VALUE


def _kind(label: str, lexical: str | None) -> str:
    found = None if lexical is None else _compiled(lexical).fullmatch(label)
    return fold(label) if found is None else f"*{found[1]}"


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.DOTALL)
