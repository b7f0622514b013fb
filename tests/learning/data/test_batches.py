"""Batches: nothing lost, nothing twice, little padded, the same from the same seed, fair shares."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perin.learning.data.batches import epoch_batches, prefetched, share
from perin.model.batches import cost

COSTS = st.lists(st.builds(cost, st.integers(1, 120), st.integers(0, 150)), max_size=200)


@given(COSTS, st.floats(10, 5000), st.integers(1, 32), st.integers(0, 5), st.integers(0, 5))
def test_each_sentence_once_within_the_budget(costs, budget, most, seed, epoch):
    treebanks = [("eds-eng", "drg-eng", "amr-eng")[number % 3] for number in range(len(costs))]
    batches = epoch_batches(costs, treebanks, budget=budget, max_batch_size=most, seed=seed, epoch=epoch)
    assert sorted(index for batch in batches for index in batch) == list(range(len(costs)))
    for batch in batches:
        assert 1 <= len(batch) <= most
        assert len(batch) == 1 or max(costs[index] for index in batch) * len(batch) <= budget
        assert len({treebanks[index] for index in batch}) == 1
    assert batches == epoch_batches(costs, treebanks, budget=budget, max_batch_size=most, seed=seed, epoch=epoch)


def test_epochs_differ():
    costs = [cost(10 + number % 30, 10) for number in range(300)]
    first, second = (
        epoch_batches(costs, ["eds"] * 300, budget=1e9, max_batch_size=16, seed=1, epoch=epoch) for epoch in (0, 1)
    )
    assert first != second
    assert {frozenset(batch) for batch in first} != {frozenset(batch) for batch in second}


def test_little_padding():
    tokens = [1 + (number * 7919) % 60 for number in range(1000)]
    costs = [cost(length, 10) for length in tokens]
    batches = epoch_batches(costs, ["eds"] * 1000, budget=1e9, max_batch_size=16, seed=1, epoch=0)
    padded = sum(max(tokens[index] for index in batch) * len(batch) for batch in batches)
    assert padded / sum(tokens) < 1.25


@given(COSTS, st.integers(1, 4))
def test_shares_make_up_the_batch(costs, processes):
    batch = list(range(len(costs)))
    parts = [share(batch, costs, rank, processes) for rank in range(processes)]
    assert sorted(index for part in parts for index in part) == batch
    loads = [sum(costs[index] for index in part) for part in parts]
    dearest = max(costs, default=0.0)
    assert max(loads) - min(loads) <= dearest + 1e-6


def test_prefetching_hands_on_errors():
    def fail(number: int) -> int:
        if number == 2:
            raise ValueError("two")
        return number

    made = prefetched([1, 2, 3], fail)
    assert next(made) == 1
    with pytest.raises(ValueError, match="two"):
        next(made)
