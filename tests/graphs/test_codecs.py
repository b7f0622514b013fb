from __future__ import annotations

import contextlib
import io
import re
import sys
import tracemalloc
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perin.errors import InputError, UsageError
from perin.graphs import Anchor, Graph, Node, Tolerant, codec, dump, dumps, load, loads
from perin.graphs.codecs import FORMATS, files, guess, locate

GRAPH = Graph("1", "eds", flavor=1, input="Dogs", nodes=(Node(0, "dog"),), tops=(0,))


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_complete(name):
    format = codec(name)
    assert format.name == name
    assert format.summary
    assert "\n" not in format.summary
    assert format.read or format.write
    assert format.suffixes
    for suffix in format.suffixes:
        assert guess(f"some/where{suffix}") is format
        assert guess(f"some/where{suffix}.gz") is format


def test_the_documentation_lists_the_formats():
    text = (Path(__file__).parents[2] / "docs" / "formats.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([\w-]+)` \| (yes)? ?\| (yes)? ?\| (.*?) \| (.*?) \|$", text, flags=re.MULTILINE)
    assert [name for name, *_ in rows] == list(FORMATS)
    for name, reads, writes, suffixes, frameworks in rows:
        format = codec(name)
        assert (bool(reads), bool(writes)) == (format.read is not None, format.write is not None)
        assert tuple(re.findall(r"`(.+?)`", suffixes)) == format.suffixes
        assert frameworks == (", ".join(format.frameworks) or "all")


READERS = [name for name in FORMATS if codec(name).read]


@pytest.mark.parametrize("name", READERS)
def test_nothing_is_an_empty_treebank_and_bytes_are_an_error(tmp_path, name):
    path = tmp_path / "x"
    path.write_bytes(b"")
    assert list(load(path, name)) == []
    for raw in (b"\xff\xfe\x00", b"\x1f\x8b\x08\x00", bytes(range(256))):
        path.write_bytes(raw)
        for report in ({}, {"report": Tolerant()}):
            with pytest.raises(InputError, match=re.escape(str(path))):
                list(load(path, name, **report))


@given(
    st.sampled_from(READERS),
    st.one_of(st.text(max_size=60), st.text("()/:#{}[]<>\"'\\ \nabx01.-=&;%", max_size=60)),
)
@settings(deadline=None, max_examples=300)
def test_any_text_gives_graphs_or_an_input_error(name, text):
    for report in ({}, {"report": Tolerant()}):
        with contextlib.suppress(InputError):
            assert all(isinstance(graph, Graph) for graph in loads(text, name, **report))


def test_unknown_formats_and_names():
    with pytest.raises(UsageError, match=r"unknown format 'xyz'; known are: mrp, .*eds"):
        codec("xyz")
    with pytest.raises(UsageError, match=r"can't tell the format of a\.xyz from its name; name the format"):
        guess("a.xyz")
    assert guess("-").name == "mrp"
    assert guess("a.drg.gz").name == guess("a.clf").name == "drg"


def test_dump_and_load(tmp_path):
    for name in ("x.mrp", "x.mrp.gz", "x.eds", "x.eds.gz"):
        dump(GRAPH, tmp_path / name)
        assert list(load(tmp_path / name)) == [GRAPH]
    assert list(load(tmp_path / "x.eds", "eds")) == [GRAPH]
    assert [(line, graph) for _, line, graph in locate(tmp_path / "x.eds")] == [(3, GRAPH)]


def test_formats_hold_graphs_of_their_framework_only(tmp_path):
    for name in ("ucca", "eds"):
        amr = Graph("7", "amr", nodes=(Node(0, "x"),))
        with pytest.raises(
            InputError, match=f"graph 7: framework amr, but the format {name} holds {name} only; write mrp"
        ):
            dump([amr], tmp_path / "out", name)
    assert list(tmp_path.iterdir()) == []
    assert loads(dumps(Graph("1", nodes=(Node(0, "a"),)), "eds"), "eds")


def test_formats_that_are_only_written_or_read(tmp_path):
    with pytest.raises(UsageError, match="the format dot can be written but not read"):
        loads("", "dot")
    unwritable = [name for name in FORMATS if codec(name).write is None]
    for name in unwritable:
        with pytest.raises(UsageError, match="can be read but not written"):
            dump(GRAPH, tmp_path / "out", name)
    assert list(tmp_path.iterdir()) == []


def test_folders(tmp_path):
    with pytest.raises(UsageError, match=r"can't tell the format of .* from its name"):
        list(load(tmp_path))
    with pytest.raises(InputError, match=r"no file in this folder ends in \.eds"):
        list(load(tmp_path, "eds"))
    dump(GRAPH, tmp_path / "b.eds")
    dump(Graph("2", "eds"), tmp_path / "a.eds.gz")
    (tmp_path / ".hidden.eds").write_text("nonsense")
    (tmp_path / "folder.eds").mkdir()
    assert [graph.id for graph in load(tmp_path)] == ["2", "1"]
    assert [source.rsplit("/", 1)[1] for source, _, _ in locate(tmp_path)] == ["a.eds.gz", "b.eds"]
    dump(GRAPH, tmp_path / "c.mrp")
    with pytest.raises(UsageError, match=r"files of several formats \(eds, mrp\)"):
        files(tmp_path)
    assert len(list(load(tmp_path, "eds"))) == 2
    dump(GRAPH, tmp_path / "d.eds")
    with pytest.raises(InputError, match=r"d\.eds:3: graph 1: there is an earlier graph"):
        list(load(tmp_path, "eds"))
    tolerant = Tolerant()
    assert len(list(load(tmp_path, "eds", report=tolerant))) == 3
    assert len(tolerant.findings) == 1


def test_standard_streams(monkeypatch, capsysbinary):
    dump([GRAPH], "-")
    written = capsysbinary.readouterr().out
    assert written == dumps(GRAPH).encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(written))))
    assert list(load("-")) == [GRAPH]


def test_reading_is_lazy(tmp_path):
    (tmp_path / "x.mrp").write_text('{"id": "1"}\nnonsense\n')
    graphs = load(tmp_path / "x.mrp")
    assert next(graphs).id == "1"
    with pytest.raises(InputError):
        next(graphs)


@pytest.mark.parametrize("name", [name for name in FORMATS if codec(name).write])
def test_writing_holds_few_graphs_at_a_time(name):
    """When a graph is asked for, the one two before it has been written (UCCA XML looks one ahead)."""
    framework = (*codec(name).frameworks, "amr")[0]

    def one_by_one():
        for number in range(4):
            if number >= 2:
                assert f"graph-{number - 2}" in stream.getvalue()
            yield Graph(
                f"graph-{number}",
                framework,
                nodes=(Node(0),) if framework in ("ucca", "drg") else (Node(0, "a"),),
                tops=(0,),
            )

    stream = io.StringIO()
    codec(name).write(one_by_one(), stream)
    assert "graph-3" in stream.getvalue()


def peak(job) -> int:
    """The most bytes that were held at a time while the job ran."""
    tracemalloc.start()
    try:
        job()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", ["mrp", "eds", "ucca"])
def test_streaming_takes_no_more_memory_for_more_graphs(tmp_path, name):
    """Six times the graphs take a fraction of what it takes to hold them."""
    label = "label " if name != "ucca" else None
    nodes = tuple(Node(id, label and f"{label}{id}", anchors=(Anchor(id, id + 1),)) for id in range(40))
    graph = Graph("", "ucca" if name == "ucca" else "eds", input="x" * 101, nodes=nodes)
    sizes = {}
    for count in (10, 60):
        path = tmp_path / f"{count}{codec(name).suffixes[0]}"
        dump((replace(graph, id=str(number)) for number in range(count)), path)
        sizes[count] = peak(lambda path=path: sum(1 for _ in load(path)))
    held = peak(lambda: list(load(path)))
    assert sizes[60] - sizes[10] < (held - sizes[10]) / 4


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: loads(b"{}"), "loads takes a string, not bytes"),
        (lambda: dumps(5), "dump takes a graph or several, not int"),
        (lambda: dumps("{}"), "dump takes a graph or several, not str"),
        (lambda: dumps([Graph("1"), None]), "dump takes a graph or several, not None"),
        (lambda: list(load(5)), "load takes the name of a file or folder, not int"),
    ],
)
def test_wrong_types_say_what_is_wanted(call, message):
    with pytest.raises(UsageError, match=message):
        call()
