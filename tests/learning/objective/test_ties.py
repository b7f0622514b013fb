"""None"""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy

from perin.contract.heads import Target
from perin.learning.data.batches import TargetBatch, tie_groups
from perin.learning.objective.losses import NodeOutputs, property_loss, top_loss
from perin.learning.objective.matching import matching_of
from perin.learning.objective.ties import EXACT, Likelihood, arrange, break_ties, components, node_ranks, tied_groups
from perin.network.heads import GivenPairs


def random_outputs(sizes, counts, seed):
    """Outputs for sentences with so many slots each."""
    generator = torch.Generator().manual_seed(seed)

    def logits(*shape):
        return 2 * torch.randn(*shape, generator=generator)

    batch, longest, slots = len(counts), max(1, *counts), sum(counts)
    return NodeOutputs(
        logits(batch, longest, longest),
        GivenPairs(logits(batch, longest, longest, sizes.edge_labels)),
        sizes.multi_label,
        GivenPairs(logits(batch, longest, longest, sizes.edge_attributes)) if sizes.edge_attributes else None,
        logits(slots) if sizes.properties else None,
        {name: logits(slots, count) for name, count in sizes.property_classes},
        logits(slots) if sizes.tops else None,
    )


def of_sentence(pairs, number, count):
    return GivenPairs(pairs.all()[number : number + 1, :count, :count])


def naive_loss(outputs, target, slots):
    """The summed loss of everything but labels and anchors for one sentence whose node i is on slot ``slots[i]``."""
    count = len(slots)
    order = np.argsort(slots)
    placed = target.permuted(order)
    presence = torch.zeros(count, count)
    total = torch.zeros(())
    for edge, (source, end) in enumerate(placed.edges.tolist()):
        presence[source, end] = 1
        labels = torch.from_numpy(placed.edge_labels[edge]).float()
        logits = outputs.edge_labels.all()[0, source, end]
        if outputs.multi_label:
            total += binary_cross_entropy_with_logits(logits, labels, reduction="sum")
        else:
            total += cross_entropy(logits, labels / labels.sum())
        if outputs.edge_attributes is not None:
            attribute = torch.tensor(placed.edge_attributes[edge])
            total += cross_entropy(outputs.edge_attributes.all()[0, source, end], attribute)
    losses = binary_cross_entropy_with_logits(outputs.presence[0], presence, reduction="none")
    total += (losses * (1 - torch.eye(count))).sum()
    if outputs.properties is not None:
        flags = torch.from_numpy(placed.properties).float()
        total += binary_cross_entropy_with_logits(outputs.properties, flags, reduction="sum")
    for name, logits in outputs.property_classes.items():
        total += cross_entropy(logits, torch.from_numpy(placed.property_classes[name]), reduction="sum")
    if outputs.tops is not None:
        tops = torch.from_numpy(placed.tops).float()
        total += cross_entropy(outputs.tops, tops / tops.sum())
    return float(total)


def group_permutations(groups, count):
    """Every order of ``count`` nodes that moves nodes within their groups only."""
    for orders in itertools.product(*(itertools.permutations(group) for group in groups)):
        result = list(range(count))
        for group, order in zip(groups, orders, strict=True):
            for node, other in zip(group, order, strict=True):
                result[node] = other
        yield np.array(result)


@given(seed=st.integers(0, 10**6), nodes=st.integers(2, 6), kinds=st.integers(1, 3))
@settings(max_examples=25, deadline=None)
def test_best_of_all_permutations(sizes, make_target, seed, nodes, kinds):
    target = make_target(seed, sizes, nodes, tokens=4, kinds=kinds)
    outputs = random_outputs(sizes, [nodes], seed)
    batch = TargetBatch([target], queries=4)
    start = np.random.default_rng(seed).permutation(nodes)
    matching = break_ties(matching_of(start, batch), outputs, batch)
    groups = [np.flatnonzero(batch.groups == number).tolist() for number in np.unique(batch.groups)]
    best = min(naive_loss(outputs, target, start[order]) for order in group_permutations(groups, nodes))
    assert naive_loss(outputs, target, matching.node_slots) == pytest.approx(best, rel=1e-5)
    for group in groups:
        assert sorted(matching.node_slots[group]) == sorted(start[group])


def random_likelihood(rng, nodes, edges):
    pairs = list(itertools.permutations(range(nodes), 2))
    chosen = rng.permutation(len(pairs))[:edges]
    table = np.array([pairs[number] for number in chosen], dtype=np.int64).reshape(-1, 2)
    scores = rng.normal(size=(len(table), nodes + 1, nodes + 1))
    singles = rng.normal(size=(nodes, nodes + 1))
    scores[:, -1], scores[:, :, -1], singles[:, -1] = 0, 0, 0
    return Likelihood(table, scores, singles)


@given(seed=st.integers(0, 10**6))
@settings(max_examples=8, deadline=None)
def test_group_without_inner_edges_is_exact_at_any_size(seed):
    rng = np.random.default_rng(seed)
    likelihood = random_likelihood(rng, 10, 30)
    group = np.arange(8)
    outward = ~np.isin(likelihood.edges, group).all(axis=1)
    likelihood = Likelihood(likelihood.edges[outward], likelihood.pairs[outward], likelihood.singles)
    slots = rng.permutation(10)
    assert math.factorial(len(group)) > EXACT
    best = max(likelihood.total(np.array(list(group_arrangements(slots, group)))))
    assert likelihood.total(arrange(slots, [group], likelihood)[None])[0] == pytest.approx(best)


def group_arrangements(slots, group):
    for order in itertools.permutations(slots[group]):
        result = slots.copy()
        result[group] = order
        yield result


@given(seed=st.integers(0, 10**6))
@settings(max_examples=30, deadline=None)
def test_large_group_ends_where_no_swap_helps_whatever_the_order(seed):
    rng = np.random.default_rng(seed)
    nodes = 9
    likelihood = random_likelihood(rng, nodes, 30)
    group = np.arange(nodes)
    found = arrange(np.arange(nodes), [group], likelihood)
    total = likelihood.total(found[None])[0]
    assert sorted(found) == list(range(nodes))
    for one, other in itertools.combinations(range(nodes), 2):
        swapped = found.copy()
        swapped[[one, other]] = swapped[[other, one]]
        assert likelihood.total(swapped[None])[0] <= total + 1e-6
    np.testing.assert_array_equal(arrange(rng.permutation(nodes), [group], likelihood), found)


def test_large_groups_come_close_to_the_best_even_of_random_scores():
    rng = np.random.default_rng(0)
    everything = np.array(list(itertools.permutations(range(8))))
    shares = []
    for _ in range(20):
        likelihood = random_likelihood(rng, 8, 24)
        totals = likelihood.total(everything)
        found = likelihood.total(arrange(np.arange(8), [np.arange(8)], likelihood)[None])[0]
        shares.append((found - totals.mean()) / (totals.max() - totals.mean()))
    assert np.mean(shares) > 0.85


def test_graph_that_the_network_sees_is_found_in_a_large_group():
    # Ten equal nodes in a tree, each with two edges to others that are known; the network is right but for noise.
    rng = np.random.default_rng(0)
    for _ in range(20):
        tree = [(int(rng.integers(node)), node) for node in range(1, 10)]
        outward = [(node, int(other)) for node in range(10) for other in rng.choice(np.arange(10, 20), 2, False)]
        edges = np.array(tree + outward)
        truth = np.concatenate((rng.permutation(10), np.arange(10, 20)))
        logits = rng.normal(-3, 1, size=(21, 21))
        logits[tuple(truth[edges].T)] += 6
        logits[-1], logits[:, -1] = 0, 0
        likelihood = Likelihood(edges, np.tile(logits, (len(edges), 1, 1)), np.zeros((20, 21)))
        found = arrange(np.arange(20), [np.arange(10)], likelihood)
        assert likelihood.total(found[None])[0] >= likelihood.total(truth[None])[0] - 1e-9


def test_top_property_and_edges_move_together_in_a_cycle_of_three():
    # In the original the top went the other way round than edges and properties.
    target = Target(
        np.arange(4),
        np.full(4, -1),
        np.array([1, 1, 1, 2]),
        np.ones((4, 4), dtype=np.bool_),
        np.array([[0, 3], [3, 1]]),
        np.ones((2, 1), dtype=np.bool_),
        properties=np.array([False, False, True, False]),
        tops=np.array([True, False, False, False]),
    )
    batch = TargetBatch([target], queries=1)
    presence = torch.full((1, 4, 4), -9.0)
    presence[0, 1, 3] = presence[0, 3, 2] = 9.0
    flags = torch.tensor([9.0, -9.0, -9.0, -9.0])
    tops = torch.tensor([0.0, 9.0, 0.0, 0.0])
    outputs = NodeOutputs(presence, GivenPairs(torch.zeros(1, 4, 4, 1)), properties=flags, tops=tops)
    matching = break_ties(matching_of(np.arange(4), batch), outputs, batch)
    assert matching.node_slots.tolist() == [1, 2, 0, 3]
    assert naive_loss(outputs, target, matching.node_slots) < 0.1
    assert top_loss(tops, matching, batch).mean < 0.1
    assert property_loss(flags, matching, batch).mean < 0.1


def test_node_without_query_takes_the_place_that_costs_least():
    # Two equal nodes, one query: the node whose edge the network sees gets it.
    target = Target(
        np.arange(3),
        np.full(3, -1),
        np.array([1, 1, 2]),
        np.ones((3, 1), dtype=np.bool_),
        np.array([[1, 2]]),
        np.ones((1, 1), dtype=np.bool_),
    )
    batch = TargetBatch([target], queries=2)
    outputs = NodeOutputs(torch.full((1, 2, 2), 3.0), GivenPairs(torch.zeros(1, 2, 2, 1)))
    matching = break_ties(matching_of(np.array([0, -1, 1]), batch), outputs, batch)
    assert matching.node_slots.tolist() == [-1, 0, 1]


def test_nodes_differ_by_rules_mask_or_anchors(make_target, all_sizes):
    target = make_target(3, all_sizes["eds"], nodes=4, tokens=3, kinds=1)
    assert tie_groups(target).tolist() == [0, 0, 0, 0]
    anchors = target.anchors.copy()
    anchors[1] = ~anchors[1]
    assert tie_groups(replace(target, anchors=anchors)).tolist() == [0, 1, 0, 0]
    mask = target.mask.copy()
    mask[2] = ~mask[2]
    assert tie_groups(replace(target, mask=mask)).tolist() == [0, 0, 2, 0]
    ids = target.rule_ids.copy()
    ids[target.rule_nodes == 3] = np.where(ids[target.rule_nodes == 3] == 1, 2, 1)
    assert tie_groups(replace(target, rule_ids=ids)).tolist() == [0, 0, 0, 3]


def test_rules_in_another_order_are_the_same_rules():
    table = np.array([[0, -1, 1], [0, -1, 2], [1, -1, 2], [1, -1, 1]])
    target = Target(
        *table.T, np.ones((2, 1), dtype=np.bool_), np.zeros((0, 2), dtype=np.int64), np.zeros((0, 1), dtype=np.bool_)
    )
    assert tie_groups(target).tolist() == [0, 0]


def test_groups_of_one_or_without_a_query_are_not_tied():
    groups, slots = np.array([0, 1, 1, 3, 3]), np.array([0, -1, -1, 1, -1])
    assert [group.tolist() for group in tied_groups(groups, slots)] == [[3, 4]]


def test_components_join_what_edges_connect():
    groups = [np.array([0, 1]), np.array([2, 3]), np.array([4, 5]), np.array([6, 7])]
    edges = np.array([[0, 4], [8, 2], [5, 8]])
    found = components(groups, edges, 9)
    assert sorted(sorted(int(group[0]) for group in component) for component in found) == [[0, 4], [2], [6]]


def test_sentences_of_a_batch_do_not_touch_each_other(sizes, make_target):
    targets = [make_target(seed, sizes, count, tokens=4, kinds=1) for seed, count in enumerate((3, 1, 4))]
    batch = TargetBatch(targets, queries=4)
    outputs = random_outputs(sizes, [3, 1, 4], 5)
    rows = np.array([2, 0, 1, 20, 32, 33, 35, 34])
    together = break_ties(matching_of(rows, batch), outputs, batch).node_slots
    for number, (first, last) in enumerate([(0, 3), (3, 4), (4, 8)]):
        count = last - first
        own = NodeOutputs(
            outputs.presence[number : number + 1, :count, :count],
            of_sentence(outputs.edge_labels, number, count),
            outputs.multi_label,
            None if outputs.edge_attributes is None else of_sentence(outputs.edge_attributes, number, count),
            None if outputs.properties is None else outputs.properties[first:last],
            {name: logits[first:last] for name, logits in outputs.property_classes.items()},
            None if outputs.tops is None else outputs.tops[first:last],
        )
        single = TargetBatch([targets[number]], queries=4)
        alone = break_ties(matching_of(rows[first:last] - rows[first:last].min(), single), own, single).node_slots
        np.testing.assert_array_equal(together[first:last] - first, alone)


@given(seed=st.integers(0, 10**6), nodes=st.integers(0, 7), kinds=st.integers(1, 3))
@settings(max_examples=20, deadline=None)
def test_ranks_go_with_the_nodes(sizes, make_target, seed, nodes, kinds):
    target = make_target(seed, sizes, nodes, 3, kinds)
    order = np.random.default_rng(seed).permutation(nodes)
    np.testing.assert_array_equal(node_ranks(target.permuted(order)), node_ranks(target)[order])


def chain(edges, nodes):
    """Equal nodes with equal edges."""
    return Target(
        np.arange(nodes),
        np.full(nodes, -1),
        np.ones(nodes, dtype=np.int64),
        np.ones((nodes, 2), dtype=np.bool_),
        np.array(edges),
        np.ones((len(edges), 1), dtype=np.bool_),
    )


def test_neighbours_of_neighbours_tell_nodes_apart():
    assert len(set(node_ranks(chain([(0, 1), (1, 2), (2, 3), (3, 4)], 5)).tolist())) == 5


def test_interchangeable_nodes_have_the_same_rank():
    ranks = node_ranks(chain([(0, 1), (0, 2), (3, 4), (3, 5)], 6))
    assert ranks[0] == ranks[3] != ranks[1]
    assert len(set(ranks[[1, 2, 4, 5]].tolist())) == 1
