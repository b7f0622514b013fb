"""What a network begins with: biases from frequencies in the data, weights from another model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from perin.contract.heads import Target
from perin.model.model import Model
from perin.network.settings import Frequencies, HeadSizes, owner_name

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


# Beginning with the weights of another model: to train on, or to teach it another treebank.


@torch.no_grad()
def take_weights(model: Model, source: Model) -> list[str]:
    """Copy into ``model`` all weights of ``source`` that mean the same there; returns the names of those left as new.

    Weights mean the same if they have the same place and size and, in a head, the same classes.  Of label heads with
    different rules the common rules are taken, of edge label heads the common labels, and of different numbers of
    queries the first ones; their names are returned nevertheless, for a part of them is new.  A decoder with more
    layers or wider feed-forward layers than the other starts out computing the same: what it has more adds nothing yet.
    """
    theirs = source.network.state_dict()
    known, wanted = _classes(source), _classes(model)
    left = []
    for name, weight in model.network.state_dict().items():
        head = ".".join(name.split(".")[:3])
        if name in theirs and theirs[name].shape == weight.shape and known.get(head) == wanted.get(head):
            weight.copy_(theirs[name])
            continue
        left.append(name)
        if name in theirs and name.startswith("queries."):
            rows = torch.arange(min(len(weight), len(theirs[name])))
            _take(weight, theirs[name], rows, rows)
        elif head in known and name.startswith(f"{head}.output.") and head.startswith("heads.labels."):
            _take(weight, theirs[name], *_common(wanted[head], known[head]))
        elif name in theirs and head in known and head.startswith("heads.edge_labels."):
            part = name.removeprefix(f"{head}.").split(".")[0]
            _take_edge_labels(weight, theirs[name], wanted[head], known[head], by_label=part in ("pair", "single"))
        elif name.startswith("decoder.layers."):
            _take_sublayer(weight, theirs.get(name), adds=name.split(".")[-2] in ADDING)
    return left


ADDING = ("output", "2")
"""The linear layers of attention and feed-forward whose results are added to the decoder's states."""


def _take_sublayer(weight: Tensor, source: Tensor | None, *, adds: bool) -> None:
    """Copy as much of a decoder weight as the other model has; what it lacks adds 0 to the states."""
    if adds:
        weight.zero_()
    if source is not None:
        part = tuple(slice(min(here, there)) for here, there in zip(weight.shape, source.shape, strict=True))
        weight[part] = source[part]


def _take(weight: Tensor, source: Tensor, rows: Tensor, source_rows: Tensor) -> None:
    if weight.shape[1:] == source.shape[1:]:
        weight[rows] = source[source_rows]


def _take_edge_labels(
    weight: Tensor, source: Tensor, labels: Sequence[str], known: Sequence[str], *, by_label: bool
) -> None:
    """Copy what belongs to the common labels; ``by_label``: whether the rows are divided among the labels at all."""
    if not by_label:
        if weight.shape == source.shape:
            weight.copy_(source)
        return
    rows, source_rows = weight.view(len(labels), -1), source.reshape(len(known), -1)
    if rows.shape[1] == source_rows.shape[1]:
        numbers = {label: number for number, label in enumerate(known)}
        common = [label in numbers for label in labels]
        rows[torch.tensor(common)] = source_rows[[numbers[label] for label in labels if label in numbers]]


def _common(rules: Any, source: Any) -> tuple[Tensor, Tensor]:
    """The numbers of the common rules, and of null, here and there."""
    if rules.space != source.space:
        return torch.tensor([0]), torch.tensor([0])
    numbers = {rule: number for number, rule in enumerate(source, start=1)}
    pairs = [(number, numbers[rule]) for number, rule in enumerate(rules, start=1) if rule in numbers]
    here, there = torch.tensor([(0, 0), *pairs]).unbind(1)
    return here, there


def _classes(model: Model) -> dict[str, Any]:
    """What the outputs of each head stand for, by the start of its weights' names."""
    found = {}
    for name, treebank in model.treebanks.items():
        words, sizes = treebank.vocabulary, treebank.sizes
        for kind, classes in (
            ("labels", words.rules),
            ("edge_labels", words.edge_labels),
            ("edge_attributes", words.edge_attributes),
            ("property_classes", words.property_classes),
        ):
            found[f"heads.{kind}.{owner_name(name, sizes, kind)}"] = classes
    return found
