"""How likely the network finds each edge and node of a sentence on each matched query: what ties are broken by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_expit, log_softmax
from torch import Tensor

from perin.frameworks.target import Target
from perin.learning.outputs import NodeOutputs

Ints: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Likelihood:
    """The log-likelihoods of one sentence of N nodes and S slots.

    The last slot, -1, is that of nodes without a query; there is nothing to gain or to lose.
    """

    edges: Ints
    """[M, 2]: nodes; edges that always count the same may be left out."""
    pairs: Floats
    """[M, S + 1, S + 1]: of each edge between each two slots, relative to no edge there."""
    singles: Floats
    """[N, S + 1]: of each node's properties and being a top."""

    def total(self, arrangements: Ints) -> Floats:
        """[P]: the log-likelihood of P arrangements [P, N] of the nodes on slots."""
        sources, targets = arrangements[:, self.edges[:, 0]], arrangements[:, self.edges[:, 1]]
        edges = self.pairs[np.arange(len(self.edges)), sources, targets].sum(axis=1)
        nodes = self.singles[np.arange(len(self.singles)), arrangements].sum(axis=1)
        total: Floats = edges + nodes
        return total

    def of(self, nodes: Ints) -> Likelihood:
        """Only the edges that have one of these nodes."""
        chosen = np.isin(self.edges, nodes).any(axis=1)
        return self if chosen.all() else Likelihood(self.edges[chosen], self.pairs[chosen], self.singles)

    def expected(self, places: Floats) -> Floats:
        """[N, S + 1]: of each node on each slot, if the others lie as the distributions ``places`` [N, S + 1] say."""
        sources, targets = self.edges.T
        result = self.singles.copy()
        np.add.at(result, sources, np.einsum("eab,eb->ea", self.pairs, places[targets]))
        np.add.at(result, targets, np.einsum("eab,ea->eb", self.pairs, places[sources]))
        return result


class HostOutputs:
    """The outputs of a batch for its matched queries, copied to the host."""

    def __init__(self, outputs: NodeOutputs) -> None:
        self.multi_label = outputs.multi_label
        self.presence = outputs.presence.cpu().numpy()
        self.edge_labels = outputs.edge_labels.cpu().numpy()
        self.edge_attributes = _array(outputs.edge_attributes)
        self.properties = _array(outputs.properties)
        self.property_classes = {name: logits.cpu().numpy() for name, logits in outputs.property_classes.items()}
        self.tops = _array(outputs.tops)

    def likelihood(self, number: int, slots: slice, target: Target, nodes: Ints) -> Likelihood:
        """The likelihood of sentence ``number``, whose packed slots are ``slots``, for the edges of some nodes."""
        count = slots.stop - slots.start
        chosen = np.flatnonzero(np.isin(target.edges, nodes).any(axis=1))
        pairs = np.zeros((len(chosen), count + 1, count + 1))
        pairs[:, :count, :count] = self._pairs(number, count, target, chosen)
        singles = np.zeros((len(target), count + 1))
        singles[:, :count] = self._singles(slots, target)
        return Likelihood(target.edges[chosen], pairs, singles)

    def _pairs(self, number: int, count: int, target: Target, chosen: Ints) -> Floats:
        """[M, S, S]"""
        labels: NDArray[np.bool_] = target.edge_labels[chosen]
        logits = self.edge_labels[number, :count, :count].astype(np.float64)
        if self.multi_label:
            wrong = log_expit(-logits).sum(axis=-1)
            known = labels.max(axis=1, keepdims=True)
            likely = np.einsum("abl,ml->mab", logits, labels) + wrong * known[:, :, None]
        else:
            shares = labels / np.maximum(labels.sum(axis=1, keepdims=True), 1)
            likely = np.einsum("abl,ml->mab", log_softmax(logits, axis=-1), shares)
        likely += self.presence[number, :count, :count]
        if self.edge_attributes is not None and target.edge_attributes is not None:
            attributes = log_softmax(self.edge_attributes[number, :count, :count], axis=-1)
            likely += attributes[:, :, target.edge_attributes[chosen]].transpose(2, 0, 1)
        result: Floats = likely
        return result

    def _singles(self, slots: slice, target: Target) -> Floats:
        """[N, S]"""
        result = np.zeros((len(target), slots.stop - slots.start))
        if self.properties is not None and target.properties is not None:
            signs = np.where(target.properties, 1.0, -1.0)
            result += log_expit(signs[:, None] * self.properties[slots])
        for name, logits in self.property_classes.items():
            result += log_softmax(logits[slots], axis=-1)[:, target.property_classes[name]].T
        if self.tops is not None and target.tops is not None and target.tops.any():
            result += log_softmax(self.tops[slots]) * (target.tops / target.tops.sum())[:, None]
        return result


def _array(tensor: Tensor | None) -> NDArray[np.float32] | None:
    return None if tensor is None else tensor.cpu().numpy()
