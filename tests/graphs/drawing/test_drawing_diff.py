"""Two graphs in one drawing."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perin.errors import UsageError
from perin.graphs import Anchor, Edge, Graph, Node, Property
from perin.graphs.drawing import diff_sketch, svg, text
from perin.graphs.normalisation import normal_edge

GOLD = Graph(
    "1",
    "amr",
    input="Old dogs bark",
    tops=(0,),
    nodes=(
        Node(0, "bark-01", anchors=(Anchor(9, 13),)),
        Node(1, "dog", (Property("mod", "old"), Property("quant", 2)), (Anchor(4, 8),)),
        Node(2, "old", anchors=(Anchor(0, 3),)),
    ),
    edges=(Edge(0, 1, "ARG0"), Edge(1, 2, "mod")),
)


def same(graph):
    return [(node.id, node.id) for node in graph.nodes]


def statuses(sketch):
    nodes = Counter(shape.status for shape in sketch.shapes)
    rows = Counter(row.status for shape in sketch.shapes for row in shape.rows if row.kind != "quote")
    return nodes, rows, Counter(link.status for link in sketch.links)


def test_a_graph_agrees_with_itself():
    nodes, rows, links = statuses(diff_sketch(GOLD, GOLD, same(GOLD)))
    assert set(nodes) == set(rows) == set(links) == {"matched"}


def test_what_is_written_otherwise_but_means_the_same_is_matched():
    system = replace(
        GOLD,
        nodes=(
            Node(10, "BARK-01", anchors=(Anchor(8, 13),)),
            Node(11, "Dog", (Property("quant", "2"), Property("MOD", "old")), (Anchor(4, 8),)),
            Node(12, "old", anchors=(Anchor(0, 4),)),
        ),
        tops=(10,),
        edges=(Edge(11, 10, "ARG0-of", normal="ARG0"), Edge(12, 11, "domain")),
    )
    nodes, rows, links = statuses(diff_sketch(GOLD, system, [(0, 10), (1, 11), (2, 12)]))
    assert set(nodes) == set(rows) == set(links) == {"matched"}


def test_what_is_missing_and_what_is_extra():
    system = Graph(
        "1",
        "amr",
        input=GOLD.input,
        tops=(1,),
        nodes=(
            Node(0, "bark-02", anchors=(Anchor(9, 13),)),
            Node(1, "dog", (Property("quant", 3),), (Anchor(0, 8),)),
            Node(7, "now"),
        ),
        edges=(Edge(0, 1, "ARG1"), Edge(0, 7, "time", (Property("remote", True),))),
    )
    sketch = diff_sketch(GOLD, system, [(0, 0), (1, 1)])
    assert text(sketch) == (
        "# 1 (amr)\n"
        "# Old dogs bark\n"
        "▸ −bark-01 +bark-02 −top “bark”\n"
        "  ├─ −ARG0 → see [1] dog\n"
        "  ├─ +ARG1 → see [1] dog\n"
        "  └─ +time (remote) → +now\n"
        "▸ [1] dog −mod=old −quant=2 +quant=3 +top −“dogs” +“Old dogs”\n"
        "  └─ −mod → −old “Old”\n"
    )
    quotes = [row for row in sketch.shapes[1].rows if row.kind == "quote"]
    assert [(row.text, row.status) for row in quotes] == [("dogs", "missing"), ("Old dogs", "extra")]
    picture = svg(sketch)
    assert 'class="perin diff"' in picture
    assert 'class="node box missing"' in picture
    assert 'class="link remote extra"' in picture


def test_attributes_are_compared_one_by_one():
    gold = Graph("1", nodes=(Node(0), Node(1)), edges=(Edge(0, 1, "A", (Property("remote", True),)),))
    system = replace(gold, edges=(Edge(0, 1, "A", (Property("remote", False), Property("member", True))),))
    (link,) = diff_sketch(gold, system, same(gold)).links
    assert (link.status, link.remote) == ("matched", True)
    assert [(row.text, row.status) for row in link.rows] == [
        ("A", "matched"),
        ("remote", "missing"),
        ("member", "extra"),
    ]


def test_of_parallel_edges_those_with_equal_attributes_match():
    remote = (Property("remote", True),)
    gold = Graph("1", nodes=(Node(0), Node(1)), edges=(Edge(0, 1, "A"), Edge(0, 1, "A", remote)))
    system = replace(gold, edges=(Edge(0, 1, "A", remote), Edge(0, 1, "A")))
    sketch = diff_sketch(gold, system, same(gold))
    assert [(link.status, len(link.rows)) for link in sketch.links] == [("matched", 1), ("matched", 1)]


def test_a_system_without_a_graph_misses_all():
    nodes, rows, links = statuses(diff_sketch(GOLD, replace(GOLD, nodes=(), edges=(), tops=()), []))
    assert (set(nodes), set(rows), set(links)) == ({"missing"}, {"missing"}, {"missing"})


def test_roles_and_scopes_keep_their_forms():
    nodes = (Node(0), Node(1, "be.v.01"), Node(2, "Theme"), Node(3, '"now"'))
    drg = Graph("1", "drg", nodes=nodes, edges=(Edge(0, 1, "in"), Edge(1, 2), Edge(2, 3)), tops=(0,))
    assert [shape.form for shape in diff_sketch(drg, drg, same(drg)).shapes] == ["scope", "box", "relation", "box"]


@pytest.mark.parametrize("pairs", [[(0, 9)], [(9, 0)], [(0, 0), (0, 1)], [(0, 0), (1, 0)]])
def test_a_correspondence_that_makes_no_sense(pairs):
    with pytest.raises(UsageError, match="correspondence"):
        diff_sketch(GOLD, GOLD, pairs)


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_counts_add_up(graphs, data):
    """Matched and missing are gold's items, matched and extra the system's; edges match as multisets intersect."""
    gold, system = data.draw(graphs(max_nodes=4)), data.draw(graphs(max_nodes=4))
    count = min(len(gold), len(system))
    pairs = [(gold.nodes[index].id, system.nodes[index].id) for index in range(count)]
    nodes, _, links = statuses(diff_sketch(gold, system, pairs))
    assert (nodes["matched"], nodes["missing"], nodes["extra"]) == (count, len(gold) - count, len(system) - count)
    assert links["matched"] + links["missing"] == len(gold.edges)
    assert links["matched"] + links["extra"] == len(system.edges)
    renamed = {second: first for first, second in pairs}

    def keys(graph, names):
        found = [normal_edge(edge) for edge in graph.edges]
        return Counter((names(s), names(t), label and label.lower()) for s, t, label in found)

    gold_keys = keys(gold, lambda node: ("gold", node))
    system_keys = keys(system, lambda node: ("gold", renamed[node]) if node in renamed else ("system", node))
    assert links["matched"] == (gold_keys & system_keys).total()
