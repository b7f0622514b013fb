"""The paper's claim: the loss is the same for every order of the target's nodes and for every order of the queries."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from perin.learning.data.batches import TargetBatch
from perin.learning.objective import Objective, treebank_losses
from perin.learning.objective.balance import Balance, GradNorm
from perin.network.network import Hidden


def totals(hidden, heads, targets, sizes):
    balance = Balance("equal", GradNorm(sizes.kinds))
    found = treebank_losses(hidden, heads, TargetBatch(targets, sizes.queries), Objective(), balance)
    assert set(found) == set(sizes.kinds)
    return {kind: (loss.total.item(), loss.count) for kind, loss in found.items()}


def assert_same(ours, theirs):
    assert ours.keys() == theirs.keys()
    for kind in ours:
        assert ours[kind][1] == theirs[kind][1], kind
        np.testing.assert_allclose(ours[kind][0], theirs[kind][0], rtol=2e-5, atol=1e-5, err_msg=kind)


cases = given(seed=st.integers(0, 10**6), nodes=st.integers(0, 8), tokens=st.integers(1, 5), kinds=st.integers(1, 8))


@cases
@settings(max_examples=25, deadline=None)
def test_any_order_of_nodes(sizes, make_target, make_heads, make_hidden, seed, nodes, tokens, kinds):
    target = make_target(seed, sizes, nodes, tokens, kinds)
    other = make_target(seed + 1, sizes, 3, 2)
    heads, hidden = make_heads(sizes, seed), make_hidden([tokens, 2], sizes.queries, seed)
    order = np.random.default_rng(seed).permutation(nodes)
    before = totals(hidden, heads, [target, other], sizes)
    assert_same(before, totals(hidden, heads, [target.permuted(order), other], sizes))


@cases
@settings(max_examples=25, deadline=None)
def test_any_order_of_queries(sizes, make_target, make_heads, make_hidden, seed, nodes, tokens, kinds):
    """The queries of a token change places among themselves, and tokens with all that belongs to them."""
    target = make_target(seed, sizes, nodes, tokens, kinds)
    heads, hidden = make_heads(sizes, seed), make_hidden([tokens], sizes.queries, seed)
    rng = np.random.default_rng(seed)
    order = rng.permutation(tokens)
    place = np.argsort(order)
    rows = np.concatenate([token * sizes.queries + rng.permutation(sizes.queries) for token in order])
    moved = replace(
        target,
        rule_tokens=np.where(target.rule_tokens < 0, -1, place[target.rule_tokens]),
        mask=target.mask[:, order],
        anchors=None if target.anchors is None else target.anchors[:, order],
    )
    moved_hidden = Hidden(
        hidden.queries[torch.from_numpy(rows)],
        hidden.query_layout,
        hidden.tokens[torch.from_numpy(order)],
        hidden.token_layout,
    )
    assert_same(totals(hidden, heads, [target], sizes), totals(moved_hidden, heads, [moved], sizes))


@given(seed=st.integers(0, 10**6), counts=st.lists(st.integers(0, 6), min_size=2, max_size=4))
@settings(max_examples=15, deadline=None)
def test_batch_is_the_sum_of_its_sentences(sizes, make_target, make_heads, make_hidden, seed, counts):
    tokens = [1 + (seed + count) % 4 for count in counts]
    targets = [make_target(seed + i, sizes, count, tokens[i], kinds=2) for i, count in enumerate(counts)]
    heads, hidden = make_heads(sizes, seed), make_hidden(tokens, sizes.queries, seed)
    together = totals(hidden, heads, targets, sizes)
    alone: dict[str, tuple[float, int]] = dict.fromkeys(sizes.kinds, (0.0, 0))
    for number, target in enumerate(targets):
        one = np.array([number])
        queries = torch.from_numpy(hidden.query_layout.rows_of(one))
        words = torch.from_numpy(hidden.token_layout.rows_of(one))
        layout = type(hidden.token_layout)([tokens[number]])
        own = Hidden(hidden.queries[queries], layout.repeated(sizes.queries), hidden.tokens[words], layout)
        for kind, (total, count) in totals(own, heads, [target], sizes).items():
            alone[kind] = (alone[kind][0] + total, alone[kind][1] + count)
    assert_same(together, alone)
