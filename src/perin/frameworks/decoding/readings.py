"""One node for one reading: near-copies of a node (``stay-01`` and ``stay-02`` of one word) become part of it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from perin.contract.heads import Prediction
from perin.frameworks.decoding.nodes import Nodes
from perin.frameworks.rulebook import Rulebook


def merge_twins(prediction: Prediction, nodes: Nodes, book: Rulebook) -> tuple[Prediction, Nodes]:
    """Nodes that are one reading each (see :class:`~perin.graphs.constraints.NoTwins`).

    A twin goes if that it exists is less probable than gold's rate of twins allows; its edges become those of the node
    that stays, where they are more probable.
    """
    stems = [traits.stem for traits in book.traits(nodes)]
    named = [stem for stem in stems if stem]
    if len(set(named)) == len(named):
        return prediction, nodes
    groups: dict[str, list[int]] = {}
    for node, stem in enumerate(stems):
        if stem:
            groups.setdefault(stem, []).append(node)
    gone: dict[int, int] = {}
    places = _places(prediction, nodes)
    null = prediction.labels[:, 0].tolist()
    surely = math.exp(-book.twin_cost)  # the odds against it
    for group in groups.values():
        if len(group) > 1:
            first: dict[object, int] = {}
            for node in sorted(group, key=null.__getitem__):
                kept = first.setdefault(places[node], node)
                if kept != node and null[node] > surely * (1 - null[node]):
                    gone[node] = kept
    return merge_nodes(prediction, nodes, gone) if gone else (prediction, nodes)


def _places(prediction: Prediction, nodes: Nodes) -> Sequence[object]:
    """What says that nodes are readings of the same words: their anchors, or the token of their query."""
    if nodes.anchors is None:
        places: list[int] = prediction.tokens.tolist()
        return places
    raw, width = nodes.anchors.tobytes(), nodes.anchors.shape[1]
    return [raw[start : start + width] for start in range(0, len(raw), width)]


def merge_nodes(prediction: Prediction, nodes: Nodes, gone: Mapping[int, int]) -> tuple[Prediction, Nodes]:
    """Prediction and nodes without those that are gone, each of which becomes part of another.

    An edge of the node that stays is that of the node that goes where this is more probable.
    """
    presence, labels = prediction.presence.copy(), prediction.edge_labels.copy()
    tops = None if prediction.tops is None else prediction.tops.copy()
    attributes = None if prediction.edge_attributes is None else prediction.edge_attributes.copy()
    for twin, kept in gone.items():
        if tops is not None:
            tops[kept] += tops[twin]
        better = presence[twin] > presence[kept]
        better[[twin, kept]] = False
        back = presence[:, twin] > presence[:, kept]
        back[[twin, kept]] = False
        for scores in (presence, labels, attributes):
            if scores is not None:
                scores[kept, better] = scores[twin, better]
                scores[back, kept] = scores[back, twin]
    stay = np.array([node for node in range(len(prediction)) if node not in gone])
    pairs = np.ix_(stay, stay)
    smaller = replace(
        prediction,
        labels=prediction.labels[stay],
        accepted=prediction.accepted[stay],
        presence=presence[pairs],
        edge_labels=labels[pairs],
        anchors=None if prediction.anchors is None else prediction.anchors[stay],
        edge_attributes=None if attributes is None else attributes[pairs],
        properties=None if prediction.properties is None else prediction.properties[stay],
        property_classes={name: scores[stay] for name, scores in prediction.property_classes.items()},
        tops=None if tops is None else tops[stay],
    )
    left = Nodes(
        [nodes.labels[node] for node in stay],
        [nodes.probabilities[node] for node in stay],
        nodes.flags[stay],
        None if nodes.anchors is None else nodes.anchors[stay],
    )
    return smaller, left
