"""Nodes that labels and anchors can't tell apart, told apart by what else the network says of them.

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
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from perin.learning.colours import node_ranks
from perin.learning.likelihood import HostOutputs, Likelihood
from perin.learning.matching import Matching
from perin.learning.outputs import NodeOutputs
from perin.learning.targets import TargetBatch

Ints: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]

EXACT = 5040
"""Most arrangements of connected groups that are all tried: one group of seven, or one of six and one of three."""

RELAXATIONS = 20
"""Most steps of the continuous relaxation."""


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
        nodes, chosen = linear_sum_assignment(gains[group][:, available], maximize=True)
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
