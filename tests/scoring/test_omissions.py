from __future__ import annotations

from perin.graphs.graph import Anchor, Graph, Node
from perin.scoring.omissions import repeated_nodes, without_node


def graph(*nodes: tuple[str | None, tuple[int, int] | None]) -> Graph:
    made = (Node(id, label, (), None if span is None else (Anchor(*span),)) for id, (label, span) in enumerate(nodes))
    return Graph("1", "eds", "eng", input="He persuaded her", nodes=tuple(made))


def test_words_without_a_node():
    one = graph(("pron", (0, 2)), ("_persuade_v_of", (3, 8)), ("top", None))
    assert without_node(one, [(0, 2), (3, 12), (13, 16)]) == [(13, 16)]
    assert without_node(graph(), [(0, 2)]) == [(0, 2)]


def test_nodes_that_repeat_another():
    assert repeated_nodes(graph(("_leave_v_1", (0, 2)), ("_leave_v_cause", (0, 2)), ("_leave_v_1", (3, 5)))) == 1
    assert repeated_nodes(graph(("pron", (0, 2)), ("pronoun_q", (0, 2)), ("x", None), ("x", None))) == 0
    assert repeated_nodes(graph((None, (0, 2)), (None, (0, 2)), (None, (0, 2)))) == 2
    assert repeated_nodes(graph(("出现-01", (0, 2)), ("出现-02", (0, 2)))) == 1
