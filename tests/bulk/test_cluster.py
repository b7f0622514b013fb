"""A real Ray cluster on this machine: the same output as without, whoever is killed."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import pytest

import perin
from perin.bulk import cluster
from perin.errors import UsageError

ray = pytest.importorskip("ray")
HERE = Path(__file__).parent
LINES = [f"Sentence {number}." for number in range(1, 5001)]
RUN = "import fake_parser, json, sys, perin; perin.parse_corpus(model=fake_parser.load, **json.loads(sys.argv[1]))"
QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_DATA_DISABLE_PROGRESS_BARS": "1",
    "PYTHONWARNINGS": "ignore",
    "RAY_AUTH_MODE": "token",
    "RAY_AUTH_TOKEN": secrets.token_hex(32),  # of these clusters only, whatever is set up on this machine
}


@contextlib.contextmanager
def started(cores, **environment):
    """A cluster with so many cores; its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    folder = tempfile.mkdtemp(prefix="ray", dir="/tmp")  # a short path, for it holds sockets
    command = ["timeout", "1000", sys.executable, "-m", "ray.scripts.scripts", "start", "--head", "--block"]
    command += [f"--port={port}", f"--num-cpus={cores}", "--include-dashboard=false", f"--temp-dir={folder}"]
    command += ["--node-ip-address=127.0.0.1", "--object-store-memory=100000000"]
    paths = f"{HERE}:{HERE.parents[1] / 'src'}"
    head = subprocess.Popen(
        command,
        env={**os.environ, **QUIET, "PYTHONPATH": paths, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        for line in head.stdout:
            if "--block" in line or "Ray runtime started" in line:
                break
        else:
            pytest.fail("no Ray cluster could be started")
        yield f"127.0.0.1:{port}"
    finally:
        with contextlib.suppress(ProcessLookupError):
            head.terminate()
        try:
            head.wait(20)
        except subprocess.TimeoutExpired:
            head.kill()
            head.wait(10)
        head.stdout.close()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(head.pid, signal.SIGKILL)
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def driver(inputs, output, address, **options):
    arguments = {"inputs": inputs, "output": str(output), "time": "2026-01-31", **options}
    process = subprocess.Popen(
        [sys.executable, "-c", RUN, json.dumps({**arguments, "engine": "ray", "address": address})],
        env={**os.environ, **QUIET},
        start_new_session=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait(10)


def wait_for(condition, seconds=300):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def actors():
    """The processes that parse shards."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if path.read_bytes().startswith(b"ray::_Actor"):
                found.append(int(path.parent.name))
    return found


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_an_actor_and_the_driver_are_killed(fake, corpus, tmp_path, joined):
    paths = corpus(a_txt=LINES[:2000], b_txt_gz=LINES[2000:])
    out = tmp_path / "out"

    def done():
        return len(list(out.glob("*.done")))

    with started(2, **{fake.DELAY: "0.004"}) as address:
        with driver(paths, out, address, shards=20) as run:
            wait_for(lambda: done() >= 2)
            victims = actors()
            assert len(victims) == 2
            os.kill(victims[0], signal.SIGKILL)
            wait_for(lambda: done() >= 8)
            assert done() < 20
            assert run.poll() is None
        with driver(paths, out, address, shards=20) as run:
            assert run.wait(400) == 0
    perin.parse_corpus(paths, tmp_path / "one", model=fake.load, workers=1, shards=20, time="2026-01-31")
    assert joined(out) == joined(tmp_path / "one")
    ids = Counter(json.loads(line)["id"] for line in joined(out).splitlines())
    assert (len(ids), set(ids.values())) == (5000, {1})
    assert [path.name for path in out.iterdir() if path.name.startswith(".")] == []


DATA_SET = """
import fake_parser, json, sys, ray
from perin.bulk import RayParser
ray.init(address=sys.argv[1], logging_level="error")
options = RayParser.options()
data = ray.data.read_text(sys.argv[2]).map_batches(
    RayParser, fn_constructor_kwargs={"model": fake_parser.load, "time": "2026-01-31"}, **options
)
rows = data.take_all()
print(json.dumps([options["compute"].max_size, options["num_cpus"], rows]))
"""


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize(("cores", "actors", "share"), [(1, 1, 0.0), (2, 2, 0.5)])
def test_a_data_set_never_waits_for_its_own_actors(fake, corpus, cores, actors, share):
    """Reading needs a core: actors that claimed all of them would wait for ever."""
    [path] = corpus(a_txt=[*LINES[:600], "fail"])
    with started(cores) as address:
        done = subprocess.run(
            [sys.executable, "-c", DATA_SET, address, path],
            env={**os.environ, **QUIET},
            capture_output=True,
            text=True,
            timeout=200,
        )
    assert done.returncode == 0, done.stderr
    count, claimed, rows = json.loads(done.stdout.splitlines()[-1])
    assert (count, claimed, len(rows)) == (actors, share, 601)
    by_text = {row["text"]: row for row in rows}
    assert set(by_text) == {*LINES[:600], "fail"}
    assert by_text["fail"]["error"] == "4 letters are too many"
    assert by_text["fail"]["graphs"] == []
    assert json.loads(by_text["Sentence 1."]["graphs"][0])["input"] == "Sentence 1."


@pytest.mark.parametrize(
    ("free", "workers", "tasks", "expected"),
    [
        (0, None, None, (1, 0.0)),
        (1, None, None, (1, 0.0)),
        (2, None, None, (2, 0.5)),
        (2, 1, None, (1, 1.0)),
        (64, None, None, (64, 63 / 64)),
        (64, 8, None, (8, 1.0)),
        (64, None, 3, (3, 1.0)),
        (4, 100, None, (4, 0.75)),
    ],
)
def test_actors_leave_a_core_unclaimed(monkeypatch, free, workers, tasks, expected):
    class Cluster:
        @staticmethod
        def available_resources():
            return {"CPU": float(free)} if free else {}

    monkeypatch.setattr(cluster, "_ray", lambda: Cluster)
    count, cores = cluster.capacity(workers, tasks)
    assert (count, cores) == expected
    assert free == 0 or count * cores <= free - 1


def test_a_batch_keeps_its_rows(fake):
    import pyarrow

    parser = cluster.RayParser(fake.load, "amr", time="2026-01-31")
    table = pyarrow.table({"text": ["Go.", "fail", None], "id": ["x", None, "z"], "more": [1, 2, 3]})
    rows = parser(table).to_pylist()
    assert [row["more"] for row in rows] == [1, 2, 3]
    assert [row["error"] for row in rows] == [None, "4 letters are too many", "the row has no text"]
    graph = json.loads(rows[0]["graphs"][0])
    assert (graph["id"], graph["framework"], graph["time"]) == ("x", "amr", "2026-01-31")
    [row] = parser({"text": ["Go."]}).to_pylist()
    assert json.loads(row["graphs"][0])["id"] == "c48cb036011bfeb2"
    with pytest.raises(UsageError, match="no column 'text' but words"):
        parser({"words": ["Go."]})


def test_no_cluster(fake, corpus, tmp_path):
    with pytest.raises(UsageError, match=r"can't reach a Ray cluster at 127\.0\.0\.1:1"):
        perin.parse_corpus(
            corpus(a_txt=LINES[:3]), tmp_path / "out", model=fake.load, engine="ray", address="127.0.0.1:1"
        )
