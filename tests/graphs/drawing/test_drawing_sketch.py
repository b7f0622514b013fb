"""What a drawing shows: the words below a graph, the nodes that stand for them, the trees that a reader sees."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from perin.graphs.drawing.sketch import (
    Arc,
    anchored_words,
    is_primary,
    owned_words,
    spanning_forest,
    split_words,
    touched_words,
)
from perin.graphs.graph import Anchor, Edge, Graph, Node, Property


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


@st.composite
def _arcs(draw: st.DrawFn) -> tuple[int, list[Arc], list[int]]:
    count = draw(st.integers(1, 8))
    nodes = st.integers(0, count - 1)
    arcs = draw(st.lists(st.builds(Arc, nodes, nodes, st.booleans()), max_size=14))
    return count, arcs, draw(st.lists(nodes, max_size=2, unique=True))


@given(_arcs())
def test_every_node_hangs_once(graph: tuple[int, list[Arc], list[int]]) -> None:
    count, arcs, tops = graph
    forest = spanning_forest(count, arcs, tops)
    branches = [branch for below in forest.branches for branch in below]
    assert sorted(forest.roots + [branch.child for branch in branches]) == list(range(count))
    assert sorted(forest.depth_first()) == list(range(count))
    assert forest.roots[: len(tops)] == tops
    for branch in branches:
        ends = (branch.child, branch.parent) if branch.inverse else (branch.parent, branch.child)
        assert arcs[branch.arc][:2] == ends
    whole = Graph("1", nodes=tuple(map(Node, range(count))), edges=tuple(Edge(arc.source, arc.target) for arc in arcs))
    with_top = {next(part for part in whole.components() if top in part) for top in tops}
    assert len(forest.roots) == len(tops) + len(whole.components()) - len(with_top)


@given(_arcs())
@settings(max_examples=50)
def test_no_edge_is_turned_round_for_what_can_be_reached_forward(graph: tuple[int, list[Arc], list[int]]) -> None:
    count, arcs, tops = graph
    reached, changed = set(tops), True
    while changed:
        new = {arc.target for arc in arcs if arc.source in reached} - reached
        reached |= new
        changed = bool(new)
    forest = spanning_forest(count, arcs, tops)
    assert not any(branch.inverse and branch.child in reached for below in forest.branches for branch in below)


def test_primary_arcs_come_first() -> None:
    shortcut = [Arc(0, 2, primary=False), Arc(0, 1), Arc(1, 2)]
    assert spanning_forest(3, shortcut, [0]).arcs() == {1, 2}


def test_a_quantifier_hangs_by_its_own_edge() -> None:
    forest = spanning_forest(3, [Arc(2, 1), Arc(0, 1)], [0])
    assert forest.roots == [0]
    assert [(branch.parent, branch.child, branch.inverse) for below in forest.branches for branch in below] == [
        (0, 1, False),
        (1, 2, True),
    ]


def test_what_frameworks_call_extra_is_not_primary() -> None:
    assert is_primary(Edge(0, 1, "A"))
    assert is_primary(Edge(0, 1, "A", (Property("member", True), Property("remote", False))))
    assert not is_primary(Edge(0, 1, "A", (Property("remote", True),)))
    assert not is_primary(Edge(0, 1, "ACT", (Property("effective", "true"),)))
    assert not is_primary(Edge(0, 1, "coref.gram"))
