from __future__ import annotations

import gzip
import itertools
import json
import os
import re
import resource

import pytest

from perin.errors import InputError, UsageError
from perin.graphs import codecs, load
from perin.parsing import writing
from perin.parsing.parser import Parser
from perin.parsing.writing import Tally, format_of

DATE = "2026-01-31"
LINES = ["It rains.", "", "word " * 600, "The dog sleeps.", "na\\xefve", "Kim saw dogs.", "Rain!"]


@pytest.fixture
def source(tmp_path):
    """Six sentences, the second of which is too long and the fourth not UTF-8."""
    path = tmp_path / "in.txt"
    path.write_bytes(b"\n".join(line.encode().replace(b"\\xef", b"\xef") for line in LINES) + b"\n")
    return path


@pytest.fixture
def alone(model):
    """A parser that stays in its process."""
    return Parser(model, threads=1)


def test_files_in_mrp(parser, source, tmp_path):
    problems = []
    tally = parser.parse_file(source, tmp_path / "out.mrp", report=problems.append)
    assert tally == Tally(parsed=4, failed=2)
    graphs = list(load(tmp_path / "out.mrp"))
    assert [(graph.id, graph.input) for graph in graphs] == [
        ("1", "It rains."),
        ("4", "The dog sleeps."),
        ("6", "Kim saw dogs."),
        ("7", "Rain!"),
    ]
    assert [problem.graph for problem in problems] == ["3", "5"]
    assert all(part.extra is None for graph in graphs for part in (*graph.nodes, *graph.edges))


def test_all_frameworks_and_empty_graphs(parser, source, tmp_path):
    parser.parse_file(source, tmp_path / "out.mrp", framework="all", empty=True, probabilities=True)
    graphs = list(load(tmp_path / "out.mrp"))
    assert [graph.id for graph in graphs] == [id for id in "134567" for _ in range(3)]
    assert [graph.framework for graph in graphs] == ["eds", "amr", "ucca"] * 6
    assert all("probability" in node.extra for graph in graphs for node in graph.nodes if graph.id in "1467")


@pytest.mark.parametrize(("framework", "empty"), [("eds", False), ("all", False), ("all", True)])
def test_a_run_cut_anywhere_goes_on_to_the_same_file(parser, source, tmp_path, framework, empty):
    whole, cut = tmp_path / "whole.mrp", tmp_path / "cut.mrp"
    options = {"framework": framework, "empty": empty, "time": DATE}
    parser.parse_file(source, whole, **options)
    expected = whole.read_bytes()
    borders = [position + shift for position in newlines(expected) for shift in (0, 1)]
    for length in {0, 1, len(expected) // 2, *borders}:
        cut.write_bytes(expected[:length])
        parser.parse_file(source, cut, resume=True, **options)
        assert cut.read_bytes() == expected, length
    cut.unlink()
    parser.parse_file(source, cut, resume=True, **options)
    assert cut.read_bytes() == expected


def newlines(raw: bytes) -> list[int]:
    return [position for position, byte in enumerate(raw) if byte == ord("\n")]


def test_going_on_parses_only_what_is_missing(parser, source, tmp_path, monkeypatch):
    parser.parse_file(source, tmp_path / "out.mrp")
    raw = (tmp_path / "out.mrp").read_bytes()
    (tmp_path / "out.mrp").write_bytes(raw[: newlines(raw)[2] + 1])
    assert parser.parse_file(source, tmp_path / "out.mrp", resume=True) == Tally(parsed=1, failed=2)
    assert (tmp_path / "out.mrp").read_bytes() == raw


def test_going_on_reports_what_failed_before(parser, source, tmp_path):
    problems = []
    parser.parse_file(source, tmp_path / "out.mrp")
    assert parser.parse_file(source, tmp_path / "out.mrp", resume=True, report=problems.append) == Tally(failed=2)
    assert [problem.graph for problem in problems] == ["3", "5"]


@pytest.mark.parametrize("framework", ["eds", "all"])
def test_going_on_restores_what_was_lost(alone, source, tmp_path, framework):
    """A file may have lost any of its graphs, the first ones too."""
    out = tmp_path / "out.mrp"
    options = {"framework": framework, "time": DATE}
    alone.parse_file(source, out, **options)
    whole = out.read_bytes()
    lines = whole.splitlines(keepends=True)
    size = len(lines) // 4
    sentences = [b"".join(lines[start : start + size]) for start in range(0, len(lines), size)]
    for kept in [(0, 0, 0, 0), (0, 0, 1, 0), (1, 0, 1, 1), (0, 1, 0, 1)]:
        out.write_bytes(b"".join(itertools.compress(sentences, kept)))
        tally = alone.parse_file(source, out, resume=True, **options)
        assert out.read_bytes() == whole
        assert tally == Tally(parsed=4 - sum(kept), failed=2)
    if size > 1:
        out.write_bytes(b"".join([*lines[:4], *lines[5:]]))
        with pytest.raises(InputError, match="graph 4: lacks graphs of some frameworks"):
            alone.parse_file(source, out, resume=True, **options)


@pytest.mark.parametrize("name", ["out.mrp", "out.mrp.gz", "out.amr"])
def test_a_full_disk_is_an_error(alone, tmp_path, name):
    """Files can't grow beyond a limit in this block; the last write is a short one."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    options = {"framework": "amr", "time": DATE}
    texts = [f"Dog number {number} sleeps." for number in range(40)]
    alone.parse_file(texts, tmp_path / f"whole-{name}", **options)
    limit = (tmp_path / f"whole-{name}").stat().st_size // 2
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limits[1]))
    try:
        with pytest.raises((UsageError, OSError), match="File too large"):
            alone.parse_file(texts, tmp_path / name, **options)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    if name == "out.mrp":
        assert alone.parse_file(texts, tmp_path / name, resume=True, **options).failed == 0
        assert (tmp_path / name).read_bytes() == (tmp_path / f"whole-{name}").read_bytes()


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("-", "can't write standard output: No space left on device; make room, then start again"),
        ("x.mrp.gz", "can't write x.mrp.gz: No space left on device; make room, then start again"),
        ("x.mrp", "can't write x.mrp: No space left on device; make room, then go on with --resume"),
    ],
)
def test_only_what_can_be_resumed_is_said_to_be(path, message):
    with open("/dev/full", "wb", buffering=0) as full, pytest.raises(UsageError, match=f"^{re.escape(message)}$"):
        writing._write(full, b"graphs", path)


def test_a_file_is_not_read_and_written(parser, tmp_path, monkeypatch):
    source, link = tmp_path / "in.txt", tmp_path / "link.mrp"
    source.write_text("It rains.\n")
    os.link(source, link)
    with pytest.raises(UsageError, match="can't be both read and written"):
        parser.parse_file(source, link)
    with open(source) as stream:
        monkeypatch.setattr("sys.stdin", stream)
        with pytest.raises(UsageError, match="<stdin> can't be both read and written"):
            parser.parse_file("-", link)
    assert source.read_text() == "It rains.\n"


def test_going_on_with_something_else(parser, source, tmp_path):
    out = tmp_path / "out.mrp"
    parser.parse_file(["It rains.", "Other text."], out)
    for content, message in (
        (out.read_bytes(), "graph 2: holds a graph that is not of this input"),
        (b'{"id": "1", "framework": "eds", "input": "Hello"}\n', "graph 1: holds the graph of another text"),
        (b'{"id": "1", "framework": "drg"}\n', ":1: graph 1: holds graphs of drg"),
        (b"hello\n", ":1: is no graph of an earlier run"),
        (b"[1]\n", ":1: is no graph of an earlier run"),
    ):
        out.write_bytes(content)
        with pytest.raises(InputError) as caught:
            parser.parse_file(source, out, resume=True)
        assert message in str(caught.value)
        assert out.read_bytes() == content
    for target in ("-", str(tmp_path / "x.amr"), str(tmp_path / "x.mrp.gz")):
        with pytest.raises(UsageError, match="can be resumed"):
            parser.parse_file(source, target, resume=True, framework="amr")


def test_an_interrupted_run_leaves_whole_lines(parser, tmp_path):
    def interrupted(results):
        for number, parsed in enumerate(results):
            if number == 5:
                raise KeyboardInterrupt
            yield parsed

    for name in ("out.mrp", "out.mrp.gz"):
        with pytest.raises(KeyboardInterrupt):
            parser.parse_file(["It rains."] * 9, tmp_path / name, progress=interrupted)
        raw = (tmp_path / name).read_bytes()
        lines = (gzip.decompress(raw) if name.endswith(".gz") else raw).splitlines(keepends=True)
        assert [json.loads(line)["id"] for line in lines] == ["1", "2", "3", "4", "5"]
        assert lines[-1].endswith(b"\n")


def test_other_formats_appear_whole_or_not_at_all(parser, tmp_path):
    def interrupted(results):
        yield next(results)
        raise KeyboardInterrupt

    for name in ("out.amr", "out.html"):
        with pytest.raises(KeyboardInterrupt):
            parser.parse_file(["It rains."] * 3, tmp_path / name, framework="amr", progress=interrupted)
        assert list(tmp_path.iterdir()) == []
        parser.parse_file(["It rains."] * 3, tmp_path / name, framework="amr")
        (tmp_path / name).unlink()


@pytest.mark.parametrize(
    ("name", "framework", "begins"),
    [
        ("x.amr", "amr", "# ::id 1"),
        ("x.eds", "eds", "# ::id 1"),
        ("x.xml", "ucca", "<"),
        ("x.dot", "eds", "digraph"),
        ("x.svg", "eds", "<svg"),
        ("x.html", "all", "<!DOCTYPE html>"),
        ("x.txt", "ucca", ""),
        ("x.mrp.gz", "all", '{"id":"1"'),
    ],
)
def test_formats_by_name(parser, tmp_path, name, framework, begins):
    tally = parser.parse_file(["The dog sleeps.", "Kim saw dogs."], tmp_path / name, framework=framework)
    assert tally == Tally(parsed=2)
    raw = (tmp_path / name).read_bytes()
    text = (gzip.decompress(raw) if name.endswith(".gz") else raw).decode()
    assert text.startswith(begins)
    assert "Kim" in text


def test_a_graph_that_a_format_can_not_hold_is_reported(parser, tmp_path, monkeypatch):
    dumps = codecs.dumps

    def refusing(graph, format):
        if graph.id == "2":
            raise InputError("nested too deeply", graph=graph.id)
        return dumps(graph, format)

    monkeypatch.setattr(codecs, "dumps", refusing)
    problems = []
    tally = parser.parse_file(["Go."] * 3, tmp_path / "x.amr", framework="amr", report=problems.append)
    assert tally == Tally(parsed=2, failed=1)
    assert [graph.id for graph in load(tmp_path / "x.amr")] == ["1", "3"]
    assert str(problems[0]) == "graph 2: can't be written as amr: nested too deeply"


def test_targets_that_can_not_be_written(parser, tmp_path):
    for target, format, message in (
        (tmp_path, "mrp", "is a folder"),
        (tmp_path / "no" / "x.mrp", None, "there is no folder"),
        (tmp_path / "x.amr", None, "the format amr can't hold graphs of eds; write mrp"),
        (tmp_path / "x.clf", None, "the format drg can't hold graphs of eds; write mrp"),
        (tmp_path / "x.xyz", None, "can't tell the format"),
        (tmp_path / "x.mrp", "xyz", "unknown format"),
    ):
        with pytest.raises(UsageError) as caught:
            parser.parse_file(["Go."], target, format)
        assert message in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_an_old_file_stays_until_there_is_something_new(parser, tmp_path):
    (tmp_path / "out.mrp").write_text("old")
    with pytest.raises(InputError, match="no such file"):
        parser.parse_file(tmp_path / "missing.txt", tmp_path / "out.mrp")
    assert (tmp_path / "out.mrp").read_text() == "old"
    parser.parse_file([], tmp_path / "out.mrp")
    assert (tmp_path / "out.mrp").read_text() == ""


def test_formats_of_names():
    assert [format_of(name) for name in ("-", "x.mrp", "x.mrp.gz", "x.svg", "x.txt", "x.amr")] == [
        "mrp",
        "mrp",
        "mrp",
        "svg",
        "text",
        "amr",
    ]
