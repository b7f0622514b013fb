from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perin.graphs import Anchor, load
from perin.graphs.codecs.ucca.passage import aligned, spaced


@pytest.mark.parametrize(
    ("tokens", "text"),
    [
        ("Dogs bark .", "Dogs bark."),
        ('" I \'ll go " , she said : " wait !!! "', '"I\'ll go", she said: "wait!!!"'),
        ("Kim 's well - known ( and $ 5 ) and / or 3 % ...", "Kim's well-known (and $5) and/or 3%..."),
        ("They do n't , do n’t they ?", "They don't, don’t they?"),
        ("» Guten Tag « , sagte sie .", "»Guten Tag«, sagte sie."),
        ("# 1 [ sic ] ; yes", "#1 [sic]; yes"),
    ],
)
def test_printed_sentences_are_restored(tokens, text):
    assert spaced(tokens.split())[0] == text


@given(st.lists(st.text("ab.,\"'()-«»$ ", min_size=0, max_size=3), max_size=8))
@settings(deadline=None, max_examples=200)
def test_spans_are_the_tokens_in_order(tokens):
    text, spans = spaced(tokens)
    assert [text[start:end] for start, end in spans] == tokens
    assert all(first.end <= second.start for first, second in pairwise(spans))


def test_alignment():
    assert aligned(["can", "not", "."], "can not\t.") == [Anchor(0, 3), Anchor(4, 7), Anchor(8, 9)]
    assert aligned(["can", "not"], "cannot") == [Anchor(0, 3), Anchor(3, 6)]
    assert aligned([], "") == []
    with pytest.raises(ValueError, match="'b' is not at character 2"):
        aligned(["a", "b"], "a c")


def test_most_english_sentences_are_restored(shared):
    """Nine in ten; what fails is mostly dashes between spaces and words written together by mistake."""
    restored = total = 0
    for graph in load(shared / "data" / "ucca-eng" / "dev.mrp.gz"):
        spans = sorted({anchor for node in graph.nodes for anchor in node.anchors or ()})
        text, _ = spaced(graph.input[start:end] for start, end in spans)
        restored += text == graph.input
        total += 1
    assert restored / total > 0.85
