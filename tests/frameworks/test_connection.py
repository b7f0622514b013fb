from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from perin.frameworks.decoding.structure import components, joined_edges


def _off_diagonal(size: int) -> np.ndarray:
    return ~np.eye(size, dtype=bool)


def _parts(size: int, edges: list[tuple[int, int]]) -> int:
    names = list(range(size))
    for a, b in edges:
        names = [names[a] if name == names[b] else name for name in names]
    return len(set(names))


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
    found = [(int(a), int(b)) for a, b in np.argwhere(joined_edges(presence, allowed))]
    assert all(allowed[pair] for pair in found)
    assert _parts(size, found) == 1
    pairs = [(int(a), int(b)) for a, b in np.argwhere(allowed)]
    best = max(
        _log_likelihood(presence, list(edges), allowed)
        for count in range(len(pairs) + 1)
        for edges in itertools.combinations(pairs, count)
        if _parts(size, list(edges)) == 1
    )
    assert np.isclose(_log_likelihood(presence, found, allowed), best)


@given(st.integers(1, 4), st.integers(0, 2**32 - 1), st.floats(1, 6), st.sampled_from([0.02, 0.1, 0.3, 0.5]))
@settings(max_examples=60, deadline=None)
def test_parts_have_their_price(size: int, seed: int, spread: float, least: float) -> None:
    """No other edge set is more probable if every part but the first has the odds of the least joint."""
    presence = np.clip(np.random.default_rng(seed).random((size, size)) ** spread, 0.01, 0.99).astype(np.float32)
    allowed = _off_diagonal(size)

    def worth(edges: list[tuple[int, int]]) -> float:
        price = (_parts(size, edges) - 1) * np.log(least / (1 - least))
        return _log_likelihood(presence, edges, allowed) + float(price)

    pairs = [(int(a), int(b)) for a, b in np.argwhere(allowed)]
    sets = (list(edges) for count in range(len(pairs) + 1) for edges in itertools.combinations(pairs, count))
    found = [(int(a), int(b)) for a, b in np.argwhere(joined_edges(presence, allowed, least))]
    assert np.isclose(worth(found), max(map(worth, sets)))


def test_scores_of_zero_can_be_connected() -> None:
    edges = joined_edges(np.zeros((5, 5), dtype=np.float32), _off_diagonal(5))
    assert edges.sum() == 4
    assert components(edges).max() == 0


@given(st.integers(1, 30), st.integers(0, 2**32 - 1), st.floats(0.5, 20))
@settings(max_examples=50, deadline=None)
def test_large_graphs_are_connected_by_as_few_edges_as_needed(size: int, seed: int, spread: float) -> None:
    presence = (np.random.default_rng(seed).random((size, size)) ** spread).astype(np.float32)
    likely = (presence >= 0.5) & _off_diagonal(size)
    edges = joined_edges(presence, _off_diagonal(size))
    assert components(edges).max() == 0
    assert edges[likely].all()
    assert edges.sum() - likely.sum() == components(likely).max()
