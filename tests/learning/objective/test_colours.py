from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from perin.contract.heads import Target
from perin.learning.objective.ties import node_ranks


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
