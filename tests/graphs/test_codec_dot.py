from __future__ import annotations

import re
import shutil
import subprocess

import pytest
from hypothesis import given, settings

from perin.graphs import Anchor, Edge, Graph, Node, Property, dumps, load

GRAPH = Graph(
    'id "1"',
    "ucca",
    input='Dogs "bark" \\n & run',
    tops=(0,),
    nodes=(Node(0), Node(1, "a\\N", (Property("p", 'x"y'),)), Node(2, anchors=(Anchor(0, 4),))),
    edges=(Edge(0, 1, "A", (Property("remote", True), Property("q", 1))), Edge(0, 2)),
)


def test_writing():
    assert dumps(GRAPH, "dot") == (
        'digraph "id \\"1\\"" {\n'
        '  label="Dogs \\"bark\\" \\\\n &amp; run"; labelloc=b;\n'
        "  node [shape=box, style=rounded];\n"
        '  "0" [label="", shape="circle", width="0.15", peripheries="2"];\n'
        '  "1" [label="a\\\\N\\np x\\"y"];\n'
        '  "2" [label="“Dogs”"];\n'
        '  "0" -> "1" [label="A\\nq 1", style="dashed"];\n'
        '  "0" -> "2" [label=""];\n'
        "}\n"
    )


TOKEN = re.compile(r'\s+|"(?:[^"\\]|\\.)*"|->|[A-Za-z][\w.]*|[\[\]{};,=]')


def test_any_graph_gives_well_formed_text(graphs):
    @given(graphs(framework="amr"))
    @settings(deadline=None, max_examples=100)
    def check(graph):
        text = dumps(graph, "dot")
        assert "".join(TOKEN.findall(text)) == text
        assert text.count(" -> ") >= len(graph.edges)
        assert len(text.splitlines()) >= 3 + len(graph.nodes) + len(graph.edges)

    check()


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")
def test_graphviz_takes_all_development_treebanks(shared, tmp_path):
    for path in sorted((shared / "data").glob("*/dev.mrp.gz")):
        text = dumps(load(path), "dot")
        done = subprocess.run(["dot", "-Tcanon"], input=text, capture_output=True, text=True, check=True)
        assert done.stderr == ""
        assert done.stdout.count("digraph ") == text.count("digraph ")
