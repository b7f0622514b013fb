from __future__ import annotations

import itertools

import networkx
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from perin.frameworks.decoding.tree import FORBIDDEN, maximum_arborescence


def _is_tree(parents: np.ndarray) -> bool:
    root = int(np.flatnonzero(parents < 0)[0])
    for node in range(len(parents)):
        for _ in range(len(parents)):
            node = node if node == root else int(parents[node])
        if node != root:
            return False
    return bool((parents < 0).sum() == 1)


def _weight(weights: np.ndarray, parents: np.ndarray) -> float:
    return float(sum(weights[parent, child] for child, parent in enumerate(parents) if parent >= 0))


@given(st.integers(1, 4), st.integers(0, 2**32 - 1), st.booleans())
@settings(max_examples=80, deadline=None)
def test_no_tree_is_better(size: int, seed: int, ties: bool) -> None:
    rng = np.random.default_rng(seed)
    weights = rng.integers(-3, 4, (size, size)).astype(float) if ties else rng.normal(size=(size, size)) * 20
    roots = rng.random(size) < 0.6
    roots[rng.integers(size)] = True
    parents = maximum_arborescence(weights, roots)
    assert _is_tree(parents)
    assert roots[parents < 0].all()
    trees = (np.array(choice) for choice in itertools.product(range(-1, size), repeat=size))
    best = max(
        _weight(weights, tree) for tree in trees if (tree < 0).sum() == 1 and roots[tree < 0].all() and _is_tree(tree)
    )
    assert np.isclose(_weight(weights, parents), best)


@given(st.integers(2, 25), st.integers(0, 2**32 - 1))
@settings(max_examples=40, deadline=None)
def test_same_weight_as_networkx(size: int, seed: int) -> None:
    weights = np.random.default_rng(seed).normal(size=(size, size)) * 10
    graph = networkx.DiGraph()
    graph.add_weighted_edges_from((a, b, weights[a, b]) for a, b in itertools.permutations(range(size), 2))
    best = networkx.maximum_spanning_arborescence(graph)
    parents = maximum_arborescence(weights, np.ones(size, dtype=bool))
    assert _is_tree(parents)
    assert np.isclose(_weight(weights, parents), sum(weights[edge] for edge in best.edges))


def test_forbidden_edges_are_not_taken() -> None:
    weights = np.full((4, 4), FORBIDDEN)
    weights[2] = -50.0
    assert maximum_arborescence(weights, np.array([False, False, True, False])).tolist() == [2, 2, -1, 2]
