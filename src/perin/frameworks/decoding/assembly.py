"""From decisions to a graph in the form that the network learns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from perin.contract.heads import Bools, Prediction, true_columns
from perin.frameworks.anchoring import Anchoring
from perin.frameworks.decoding.nodes import Nodes
from perin.frameworks.decoding.structure import Structure
from perin.frameworks.lexicon import class_numbers
from perin.frameworks.steps import FLAG
from perin.frameworks.vocabulary import Vocabulary
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
        ranges = [anchoring.ranges(tokens, prediction.sentence) for tokens in true_columns(structure.anchors)]
    made = []
    for id, query in enumerate(kept):
        pairs = (FLAG, *properties[query]) if flags[query] else properties[query]
        made.append(Node(id, nodes.labels[query], pairs, ranges[query] or None))
    edges, tops = _edges(structure, labels, vocabulary), _tops(prediction, nodes, kept)
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
        for index in np.flatnonzero(rows.argmax(axis=1)).tolist():
            if lexicon is None:
                chosen[index].append(Property(name, classes[int(rows[index].argmax()) - 1]))
            elif listed := lexicon.get(fold(labels[index])):
                best = rows[index][class_numbers(listed, classes)].argmax()
                chosen[index].append(Property(name, listed[int(best)]))
    return [tuple(pairs) for pairs in chosen]


def _edges(structure: Structure, labels: Bools, vocabulary: Vocabulary) -> tuple[Edge, ...]:
    pairs = (np.cumsum(structure.keep) - 1)[structure.edges].tolist()
    classes = structure.attributes.tolist()
    edges = []
    for row, number in np.argwhere(labels).tolist():
        source, target = pairs[row]
        label = vocabulary.edge_labels[number]
        edges.append(Edge(source, target, label, _attributes(classes[row], label, vocabulary)))
    return tuple(edges)


def _attributes(number: int, label: str | None, vocabulary: Vocabulary) -> tuple[Property, ...]:
    if not number:
        return ()
    by_label = dict(vocabulary.edge_attributes[number - 1])
    return by_label.get(None) or by_label.get(label, ())


def _tops(prediction: Prediction, nodes: Nodes, kept: list[int]) -> tuple[int, ...]:
    """The most probable top among the kept nodes; not a flagged one if there is another."""
    if prediction.tops is None:
        return ()
    scores = np.where(nodes.flags, -1.0, prediction.tops)[kept]
    return (int(scores.argmax()),)
