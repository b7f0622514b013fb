"""Graphs that nobody could read: a picture says how large they are instead of taking hours."""

from __future__ import annotations

import random
import re

import pytest

from perin.graphs import Edge, Graph, Node, dump, dumps
from perin.graphs.drawing import diff_sketch, svg

LONG = {
    "a chain": lambda count: [(node, node + 1) for node in range(count - 1)],
    "a star": lambda count: [(0, node) for node in range(1, count)],
    "at random": lambda count: [(random.Random(node).randrange(node), node) for node in range(1, count)],
}


def graph(count: int, ends) -> Graph:
    edges = tuple(Edge(source, target, "x") for source, target in ends)
    nodes = tuple(Node(number, f"n{number}") for number in range(count))
    return Graph("1", "amr", input="word " * count, tops=(0,), nodes=nodes, edges=edges)


@pytest.mark.parametrize("kind", LONG)
@pytest.mark.parametrize("name", ["x.txt", "x.svg", "x.html"])
def test_20000_nodes_become_a_summary(kind, name, tmp_path, limited):
    dump(graph(20_000, LONG[kind](20_000)), tmp_path / "large.mrp")
    done = limited("draw", "large.mrp", "-o", name, gigabytes=1, seconds=20)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ("perin draw: warning: graph 1 has 20000 nodes and 19999 edges, too many to be drawn\n")
    assert "20000 nodes, 19999 edges" in (tmp_path / name).read_text()
    assert (tmp_path / name).stat().st_size < 100_000


def test_a_comparison_of_large_graphs_becomes_a_summary():
    large = graph(1500, LONG["a star"](1500))
    other = graph(1500, LONG["a chain"](1500))
    with pytest.warns(UserWarning, match="3000 nodes and 2998 edges"):
        sketch = diff_sketch(large, other, [], f1=0.0)
    assert len(sketch.shapes) == 1
    assert sketch.compared
    assert sketch.f1 == 0


@pytest.mark.parametrize("draw", [svg, lambda large: dumps(large, "tikz")], ids=["svg", "tikz"])
def test_edges_over_many_layers_are_counted(draw):
    """Few nodes, and every edge from the top passes all layers in between."""
    count = 800
    far = graph(count, [*LONG["a chain"](count), *((0, node) for node in range(2, count))])
    with pytest.warns(UserWarning, match="800 nodes and 1597 edges, too many to be drawn"):
        picture = draw(far)
    assert re.search("too many to be drawn", picture)
