"""Outputs of the heads in training, and their losses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from perin.learning.data.batches import TargetBatch
from perin.learning.objective.matching import Matching
from perin.network.heads import Pairs
from perin.network.layers import pick


@dataclass(frozen=True, eq=False)
class QueryOutputs:
    """What decides the matching, for all queries of a batch."""

    labels: Tensor
    """[queries, R + 1]: log-probabilities."""
    anchors: Tensor | None = None
    """[B, queries, T]: logits."""


@dataclass(frozen=True, eq=False)
class NodeOutputs:
    """What is asked only of matched queries, the slots of a :class:`~perin.learning.objective.matching.Matching`.

    All are logits; ``None`` where the treebank has no such head.  Labels and attributes of pairs are computed when they
    are asked for: the losses need those of edges only.
    """

    presence: Tensor
    """[B, S, S]: rows are sources."""
    edge_labels: Pairs
    """[B, S, S, L]"""
    multi_label: bool = False
    """Whether each label has a probability of its own."""
    edge_attributes: Pairs | None = None
    """[B, S, S, A]"""
    properties: Tensor | None = None
    """[slots]"""
    property_classes: Mapping[str, Tensor] = field(default_factory=dict)
    """[slots, C] of each property."""
    tops: Tensor | None = None
    """[slots]: to be normalised over the slots of a sentence."""


# The losses of a matched batch, each a sum and its divisor.
#
# Queries that no node is matched with count in the label loss only, where their class is null.  Everything else is
# about matched queries, the slots.  Keeping sum and count apart lets several processes divide by their common count.


Ints: TypeAlias = NDArray[np.int64]
Array: TypeAlias = NDArray[Any]

LEAST_ERROR = 1e-6
"""The probability of a wrong label is taken to be at least this, so that every power of it has a gradient."""


@dataclass(frozen=True)
class Loss:
    """A sum over ``count`` items."""

    total: Tensor
    count: int

    @property
    def mean(self) -> Tensor:
        """The loss of an item; 0 where there is none."""
        return self.total / max(self.count, 1)


@dataclass(frozen=True)
class LossSettings:
    """The defaults are the paper's."""

    label_smoothing: float = 0.1
    """Share of the label target that is spread over all classes."""
    focal: float = 2.0
    """Exponent of the focal factor of the label loss; 0 for plain cross-entropy."""
    per_node: bool = False
    """Divide by the number of nodes instead of by that of queries, tokens or pairs.

    Weighed equally, the losses then are about the negative log-likelihood of a node with its anchors and edges.  The
    loss of the top stays as it is.
    """
    null_weight: float = 1.0
    """Weight of queries without a node in the label loss: below 1, those that are nodes have more than their share."""


def losses(
    queries: QueryOutputs, nodes: NodeOutputs, matching: Matching, targets: TargetBatch, settings: LossSettings
) -> dict[str, Loss]:
    """The loss of each kind of head."""
    edges = MatchedEdges.of(matching, targets)
    found = {
        "labels": label_loss(queries.labels, matching, targets, settings),
        "presence": presence_loss(nodes.presence, matching, edges),
        "edge_labels": edge_label_loss(nodes.edge_labels, edges, targets, multi_label=nodes.multi_label),
    }
    if queries.anchors is not None:
        found["anchors"] = anchor_loss(queries.anchors, matching, targets)
    if nodes.edge_attributes is not None:
        found["edge_attributes"] = edge_attribute_loss(nodes.edge_attributes, edges, targets)
    if nodes.properties is not None:
        found["properties"] = property_loss(nodes.properties, matching, targets)
    if nodes.property_classes:
        found["property_classes"] = property_class_loss(nodes.property_classes, matching, targets)
    if nodes.tops is not None:
        found["tops"] = top_loss(nodes.tops, matching, targets)
    if settings.per_node:
        count = len(matching.rows)
        return {kind: loss if kind == "tops" else Loss(loss.total, count) for kind, loss in found.items()}
    return found


def label_loss(log_probabilities: Tensor, matching: Matching, targets: TargetBatch, settings: LossSettings) -> Loss:
    """Cross-entropy with the rules that yield the matched node's label at the query's token, all alike, or with null.

    ``log_probabilities`` [queries, R + 1].  The smoothed target is a distribution.  The focal factor is a power of
    the probability that the label is wrong, whichever of the right rules is chosen.
    """
    queries, classes = log_probabilities.shape
    rows, rules = label_entries(matching, targets, queries)
    shares = 1.0 / np.bincount(rows, minlength=queries)
    places, weights = _on(log_probabilities, rows * classes + rules), _on(log_probabilities, shares[rows])
    right = log_probabilities.reshape(-1).index_select(0, places)
    sums = torch.zeros(2, queries, device=right.device).index_add(
        1, _on(log_probabilities, rows), torch.stack((right * weights, right.exp()))
    )
    smoothing = settings.label_smoothing
    entropy = -(1 - smoothing) * sums[0]
    if smoothing:
        entropy = entropy - smoothing * log_probabilities.mean(-1)
    if settings.focal:
        entropy = entropy * (1 - sums[1]).clamp_min(LEAST_ERROR) ** settings.focal
    if settings.null_weight != 1:
        weights = torch.full_like(entropy, settings.null_weight)
        weights[_on(log_probabilities, matching.rows)] = 1.0
        entropy = entropy * weights
    return Loss(entropy.sum(), queries)


def label_entries(matching: Matching, targets: TargetBatch, queries: int) -> tuple[Ints, Ints]:
    """Pairs of a query and a class that is right for it; every query has at least one."""
    node_rows = matching.node_rows[targets.rule_nodes]
    fits = (node_rows >= 0) & ((targets.rule_tokens < 0) | (targets.rule_tokens == node_rows // targets.queries))
    null = np.setdiff1d(np.arange(queries), matching.rows)
    rows: Ints = np.concatenate((node_rows[fits], null))
    rules: Ints = np.concatenate((targets.rule_ids[fits], np.zeros_like(null)))
    return rows, rules


def anchor_loss(logits: Tensor, matching: Matching, targets: TargetBatch) -> Loss:
    """Binary cross-entropy of each slot with each token of its sentence; ``logits`` [B, queries, T]."""
    nodes = np.flatnonzero(matching.node_slots >= 0)
    rows = targets.query_layout.cells[matching.node_rows[nodes]]
    slots = pick(logits.reshape(-1, logits.shape[-1]), _on(logits, rows))
    wanted = targets.anchors.reshape(-1, logits.shape[-1])[targets.nodes.cells[nodes]]
    lengths = targets.tokens.lengths[targets.nodes.sequences[nodes]]
    real = _on(logits, np.arange(logits.shape[-1]) < lengths[:, None])
    cells = functional.binary_cross_entropy_with_logits(slots, _on(logits, wanted).to(slots), reduction="none")
    return Loss((cells * real).sum(), int(lengths.sum()))


@dataclass(frozen=True, eq=False)
class MatchedEdges:
    """The edges whose two nodes are matched."""

    numbers: Ints
    """[E]: which of the batch's edges they are."""
    cells: Ints
    """[E]: their places in a flattened [B, S, S]."""

    @classmethod
    def of(cls, matching: Matching, targets: TargetBatch) -> MatchedEdges:
        """The edges of a batch on the slots of a matching."""
        pairs = matching.node_slots[targets.edges]
        numbers = np.flatnonzero((pairs >= 0).all(axis=1))
        sources, ends = pairs[numbers].T
        layout = matching.slots
        return cls(numbers, layout.cells[sources] * layout.longest + layout.cells[ends] % layout.longest)


def presence_loss(logits: Tensor, matching: Matching, edges: MatchedEdges) -> Loss:
    """Binary cross-entropy over the pairs of different slots of a sentence; ``logits`` [B, S, S]."""
    layout = matching.slots.to(logits.device)
    wanted = torch.zeros(logits.numel(), device=logits.device)
    wanted[_on(logits, edges.cells)] = 1.0
    cells = functional.binary_cross_entropy_with_logits(logits, wanted.view(logits.shape), reduction="none")
    real = layout.mask[:, :, None] & layout.mask[:, None, :]
    real = real & ~torch.eye(layout.longest, dtype=torch.bool, device=logits.device)
    return Loss((cells * real).sum(), int((layout.lengths * (layout.lengths - 1)).sum()))


def edge_label_loss(logits: Pairs, edges: MatchedEdges, targets: TargetBatch, *, multi_label: bool) -> Loss:
    """Over the edges that have a known label, summed over labels; ``logits`` [B, S, S, L].

    Multi-label: binary cross-entropy of each label; else cross-entropy with the edge's labels, all alike.
    """
    labels = targets.edge_labels[edges.numbers]
    known = labels.any(axis=1)
    chosen = logits.at(edges.cells[known])
    wanted = _on(chosen, labels[known]).to(chosen)
    if multi_label:
        total = functional.binary_cross_entropy_with_logits(chosen, wanted, reduction="sum")
    else:
        total = functional.cross_entropy(chosen, wanted / wanted.sum(-1, keepdim=True), reduction="sum")
    return Loss(total, int(known.sum()))


def edge_attribute_loss(logits: Pairs, edges: MatchedEdges, targets: TargetBatch) -> Loss:
    """Cross-entropy over the edges; ``logits`` [B, S, S, A]."""
    classes = targets.joined(lambda target: target.edge_attributes)[edges.numbers]
    chosen = logits.at(edges.cells)
    return Loss(functional.cross_entropy(chosen, _on(chosen, classes), reduction="sum"), len(classes))


def property_loss(logits: Tensor, matching: Matching, targets: TargetBatch) -> Loss:
    """Binary cross-entropy over the slots; ``logits`` [slots]."""
    wanted = _on(logits, _by_slot(targets.joined(lambda target: target.properties), matching)).to(logits)
    total = functional.binary_cross_entropy_with_logits(logits, wanted, reduction="sum")
    return Loss(total, len(wanted))


def property_class_loss(logits: Mapping[str, Tensor], matching: Matching, targets: TargetBatch) -> Loss:
    """Cross-entropy over the slots, summed over the properties; ``logits`` [slots, C] each."""
    totals = []
    for name, scores in logits.items():
        classes = _by_slot(np.concatenate([target.property_classes[name] for target in targets.targets]), matching)
        totals.append(functional.cross_entropy(scores, _on(scores, classes), reduction="sum"))
    return Loss(torch.stack(totals).sum(), len(matching.rows))


def top_loss(logits: Tensor, matching: Matching, targets: TargetBatch) -> Loss:
    """Cross-entropy over the slots of each sentence that has a matched top; several tops share the probability."""
    layout = matching.slots.to(logits.device)
    tops = layout.pad(_on(logits, _by_slot(targets.joined(lambda target: target.tops), matching)).to(logits))
    counts = tops.sum(-1, keepdim=True)
    scores = layout.pad(logits).masked_fill(~layout.mask, torch.finfo(logits.dtype).min).log_softmax(-1)
    return Loss(-(scores * tops / counts.clamp_min(1)).sum(), int((counts > 0).sum()))


def _by_slot(values: Array, matching: Matching) -> Array:
    """Values of the packed nodes in the order of the slots; every slot has a node."""
    result = np.empty(len(matching.rows), dtype=values.dtype)
    matched = matching.node_slots >= 0
    result[matching.node_slots[matched]] = values[matched]
    return result


def _on(like: Tensor, array: Array) -> Tensor:
    """An array on the device of a tensor; 64-bit floats become of its type."""
    tensor = torch.from_numpy(np.ascontiguousarray(array)).to(like.device)
    return tensor.to(like.dtype) if tensor.is_floating_point() else tensor
