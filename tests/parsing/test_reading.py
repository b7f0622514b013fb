from __future__ import annotations

import gzip
import io
import sys

import pytest

from perin.errors import InputError
from perin.graphs import Graph, Node, dumps
from perin.parsing.reading import as_sentences, read_sentences
from perin.text import tokenize

CONLLU = """# sent_id = a
# text = Dogs bark.
1\tDogs\tdog\t_\t_\t_\t_\t_\t_\t_
2\tbark\tbark\t_\t_\t_\t_\t_\tSpaceAfter=No
3\t.\t.\t_\t_\t_\t_\t_\t_\t_

# sent_id = b
# text = Cats sleep
1\tCats\tcat\t_\t_\t_\t_\t_\t_\t_
2\tsleep\tsleep\t_\t_\t_\t_\t_\t_\t_

# sent_id = c
# text = Cows eat
1\tCows\tcow\t_\t_\t_\t_\t_\t_\t_
2\tsleep\tsleep\t_\t_\t_\t_\t_\t_\t_

1\tBirds\tbird\t_\t_\t_\t_\t_\t_\t_
2\tsing\tsing\t_\t_\t_\t_\t_\t_\t_
"""


def shown(items):
    return [str(item) if isinstance(item, InputError) else (item.id, item.text, len(item)) for item in items]


def test_lines_have_their_number_as_id_and_blank_ones_are_skipped(tmp_path):
    (tmp_path / "x.txt").write_bytes(b"It rains.\n\n  \t\r\nna\xefve\nDogs bark.\r\n")
    items = list(read_sentences(tmp_path / "x.txt", "eng"))
    assert shown(items) == [
        ("1", "It rains.", 3),
        f"{tmp_path / 'x.txt'}: graph 4: byte 3 of the line is not UTF-8 (0xef); convert the file to UTF-8",
        ("5", "Dogs bark.", 3),
    ]
    assert items[2].tokens[0].lemma == "dog"


def test_running_text_can_be_split(tmp_path):
    (tmp_path / "x").write_text("Go. Stop!\n\nIt rains.\n")
    assert [item[:2] for item in shown(read_sentences(tmp_path / "x", "eng", split=True))] == [
        ("1.1", "Go."),
        ("1.2", "Stop!"),
        ("3.1", "It rains."),
    ]


def test_standard_input_and_gzip(tmp_path, monkeypatch):
    raw = gzip.compress(b"It rains.\n")
    (tmp_path / "x.txt.gz").write_bytes(raw)
    assert shown(read_sentences(tmp_path / "x.txt.gz", "eng")) == [("1", "It rains.", 3)]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(raw))))
    assert shown(read_sentences("-", "eng")) == [("1", "It rains.", 3)]


@pytest.mark.parametrize("tokens", [True, False])
def test_tokens_are_taken_as_they_are_and_bad_sentences_are_errors(tmp_path, tokens):
    path = tmp_path / ("tokens.txt" if tokens else "x.conllu")
    path.write_text(CONLLU)
    first, second, third, fourth = as_sentences(read_sentences(path, "eng", tokens=tokens), "eng")
    assert shown([second, fourth]) == [("b", "Cats sleep", 2), ("4", "Birds sing", 2)]
    assert [token.lemma for token in second.tokens] == ["cat", "sleep"]
    assert (first.line, third.line) == (4, 12)
    assert "columns" in first.message
    assert third.graph == "c"


def test_texts_of_graphs(tmp_path):
    graphs = [Graph("a", "eds", input="It rains."), Graph("a", "amr", input="It rains."), Graph("b", "eds")]
    broken = dumps(Graph("c", "eds", input="Go.", nodes=(Node(0), Node(0))))
    (tmp_path / "x.mrp").write_text(dumps(graphs) + "{\n" + broken)
    assert shown(read_sentences(tmp_path / "x.mrp", "eng")) == [
        ("a", "It rains.", 3),
        f"{tmp_path / 'x.mrp'}:3: graph b: the graph has no input text",
        f"{tmp_path / 'x.mrp'}:4: the JSON object is cut short",
        ("c", "Go.", 2),
    ]


def test_files_that_can_not_be_read(tmp_path):
    (tmp_path / "x.txt").write_bytes(bytes(range(256)) * 10)
    with pytest.raises(InputError, match="is no text but binary data"):
        list(read_sentences(tmp_path / "x.txt", "eng"))
    with pytest.raises(InputError, match="no such file"):
        list(read_sentences(tmp_path / "missing.txt", "eng"))


def test_everything_gets_an_id():
    given = [
        "Go.",
        tokenize("Stop.", None, "x"),
        tokenize("Run.", None),
        InputError("lost"),
        InputError("lost", graph="y"),
    ]
    found = list(as_sentences(given, "eng"))
    assert [item.graph if isinstance(item, InputError) else item.id for item in found] == ["1", "x", "3", "4", "y"]
    assert {item.language for item in found if not isinstance(item, InputError)} == {"eng"}
