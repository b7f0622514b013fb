"""From decisions to a graph in the form that the network learns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from perin.contract.heads import Bools, Prediction, true_cells, true_columns
from perin.frameworks.decoding.nodes import Labelling, Nodes, Ranking
from perin.frameworks.decoding.structure import Structure
from perin.frameworks.encoding import Anchoring
from perin.frameworks.steps import FLAG, RELATION
from perin.frameworks.vocabulary import Vocabulary, class_numbers
from perin.graphs.graph import Anchor, Edge, Graph, Node, Property
from perin.labels.rules import fold

_SMALLEST = 1e-9


def assembled(
    bare: Graph,
    prediction: Prediction,
    vocabulary: Vocabulary,
    nodes: Nodes,
    properties: Sequence[tuple[Property, ...]],
    structure: Structure,
    labels: Bools,
    anchoring: Anchoring | None,
) -> Graph:
    """The graph of the kept nodes, numbered in the order of their queries.

    ``properties``: those of each node that classifiers chose.  ``labels``: [M, L], the labels of the structure's edges.
    """
    kept = np.flatnonzero(structure.keep).tolist()
    flags = nodes.flags.tolist()
    ranges: list[tuple[Anchor, ...]] = [()] * len(flags)
    if anchoring is not None and structure.anchors is not None:
        ranges = anchoring.ranges(structure.anchors, prediction.sentence)
    made = []
    for id, query in enumerate(kept):
        pairs = (FLAG, *properties[query]) if flags[query] else properties[query]
        made.append(Node(id, nodes.labels[query], pairs, ranges[query] or None))
    edges, tops = _edges(structure, kept, labels, vocabulary), _tops(prediction, nodes, kept)
    return replace(bare, nodes=tuple(made), edges=edges, tops=tops)


def with_probabilities(
    graph: Graph, prediction: Prediction, nodes: Nodes, structure: Structure, labels: Bools
) -> Graph:
    """An assembled graph whose nodes and edges say in ``extra`` how probable they are.

    ``probability`` is that of the node or edge, ``label_probability`` that of its label if it exists, and
    ``top_probability`` that of a node being the top, where there is a top head.
    """
    kept = np.flatnonzero(structure.keep)
    exists = np.clip(1 - prediction.labels[kept, 0], _SMALLEST, 1)
    labelled = np.minimum(np.array(nodes.probabilities, dtype=np.float32)[kept] / exists, 1)
    node_scores = {"probability": exists, "label_probability": labelled}
    if prediction.tops is not None:
        node_scores["top_probability"] = prediction.tops[kept]
    sources, targets = structure.edges.T
    rows, columns = np.nonzero(labels)
    edge_scores = {
        "probability": prediction.presence[sources, targets][rows],
        "label_probability": prediction.edge_labels[sources[rows], targets[rows], columns],
    }
    made = (replace(node, extra=extra) for node, extra in zip(graph.nodes, _records(node_scores), strict=True))
    edges = (replace(edge, extra=extra) for edge, extra in zip(graph.edges, _records(edge_scores), strict=True))
    return replace(graph, nodes=tuple(made), edges=tuple(edges))


def _records(columns: Mapping[str, NDArray[np.float32]]) -> list[dict[str, float]]:
    """A mapping of arrays as a list of mappings, rounded to what the scores are worth."""
    lists = [np.round(column.astype(np.float64), 4).tolist() for column in columns.values()]
    return [dict(zip(columns, row, strict=True)) for row in zip(*lists, strict=True)]


def choose_properties(
    scores: Mapping[str, NDArray[np.float32]], labels: Sequence[str], vocabulary: Vocabulary
) -> list[tuple[Property, ...]]:
    """Of each node the properties that have a classifier each, in the order of their names in the vocabulary.

    A property that a lexicon lists gets the most probable value among those listed for the node's label; a node whose
    label is not listed has none.
    """
    chosen: list[list[Property]] = [[] for _ in labels]
    for name, classes in vocabulary.property_classes.items():
        rows = scores[name]
        lexicon = vocabulary.lexica.get(name)
        for index, number in enumerate(rows.argmax(axis=1).tolist()):
            if not number:
                continue
            if lexicon is None:
                chosen[index].append(Property(name, classes[number - 1]))
            elif listed := lexicon.get(fold(labels[index])):
                best = rows[index][class_numbers(listed, vocabulary.class_numbers[name])].argmax()
                chosen[index].append(Property(name, listed[int(best)]))
    return [tuple(pairs) for pairs in chosen]


def _edges(structure: Structure, kept: list[int], labels: Bools, vocabulary: Vocabulary) -> tuple[Edge, ...]:
    ids = {query: id for id, query in enumerate(kept)}
    pairs = structure.edges.tolist()
    classes = structure.attributes.tolist()
    edges = []
    for row, number in true_cells(labels):
        source, target = pairs[row]
        label = vocabulary.edge_labels[number]
        attributes = _attributes(classes[row], label, vocabulary) if classes[row] else ()
        edges.append(Edge(ids[source], ids[target], label, attributes))
    return tuple(edges)


def _attributes(number: int, label: str | None, vocabulary: Vocabulary) -> tuple[Property, ...]:
    by_label = dict(vocabulary.edge_attributes[number - 1])
    return by_label.get(None) or by_label.get(label, ())


def _tops(prediction: Prediction, nodes: Nodes, kept: list[int]) -> tuple[int, ...]:
    """The most probable top among the kept nodes; not a flagged one if there is another."""
    if prediction.tops is None:
        return ()
    scores = np.where(nodes.flags, -1.0, prediction.tops)[kept]
    return (int(scores.argmax()),)


# Alternatives: what else each node and edge of a decoded graph could be called.
#
# The network's labels are not the framework's (DRG's relations are edges, AMR's edges may be inverted, senses apart).
# So each rank of alternatives is put into a copy of the graph, which the framework's steps then restore like the graph
# itself.  Nodes and edges are numbered in ``extra``, which all steps preserve, so they are found again in the copies.

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
    for row, column in true_cells(labels):
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
