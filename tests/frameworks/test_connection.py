from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from perin.frameworks.decoding.connection import components, connected_edges, probable_edges


def _off_diagonal(size: int) -> np.ndarray:
    return ~np.eye(size, dtype=bool)


def _is_connected(size: int, edges: list[tuple[int, int]]) -> bool:
    reached, grown = {0}, True
    while grown:
        more = {b for a, b in edges if a in reached} | {a for a, b in edges if b in reached}
        grown = not more <= reached
        reached |= more
    return len(reached) == size


def _log_likelihood(presence: np.ndarray, edges: list[tuple[int, int]], allowed: np.ndarray) -> float:
    taken = np.zeros(presence.shape, dtype=bool)
    for source, target in edges:
        taken[source, target] = True
    with np.errstate(divide="ignore"):
        return float(np.log(np.where(taken, presence, 1 - presence).astype(float))[allowed].sum())


@given(st.integers(1, 4), st.integers(0, 2**32 - 1), st.floats(0.2, 3), st.booleans())
@settings(max_examples=60, deadline=None)
def test_no_connected_edge_set_is_more_probable(size: int, seed: int, spread: float, no_root: bool) -> None:
    rng = np.random.default_rng(seed)
    presence = np.clip(rng.random((size, size)) ** spread, 0.01, 0.99).astype(np.float32)
    allowed = _off_diagonal(size)
    if no_root:
        allowed[:, 0] = False  # no edge enters the first node
    found = [(int(a), int(b)) for a, b in np.argwhere(connected_edges(presence, allowed))]
    assert all(allowed[pair] for pair in found)
    assert _is_connected(size, found)
    pairs = [(int(a), int(b)) for a, b in np.argwhere(allowed)]
    best = max(
        _log_likelihood(presence, list(edges), allowed)
        for count in range(len(pairs) + 1)
        for edges in itertools.combinations(pairs, count)
        if _is_connected(size, list(edges))
    )
    assert np.isclose(_log_likelihood(presence, found, allowed), best)


def test_scores_of_zero_can_be_connected() -> None:
    edges = connected_edges(np.zeros((5, 5), dtype=np.float32), _off_diagonal(5))
    assert edges.sum() == 4
    assert components(edges).max() == 0


@given(st.integers(1, 30), st.integers(0, 2**32 - 1), st.floats(0.5, 20))
@settings(max_examples=50, deadline=None)
def test_large_graphs_are_connected_by_as_few_edges_as_needed(size: int, seed: int, spread: float) -> None:
    presence = (np.random.default_rng(seed).random((size, size)) ** spread).astype(np.float32)
    likely = probable_edges(presence, _off_diagonal(size))
    edges = connected_edges(presence, _off_diagonal(size))
    assert components(edges).max() == 0
    assert edges[likely].all()
    assert edges.sum() - likely.sum() == components(likely).max()
