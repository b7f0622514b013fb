"""A parser may be used by threads, by asyncio, in processes that are forked or spawned, and pickled; nothing hangs."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import pickle
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from perin.parsing.parser import Parser
from perin.text.tokenizer import tokenize

TIME = "2026-01-01"
PATIENCE = 120
"""Seconds after which a test counts as hanging, on a busy machine."""

pytestmark = pytest.mark.timeout(2 * PATIENCE)


@pytest.fixture(scope="module")
def loaded(folder):
    return Parser.load(folder, threads=2)


@pytest.fixture(scope="module")
def sentences(texts):
    return [replace(tokenize(text, "eng"), id=str(number)) for number, text in enumerate(texts)]


@pytest.fixture(scope="module")
def right(loaded, sentences):
    return [loaded.parse(sentence, "eds", time=TIME) for sentence in sentences]


def in_child(context, target, *arguments):
    """What a function gives in another process."""
    receiving, sending = context.Pipe(duplex=False)
    child = context.Process(target=target, args=(sending, *arguments))
    child.start()
    try:
        assert receiving.poll(PATIENCE), "the child hangs"
        return receiving.recv()
    finally:
        child.kill()
        child.join(PATIENCE)


def parse_into(pipe, parser, texts):
    pipe.send([parser.parse(texts[0], "eds", time=TIME), *parser.parse(texts, "eds", time=TIME)])


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux forks with ease")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
class TestFork:
    def test_a_child_parses_with_the_inherited_parser(self, loaded, sentences, right):
        for _ in range(3):
            found = in_child(multiprocessing.get_context("fork"), parse_into, loaded, sentences)
            assert found == [right[0], *right]

    def test_a_fork_while_other_threads_parse(self, loaded, sentences, right):
        done = threading.Event()

        def parse_on():
            while not done.is_set():
                loaded.parse(sentences * 4, "eds")

        threads = [threading.Thread(target=parse_on) for _ in range(2)]
        for thread in threads:
            thread.start()
        try:
            for _ in range(3):
                found = in_child(multiprocessing.get_context("fork"), parse_into, loaded, sentences)
                assert found == [right[0], *right]
        finally:
            done.set()
            for thread in threads:
                thread.join(PATIENCE)
        assert not any(thread.is_alive() for thread in threads)

    def test_a_pool_of_processes(self, loaded, sentences, right):
        with multiprocessing.get_context("fork").Pool(2, _keep, (loaded,)) as pool:
            assert pool.map_async(_parse_kept, sentences).get(PATIENCE) == right


def _keep(parser):
    global _kept
    _kept = parser


def _parse_kept(text):
    return _kept.parse(text, "eds", time=TIME)


def test_eight_threads_half_with_sentences_half_with_lists(loaded, sentences, right):
    def work(number):
        if number % 2:
            return [loaded.parse(text, "eds", time=TIME) for text in sentences]
        return loaded.parse(sentences * 8, "eds", time=TIME)[: len(sentences)]

    with ThreadPoolExecutor(8) as pool:
        for found in pool.map(work, range(24), timeout=PATIENCE):
            assert found == right


def test_no_worker_process_can_die_because_there_is_none(loaded, sentences, right, monkeypatch):
    def forbidden(*arguments, **options):
        raise AssertionError("a process was started")

    monkeypatch.setattr(os, "fork", forbidden, raising=False)
    monkeypatch.setattr(subprocess.Popen, "__init__", forbidden)
    monkeypatch.setattr(multiprocessing.process.BaseProcess, "start", forbidden)
    graphs = [parsed.graphs[0] for parsed in loaded.stream(sentences * 4, "eds", time=TIME, max_batch_size=2)]
    assert graphs == right * 4


def test_a_pickled_parser(loaded, sentences, right):
    twin = pickle.loads(pickle.dumps(loaded))
    assert twin.parse(sentences, "eds", time=TIME) == right


def test_another_process_unpickles_a_parser(loaded, sentences, right, tmp_path):
    """As a spawned process does."""
    (tmp_path / "parser").write_bytes(pickle.dumps((loaded, sentences)))
    code = (
        "import pickle, sys; from pathlib import Path; place = Path(sys.argv[1]); "
        "parser, texts = pickle.loads((place / 'parser').read_bytes()); "
        f"graphs = parser.parse(texts, 'eds', time={TIME!r}); "
        "(place / 'graphs').write_bytes(pickle.dumps(graphs)); "
        "assert not {'torch', 'transformers'} & set(sys.modules)"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr
    assert pickle.loads((tmp_path / "graphs").read_bytes()) == right


def test_asyncio(loaded, sentences, right):
    async def all_at_once():
        jobs = [asyncio.to_thread(loaded.parse, text, "eds", time=TIME) for text in sentences]
        lists = [asyncio.to_thread(loaded.parse, sentences * 8, "eds", time=TIME) for _ in range(3)]
        return await asyncio.wait_for(asyncio.gather(*jobs, *lists), PATIENCE)

    found = asyncio.run(all_at_once())
    assert found[: len(sentences)] == right
    assert all(graphs[: len(sentences)] == right for graphs in found[len(sentences) :])
