from __future__ import annotations

import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perin.model.batches import cost
from perin.parsing.streaming import LARGEST_WINDOW, WINDOW_TOKENS, Workers, cores, in_order, windows


@given(st.lists(st.integers(0, 400), max_size=300), st.integers(1, 3), st.integers(1, 20), st.floats(1, 5000))
@settings(max_examples=40, deadline=None)
def test_order_is_kept_and_batches_are_small(sizes, threads, most, budget):
    def work(batch):
        return [(number, [size for _, size in batch]) for number, _ in batch]

    items = list(enumerate(sizes))
    found = list(in_order(items, lambda item: item[1], work, threads=threads, max_batch_size=most, budget=budget))
    assert [number for number, _ in found] == list(range(len(sizes)))
    for _, batch in found:
        assert len(batch) <= most
        assert len(batch) == 1 or max(map(cost, batch)) * len(batch) <= budget


def test_batches_hold_sentences_of_like_length():
    batches = []

    def work(batch):
        batches.append(batch)
        return batch

    sizes = [(7 * number) % 60 + 1 for number in range(2000)]
    assert list(in_order(sizes, int, work, threads=1)) == sizes
    wasted = sum(max(batch) * len(batch) - sum(batch) for batch in batches)
    assert wasted < 0.2 * sum(sizes)


@given(st.lists(st.integers(0, 30_000), max_size=100))
@settings(max_examples=60, deadline=None)
def test_windows_hold_everything_and_not_too_much(sizes):
    found = list(windows(sizes, int))
    assert [size for window in found for size in window] == sizes
    for window in found:
        assert 1 <= len(window) <= LARGEST_WINDOW
        assert sum(window[:-1]) < WINDOW_TOKENS


def results(workers, batches):
    return [result() for result in workers.map(batches)]


def test_results_come_in_the_order_of_the_batches():
    with Workers(lambda batch: [batch, batch * batch], 2) as workers:
        assert results(workers, range(50)) == [[number, number**2] for number in range(50)]


def test_an_error_reaches_the_caller_and_workers_end():
    def work(batch):
        if batch == 7:
            raise KeyError("seven")
        return batch

    with pytest.raises(KeyError, match="seven"), Workers(work, 2) as workers:
        results(workers, range(50))
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("perin")]


def test_several_batches_are_worked_on_at_once():
    meeting = threading.Barrier(2, timeout=30)
    with Workers(lambda batch: meeting.wait(), 2) as workers:
        assert set(results(workers, [0, 1])) == {0, 1}


def test_a_lone_batch_and_one_thread_need_no_others():
    for threads, batches in ((3, [0]), (1, [0, 1, 2])):
        with Workers(lambda batch: threading.current_thread(), threads) as workers:
            assert set(results(workers, batches)) == {threading.current_thread()}


def test_the_environment_can_say_how_many_cores_there_are(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    available = cores()
    for text, found in (("1", 1), ("100000", available), ("", available), ("many", available), ("0", available)):
        monkeypatch.setenv("OMP_NUM_THREADS", text)
        assert cores() == found
