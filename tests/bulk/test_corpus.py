"""A corpus, whoever parses it and however often that is interrupted: every sentence once, in its order."""

from __future__ import annotations

import contextlib
import gzip
import itertools
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest

import perin
from perin.errors import InputError, ModelError, UsageError
from perin.model import bundled

LINES = [f"Sentence {number}." for number in range(1, 201)]
RUN = "import fake_parser, json, sys, perin; perin.parse_corpus(model=fake_parser.load, **json.loads(sys.argv[1]))"


def texts(content):
    return [json.loads(line)["input"] for line in content.decode().splitlines()]


def hidden(folder):
    return [path.name for path in folder.iterdir() if path.name.startswith(".")]


def wait_for(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.fixture
def parse(fake, tmp_path):
    def run(inputs, name="out", **options):
        options = {"model": fake.load, "workers": 1, "time": "2026-01-31", **options}
        return perin.parse_corpus(inputs, tmp_path / name, **options)

    return run


@pytest.fixture
def start():
    """Starts runs in other processes, and ends those that are left."""
    running = []

    def begin(inputs, output, **options):
        arguments = {"inputs": inputs, "output": str(output), "time": "2026-01-31", **options}
        process = subprocess.Popen([sys.executable, "-c", RUN, json.dumps(arguments)], start_new_session=True)
        running.append(process)
        return process

    yield begin
    for process in running:
        process.kill()
        process.wait(10)


def test_shards_and_workers_change_nothing(parse, corpus, tmp_path, joined):
    paths = corpus(a_txt=LINES[:120], b_txt_gz=LINES[120:])
    whole = parse(paths, "whole", shards=1)
    cut = parse(paths, "cut", shards=7, workers=2)
    assert (whole.parsed, cut.parsed, cut.done, cut.exit_code) == (200, 200, 7, 0)
    assert joined(tmp_path / "cut") == joined(tmp_path / "whole")
    assert texts(joined(tmp_path / "cut")) == LINES
    assert len(list((tmp_path / "cut").glob("*.mrp"))) == 7
    assert json.loads(joined(tmp_path / "cut").splitlines()[120])["id"] == "b.txt.gz:1"
    assert hidden(tmp_path / "cut") == []


def test_again_does_what_is_missing(parse, corpus, tmp_path, joined):
    paths = corpus(a_txt=LINES)
    parse(paths, shards=5)
    out = tmp_path / "out"
    before, times = joined(out), {path: path.stat().st_mtime_ns for path in out.iterdir()}
    damage = {
        "shard-00001-of-00005.mrp": None,
        "shard-00002-of-00005.done": None,
        "shard-00003-of-00005.mrp": b"cut",
        "shard-00004-of-00005.done": b"{nonsense",
    }
    for name, content in damage.items():
        (out / name).unlink() if content is None else (out / name).write_bytes(content)
    summary = parse(paths, shards=5)
    assert (summary.parsed, summary.done) == (200, 5)
    assert joined(out) == before
    untouched = {path.name for path, moment in times.items() if path.stat().st_mtime_ns == moment}
    assert untouched == {"plan.json", "shard-00000-of-00005.mrp", "shard-00000-of-00005.done"}


def test_nothing_is_loaded_if_all_is_done(parse, corpus, fake, monkeypatch):
    paths = corpus(a_txt=LINES[:3])
    parse(paths)
    monkeypatch.setattr("perin.bulk.parse_locally", None)
    assert parse(paths).parsed == 3


def test_the_date_is_that_of_the_plan(parse, corpus, tmp_path, joined):
    paths = corpus(a_txt=LINES[:4])
    parse(paths, shards=2)
    (tmp_path / "out" / "shard-00001-of-00002.done").unlink()
    parse(paths, time=None)
    assert {json.loads(line)["time"] for line in joined(tmp_path / "out").splitlines()} == {"2026-01-31"}


def test_failures_are_counted_by_reason(parse, corpus, tmp_path, joined):
    paths = corpus(a_txt=["Go.", "fail", "fail again", "Stop."], b_jsonl=["{", '{"text": "Go."}'])
    summary = parse(paths, shards=2)
    assert (summary.parsed, summary.failed, summary.exit_code) == (3, 3, 1)
    assert summary.reasons == {"N letters are too many": 2, "the line is no JSON": 1}
    assert list(summary.lines()) == [
        "2 of 2 shards done: 3 sentences parsed, 3 failed",
        "2 failed: N letters are too many",
        "1 failed: the line is no JSON",
    ]
    mark = json.loads((tmp_path / "out" / "shard-00000-of-00002.done").read_text())
    assert mark["failures"][0] == {"id": "a.txt:2", "file": "a.txt", "line": 2, "reason": "4 letters are too many"}
    assert parse(paths).exit_code == 1


def test_parquet_has_a_row_for_every_sentence(parse, corpus, tmp_path):
    parse(corpus(a_txt=["Go.", "fail", *LINES]), format="parquet", shards=1, framework="amr")
    table = pyarrow.parquet.read_table(tmp_path / "out" / "shard-00000-of-00001.parquet")
    rows = table.to_pylist()
    assert len(rows) == 202
    assert json.loads(rows[0].pop("graphs")[0])["framework"] == "amr"
    assert rows[0] == {"id": "a.txt:1", "file": "a.txt", "line": 1, "error": None}
    error = "4 letters are too many"
    assert rows[1] == {"id": "a.txt:2", "file": "a.txt", "line": 2, "graphs": [], "error": error}


def test_compressed_mrp(parse, corpus, tmp_path):
    paths = corpus(a_txt=LINES[:5])
    parse(paths, format="mrp.gz")
    assert texts(gzip.decompress((tmp_path / "out" / "shard-00000-of-00001.mrp.gz").read_bytes())) == LINES[:5]


def test_urls(fake, corpus, tmp_path, joined):
    [path] = corpus(a_txt=LINES)
    summary = perin.parse_corpus(f"file://{path}", f"file://{tmp_path / 'url'}", model=fake.load, shards=3, workers=1)
    assert summary.parsed == 200
    assert texts(joined(tmp_path / "url")) == LINES


def test_a_cut_gzip_among_many_files(parse, corpus, tmp_path, joined):
    paths = corpus(**{f"f{number:02}_txt_gz": LINES[2 * number : 2 * number + 2] for number in range(100)})
    cut = Path(paths[50])
    whole = cut.read_bytes()
    cut.write_bytes(whole[:-5])
    summary = parse(paths, shards=40, workers=2)
    plan = json.loads((tmp_path / "out" / "plan.json").read_text())
    [concerned] = [number for number, shard in enumerate(plan["shards"]) if any(part[0] == 50 for part in shard)]
    assert list(summary.bad) == [concerned]
    assert f"{cut}:" in summary.bad[concerned]
    assert "cut short or damaged" in summary.bad[concerned]
    assert (summary.done, summary.exit_code) == (39, 2)
    assert summary.parsed == sum(plan["sentences"]) - plan["sentences"][concerned] >= 190
    assert set(texts(joined(tmp_path / "out"))) < set(LINES)
    assert hidden(tmp_path / "out") == []
    cut.write_bytes(whole)
    assert (parse(paths, shards=40).parsed, texts(joined(tmp_path / "out"))) == (200, LINES)


def test_a_parquet_file_without_the_column(parse, tmp_path, corpus):
    paths = corpus(a_txt=LINES[:10], b_txt=LINES[10:20])
    pyarrow.parquet.write_table(pyarrow.table({"words": ["Go."]}), tmp_path / "bad.parquet")
    summary = parse([paths[0], str(tmp_path / "bad.parquet"), paths[1]], shards=21)
    assert (summary.parsed, summary.exit_code) == (20, 2)
    [reason] = summary.bad.values()
    assert "bad.parquet: has no column 'text' but words" in reason


@pytest.mark.skipif(sys.platform == "win32", reason="there are no limits of file size")
@pytest.mark.parametrize("format", ["mrp", "mrp.gz", "parquet"])
def test_a_full_disk_stops_the_shard_concerned(fake, corpus, tmp_path, format):
    """One shard is longer than any file may be."""
    rng = random.Random(1)
    noise = ["".join(rng.choices("abcdefghij", k=1000)) for _ in range(200)]
    paths = corpus(a_txt=LINES[:100], b_txt=noise, c_txt=LINES[100:200])
    code = (
        "import fake_parser, json, resource, sys, perin\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, 30_000))\n"
        f"s = perin.parse_corpus({paths}, {str(tmp_path / 'out')!r}, model=fake_parser.load, workers=1, shards=4,\n"
        f"    format={format!r})\n"
        "print(json.dumps([s.done, s.parsed, s.exit_code, list(s.bad.values())]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    shards, parsed, exit_code, reasons = json.loads(done.stdout)
    assert (shards, parsed, exit_code) == (2, 200, 2)
    assert all("can't write" in reason and "File too large" in reason for reason in reasons)
    assert hidden(tmp_path / "out") == []
    assert done.stderr == ""
    summary = perin.parse_corpus(paths, tmp_path / "out", model=fake.load, workers=1, shards=4, format=format)
    assert (summary.done, summary.parsed) == (4, 400)


def test_a_shard_that_kills_its_process_is_given_up(parse, corpus, tmp_path, joined):
    paths = corpus(a_txt=[*LINES[:10], "die", *LINES[10:19]])
    summary = parse(paths, shards=4, workers=2)
    assert (summary.done, summary.parsed, summary.exit_code) == (3, 15, 2)
    assert summary.bad == {2: "the process that parsed it was ended by signal 9 (out of memory?), 3 times"}
    assert texts(joined(tmp_path / "out")) == LINES[:10] + LINES[14:19]


def test_ranks_share_the_shards(parse, corpus, tmp_path, joined):
    paths = corpus(a_txt=LINES)
    assert [parse(paths, shards=5, rank=rank, world=2).done for rank in (0, 1)] == [3, 2]
    assert texts(joined(tmp_path / "out")) == LINES


@pytest.mark.parametrize("world", [1, 2])
def test_two_at_once_in_one_folder(fake, start, parse, corpus, tmp_path, joined, monkeypatch, world):
    """Of two ranks, and of two runs that want the same shards."""
    monkeypatch.setenv(fake.DELAY, "0.004")
    paths = corpus(a_txt=LINES)
    runs = [start(paths, tmp_path / "out", shards=8, workers=1, rank=rank % world, world=world) for rank in (0, 1)]
    assert [run.wait(60) for run in runs] == [0, 0]
    assert texts(joined(tmp_path / "out")) == LINES
    assert hidden(tmp_path / "out") == []
    assert parse(paths, shards=8).parsed == 200


def test_kills(fake, start, parse, corpus, tmp_path, joined, monkeypatch):
    """The whole group of processes, or the first one, in the middle of the work."""
    monkeypatch.setenv(fake.DELAY, "0.003")
    paths = corpus(a_txt=LINES * 3)
    out = tmp_path / "out"
    for way, shards in (("group", 2), ("parent", 4), ("group", 7)):
        run = start(paths, out, shards=12, workers=2)
        wait_for(lambda shards=shards: len(list(out.glob("*.done"))) >= shards)
        os.killpg(run.pid, signal.SIGKILL) if way == "group" else run.kill()
        run.wait(10)
        assert len(list(out.glob("*.done"))) < 12
    monkeypatch.delenv(fake.DELAY)
    assert parse(paths, shards=12).parsed == 600
    assert texts(joined(tmp_path / "out")) == LINES * 3
    ids = Counter(json.loads(line)["id"] for line in joined(tmp_path / "out").splitlines())
    assert set(ids.values()) == {1}
    assert hidden(tmp_path / "out") == []


def children(pid):
    """The workers of a run."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = path.read_text().rpartition(")")[2].split()
            if int(fields[1]) == pid and b"spawn_main" in path.with_name("cmdline").read_bytes():
                found.append(int(path.parent.name))
    return found


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.skipif(sys.platform != "linux", reason="workers are looked for in /proc")
def test_twenty_kills(fake, start, parse, corpus, tmp_path, joined, monkeypatch):
    """At random moments, from the start of Python on; half of them hit all processes, the others one."""
    lines = [f"Line {number}." for number in range(20_000)]
    paths = corpus(a_txt=lines[:7000], b_txt_gz=lines[7000:13_000], c_txt=lines[13_000:])
    monkeypatch.setenv(fake.DELAY, "0.002")
    out = tmp_path / "out"
    rng = random.Random(3)

    def done():
        return len(list(out.glob("*.done")))

    for kill in range(20):
        run = start(paths, out, shards=400, workers=2)
        goal = min(done() + rng.randint(0, 12), 390)
        wait_for(lambda run=run, goal=goal: done() >= goal or run.poll() is not None)
        time.sleep(rng.uniform(0, 0.3))
        assert run.poll() is None
        if kill % 2:
            for victim in [*children(run.pid)[:1], run.pid]:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(victim, signal.SIGKILL)
                time.sleep(rng.uniform(0, 0.2))
        else:
            os.killpg(run.pid, signal.SIGKILL)
        run.wait(10)
        for path in out.glob("*.done"):
            mark = json.loads(path.read_text())
            assert mark["size"] == path.with_suffix(".mrp").stat().st_size
    assert done() < 400
    monkeypatch.delenv(fake.DELAY)
    assert parse(paths, shards=400, workers=2).parsed == 20_000
    assert texts(joined(out)) == lines
    ids = Counter(json.loads(line)["id"] for line in joined(out).splitlines())
    assert (len(ids), set(ids.values())) == (20_000, {1})
    assert hidden(out) == []


WORDS = (
    ("The dog", "A child", "My sister", "Nobody", "Every farmer", "She"),
    ("sleeps", "wants to sing", "saw a bird", "bought three books", "left"),
    ("", " today", " on Monday", " in Prague", " again"),
    (".", "?", ", too.", " with Kim."),
)


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.skipif("eng" not in bundled(), reason="the model eng is not in the box")
@pytest.mark.skipif(sys.platform != "linux", reason="workers are looked for in /proc")
def test_kills_with_the_english_model(corpus, tmp_path, joined):
    """A worker dies and is replaced, then all processes die; the same command again does what is missing."""
    sentences = ["{} {}{}{}".format(*words) for words in itertools.product(*WORDS)]
    [source] = corpus(a_txt=sentences)
    out = tmp_path / "out"

    def command(folder, *options):
        start = [sys.executable, "-m", "perin", "parse-corpus", source, str(folder), "--model", "eng"]
        return [*start, "--framework", "eds", "--time", "2026-01-31", *options]

    def done():
        return len(list(out.glob("*.done")))

    cut = command(out, "--shards", "60", "--workers", "2")
    run = subprocess.Popen(cut, start_new_session=True)
    try:
        wait_for(lambda: done() >= 5, 300)
        first, second = children(run.pid)
        os.kill(first, signal.SIGKILL)
        wait_for(lambda: len(now := set(children(run.pid)) - {first}) == 2 and second in now)
        before = done()
        wait_for(lambda: done() > before, 300)
    finally:
        os.killpg(run.pid, signal.SIGKILL)
        run.wait(10)
    assert done() < 60
    assert subprocess.run(cut, timeout=300).returncode == 0
    assert subprocess.run(command(tmp_path / "one", "--shards", "1", "--workers", "1"), timeout=300).returncode == 0
    assert joined(out) == joined(tmp_path / "one")
    assert texts(joined(out)) == sentences
    assert hidden(out) == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"framework": "amr"}, "was begun with framework None, not amr"),
        ({"format": "parquet"}, "was begun with format mrp, not parquet"),
        ({"shards": 3}, "was begun with 2 shards, not 3"),
        ({"time": "2026-02-01"}, "was begun with time 2026-01-31"),
    ],
)
def test_another_task_needs_another_folder(parse, corpus, options, message):
    paths = corpus(a_txt=LINES)
    parse(paths, shards=2)
    with pytest.raises(UsageError, match=message):
        parse(paths, **options)


def test_other_files_need_another_folder(parse, corpus):
    [path] = corpus(a_txt=LINES)
    parse([path])
    with pytest.raises(UsageError, match=r"other files \(see b\.txt\)"):
        parse([path, *corpus(b_txt=LINES)])
    with pytest.raises(InputError, match=r"a\.txt: has changed since"):
        parse(corpus(a_txt=LINES[:-1]))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"engine": "spark"}, "unknown engine 'spark'"),
        ({"rank": 2, "world": 2}, "there is no rank 2 of 2"),
        ({"format": "amr"}, "unknown format 'amr'"),
        ({"column": "x"}, "a column is for JSON lines and Parquet"),
    ],
)
def test_requests_that_make_no_sense(parse, corpus, options, message):
    with pytest.raises(UsageError, match=message):
        parse(corpus(a_txt=LINES), **options)


def test_no_model(parse, corpus, fake):
    with pytest.raises(ModelError, match="there is no such model"):
        parse(corpus(a_txt=LINES), model=fake.no_model, workers=2)


def test_an_empty_corpus(parse, corpus, tmp_path):
    summary = parse(corpus(a_txt=[]))
    assert (summary.shards, summary.done, summary.parsed, summary.exit_code) == (1, 1, 0, 0)
