from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perin.errors import UsageError
from perin.graphs import load
from perin.text import passages, split_sentences


@pytest.mark.parametrize(
    ("language", "sentences"),
    [
        (
            "eng",
            ["He went to the U.S. on Friday.", "He met Dr. Kim, Inc. and J. Smith.", "Why?", '"Yes!" she said.', "Ok"],
        ),
        (
            "eng",
            [
                "See Fig. 3 (p. 5), e.g. this...",
                "It ended at 5 p.m. today.",
                "He said “No.”",
                "(Then he left.)",
                "I did.",
            ],
        ),
        ("eng", ["It was in the U.S.", "He liked it!!", "Really?!", "3.5 million came.", "So did I.", "You too."]),
        ("deu", ["Am 3. Oktober kam Dr. Müller.", "„Wirklich?“ fragte er.", "Das war 1984.", "Es gilt z.B. hier."]),
        ("ces", ["Bylo to 3. října.", "Např. pes a kočka atd. nebyly doma.", "Ano!", "Roku 1990."]),
        ("zho", ["他说：“好。”", "她笑了！", "真的吗？！", "是。", "没完"]),
    ],
)
def test_sentences(language: str, sentences: list[str]) -> None:
    text = ("" if language == "zho" else " ").join(sentences)
    assert [text[start:end] for start, end in split_sentences(text, language)] == sentences


def test_blank_lines_end_sentences_and_single_line_ends_do_not() -> None:
    text = "\n A title \n \n\nIt\nrains. It\r\nsnows\n\n\n"
    assert [text[start:end] for start, end in split_sentences(text, "eng")] == ["A title", "It\nrains.", "It\r\nsnows"]


@pytest.mark.parametrize("language", ["eng", "deu", "ces", "zho"])
@settings(deadline=None, max_examples=100)
@given(
    text=st.one_of(
        st.text(),
        st.lists(
            st.sampled_from(["A.", "b", " ", "\n", "\n\n", "?", "!", "…", '"', "“", "。", "？", "3.", "Dr.", "x"])
        ).map("".join),
    )
)
def test_any_text(language: str, text: str) -> None:
    ranges = split_sentences(text, language)
    position = 0
    for start, end in ranges:
        assert position <= start < end <= len(text)
        assert text[position:start].strip() == ""
        assert text[start:end] == text[start:end].strip()
        position = end
    assert text[position:].strip() == ""


@pytest.mark.parametrize("unit", [". ", "!", "。", "A.B. ", "x", "\n\n", " \n", '."', "…“ ", "!。"])
def test_long_text_without_quadratic_cost(unit: str) -> None:
    """A quadratic step would take hours here."""
    text = unit * (200_000 // len(unit))
    assert all(start < end for start, end in split_sentences(text, "deu"))


@pytest.mark.parametrize(
    ("treebank", "minimum"), [("eds-eng", 0.97), ("drg-eng", 0.97), ("drg-deu", 0.99), ("ptg-ces", 0.92)]
)
def test_sentences_of_treebanks_one_after_the_other(shared: Path, treebank: str, minimum: float) -> None:
    """F1 of whole sentences; only those that end in a sign can be told."""
    inputs = [(graph.input or "").strip() for graph in load(shared / "data" / treebank / "dev.mrp.gz")]
    inputs = [text for text in inputs if text.rstrip("\"'”’)]").endswith((".", "!", "?", "…"))]
    text = " ".join(inputs)
    starts = [sum(map(len, inputs[:number])) + number for number in range(len(inputs))]
    gold = {(start, start + len(sentence)) for start, sentence in zip(starts, inputs, strict=True)}
    found = set(map(tuple, split_sentences(text, treebank[-3:])))
    assert 2 * len(gold & found) / (len(gold) + len(found)) >= minimum


def test_passages_index_the_document() -> None:
    text = "  It rains. \n\nKim's here.\n"
    found = list(passages(text, "eng"))
    assert [passage.sentence.text for passage in found] == ["It rains.", "Kim's here."]
    for start, sentence in found:
        assert [text[start + token.start : start + token.end] for token in sentence.tokens] == [
            token.form for token in sentence.tokens
        ]


def test_passages_of_lines() -> None:
    text = "One. Two.\r\n\n \nThree\n"
    found = list(passages(text, "eng", "lines"))
    assert [(start, sentence.text) for start, sentence in found] == [(0, "One. Two."), (14, "Three")]
    with pytest.raises(UsageError, match="unknown layout 'words'; known are: lines, paragraphs"):
        list(passages(text, "eng", "words"))
