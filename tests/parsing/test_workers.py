from __future__ import annotations

import threading

import pytest

from perin.parsing.workers import Workers, cores


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
