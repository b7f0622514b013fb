from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy

from perin.contract.heads import Target
from perin.learning.data.batches import TargetBatch
from perin.learning.objective.losses import (
    LossSettings,
    MatchedEdges,
    NodeOutputs,
    QueryOutputs,
    anchor_loss,
    edge_attribute_loss,
    edge_label_loss,
    label_loss,
    losses,
    presence_loss,
    property_class_loss,
    property_loss,
    top_loss,
)
from perin.learning.objective.matching import matching_of
from perin.network.heads import GivenPairs

PLAIN = LossSettings(label_smoothing=0.0, focal=0.0)


@pytest.fixture(scope="module")
def batch():
    """Two sentences: three nodes on tokens 0 and 1, of which node 1 has no query; one node on the only token."""
    first = Target(
        np.array([0, 0, 1, 2]),
        np.array([-1, 1, -1, 0]),
        np.array([1, 2, 1, 3]),
        np.ones((3, 2), dtype=np.bool_),
        np.array([[0, 2], [2, 1], [2, 0]]),
        np.array([[True, False], [False, True], [True, True]]),
        np.array([[True, False], [True, True], [False, False]]),
        np.array([1, 2, 0]),
        np.array([True, True, False]),
        {"tfa": np.array([2, 0, 1])},
        np.array([False, True, True]),
    )
    second = Target(
        np.array([0]),
        np.array([-1]),
        np.array([2]),
        np.ones((1, 1), dtype=np.bool_),
        np.zeros((0, 2), dtype=np.int64),
        np.zeros((0, 2), dtype=np.bool_),
        np.array([[True]]),
        np.zeros(0, dtype=np.int64),
        np.array([False]),
        {"tfa": np.array([1])},
        np.array([True]),
    )
    return TargetBatch([first, second], queries=2)


@pytest.fixture(scope="module")
def matching(batch):
    """Node 0 is query 2 (token 1), node 2 query 0 (token 0), the node of the second sentence its second query."""
    return matching_of(np.array([2, -1, 0, 5]), batch)


def randn(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def test_label_loss_is_cross_entropy_with_all_right_rules_and_null(batch, matching):
    scores = randn(6, 4)
    # Query 2 may say rule 1 (anywhere) or rule 2 (at token 1), query 0 rule 3, query 5 rule 2, the others null.
    wanted = torch.tensor(
        [[0, 0, 0, 1], [1, 0, 0, 0], [0, 0.5, 0.5, 0], [1, 0, 0, 0], [1, 0, 0, 0], [0, 0, 1, 0]], dtype=torch.float32
    )
    loss = label_loss(scores.log_softmax(-1), matching, batch, PLAIN)
    assert loss.count == 6
    assert loss.mean.item() == pytest.approx(cross_entropy(scores, wanted).item(), rel=1e-5)
    smooth = label_loss(scores.log_softmax(-1), matching, batch, replace(PLAIN, label_smoothing=0.3))
    assert smooth.mean.item() == pytest.approx(cross_entropy(scores, wanted, label_smoothing=0.3).item(), rel=1e-5)
    right = (scores.softmax(-1) * (wanted > 0)).sum(-1)
    focal = label_loss(scores.log_softmax(-1), matching, batch, replace(PLAIN, focal=2.0))
    each = cross_entropy(scores, wanted, reduction="none")
    assert focal.mean.item() == pytest.approx(((1 - right) ** 2 * each).mean().item(), rel=1e-5)


@pytest.mark.parametrize("settings", [PLAIN, LossSettings()])
def test_queries_without_a_node_can_weigh_less(batch, matching, settings):
    scores = randn(6, 4).log_softmax(-1)
    whole, without = (
        label_loss(scores, matching, batch, replace(settings, null_weight=weight)).total.item() for weight in (1.0, 0.0)
    )
    assert 0 < without < whole
    fewer = label_loss(scores, matching, batch, replace(settings, null_weight=0.25))
    assert fewer.count == 6
    assert fewer.total.item() == pytest.approx(without + 0.25 * (whole - without), rel=1e-5)


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_smoothed_target_is_a_distribution(batch, matching, smoothing):
    # In the original neither of the two smoothed targets summed to 1.  The loss is linear in log-probabilities, so
    # its gradient is the target.
    scores = torch.full((6, 4), -1.5, requires_grad=True)
    label_loss(scores, matching, batch, LossSettings(smoothing, focal=0.0)).total.backward()
    assert scores.grad is not None
    torch.testing.assert_close(-scores.grad.sum(-1), torch.ones(6))
    assert (-scores.grad >= smoothing / 4 - 1e-6).all()


def test_certain_right_label_costs_nothing(batch, matching):
    scores = torch.full((6, 4), -60.0)
    scores[torch.arange(6), torch.tensor([3, 0, 1, 0, 0, 2])] = 0.0
    loss = label_loss(scores.log_softmax(-1), matching, batch, LossSettings(0.0, 2.0))
    assert loss.mean.item() == pytest.approx(0, abs=1e-6)


def test_anchor_loss_is_over_matched_queries_and_real_tokens(batch, matching):
    logits = randn(2, 4, 2)
    loss = anchor_loss(logits, matching, batch)
    chosen = torch.cat((logits[0, 2], logits[0, 0], logits[1, 1, :1]))
    wanted = torch.tensor([1.0, 0, 0, 0, 1])
    assert loss.count == 5
    assert loss.mean.item() == pytest.approx(binary_cross_entropy_with_logits(chosen, wanted).item(), rel=1e-5)


def test_presence_loss_is_over_pairs_of_different_matched_queries(batch, matching):
    # Slots: query 0 (node 2), query 2 (node 0).  Edges 0 -> 2 and 2 -> 0 are there, 2 -> 1 is not: 1 has no query.
    logits = randn(2, 2, 2)
    loss = presence_loss(logits, matching, MatchedEdges.of(matching, batch))
    pairs = torch.stack((logits[0, 1, 0], logits[0, 0, 1]))
    assert loss.count == 2
    assert loss.mean.item() == pytest.approx(binary_cross_entropy_with_logits(pairs, torch.ones(2)).item(), rel=1e-5)


@pytest.mark.parametrize("multi_label", [True, False])
def test_edge_label_loss_is_over_edges_that_are_there(batch, matching, multi_label):
    logits = randn(2, 2, 2, 2)
    loss = edge_label_loss(GivenPairs(logits), MatchedEdges.of(matching, batch), batch, multi_label=multi_label)
    edges = torch.stack((logits[0, 1, 0], logits[0, 0, 1]))
    wanted = torch.tensor([[1.0, 0.0], [1.0, 1.0]])
    assert loss.count == 2
    if multi_label:
        expected = binary_cross_entropy_with_logits(edges, wanted, reduction="sum") / 2
    else:
        expected = cross_entropy(edges, wanted / wanted.sum(-1, keepdim=True))
    assert loss.mean.item() == pytest.approx(expected.item(), rel=1e-5)


def test_edge_without_a_known_label_teaches_no_label(batch, matching):
    labels = batch.targets[0].edge_labels.copy()
    labels[2] = False
    unknown = TargetBatch([replace(batch.targets[0], edge_labels=labels), batch.targets[1]], queries=2)
    logits = randn(2, 2, 2, 2)
    loss = edge_label_loss(GivenPairs(logits), MatchedEdges.of(matching, unknown), unknown, multi_label=True)
    expected = binary_cross_entropy_with_logits(logits[0, 1, 0], torch.tensor([1.0, 0.0]), reduction="sum")
    assert loss.count == 1
    assert loss.total.item() == pytest.approx(expected.item(), rel=1e-5)


def test_edge_attribute_loss(batch, matching):
    logits = randn(2, 2, 2, 3)
    loss = edge_attribute_loss(GivenPairs(logits), MatchedEdges.of(matching, batch), batch)
    expected = cross_entropy(torch.stack((logits[0, 1, 0], logits[0, 0, 1])), torch.tensor([1, 0]))
    assert loss.count == 2
    assert loss.mean.item() == pytest.approx(expected.item(), rel=1e-5)


def test_property_losses_follow_the_nodes_to_their_slots(batch, matching):
    flags = randn(3)
    loss = property_loss(flags, matching, batch)
    expected = binary_cross_entropy_with_logits(flags, torch.tensor([0.0, 1.0, 0.0]))
    assert (loss.count, loss.mean.item()) == (3, pytest.approx(expected.item(), rel=1e-5))
    classes = randn(3, 3)
    loss = property_class_loss({"tfa": classes}, matching, batch)
    expected = cross_entropy(classes, torch.tensor([1, 2, 1]))
    assert (loss.count, loss.mean.item()) == (3, pytest.approx(expected.item(), rel=1e-5))


def test_top_loss_shares_among_matched_tops_of_a_sentence(batch, matching):
    # Of the tops 1 and 2 of the first sentence only node 2 (slot 0) is matched.
    scores = randn(3)
    loss = top_loss(scores, matching, batch)
    expected = -scores[:2].log_softmax(-1)[0]
    assert loss.count == 2
    assert loss.total.item() == pytest.approx(expected.item(), rel=1e-5)
    both = matching_of(np.array([2, 1, 0, 5]), batch)
    scores = randn(4)
    expected = -scores[:3].log_softmax(-1)[torch.tensor([0, 1])].mean()
    assert top_loss(scores, both, batch).total.item() == pytest.approx(expected.item(), rel=1e-5)


def test_edge_labels_are_read_where_tie_breaking_has_put_them(batch):
    # In the original the mask of existing edges stayed behind when nodes were permuted.
    swapped = matching_of(np.array([0, -1, 2, 5]), batch)
    logits = randn(2, 2, 2, 2)
    loss = edge_label_loss(GivenPairs(logits), MatchedEdges.of(swapped, batch), batch, multi_label=True)
    edges = torch.stack((logits[0, 0, 1], logits[0, 1, 0]))
    wanted = torch.tensor([[1.0, 0.0], [1.0, 1.0]])
    expected = binary_cross_entropy_with_logits(edges, wanted, reduction="sum") / 2
    assert loss.mean.item() == pytest.approx(expected.item(), rel=1e-5)


def test_losses_of_a_node_are_the_same_sums_over_the_number_of_nodes(batch, matching):
    queries = QueryOutputs(randn(6, 4).log_softmax(-1), randn(2, 4, 2))
    nodes = NodeOutputs(randn(2, 2, 2), GivenPairs(randn(2, 2, 2, 2)), tops=randn(3), properties=randn(3))
    plain = losses(queries, nodes, matching, batch, PLAIN)
    by_node = losses(queries, nodes, matching, batch, replace(PLAIN, per_node=True))
    assert {kind: loss.total.item() for kind, loss in plain.items()} == {
        kind: loss.total.item() for kind, loss in by_node.items()
    }
    assert [plain[kind].count for kind in ("labels", "anchors", "presence", "tops")] == [6, 5, 2, 2]
    assert {loss.count for kind, loss in by_node.items() if kind != "tops"} == {3}
    assert by_node["tops"].count == plain["tops"].count
