from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from perin.contract import Sentence, Token
from perin.frameworks.encoding import Anchoring
from perin.graphs.graph import Anchor
from perin.graphs.normalisation import normal_anchors

TEXT = "Kim, who (barks) ."
SENTENCE = Sentence(
    TEXT,
    tuple(
        Token(TEXT[start:end], TEXT[start:end], start, end)
        for start, end in [(0, 3), (3, 4), (5, 8), (9, 10), (10, 15), (15, 16), (17, 18)]
    ),
)


def _tokens(anchoring: Anchoring, *anchors: tuple[int, int]) -> list[int]:
    return np.flatnonzero(anchoring.tokens([[Anchor(*pair) for pair in anchors]], SENTENCE)[0]).tolist()


def test_tokens_overlap_with_anchors() -> None:
    assert _tokens(Anchoring(), (0, 4)) == [0, 1]
    assert _tokens(Anchoring(), (2, 6), (17, 18)) == [0, 1, 2, 6]
    assert _tokens(Anchoring(), (4, 5), (3, 3)) == []
    assert Anchoring().tokens([None, ()], SENTENCE).sum() == 0


def test_trimmed_tokens_leave_punctuation_at_the_ends() -> None:
    trimmed = Anchoring(trimmed=True)
    assert _tokens(trimmed, (0, 4)) == [0]
    assert _tokens(trimmed, (0, 8)) == [0, 1, 2]
    assert _tokens(trimmed, (9, 16)) == [4]
    assert _tokens(trimmed, (3, 4)) == [1]  # nothing else is left
    assert _tokens(trimmed, (0, 3), (3, 4), (9, 10)) == [0]


def test_ranges() -> None:
    tokens = np.array([[True, True, True, False, True, True, False], [False] * 7])
    assert Anchoring(trimmed=True).ranges(tokens, SENTENCE) == [(Anchor(0, 8), Anchor(10, 16)), ()]
    several, none = Anchoring().ranges(tokens, SENTENCE)
    assert several[:2] == (Anchor(0, 3), Anchor(3, 4))
    assert none == ()


@given(st.lists(st.booleans(), min_size=7, max_size=7), st.booleans())
def test_from_tokens_to_ranges_and_back(row: list[bool], trimmed: bool) -> None:
    anchoring = Anchoring(trimmed=trimmed)
    (ranges,) = anchoring.ranges(np.array([row]), SENTENCE)
    (again,) = anchoring.ranges(anchoring.tokens([ranges], SENTENCE), SENTENCE)
    assert normal_anchors(again, TEXT) == normal_anchors(ranges, TEXT)


def test_at_least_one_token_where_required() -> None:
    scores = np.array([[0.1, 0.3, 0.2], [0.9, 0.1, 0.6]], dtype=np.float32)
    assert Anchoring().choose(scores).tolist() == [[False, False, False], [True, False, True]]
    assert Anchoring(required=True).choose(scores).tolist() == [[False, True, False], [True, False, True]]


@given(st.integers(1, 6), st.integers(0, 2**32 - 1))
@settings(max_examples=60, deadline=None)
def test_the_most_probable_continuous_anchor(length: int, seed: int) -> None:
    scores = np.random.default_rng(seed).random((3, length)).astype(np.float32)
    chosen = Anchoring(required=True, continuous=True).choose(scores)
    for row, pieces in zip(scores.astype(float), chosen, strict=True):
        candidates = []
        for start, end in itertools.combinations(range(length + 1), 2):
            piece = np.zeros(length, dtype=bool)
            piece[start:end] = True
            candidates.append((float(np.prod(np.where(piece, row, 1 - row))), piece.tolist()))
        assert pieces.tolist() == max(candidates)[1]


def test_scores_of_zero_and_one() -> None:
    scores = np.array([[0, 0, 1, 1, 0], [0, 0, 0, 0, 0], [1, 1, 1, 1, 1]], dtype=np.float32)
    chosen = Anchoring(required=True, continuous=True).choose(scores)
    assert chosen[[0, 2]].tolist() == [[False, False, True, True, False], [True] * 5]
    assert chosen[1].sum() == 1
    assert Anchoring(continuous=True).choose(np.zeros((2, 0), dtype=np.float32)).shape == (2, 0)
