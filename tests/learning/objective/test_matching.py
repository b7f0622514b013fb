from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from perin.contract.heads import Target
from perin.learning.data.batches import TargetBatch
from perin.learning.objective.matching import EPSILON, assign, match, match_scores, matching_of


def log_probabilities(rows, classes, seed=0):
    return torch.randn(rows, classes, generator=torch.Generator().manual_seed(seed)).log_softmax(-1)


def plain_target(mask, rules, anchors=None):
    """A target of nodes with given (token, rule) lists and no edges."""
    table = np.array([(node, *entry) for node, own in enumerate(rules) for entry in own], dtype=np.int64).reshape(-1, 3)
    return Target(
        *table.T,
        np.array(mask, dtype=np.bool_),
        np.zeros((0, 2), dtype=np.int64),
        np.zeros((0, 1), dtype=np.bool_),
        None if anchors is None else np.array(anchors, dtype=np.bool_),
    )


def naive_score(probabilities, anchor_probabilities, target, node, query, queries, masking):
    token = query // queries
    fitting = zip(target.rule_nodes, target.rule_tokens, target.rule_ids, strict=True)
    rules = [rule for owner, place, rule in fitting if owner == node and place in (-1, token)]
    if not rules:
        return 0.0
    mean = 1.0
    if anchor_probabilities is not None:
        right = [
            p if anchored else 1 - p
            for p, anchored in zip(anchor_probabilities[query], target.anchors[node], strict=True)
        ]
        mean = np.prod(right) ** (1 / len(right))
    if masking and not target.mask[node, token]:
        mean *= EPSILON
    return sum(probabilities[query, rule] for rule in rules) * mean


@pytest.mark.parametrize("masking", [True, False])
def test_scores_are_those_of_the_paper(sizes, make_target, masking):
    targets = [make_target(seed, sizes, nodes, tokens) for seed, (nodes, tokens) in enumerate([(4, 3), (0, 2), (5, 1)])]
    batch = TargetBatch(targets, sizes.queries)
    labels = log_probabilities(batch.query_layout.rows, sizes.rules + 1)
    generator = torch.Generator().manual_seed(1)
    shape = (3, batch.query_layout.longest, batch.tokens.longest)
    anchors = torch.randn(shape, generator=generator) if sizes.anchors else None
    scores = match_scores(labels, anchors, batch, masking=masking)
    for number, target in enumerate(targets):
        start, count = batch.query_layout.starts[number], batch.query_layout.lengths[number]
        own = labels[start : start + count].exp().double().numpy()
        anchor = None if anchors is None else anchors[number, :, : target.mask.shape[1]].sigmoid().double().numpy()
        wanted = [
            [naive_score(own, anchor, target, node, query, sizes.queries, masking) for query in range(count)]
            for node in range(len(target))
        ]
        wanted_array = np.array(wanted).reshape(len(target), count)
        np.testing.assert_allclose(scores[number, : len(target), :count], wanted_array, rtol=2e-5, atol=1e-15)


@given(st.integers(0, 10**6), st.integers(1, 5), st.integers(1, 5))
@settings(max_examples=100, deadline=None)
def test_assignment_is_the_best_of_all(seed, nodes, queries):
    scores = np.random.default_rng(seed).random((nodes, queries))
    chosen = assign(scores)
    matched = chosen[chosen >= 0]
    assert len(matched) == min(nodes, queries) == len(set(matched))
    if nodes <= queries:
        best = max(
            sum(scores[node, query] for node, query in enumerate(order))
            for order in itertools.permutations(range(queries), nodes)
        )
    else:
        best = max(
            sum(scores[node, query] for query, node in enumerate(order))
            for order in itertools.permutations(range(nodes), queries)
        )
    total = scores[np.flatnonzero(chosen >= 0), matched].sum()
    assert total == pytest.approx(best)


def test_batch_is_matched_sentence_by_sentence(sizes, make_target):
    targets = [make_target(seed, sizes, 3 + seed, 2 + seed) for seed in range(3)]
    batch = TargetBatch(targets, sizes.queries)
    labels = log_probabilities(batch.query_layout.rows, sizes.rules + 1)
    shape = (3, batch.query_layout.longest, batch.tokens.longest)
    anchors = torch.randn(shape, generator=torch.Generator().manual_seed(2)) if sizes.anchors else None
    together = match(labels, anchors, batch)
    for number, target in enumerate(targets):
        alone_batch = TargetBatch([target], sizes.queries)
        start, count = batch.query_layout.starts[number], batch.query_layout.lengths[number]
        own = None if anchors is None else anchors[number : number + 1, :count, : target.mask.shape[1]]
        alone = match(labels[start : start + count], own, alone_batch)
        first = batch.nodes.starts[number]
        rows = together.node_rows[first : first + len(target)]
        np.testing.assert_array_equal(np.where(rows < 0, -1, rows - start), alone.node_rows)
        assert together.slots.lengths[number] == len(alone.rows)


def test_masked_queries_are_taken_only_if_no_other_is_left():
    # Two nodes of token 0, which has one query; the query of token 1 has by far the better labels.
    target = plain_target([[True, False], [True, False]], [[(-1, 1)], [(-1, 1)]])
    labels = torch.tensor([[0.9, 0.1], [0.01, 0.99]]).log()
    assert sorted(match(labels, None, TargetBatch([target], 1)).node_rows.tolist()) == [0, 1]
    single = plain_target([[True, False]], [[(-1, 1)]])
    assert match(labels, None, TargetBatch([single], 1)).node_rows.tolist() == [0]
    assert match(labels, None, TargetBatch([single], 1), masking=False).node_rows.tolist() == [1]


def test_more_nodes_than_queries_keeps_the_best_and_shifts_nothing():
    # In the original the matched nodes moved up and trained on the targets of others.
    target = plain_target([[True], [True], [True]], [[(-1, 1)], [(-1, 2)], [(-1, 3)]])
    labels = torch.tensor([[0.1, 0.1, 0.2, 0.6], [0.1, 0.2, 0.6, 0.1]]).log()
    matching = match(labels, None, TargetBatch([target], 2))
    assert matching.node_rows.tolist() == [-1, 1, 0]
    assert matching.node_slots.tolist() == [-1, 1, 0]


def test_node_of_many_rules_is_seen():
    # The original compared smoothed targets with the smoothing rate: ten rules of 0.09 each fell below 0.1.
    rules = 12
    target = plain_target([[True]], [[(-1, rule) for rule in range(1, rules)]])
    probabilities = torch.full((2, rules + 1), 0.05 / rules)
    probabilities[0, 0] = 0.95
    probabilities[1, 1:rules] = 0.95 / (rules - 1)
    matching = match(probabilities.log(), None, TargetBatch([target], 2))
    assert matching.node_rows.tolist() == [1]


def test_node_that_no_query_can_yield_is_left_out():
    target = plain_target([[True, True], [True, True]], [[(1, 1)], []])
    labels = torch.tensor([[0.1, 0.9], [0.9, 0.1]]).log()
    matching = match(labels, None, TargetBatch([target], 1))
    assert matching.node_rows.tolist() == [1, -1]


def test_possible_pair_of_no_probability_is_better_than_none():
    target = plain_target([[True, False]], [[(1, 1)]])
    labels = torch.tensor([[0.0, -1.0], [0.0, -300.0]])
    assert match(labels, None, TargetBatch([target], 1)).node_rows.tolist() == [1]


def test_slots_are_the_matched_queries_in_order():
    batch = TargetBatch([plain_target([[True, True]] * 3, [[(-1, 1)]] * 3), plain_target([[True]], [[(-1, 1)]])], 2)
    matching = matching_of(np.array([3, -1, 0, 5]), batch)
    assert matching.rows.tolist() == [0, 3, 5]
    assert matching.node_slots.tolist() == [1, -1, 0, 2]
    assert matching.slots.lengths.tolist() == [2, 1]
    assert matching.node_rows.tolist() == [3, -1, 0, 5]
