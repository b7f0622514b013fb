from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from perin.contract import Sentence, Token
from perin.contract.heads import Prediction
from perin.frameworks.decoding.tree import descendants, owned_words, tree_structure

REMOTE = np.array([False, True])


def _prediction(presence: np.ndarray, remote: np.ndarray, anchors: np.ndarray) -> Prediction:
    tokens = tuple(Token("w", "w", 2 * index, 2 * index + 1) for index in range(anchors.shape[1]))
    attributes = np.stack([1 - remote, remote], axis=-1).astype(np.float32)
    size = len(presence)
    return Prediction(
        Sentence("w " * len(tokens), tokens),
        size,
        np.zeros((size, 3), dtype=np.float32),
        np.arange(size),
        presence.astype(np.float32),
        np.ones((size, size, 1), dtype=np.float32),
        anchors.astype(np.float32),
        attributes,
    )


@given(st.integers(1, 4), st.integers(0, 2**32 - 1))
@settings(max_examples=60, deadline=None)
def test_no_tree_with_remote_edges_is_more_probable(size: int, seed: int) -> None:
    """Among all ways to choose absent, primary or remote for each pair, without regard to cycles of remote edges."""
    rng = np.random.default_rng(seed)
    presence, remote = rng.uniform(0.02, 0.98, (2, size, size))
    inner = rng.random(size) < 0.7
    inner[rng.integers(size)] = True
    structure = tree_structure(_prediction(presence, remote, np.eye(size)), inner, REMOTE)
    primary = {
        tuple(pair) for pair, kind in zip(structure.edges.tolist(), structure.attributes, strict=True) if kind == 0
    }
    best = -np.inf, None
    for parents in itertools.product(range(-1, size), repeat=size):
        if parents.count(-1) != 1 or not inner[parents.index(-1)]:
            continue
        tree = {(parent, child) for child, parent in enumerate(parents) if parent >= 0}
        below = descendants_or_none(parents)
        if below is None or any(not inner[parent] for parent, _ in tree):
            continue
        total = 0.0
        for pair in itertools.permutations(range(size), 2):
            p, r = presence[pair], remote[pair] if inner[pair[0]] else 0.0
            total += np.log(p * (1 - remote[pair])) if pair in tree else np.log(max(1 - p, p * r))
        best = max(best, (total, tree), key=lambda item: item[0])
    assert structure.keep.all()
    assert primary == best[1]


def descendants_or_none(parents: tuple[int, ...]) -> set[int] | None:
    """None if some node does not lead up to the root."""
    for node in range(len(parents)):
        for _ in range(len(parents)):
            node = parents[node] if node >= 0 else node
        if node >= 0:
            return None
    return set()


def test_descendants() -> None:
    below = descendants(np.array([2, 0, -1, 0]))
    assert [np.flatnonzero(row).tolist() for row in below] == [[1, 3], [], [0, 1, 3], []]


def test_words_belong_to_leaves_then_to_the_lowest_unit_that_claims_them() -> None:
    below = descendants(np.array([-1, 0, 1, 1, 0]))  # 0 over 1 over the leaves 2 and 3, and over the leaf 4
    scores = np.array(
        [
            [0.9, 0.9, 0.9, 0.6, 0.1],
            [0.9, 0.9, 0.7, 0.1, 0.1],
            [0.8, 0.2, 0.1, 0.1, 0.2],
            [0.6, 0.9, 0.1, 0.1, 0.3],
            [0.0, 0.2, 0.0, 0.0, 0.0],
        ],
        dtype=np.float32,
    )
    own = owned_words(scores, np.array([True, True, False, False, False]), below)
    assert [np.flatnonzero(row).tolist() for row in own] == [[3], [2], [0], [0, 1, 4], [1]]


def test_a_word_without_leaves_belongs_to_someone() -> None:
    own = owned_words(np.array([[0.2]], dtype=np.float32), np.array([True]), np.zeros((1, 1), dtype=bool))
    assert own.tolist() == [[True]]


@given(st.integers(1, 8), st.integers(1, 6), st.integers(0, 2**32 - 1))
@settings(max_examples=60, deadline=None)
def test_structure_is_acyclic_and_every_word_is_owned(size: int, words: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    prediction = _prediction(rng.random((size, size)), rng.random((size, size)), rng.random((size, words)))
    inner = rng.random(size) < 0.5
    inner[0] = True
    structure = tree_structure(prediction, inner, REMOTE)
    order = _topological(structure.edges.tolist(), size)
    assert order is not None
    kept = set(np.flatnonzero(structure.keep).tolist())
    assert {node for pair in structure.edges.tolist() for node in pair} <= kept
    assert structure.anchors is not None
    assert structure.anchors[structure.keep].any(axis=0).all()


def _topological(edges: list[Any], size: int) -> list[int] | None:
    left, order = set(range(size)), []
    while left:
        free = {node for node in left if not any(b == node and a in left for a, b in edges)}
        if not free:
            return None
        order += sorted(free)
        left -= free
    return order


def test_a_childless_inner_unit_without_words_goes() -> None:
    presence = np.array([[0, 0.9, 0.9], [0, 0, 0], [0, 0, 0]])
    anchors = np.array([[0.9], [0.95], [0.6]])
    structure = tree_structure(_prediction(presence, np.zeros((3, 3)), anchors), np.array([True, False, True]), REMOTE)
    assert structure.keep.tolist() == [True, True, False]
    assert structure.edges.tolist() == [[0, 1]]


def test_an_implicit_unit_stays() -> None:
    presence = np.array([[0, 0.9, 0.9], [0, 0, 0], [0, 0, 0]])
    anchors = np.array([[0.9], [0.95], [0.05]])
    structure = tree_structure(_prediction(presence, np.zeros((3, 3)), anchors), np.array([True, False, False]), REMOTE)
    assert structure.keep.all()
    assert structure.anchors is not None
    assert structure.anchors.tolist() == [[True], [True], [False]]
