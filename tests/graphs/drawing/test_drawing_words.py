"""The words below a graph and the nodes that stand for them."""

from __future__ import annotations

from perin.graphs.drawing.sketch import anchored_words, owned_words, split_words, touched_words
from perin.graphs.graph import Anchor, Graph, Node


def test_words_are_cut_at_white_space_and_anchor_ends() -> None:
    words = split_words("Kim can't\tswim.", [Anchor(4, 6), Anchor(6, 9), Anchor(10, 14)])
    assert [word.text for word in words] == ["Kim", "ca", "n't", "swim", "."]
    assert [word.spaced for word in words] == [True, True, False, True, False]
    assert [(word.start, word.end) for word in words] == [(0, 3), (4, 6), (6, 9), (10, 14), (14, 15)]


def test_anchors_touch_whole_words_and_nothing_outside() -> None:
    words = split_words("old dogs bark", [])
    assert touched_words(words, [Anchor(4, 8)]) == (1,)
    assert touched_words(words, [Anchor(0, 3), Anchor(9, 13)]) == (0, 2)
    assert touched_words(words, [Anchor(0, 99)]) == (0, 1, 2)
    assert touched_words(words, [Anchor(3, 4)]) == ()
    assert touched_words(words, None) == ()


def test_a_graph_without_anchors_has_no_words() -> None:
    words, anchored = anchored_words(Graph("1", input="old dogs bark", nodes=(Node(0), Node(1, anchors=()))))
    assert words == ()
    assert anchored == [(), ()]


def test_the_node_of_fewest_words_stands_for_them() -> None:
    words = split_words("old dogs bark.", [Anchor(9, 13)])
    assert owned_words(words, [(0,), (1,), (0, 1), (2,), (3,)]) == [(0,), (1,), (), (2,), (3,)]


def test_nodes_of_equally_many_words_share_them() -> None:
    words = split_words("old dogs bark", [])
    assert owned_words(words, [(1, 2), (1, 2)]) == [(1, 2), (1, 2)]


def test_punctuation_counts_only_for_a_node_that_has_nothing_else() -> None:
    words = split_words("dogs ( old ) bark", [])
    assert owned_words(words, [(0,), (2,), (0, 1, 2, 3), (4,)]) == [(0,), (2,), (), (4,)]
    assert owned_words(words, [(1,)]) == [(1,)]
