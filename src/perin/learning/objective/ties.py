"""Nodes that labels and anchors can't tell apart are matched by everything else that the network predicts.

The matching depends on labels and anchors only, so among nodes that are equal in both it is arbitrary.  Here such nodes
are rearranged on the queries that were found for them, so that the likelihood of edges, edge labels and attributes
(and of properties and tops, which can be all the difference between two nodes) is highest.  The losses are then
the same for every order of the nodes (paper, footnote of section "Permutation-invariant Loss").

Groups of such nodes that no edge connects are arranged one by one.  A group without inner edges is a linear assignment,
solved exactly whatever its size.  Connected groups are solved exactly if they have at most :data:`EXACT` arrangements,
otherwise by swaps, from the solution of a continuous relaxation until no swap is an improvement.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from scipy.special import log_expit, log_softmax
from torch import Tensor

from perin.contract.heads import Target
from perin.learning.data.batches import TargetBatch, node_keys
from perin.learning.objective.losses import NodeOutputs
from perin.learning.objective.matching import Matching
from perin.network.heads import exact

Ints: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]

EXACT = 5040
"""Limit on arrangements of connected groups that are all tried: one group of seven, or one of six and one of three."""

RELAXATIONS = 20
"""Limit on the steps of the continuous relaxation."""


@torch.no_grad()
def break_ties(matching: Matching, outputs: NodeOutputs, targets: TargetBatch) -> Matching:
    """The matching with tied nodes rearranged to the highest likelihood of ``outputs``, which are of its slots."""
    host: HostOutputs | None = None
    node_slots = matching.node_slots.copy()
    for number, target in enumerate(targets.targets):
        first = targets.nodes.starts[number]
        own = slice(first, first + len(target))
        groups = tied_groups(targets.groups[own], node_slots[own])
        if not groups:
            continue
        host = host or HostOutputs(outputs)
        start = matching.slots.starts[number]
        likelihood = host.likelihood(
            number, slice(start, start + matching.slots.lengths[number]), target, np.concatenate(groups)
        )
        local = np.where(node_slots[own] < 0, -1, node_slots[own] - start)
        local = arrange(local, groups, likelihood, partial(node_ranks, target))
        node_slots[own] = np.where(local < 0, -1, local + start)
    return replace(matching, node_slots=node_slots)


def tied_groups(groups: Ints, slots: Ints) -> list[Ints]:
    """The nodes of each group that has several nodes, at least one of them with a slot (not -1)."""
    order = np.argsort(groups, kind="stable")
    borders = np.flatnonzero(np.diff(groups[order])) + 1
    return [nodes for nodes in np.split(order, borders) if len(nodes) > 1 and (slots[nodes] >= 0).any()]


def arrange(
    slots: Ints, groups: Sequence[Ints], likelihood: Likelihood, ranks: Callable[[], Ints] | None = None
) -> Ints:
    """The slots [N] of the nodes after each group's nodes have exchanged theirs for the highest likelihood.

    ``ranks`` gives an order of the nodes, asked for only where the result could depend on it.
    """
    for connected in components(groups, likelihood.edges, len(slots)):
        nodes = np.concatenate(connected)
        own = likelihood.of(nodes)
        inner = np.isin(own.edges, nodes).all(axis=1).any()
        if not inner:
            slots = assigned(slots, connected, own.expected(_one_hot(slots, own)))
        elif math.prod(math.factorial(len(group)) for group in connected) <= EXACT:
            candidates = arrangements(slots, connected)
            slots = candidates[own.total(candidates).argmax()]
        else:
            connected = ordered(connected, np.arange(len(slots)) if ranks is None else ranks())
            slots = swapped(relaxed(slots, connected, own), connected, own)
    return slots


def components(groups: Sequence[Ints], edges: Ints, count: int) -> list[list[Ints]]:
    """The groups, those together that an edge connects directly or by way of other groups."""
    group_of = np.full(count, -1, dtype=np.int64)
    for number, nodes in enumerate(groups):
        group_of[nodes] = number
    component = list(range(len(groups)))
    for source, target in group_of[edges]:
        if source >= 0 and target >= 0 and component[source] != component[target]:
            old, new = component[source], component[target]
            component = [new if item == old else item for item in component]
    return [[groups[i] for i in range(len(groups)) if component[i] == number] for number in sorted(set(component))]


def ordered(groups: Sequence[Ints], ranks: Ints) -> list[Ints]:
    """The groups and the nodes of each in the order of their ranks."""
    inside = [group[np.argsort(ranks[group], kind="stable")] for group in groups]
    return sorted(inside, key=lambda group: ranks[group].tolist())


def arrangements(slots: Ints, groups: Sequence[Ints]) -> Ints:
    """[P, N]: every way in which the nodes of each group can exchange their slots."""
    orders = [_permutations(len(group)) for group in groups]
    choices = np.indices([len(order) for order in orders]).reshape(len(orders), -1)
    result = np.tile(slots, (choices.shape[1], 1))
    for group, order, choice in zip(groups, orders, choices, strict=True):
        result[:, group] = slots[group][order[choice]]
    return result


def assigned(slots: Ints, groups: Sequence[Ints], gains: Floats) -> Ints:
    """Each group's slots by linear assignment, where ``gains`` [N, S + 1] is what a node gains by a slot."""
    result = slots.copy()
    for group in groups:
        available = np.sort(slots[group])
        nodes, chosen = linear_sum_assignment(np.nan_to_num(gains[group][:, available]), maximize=True)
        result[group[nodes]] = available[chosen]
    return result


def relaxed(slots: Ints, groups: Sequence[Ints], likelihood: Likelihood) -> Ints:
    """A good arrangement by way of fractional ones: ascent from where every node lies on all slots of its group alike.

    Each step goes towards the assignment that the gradient favours, as far as the likelihood grows.  Only between
    equal gains does the order of the groups' nodes decide.
    """
    places = _one_hot(slots, likelihood)
    for group in groups:
        places[group] = places[group].mean(axis=0)
    gains = likelihood.expected(places)
    for _ in range(RELAXATIONS):
        direction = _one_hot(assigned(slots, groups, gains), likelihood) - places
        slope = float((gains * direction).sum())
        turned = likelihood.expected(places + direction)
        curvature = float(((turned - gains) * direction).sum())
        if slope <= 1e-9:
            break
        places = places + direction * (min(1.0, -slope / curvature) if curvature < 0 else 1.0)
        gains = likelihood.expected(places)
    return assigned(slots, groups, places)


def swapped(slots: Ints, groups: Sequence[Ints], likelihood: Likelihood) -> Ints:
    """The slots after the best exchange between two nodes of a group, again and again until none is an improvement."""
    pairs = np.array([pair for group in groups for pair in itertools.combinations(group.tolist(), 2)])
    best = likelihood.total(slots[None])[0]
    while True:
        candidates = np.tile(slots, (len(pairs), 1))
        rows = np.arange(len(pairs))
        candidates[rows, pairs[:, 0]], candidates[rows, pairs[:, 1]] = slots[pairs[:, 1]], slots[pairs[:, 0]]
        totals = likelihood.total(candidates)
        if totals.max() <= best + 1e-9:
            return slots
        slots, best = candidates[totals.argmax()], totals.max()


def _one_hot(slots: Ints, likelihood: Likelihood) -> Floats:
    """[N, S + 1]: each node on its slot."""
    places = np.zeros(likelihood.singles.shape)
    places[np.arange(len(slots)), slots] = 1.0
    return places


@lru_cache(maxsize=16)
def _permutations(count: int) -> Ints:
    return np.array(list(itertools.permutations(range(count))), dtype=np.int64)


# How likely the network finds each edge and node of a sentence on each matched query: what ties are broken by.


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
        self.edge_labels = exact(outputs.edge_labels.all()).cpu().numpy()
        attributes = outputs.edge_attributes
        self.edge_attributes = _array(None if attributes is None else exact(attributes.all()))
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


# An order of a target's nodes that does not depend on the order in which they come.


def node_ranks(target: Target) -> Ints:
    """[N]: ranks; nodes of the same rank look alike, as do their neighbours, and theirs, and so on.

    Nodes of the same rank are all but always interchangeable.  (Colour refinement, with colours sorted by what they
    mean, so that they are the same for every order of the nodes.)
    """
    ranks = _ranked([(key, *_appearance(target, node)) for node, key in enumerate(node_keys(target))])
    edges = [
        (int(source), int(end), _edge_appearance(target, number)) for number, (source, end) in enumerate(target.edges)
    ]
    while True:
        around: list[list[tuple[bool, Hashable, int]]] = [[] for _ in ranks]
        for source, end, look in edges:
            around[source].append((True, look, ranks[end]))
            around[end].append((False, look, ranks[source]))
        finer = _ranked([(rank, *sorted(seen, key=repr)) for rank, seen in zip(ranks, around, strict=True)])
        if len(set(finer)) == len(set(ranks)):
            return np.array(finer, dtype=np.int64)
        ranks = finer


def _ranked(looks: list[Any]) -> list[int]:
    numbers = {text: number for number, text in enumerate(sorted({repr(look) for look in looks}))}
    return [numbers[repr(look)] for look in looks]


def _appearance(target: Target, node: int) -> tuple[Hashable, ...]:
    """What is known of a node alone besides labels and anchors."""
    return (
        None if target.properties is None else bool(target.properties[node]),
        None if target.tops is None else bool(target.tops[node]),
        tuple((name, int(classes[node])) for name, classes in sorted(target.property_classes.items())),
    )


def _edge_appearance(target: Target, edge: int) -> Hashable:
    attribute = None if target.edge_attributes is None else int(target.edge_attributes[edge])
    return target.edge_labels[edge].tobytes(), attribute
