"""Files that are too long, too deep or absurd: one line on standard error, exit code 2, bounded memory."""

from __future__ import annotations

import gzip
import itertools
import re

import pytest

from perin.errors import LONGEST_MESSAGE, InputError, UsageError
from perin.files import MAX_LINE, byte_limit, read_lines, read_text, within_limit
from perin.graphs import Anchor, Edge, Graph, Node, Property, Tolerant, dumps, loads
from perin.graphs.codecs import FORMATS, codec
from perin.text.adapters import read_conllu

MEGABYTE = 2**20


def gzip_of(path, piece: bytes, count: int, head: bytes = b"", tail: bytes = b"") -> None:
    """A small file that becomes a large one."""
    with gzip.open(path, "wb", compresslevel=1) as stream:
        stream.write(head)
        for _ in range(count):
            stream.write(piece)
        stream.write(tail)


def refused(done) -> str:
    """The only line that a run which refused its input printed."""
    assert done.returncode == 2, done.stderr[-1000:]
    assert "Traceback" not in done.stderr
    (line,) = done.stderr.splitlines()
    assert len(line) < LONGEST_MESSAGE + 100
    return line


@pytest.mark.parametrize(
    "verb", [["tokens", "--language", "eng", "-i"], ["validate"], ["draw"], ["score", "small.mrp"]]
)
def test_a_gzip_of_spaces_is_one_line_too_long(verb, tmp_path, limited):
    (tmp_path / "small.mrp").write_text(dumps(Graph("1", framework="amr", time="2020-01-01", nodes=(Node(0, "a"),))))
    gzip_of(tmp_path / "spaces.mrp.gz", b" " * MEGABYTE, 300)
    done = limited(*verb, "spaces.mrp.gz", gigabytes=1.5, seconds=30)
    assert "the line has more than 16 MB; if that is right, set the environment variable PERIN_MAX_LINE" in refused(
        done
    )


def test_a_large_file_of_json_is_refused(tmp_path, limited):
    gzip_of(tmp_path / "large.eds.json.gz", b'{"a": [1, 2, 3]},\n' * 5000, 1000, b"[", b"{}]")
    line = refused(limited("convert", "large.eds.json.gz", "out.mrp", gigabytes=1.5, seconds=60))
    assert "the file has more than 64 MB" in line
    assert "PERIN_MAX_DOCUMENT" in line
    assert not (tmp_path / "out.mrp").exists()


@pytest.mark.parametrize(("suffix", "piece"), [("amr", b"(a / b :c\n"), ("sbn", b"a.n.01\n")])
def test_a_graph_of_many_lines_has_a_limit(suffix, piece, tmp_path, limited):
    gzip_of(tmp_path / f"large.{suffix}.gz", b" " * 200 + piece, 100_000)
    line = refused(limited("convert", f"large.{suffix}.gz", "out.mrp", gigabytes=2, seconds=60))
    assert "the graph has more than 16 MB" in line


def test_a_passage_has_a_limit_and_a_corpus_of_passages_has_none(monkeypatch):
    monkeypatch.setenv(MAX_LINE, "20K")
    passage = SAMPLES["ucca"]
    corpus = (
        "<corpus>\n"
        + "\n".join(passage.replace('passageID="1"', f'passageID="{n}"') for n in range(200))
        + "\n</corpus>"
    )
    assert len(corpus) > 40_000
    assert len(loads(corpus, "ucca")) == 200
    with pytest.raises(InputError, match="the passage has more than 20 KB"):
        loads(passage.replace("</layer>", "</layer>" + "\n" * 60_000, 1), "ucca")


def test_limits_can_be_raised(tmp_path, monkeypatch):
    path = tmp_path / "long.txt"
    path.write_bytes(b"a" * 5000 + b"\nb\n")
    monkeypatch.setenv(MAX_LINE, "4K")
    with pytest.raises(InputError, match=r"long.txt:1: the line has more than 4 KB"):
        list(read_lines(path))
    monkeypatch.setenv(MAX_LINE, "5000")
    with pytest.raises(InputError, match=r"the line has more than 4 KB"):
        list(read_lines(path))
    monkeypatch.setenv(MAX_LINE, "8k")
    assert [len(line) for line in read_lines(path)] == [5000, 1]
    monkeypatch.setenv("PERIN_MAX_DOCUMENT", "4000")
    with pytest.raises(InputError, match="the file has more than 3 KB"):
        read_text(path)


@pytest.mark.parametrize("text", ["a lot", "-5", "0", "1T", "5.5M", "9" * 400])
def test_a_limit_that_is_no_number_is_named(text, monkeypatch):
    monkeypatch.setenv(MAX_LINE, text)
    with pytest.raises(UsageError, match="PERIN_MAX_LINE should be a number of bytes such as 500M"):
        byte_limit(MAX_LINE)


def test_blocks_begin_anew_at_blank_lines(monkeypatch):
    monkeypatch.setenv(MAX_LINE, "10")
    lines = ["1234", "1234", "", "1234", "1234"]
    assert list(within_limit(lines, "x", "the graph", MAX_LINE, blocks=True)) == lines
    with pytest.raises(InputError, match="x:5: the graph"):
        list(within_limit(["1234", "1234", " ", "12345678", "1"], "x", "the graph", MAX_LINE, blocks=True))


NODES = (Node(0, "_a_v_1", (Property("TENSE", "past"),), (Anchor(0, 1),)), Node(1, "named", anchors=(Anchor(2, 3),)))
PLAIN = Graph("1", input="A b.", tops=(0,), nodes=NODES, edges=(Edge(0, 1, "ARG1"),))
SAMPLES = {
    "mrp": dumps(PLAIN),
    "amr": dumps(Graph("1", "amr", input="A b.", tops=(0,), nodes=NODES, edges=PLAIN.edges), "amr"),
    "eds": dumps(Graph("1", "eds", input="A b.", tops=(0,), nodes=NODES, edges=PLAIN.edges), "eds"),
    "eds-json": dumps(Graph("1", "eds", input="A b.", tops=(0,), nodes=NODES, edges=PLAIN.edges), "eds-json"),
    "drg": '% 1\nb1 REF x1 % A [0...1]\nb1 Name x1 "a" % A [0...1]\nb1 male "n.02" x1 % A [0...1]\n\n',
    "sbn": 'male.n.02 Name "a"\nsmile.v.01 Agent -1 Time +1\ntime.n.08 EQU now\n',
    "ucca": (
        '<root annotationID="0" passageID="1"><layer layerID="0"><node ID="0.1" type="Word">'
        '<attributes paragraph="1" text="a"/></node></layer><layer layerID="1"><node ID="1.1" type="FN">'
        '<edge toID="0.1" type="Terminal"/></node></layer></root>'
    ),
    "umr": "# :: snt1\nIndex: 1 2\nWords: A b\n\n# sentence level graph:\n(s1a / a-01\n    :ARG0 (s1b / b))\n\n"
    "# alignment:\ns1a: 1-1\ns1b: 2-2\n\n# document level annotation:\n(s1s0 / sentence)\n\n",
}
DEEP = {
    "lists": "[" * 100_000,
    "objects": '{"a":' * 100_000,
    "closed objects": '{"a":' * 50_000 + "1" + "}" * 50_000,
    "parentheses": "(a / b :c " * 20_000,
    "closed parentheses": "(a / b :c " * 20_000 + ")" * 20_000,
    "elements": '<root passageID="1">' + "<a>" * 100_000,
    "quotes": '"' * 100_000,
    "one word": "x" * 1_000_000,
    "a deep header": "# ::id 1\n# ::json " + "[" * 100_000 + "\n(a / b)",
}


def read_all(text: str, format: str) -> None:
    """Read strictly and tolerantly: a graph, or an error of ours on one short line."""
    for report in (None, Tolerant()):
        try:
            loads(text, format) if report is None else loads(text, format, report=report)
        except InputError as error:
            message = str(error)
        else:
            continue
        assert len(message) < LONGEST_MESSAGE + 100
        assert "\n" not in message


def test_every_format_that_can_be_read_has_a_sample():
    assert SAMPLES.keys() == {name for name in FORMATS if codec(name).read is not None}


@pytest.mark.parametrize("format", SAMPLES)
def test_numbers_of_5000_digits(format):
    text = SAMPLES[format]
    assert loads(text, format)
    for match in re.finditer(r"\d+", text):
        read_all(text[: match.start()] + "9" * 5000 + text[match.end() :], format)


@pytest.mark.parametrize(("format", "kind"), list(itertools.product(SAMPLES, DEEP)))
def test_deep_nesting(format, kind):
    read_all(DEEP[kind], format)
    read_all(SAMPLES[format] + "\n" + DEEP[kind], format)


WORDS = "1\tKim\tKim\tPROPN\t_\t_\t0\troot\t_\t_"


@pytest.mark.parametrize("id", ["9" * 5000, "1-" + "9" * 5000, "1-999999999", "1.5.5", "x", ""])
def test_absurd_ids_of_conllu(id):
    rows = ["# text = Kim", f"{id}\tKim\tKim\tPROPN\t_\t_\t0\troot\t_\t_"]
    with pytest.raises(InputError, match="no CoNLL-U") as caught:
        list(read_conllu(rows, "x.conllu", "eng"))
    assert len(str(caught.value)) < 200


def test_absurd_numbers_of_conllu(limited, tmp_path):
    row = WORDS.rsplit("\t", 1)[0]
    (sentence,) = read_conllu(["# text = Kim", f"{row}\tTokenRange={'9' * 5000}:3"], "x.conllu", "eng")
    assert sentence.tokens[0].form == "Kim"
    (tmp_path / "x.conllu").write_text(f"1-999999\tKim\t_\t_\t_\t_\t_\t_\t_\t_\n{WORDS}\n\n")
    done = limited("tokens", "x.conllu", "--language", "eng", gigabytes=1.5)
    assert done.returncode in (0, 2)
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("length", [5, 100_000])
def test_messages_quote_no_more_than_can_be_read(length):
    error = InputError("found " + "x" * length, "file", 3)
    assert len(str(error)) <= LONGEST_MESSAGE + 3
    assert str(error).startswith("file:3: found xxxxx")
