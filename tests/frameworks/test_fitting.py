from __future__ import annotations

import pytest

from perin.contract import Sentence, Token
from perin.frameworks.eds import EDS
from perin.frameworks.treebank import fitted, lost_anchors
from perin.graphs.graph import Anchor, Graph, Node

TEXT = "Meeresgrund, tief (unten)."
GRAPH = Graph(
    "7",
    "eds",
    input=TEXT,
    nodes=(
        Node(0, "a", anchors=(Anchor(0, 6),)),
        Node(1, "b", anchors=(Anchor(6, 12),)),
        Node(2, "c", anchors=(Anchor(13, 26),)),
    ),
)


def _sentence(*ranges: tuple[int, int]) -> Sentence:
    return Sentence(TEXT, tuple(Token(TEXT[a:b], TEXT[a:b].lower(), a, b) for a, b in ranges), "7", "deu")


def test_tokens_are_split_at_the_ends_of_anchors_and_added_where_missing() -> None:
    tokens = fitted(_sentence((0, 11), (13, 17)), GRAPH).tokens
    assert [token.form for token in tokens] == ["Meeres", "grund", ",", "tief", "(", "unten", ")", "."]
    assert all(TEXT[token.start : token.end] == token.form for token in tokens)


def test_tokens_that_fit_stay_as_they_are() -> None:
    sentence = _sentence((0, 6), (6, 11), (11, 12), (13, 17), (18, 26))
    assert fitted(sentence, GRAPH) == sentence
    assert lost_anchors(EDS, GRAPH, sentence) == []


def test_anchors_inside_words_are_listed() -> None:
    lost = lost_anchors(EDS, GRAPH, _sentence((0, 11), (11, 12), (13, 17), (18, 26)))
    assert [(item.graph, item.node, item.anchors, item.tokens) for item in lost] == [
        ("7", 0, (Anchor(0, 6),), (Anchor(0, 11),)),
        ("7", 1, (Anchor(6, 12),), (Anchor(0, 11),)),
    ]


@pytest.mark.parametrize("text", ["", "   ", "\n"])
def test_texts_without_tokens(text: str) -> None:
    graph = Graph("1", "eds", input=text, nodes=(Node(0, "a", anchors=(Anchor(0, 0),)),))
    assert fitted(Sentence(text, ()), graph).tokens == ()
