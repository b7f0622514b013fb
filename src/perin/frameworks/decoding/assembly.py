"""From decisions to a graph in the form that the network learns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from perin.frameworks.anchoring import Anchoring
from perin.frameworks.arrays import Bools, true_columns
from perin.frameworks.decoding.nodes import Nodes
from perin.frameworks.decoding.structure import Structure
from perin.frameworks.lexicon import class_numbers
from perin.frameworks.prediction import Prediction
from perin.frameworks.steps.step import FLAG
from perin.frameworks.vocabulary import Vocabulary
from perin.graphs.graph import Anchor, Edge, Graph, Node, Property
from perin.labels.space import fold


def assembled(
    bare: Graph,
    prediction: Prediction,
    vocabulary: Vocabulary,
    nodes: Nodes,
    structure: Structure,
    labels: Bools,
    anchoring: Anchoring | None,
) -> Graph:
    """The graph of the kept nodes, numbered in the order of their queries.

    ``labels``: [M, L], the labels of the structure's edges.
    """
    kept = np.flatnonzero(structure.keep).tolist()
    properties = chosen_properties(prediction.property_classes, nodes.labels, vocabulary)
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

    ``probability`` is that of a node's label, or of an edge and its label; ``top`` is that of a node being the top.
    """
    kept = np.flatnonzero(structure.keep).tolist()
    extras: list[dict[str, float]] = [{"probability": nodes.probabilities[query]} for query in kept]
    if prediction.tops is not None:
        for extra, query in zip(extras, kept, strict=True):
            extra["top"] = float(prediction.tops[query])
    sources, targets = structure.edges.T
    scores = prediction.presence[sources, targets][:, None] * prediction.edge_labels[sources, targets]
    made = (replace(node, extra=extra) for node, extra in zip(graph.nodes, extras, strict=True))
    probable = zip(graph.edges, scores[labels].tolist(), strict=True)
    edges = (replace(edge, extra={"probability": probability}) for edge, probability in probable)
    return replace(graph, nodes=tuple(made), edges=tuple(edges))


def chosen_properties(
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
