from __future__ import annotations

from perin.graphs import Anchor, Graph, Node
from perin.text import Sentence, Token, tokenize
from perin.text.coverage import Coverage, coverage

TEXT = "Kim's sea-side, (he said)."


def count(*anchors: tuple[int, int], sentence: Sentence | None = None) -> Coverage:
    graph = Graph("1", input=TEXT, nodes=(Node(0, anchors=tuple(Anchor(*anchor) for anchor in anchors)),))
    return coverage(graph, sentence or tokenize(TEXT, "eng"))


def test_ends_on_token_boundaries() -> None:
    assert count((0, 3)) == (1, 1)
    assert count((0, 2)) == (0, 1)
    assert count((6, 9), (15, 18)) == (1, 2)
    assert count((0, 14)) == (1, 1)


def test_punctuation_does_not_count() -> None:
    assert count((3, 5)) == count((4, 5)) == (1, 1)
    assert count((0, 16)) == count((0, 14))
    assert count((14, 15)) == (0, 0)
    glued = Sentence(TEXT, (Token("Kim's", "Kim", 0, 5), Token("sea-side,", "sea-side", 6, 15)))
    assert count((6, 14), sentence=glued) == (1, 1)


def test_touching_anchors_are_one() -> None:
    assert count((0, 2), (2, 3)) == (1, 1)


def test_nodes_without_anchors() -> None:
    assert coverage(Graph("1", nodes=(Node(0), Node(1, anchors=()))), tokenize(TEXT, "eng")) == (0, 0)


def test_counts_are_added() -> None:
    assert Coverage(1, 2).plus(Coverage(3, 5)) == Coverage(4, 7)
