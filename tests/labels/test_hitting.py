"""Minimum hitting sets against brute force and against another solver."""

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pysat.examples.hitman import Hitman

from perin.labels.minimal import Reduced, minimum_hitting_set

FAMILIES = st.lists(st.sets(st.integers(0, 8), min_size=1, max_size=4), max_size=9)


def brute_force(sets):
    elements = sorted(set().union(*sets))
    for size in range(len(elements) + 1):
        for chosen in combinations(elements, size):
            if all(content & set(chosen) for content in sets):
                return size
    raise AssertionError


@given(FAMILIES)
@settings(deadline=None, max_examples=300)
def test_size_is_that_of_brute_force(sets):
    found = minimum_hitting_set(sets)
    assert all(content & set(found.elements) for content in sets)
    assert len(found.elements) == found.lower_bound == brute_force(sets)
    assert list(found.elements) == sorted(set(found.elements))


@given(FAMILIES)
@settings(deadline=None, max_examples=300)
def test_reductions_keep_the_size(sets):
    reduced = Reduced(sets)
    left = [reduced.sets[number] for component in reduced.components() for number in component]
    assert len(left) == len(reduced.sets)
    assert len(reduced.forced) + brute_force(left) == brute_force(sets)
    for first, second in combinations(reduced.components(), 2):
        elements = [set().union(*(reduced.sets[number] for number in part)) for part in (first, second)]
        assert not elements[0] & elements[1]


@given(FAMILIES)
@settings(deadline=None, max_examples=300)
def test_nothing_can_be_reduced_further(sets):
    reduced = Reduced(sets)
    for content in reduced.sets.values():
        assert len(content) > 1
    for first, second in combinations(reduced.sets.values(), 2):
        assert not first <= second
        assert not second <= first
    for first, second in combinations(reduced.places.values(), 2):
        assert not first <= second
        assert not second <= first


def test_of_elements_in_the_same_sets_the_first_is_taken():
    assert minimum_hitting_set([{7, 3, 5}, {5, 3, 7, 9}]).elements == (3,)


def test_of_equally_small_sets_the_cheapest_is_taken():
    triangle = [{0, 1}, {1, 2}, {0, 2}]
    for cheap in combinations(range(3), 2):
        assert minimum_hitting_set(triangle, lambda element, cheap=cheap: element not in cheap).elements == cheap


def odd_cycles(lengths):
    """Cycles of odd length: reductions do nothing, the linear relaxation is half a length, the optimum more."""
    sets, start = [], 0
    for length in lengths:
        sets += [{start + place, start + (place + 1) % length} for place in range(length)]
        start += length
    return sets


def test_odd_cycles():
    found = minimum_hitting_set(odd_cycles([3, 5, 7, 9]))
    assert len(found.elements) == found.lower_bound == 2 + 3 + 4 + 5


def test_a_search_that_is_cut_short_still_hits_everything_and_knows_a_bound():
    sets = [{a, b, c} for a, b, c in combinations(range(12), 3) if (a * b + c) % 3]
    exact = minimum_hitting_set(sets)
    short = minimum_hitting_set(sets, node_limit=0)
    assert all(content & set(short.elements) for content in sets)
    assert short.lower_bound <= exact.lower_bound == len(exact.elements) <= len(short.elements)


def test_an_empty_set_is_refused():
    with pytest.raises(ValueError, match="empty"):
        minimum_hitting_set([{1}, set()])


@pytest.mark.parametrize("seed", range(5))
def test_another_solver_agrees(seed):
    import random

    generator = random.Random(seed)
    sets = [set(generator.sample(range(60), generator.randint(2, 6))) for _ in range(80)]
    with Hitman(bootstrap_with=[sorted(content) for content in sets], htype="sorted") as solver:
        assert len(minimum_hitting_set(sets).elements) == len(solver.get())
