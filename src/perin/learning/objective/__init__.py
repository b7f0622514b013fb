"""What training optimises: one step from a batch to losses, their weights and gradients, which a trainer repeats."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from perin.learning.data.batches import Batch, TargetBatch
from perin.learning.objective.balance import Balance, GradNorm, Kind
from perin.learning.objective.losses import Loss, LossSettings, NodeOutputs, QueryOutputs, losses
from perin.learning.objective.matching import match
from perin.learning.objective.ties import break_ties
from perin.network.heads import TreebankHeads
from perin.network.layers import Layout, pick
from perin.network.network import Hidden, Network
from perin.network.settings import KINDS

Floats: TypeAlias = NDArray[np.float64]
Common: TypeAlias = Callable[[Floats], Floats]
"""Adds up an array over all processes."""


def alone(array: Floats) -> Floats:
    """The sum over the only process."""
    return array


@dataclass(frozen=True)
class Objective:
    """What is optimised, apart from the weights of the losses; the defaults are the paper's."""

    losses: LossSettings = LossSettings()
    anchor_masking: bool = True
    tie_breaking: bool = True
    earlier_layers: float = 0.0
    """Weight of the losses after each decoder layer before the last."""


def treebank_losses(
    hidden: Hidden, heads: TreebankHeads, targets: TargetBatch, objective: Objective, balance: Balance
) -> dict[str, Loss]:
    """The losses of one treebank, given the hidden states of its sentences.

    Those of earlier decoder layers, if there are any, are added: the heads read each layer as if it were the last, and
    each has a matching of its own.
    """
    found = _layer_losses(hidden, heads, targets, objective, balance)
    unmeasured = Balance("equal", balance.rule)
    for earlier in hidden.after_each_layer():
        for kind, loss in _layer_losses(earlier, heads, targets, objective, unmeasured).items():
            added = objective.earlier_layers * found[kind].count * loss.mean
            found[kind] = Loss(found[kind].total + added, found[kind].count)
    return found


def _layer_losses(
    hidden: Hidden, heads: TreebankHeads, targets: TargetBatch, objective: Objective, balance: Balance
) -> dict[str, Loss]:
    h = hidden.queries
    labels = heads.labels(balance.tap("labels", h))
    with torch.autocast(h.device.type, enabled=False):
        anchors = None
        if heads.sizes.anchors:
            anchors = heads.anchors(balance.tap("anchors", h), hidden.query_layout, hidden.tokens, hidden.token_layout)
        queries = QueryOutputs(labels, anchors)
        matching = match(queries.labels, queries.anchors, targets, masking=objective.anchor_masking)
        rows = torch.from_numpy(matching.rows).to(h.device)
        nodes = node_outputs(pick(h, rows), matching.slots.to(h.device), heads, balance)
    if objective.tie_breaking:
        matching = break_ties(matching, nodes, targets)
    return losses(queries, nodes, matching, targets, objective.losses)


def node_outputs(h: Tensor, layout: Layout, heads: TreebankHeads, balance: Balance) -> NodeOutputs:
    """What the heads say of matched queries ``h`` [slots, D]."""
    kinds = heads.sizes.kinds

    def read(kind: str) -> Tensor:
        return balance.tap(kind, h)

    return NodeOutputs(
        presence=heads.presence(read("presence"), layout),
        edge_labels=heads.edge_label_pairs(read("edge_labels"), layout),
        multi_label=heads.sizes.multi_label,
        edge_attributes=(
            heads.edge_attribute_pairs(read("edge_attributes"), layout) if "edge_attributes" in kinds else None
        ),
        properties=heads.properties(read("properties")) if "properties" in kinds else None,
        property_classes=heads.property_classes(read("property_classes")) if "property_classes" in kinds else {},
        tops=heads.tops(read("tops")) if "tops" in kinds else None,
    )


def batch_losses(
    network: Network, batch: Batch, objective: Objective, balances: Mapping[str, Balance]
) -> dict[str, dict[str, Loss]]:
    """The losses of each treebank in a batch, from one pass of the encoder.

    In mixed precision the large products are of 16 bits, those of labels and edge labels among them.  Whatever compares
    small differences (probabilities, matching, the other heads, losses) takes 32 bits.
    """
    hidden = network(batch.inputs, batch.sentences, every_layer=objective.earlier_layers > 0)
    return {
        treebank: treebank_losses(
            hidden[treebank].float(), network.heads_of(treebank), targets, objective, balances[treebank]
        )
        for treebank, targets in batch.targets.items()
    }


def training_step(
    network: Network,
    batch: Batch | None,
    objective: Objective,
    balances: Mapping[str, Balance],
    *,
    backward: Callable[[Tensor], object] = torch.autograd.backward,
    common: Common = alone,
) -> dict[str, dict[str, float]]:
    """Add the gradients of all weights for one batch to those that are there, and update the loss weights.

    What is differentiated is the sum of each treebank's weighted losses times its share of the sentences.  Returns
    the losses.  Where several processes share a batch (None: nothing of it is left for this one), ``common`` adds up
    an array over all of them: losses are divided by common counts, so that the sum of all processes' gradients is
    that of one process with the whole batch, and all move their loss weights alike.
    """
    found = batch_losses(network, batch, objective, balances) if batch is not None else {}
    counts = common(_counts(network, batch, found))
    parts = []
    for (treebank, sizes), row in zip(network.treebanks.items(), counts, strict=True):
        if treebank in found:
            numbers = dict(zip(sizes.kinds, row[1:], strict=False))
            means = {kind: loss.total / max(numbers[kind], 1.0) for kind, loss in found[treebank].items()}
            parts.append(balances[treebank].weigh(means) * float(row[0] / counts[:, 0].sum()))
    if parts:
        backward(torch.stack(parts).sum())
    return _balanced(network, balances, counts, common)


def _counts(network: Network, batch: Batch | None, found: Mapping[str, Mapping[str, Loss]]) -> Floats:
    """[treebanks, 1 + kinds]: sentences, and the divisor of each loss."""
    counts = np.zeros((len(network.treebanks), 1 + len(KINDS)))
    for row, (treebank, sizes) in zip(counts, network.treebanks.items(), strict=True):
        if batch is not None and treebank in found:
            row[0] = len(batch.sentences[treebank])
            row[1 : 1 + len(sizes.kinds)] = [found[treebank][kind].count for kind in sizes.kinds]
    return counts


def _balanced(
    network: Network, balances: Mapping[str, Balance], counts: Floats, common: Common
) -> dict[str, dict[str, float]]:
    """Move the loss weights by what all processes measured; the losses of the treebanks that any of them saw."""
    measured = np.zeros((2, len(network.treebanks), len(KINDS)))
    for number, (treebank, sizes) in enumerate(network.treebanks.items()):
        losses, norms = balances[treebank].measured()
        measured[0, number, : len(sizes.kinds)] = [losses.get(kind, 0.0) for kind in sizes.kinds]
        measured[1, number, : len(sizes.kinds)] = [norms.get(kind, 0.0) ** 2 for kind in sizes.kinds]
    measured = common(measured)
    result = {}
    for number, (treebank, sizes) in enumerate(network.treebanks.items()):
        if counts[number, 0]:
            kinds = [kind for kind, count in zip(sizes.kinds, counts[number, 1:], strict=False) if count]
            losses = dict(zip(sizes.kinds, measured[0, number].tolist(), strict=False))
            norms = dict(zip(sizes.kinds, np.sqrt(measured[1, number]).tolist(), strict=False))
            balances[treebank].update({kind: losses[kind] for kind in kinds}, norms)
            result[treebank] = losses
    return result


def make_balances(
    network: Network, kind: Kind = "hidden", *, alpha: float = 1.5, rate: float = 1e-3
) -> dict[str, Balance]:
    """The balance of each of a network's treebanks."""
    last = network.decoder.layers[-1]
    return {
        treebank: Balance(kind, GradNorm(sizes.kinds, alpha=alpha, rate=rate), last.parameters())
        for treebank, sizes in network.treebanks.items()
    }
