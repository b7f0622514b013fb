"""The labels that came next: what else each node and edge of a decoded graph could be called.

The network's labels are not the framework's (DRG's relations are edges, AMR's edges may be inverted, senses are apart).
So each rank of alternatives is put into a copy of the graph, which the framework's steps then restore like the graph
itself.  Nodes and edges are numbered in ``extra``, which all steps preserve, so they are found again in the copies.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from perin.contract.heads import Bools, Prediction, true_columns
from perin.frameworks.decoding.assembly import choose_properties
from perin.frameworks.decoding.labels import Labelling, Ranking
from perin.frameworks.decoding.nodes import Nodes
from perin.frameworks.decoding.structure import Structure
from perin.frameworks.steps import RELATION
from perin.frameworks.vocabulary import Vocabulary
from perin.graphs.graph import Edge, Graph, Node, Property

FIELD = "alternatives"
"""Where ``extra`` has them: pairs of a label and its probability, the most probable first, none that rounds to 0."""

_ODDS = "odds"
"""Where the ``extra`` of relabelled copies has the probability of their labels."""

Item = TypeVar("Item", Node, Edge)
_Ranked = list[tuple[str, float]]


@dataclass(frozen=True)
class Alternatives:
    """The alternatives of an assembled graph, in terms of the network's labels."""

    graph: Graph
    nodes: list[_Ranked]
    """Of each node, without its own label."""
    edges: list[_Ranked]
    """Of each edge, without the labels of its pair."""
    properties: list[list[tuple[Property, ...]]]
    """Of each node, the properties that a lexicon lists for each alternative."""
    lexical: frozenset[str]

    def mark(self) -> Graph:
        """The graph whose nodes and edges say in ``extra`` which ones they are, so that changes can't confuse them."""
        return replace(self.graph, nodes=_marked(self.graph.nodes), edges=_marked(self.graph.edges))

    def add_to(self, marked: Graph, restore: Callable[[Graph], Graph]) -> Graph:
        """The restored graph with alternatives; ``marked``: what :meth:`mark` gave, possibly changed since then."""
        most = max(map(len, (*self.nodes, *self.edges)), default=0)
        copies = [restore(self._relabelled(marked, rank)) for rank in range(most)]
        graph = restore(marked)
        return replace(
            graph,
            nodes=_collected(graph.nodes, [copy.nodes for copy in copies]),
            edges=_collected(graph.edges, [copy.edges for copy in copies]),
        )

    def _relabelled(self, marked: Graph, rank: int) -> Graph:
        nodes = []
        for node in marked.nodes:
            number = _number(node)
            fresh = _relabelled(node, self.graph.nodes, self.nodes, rank)
            if number is not None and fresh.label != node.label and self.lexical:
                kept = tuple(pair for pair in node.properties if pair.name not in self.lexical)
                fresh = replace(fresh, properties=(*kept, *self.properties[number][rank]))
            nodes.append(fresh)
        edges = [_relabelled(edge, self.graph.edges, self.edges, rank) for edge in marked.edges]
        return replace(marked, nodes=tuple(nodes), edges=tuple(edges))


def find_alternatives(
    graph: Graph,
    prediction: Prediction,
    vocabulary: Vocabulary,
    labelling: Labelling,
    nodes: Nodes,
    structure: Structure,
    labels: Bools,
    count: int,
) -> Alternatives:
    """The ``count`` next most probable labels of each node and edge of a graph that was assembled of all the rest."""
    kept = np.flatnonzero(structure.keep).tolist()
    ranking = Ranking(prediction.labels)
    anchored = None if nodes.anchors is None or prediction.anchors is None else true_columns(nodes.anchors)
    exists = np.clip(1 - prediction.labels[:, 0], 1e-9, 1).tolist()
    tokens = prediction.tokens.tolist()
    of_nodes: list[_Ranked] = []
    for query in kept:
        seen = range(tokens[query], len(labelling.forms)) if anchored is None else anchored[query]
        ranked = labelling.ranked(ranking, query, seen, value=bool(nodes.flags[query]))
        of_nodes.append(
            [
                (label, round(min(odds / exists[query], 1.0), 4))
                for label, odds in ranked
                if label != nodes.labels[query]
            ][:count]
        )
    lexical = frozenset(vocabulary.lexica) & frozenset(vocabulary.property_classes)
    scores = {name: prediction.property_classes[name] for name in lexical}
    listed = replace(vocabulary, property_classes={name: vocabulary.property_classes[name] for name in lexical})
    properties = [
        [
            choose_properties({name: rows[[query]] for name, rows in scores.items()}, [label], listed)[0]
            for label, _ in ranked
        ]
        for query, ranked in zip(kept, of_nodes, strict=True)
    ]
    return Alternatives(
        graph, of_nodes, _of_edges(prediction, vocabulary, structure, labels, count), properties, lexical
    )


def _of_edges(
    prediction: Prediction, vocabulary: Vocabulary, structure: Structure, labels: Bools, count: int
) -> list[_Ranked]:
    """Relations (DRG) are replaced by relations and other edges by other edges, for only relations become nodes."""
    names = vocabulary.edge_labels
    relations = np.array([(name or "").startswith(RELATION) for name in names], dtype=np.bool_)
    bare = np.array([name is None or name == RELATION for name in names], dtype=np.bool_)
    found: list[_Ranked] = []
    for row, column in np.argwhere(labels).tolist():
        source, target = structure.edges[row]
        scores = prediction.edge_labels[source, target]
        barred = labels[row] | bare | (relations != relations[column])
        best = np.argsort(-np.where(barred, -1.0, scores), kind="stable")[:count].tolist()
        found.append([(str(names[each]), round(float(scores[each]), 4)) for each in best if not barred[each]])
    return found


def _marked(items: tuple[Item, ...]) -> tuple[Item, ...]:
    return tuple(
        replace(item, extra={**(item.extra or {}), FIELD: (type(item), number)}) for number, item in enumerate(items)
    )


def _number(item: Node | Edge) -> int | None:
    kind, number = (item.extra or {}).get(FIELD, (None, None))
    return number if kind is type(item) else None


def _relabelled(item: Item, originals: Sequence[Item], ranked: list[_Ranked], rank: int) -> Item:
    """An item with its alternative of a rank; as it is if it has none or was renamed since."""
    number = _number(item)
    if number is None or item.label != originals[number].label or rank >= len(ranked[number]):
        return item
    label, probability = ranked[number][rank]
    return replace(item, label=label, extra={**(item.extra or {}), _ODDS: probability})


def _collected(items: tuple[Item, ...], copies: list[tuple[Item, ...]]) -> tuple[Item, ...]:
    """Items with the labels that their counterparts have in copies of the graph."""
    named: list[dict[Any, tuple[str | None, float]]] = []
    for copy in copies:
        extras = ((each.label, each.extra) for each in copy if each.extra and _ODDS in each.extra)
        named.append({extra[FIELD]: (label, extra[_ODDS]) for label, extra in extras if label is not None})
    collected = []
    for item in items:
        extra = dict(item.extra or {})
        number = extra.pop(FIELD, None)
        others = [copy[number] for copy in named if number in copy] if item.label is not None else []
        listed = [[label, odds] for label, odds in others if label != item.label and odds]
        collected.append(replace(item, extra={**extra, FIELD: listed} if listed else extra or None))
    return tuple(collected)
