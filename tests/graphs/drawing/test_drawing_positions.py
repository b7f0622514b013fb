"""Positions along a layer: as near to the wanted ones as the gaps allow."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import isotonic_regression

from perin.graphs.drawing.routing import Sentence, place, spread, straighten

_finite = st.floats(-200, 200)


@given(st.lists(st.tuples(_finite, st.floats(0.1, 50), st.floats(0, 60)), min_size=1, max_size=12))
def test_spread_is_weighted_isotonic_regression(items: list[tuple[float, float, float]]) -> None:
    wanted, weights, gaps = (list(column) for column in zip(*items, strict=True))
    offsets = list(itertools.accumulate(gaps[1:], initial=0.0))
    placed = spread(wanted, weights, gaps[1:])
    expected = isotonic_regression(
        [position - offset for position, offset in zip(wanted, offsets, strict=True)], weights=weights
    ).x
    assert placed == pytest.approx([mean + offset for mean, offset in zip(expected, offsets, strict=True)], abs=1e-6)


def test_a_parent_stands_over_the_middle_of_its_children() -> None:
    layers = [[0], [1, 2, 3]]
    above = [[], [(0, 1.0)], [(0, 1.0)], [(0, 1.0)]]
    below = [[(1, 1.0), (2, 1.0), (3, 1.0)], [], [], []]
    at = place(layers, above, below, lambda left, right: 30.0, {})
    assert at[0] == pytest.approx(at[2], abs=0.5)
    assert at[3] - at[1] == pytest.approx(60, abs=0.5)


def test_a_sentence_spreads_for_what_stands_on_it_but_not_its_chunks() -> None:
    # Nodes 0 and 1 need 100 between them; words 2, 3 and 4 need 20, and 3 and 4 have no space between them.
    layers = [[0, 1], [2, 3, 4]]
    above = [[], [], [(0, 9.0)], [(1, 9.0)], []]
    below = [[(2, 9.0)], [(3, 9.0)], [], [], []]
    sentence = Sentence([range(1), range(1, 3)], [0.0, 20.0, 0.0, 20.0, 40.0])
    at = place(layers, above, below, lambda left, right: 100.0 if left == 0 else 20.0, {}, sentence)
    assert at[1] - at[0] == pytest.approx(100)
    assert 60 < at[3] - at[2] < 75
    assert at[4] - at[3] == pytest.approx(20)


def test_long_lines_become_straight_where_there_is_room() -> None:
    layers = [[0], [1], [2, 5], [3], [4]]
    at = [0.0, 4.0, -3.0, 5.0, 1.0, 30.0]
    straighten(at, layers, lambda left, right: 20.0, [[0, 1, 2, 3, 4]])
    assert at == [0.0, 1.0, 1.0, 1.0, 1.0, 30.0]


def test_a_line_keeps_its_distance_from_what_is_in_its_way() -> None:
    layers = [[0], [1], [5, 2], [3], [4]]
    at = [0.0, 0.0, 40.0, 0.0, 0.0, 20.0]
    straighten(at, layers, lambda left, right: 20.0, [[0, 1, 2, 3, 4]])
    assert at[2] - at[5] >= 20
