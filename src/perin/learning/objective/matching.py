"""Which query becomes which node (paper, section "Permutation-invariant Loss")."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from torch import Tensor
from torch.nn import functional

from perin.learning.data.batches import TargetBatch
from perin.network.layers import Layout

Ints: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]

EPSILON = 1e-9
"""The factor for a query whose token is not among those of the node.

The paper puts this in the place of the anchor score; as a factor it also decides between nodes of equal labels that
all lie outside their tokens, so that the matching does not depend on their order.
"""
LEAST = 1e-60
"""The score of a possible pair is at least this, that of an impossible one 0."""


@dataclass(frozen=True, eq=False)
class Matching:
    """The matched queries of a batch, called slots in the order of their numbers, and the slot of each node."""

    rows: Ints
    """[slots]: packed queries, ascending."""
    slots: Layout
    """How many slots each sentence has."""
    node_slots: Ints
    """[nodes]: the packed slot of each packed node, -1 for a node that no query can become."""

    @property
    def node_rows(self) -> Ints:
        """[nodes]: the packed query of each node, -1 for none."""
        if not len(self.rows):
            return np.full_like(self.node_slots, -1)
        result: Ints = np.where(self.node_slots < 0, -1, self.rows[self.node_slots])
        return result


def match(log_probabilities: Tensor, anchors: Tensor | None, targets: TargetBatch, *, masking: bool = True) -> Matching:
    """The matching of the highest total score.

    ``log_probabilities`` [queries, R + 1]; ``anchors``: logits [B, queries, T] or None.

    A node is matched only with a query that can yield its label.  If a sentence has more nodes than it has queries for
    them, those of the best total score are matched.
    """
    scores = match_scores(log_probabilities, anchors, targets, masking=masking)
    node_rows = np.full(targets.nodes.rows, -1, dtype=np.int64)
    for number, start in enumerate(targets.query_layout.starts):
        nodes, queries = targets.nodes.lengths[number], targets.query_layout.lengths[number]
        chosen = assign(scores[number, :nodes, :queries])
        first = targets.nodes.starts[number]
        node_rows[first : first + nodes] = np.where(chosen < 0, -1, chosen + start)
    return matching_of(node_rows, targets)


@torch.no_grad()
def match_scores(
    log_probabilities: Tensor, anchors: Tensor | None, targets: TargetBatch, *, masking: bool = True
) -> Floats:
    """[B, N, queries]: p_match = p_label times the geometric mean of the anchor scores of all tokens.

    p_label is the probability of the rules that yield the node's label at the query's token; only their columns are
    looked at.  With ``masking``, times :data:`EPSILON` where the query's token is not one of the node's.
    0 where the query can't yield the label, and beyond a sentence's nodes and queries.
    """
    device = log_probabilities.device
    shape = (targets.nodes.batch, targets.nodes.longest, targets.query_layout.longest)
    nodes, queries, rules = targets.candidates
    cells = targets.nodes.cells[nodes] * shape[2] + targets.query_layout.cells[queries] % shape[2]
    flat = queries * log_probabilities.shape[1] + rules
    probabilities = log_probabilities.view(-1)[torch.from_numpy(flat).to(device)].exp()
    scores = torch.zeros(shape, device=device).view(-1)
    scores = scores.index_add_(0, torch.from_numpy(cells).to(device), probabilities).view(shape)
    mean: Tensor | float = 1.0 if anchors is None else _mean_anchor_scores(anchors, targets)
    if masking:
        allowed = torch.from_numpy(targets.masks).to(device).repeat_interleave(targets.queries, dim=2)
        mean = mean * torch.where(allowed, 1.0, EPSILON)
    scores = scores * mean
    result: Floats = np.nan_to_num(scores.cpu().numpy().astype(np.float64))  # a loss that diverged is told elsewhere
    possible = result.reshape(-1)
    possible[cells] = np.maximum(possible[cells], LEAST)
    return result


def _mean_anchor_scores(logits: Tensor, targets: TargetBatch) -> Tensor:
    """[B, N, queries]: the geometric mean over tokens of P(anchored or not, as it is); ``logits`` [B, queries, T]."""
    tokens = targets.tokens.to(logits.device)
    wanted = torch.from_numpy(targets.anchors).to(logits)
    real = tokens.mask[:, None, :].to(logits)
    total = torch.bmm(wanted, (logits * real).transpose(1, 2)) - (functional.softplus(logits) * real).sum(-1)[:, None]
    lengths = torch.from_numpy(tokens.lengths).to(logits).clamp_min(1)
    return (total / lengths[:, None, None]).exp()


def assign(scores: Floats) -> Ints:
    """The query of each node that makes the total of ``scores`` [nodes, queries] highest; -1 for none.

    >>> assign(np.array([[0.9, 0.8], [0.5, 0.1], [0.3, 0.2]])).tolist()
    [1, 0, -1]
    """
    nodes, queries = linear_sum_assignment(scores, maximize=True)
    chosen = np.full(len(scores), -1, dtype=np.int64)
    possible = scores[nodes, queries] > 0
    chosen[nodes[possible]] = queries[possible]
    return chosen


def matching_of(node_rows: Ints, targets: TargetBatch) -> Matching:
    """The matching in which packed node i is packed query ``node_rows[i]``, or none (-1)."""
    rows = np.sort(node_rows[node_rows >= 0])
    counts = np.bincount(targets.query_layout.sequences[rows], minlength=targets.nodes.batch)
    node_slots = np.where(node_rows < 0, -1, np.searchsorted(rows, node_rows))
    return Matching(rows, Layout(counts), node_slots)
