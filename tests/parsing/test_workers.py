from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path

import pytest
import torch

from perin.parsing.workers import Workers, can_fork

KINDS = [False, pytest.param(True, marks=pytest.mark.skipif(not can_fork(), reason="this system has no fork"))]
each_kind = pytest.mark.parametrize("forked", KINDS, ids=lambda forked: "processes" if forked else "threads")


def results(workers, batches):
    return [result() for result in workers.map(batches)]


@each_kind
def test_results_come_in_the_order_of_the_batches(forked):
    with Workers(lambda batch: [batch, batch * batch], 2, forked=forked) as workers:
        assert results(workers, range(50)) == [[number, number**2] for number in range(50)]


@each_kind
def test_an_error_reaches_the_caller_and_workers_end(forked):
    def work(batch):
        if batch == 7:
            raise KeyError("seven")
        return batch

    before = set(multiprocessing.active_children())
    with pytest.raises(KeyError, match="seven"), Workers(work, 2, forked=forked) as workers:
        results(workers, range(50))
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("perin")]
    assert set(multiprocessing.active_children()) <= before


@each_kind
def test_each_worker_has_one_core_and_a_lone_batch_all(forked):
    before = torch.get_num_threads()
    with Workers(lambda batch: torch.get_num_threads(), 3, forked=forked) as workers:
        assert results(workers, [0]) == [3]
        assert set(results(workers, range(20))) == {1}
    assert torch.get_num_threads() == before


@each_kind
def test_several_batches_are_worked_on_at_once(forked):
    maker = multiprocessing.get_context("fork") if forked else threading
    meeting = maker.Barrier(2, timeout=30)
    with Workers(lambda batch: meeting.wait(), 2, forked=forked) as workers:
        assert set(results(workers, [0, 1])) == {0, 1}


@each_kind
def test_matrix_products_after_products_with_all_cores(forked):
    matrix = torch.arange(250_000.0).view(500, 500) % 7
    right = (matrix @ matrix).sum().item()
    with Workers(lambda batch: (matrix @ matrix).sum().item(), 2, forked=forked) as workers:
        assert results(workers, [0]) == [right]
        assert results(workers, range(8)) == [right] * 8


def test_no_thread_is_started_for_one_core():
    with Workers(lambda batch: (os.getpid(), threading.get_ident()), 1) as workers:
        assert set(results(workers, range(5))) == {(os.getpid(), threading.get_ident())}


@pytest.mark.skipif(not can_fork(), reason="this system has no fork")
def test_a_process_that_is_killed_loses_nothing():
    here = os.getpid()

    def work(batch):
        if batch == 5 and os.getpid() != here:
            os.kill(os.getpid(), signal.SIGKILL)
        return batch

    with Workers(work, 2) as workers:
        assert results(workers, range(20)) == list(range(20))
        assert results(workers, range(3)) == [0, 1, 2]


@pytest.mark.skipif(not can_fork(), reason="this system has no fork")
def test_forks_are_silent():
    with warnings.catch_warnings(record=True) as seen, Workers(lambda batch: os.getpid(), 2) as workers:
        warnings.simplefilter("always")
        assert os.getpid() not in results(workers, [0, 1])
    assert not seen


def inner(queue):
    with Workers(lambda batch: os.getpid(), 2) as workers:
        queue.put((os.getpid(), results(workers, [0, 1])))


@pytest.mark.skipif(not can_fork(), reason="this system has no fork")
def test_a_process_that_may_have_no_children_uses_threads():
    fork = multiprocessing.get_context("fork")
    queue = fork.Queue()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        process = fork.Process(target=inner, args=(queue,), daemon=True)
        process.start()
    parent, pids = queue.get(timeout=60)
    process.join()
    assert pids == [parent, parent]


ORPHANS = """
import os, sys, time
from perin.parsing.workers import Workers

def work(batch):
    open(os.path.join(sys.argv[1], str(os.getpid())), "w").close()
    time.sleep(0.1)

with Workers(work, 2) as workers:
    [result() for result in workers.map(range(10_000))]
"""


@pytest.mark.skipif(not can_fork(), reason="this system has no fork")
def test_children_end_with_a_killed_parent(tmp_path):
    with subprocess.Popen([sys.executable, "-c", ORPHANS, str(tmp_path)]) as parent:
        wait_until(lambda: len(list(tmp_path.iterdir())) == 2)
        parent.kill()
    children = [int(path.name) for path in tmp_path.iterdir()]
    wait_until(lambda: not any(alive(child) for child in children))


def alive(process):
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def wait_until(condition):
    for _ in range(600):
        if condition():
            return
        time.sleep(0.1)
    raise AssertionError("it did not happen within a minute")
