"""How often each output is right in a treebank, for the first biases of the heads."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from perin.frameworks.target import Target
from perin.network.sizes import Frequencies, HeadSizes

Floats = NDArray[np.float64]


def count_frequencies(targets: Iterable[Target], sizes: HeadSizes) -> Frequencies:
    """The shares of all outputs; each class is counted once more than it occurs, so that none has a share of 0."""
    labels = np.ones(sizes.rules + 1)
    edge_labels = np.ones(sizes.edge_labels)
    attributes = np.ones(max(sizes.edge_attributes, 1))
    classes = {name: np.ones(count) for name, count in sizes.property_classes}
    flags, anchors, presence, edges = (np.array([1.0, 2.0]) for _ in range(4))
    for target in targets:
        nodes, tokens = target.mask.shape
        _add_labels(labels, target, sizes)
        presence += (len(target.edges), nodes * (nodes - 1))
        edge_labels += target.edge_labels.sum(axis=0)
        edges += (0, len(target.edges))
        if target.anchors is not None:
            anchors += (target.anchors.sum(), nodes * tokens)
        if target.properties is not None:
            flags += (target.properties.sum(), nodes)
        if target.edge_attributes is not None:
            attributes += np.bincount(target.edge_attributes, minlength=len(attributes))
        for name, counts in classes.items():
            counts += np.bincount(target.property_classes[name], minlength=len(counts))
    return Frequencies(
        labels=labels / labels.sum(),
        anchors=anchors[0] / anchors[1],
        presence=presence[0] / presence[1],
        edge_labels=edge_labels / (edges[1] if sizes.multi_label else edge_labels.sum()),
        edge_attributes=attributes / attributes.sum(),
        properties=flags[0] / flags[1],
        property_classes={name: counts / counts.sum() for name, counts in classes.items()},
    )


def _add_labels(labels: Floats, target: Target, sizes: HeadSizes) -> None:
    """A node counts 1, divided among its entries; queries without a node count for null."""
    nodes, tokens = target.mask.shape
    entries = np.bincount(target.rule_nodes, minlength=nodes)
    np.add.at(labels, target.rule_ids, 1.0 / entries[target.rule_nodes])
    labels[0] += max(0, tokens * sizes.queries - nodes)
