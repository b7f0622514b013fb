from __future__ import annotations

import re
import string
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perin.graphs import Anchor, Edge, Graph, Node, Property, dumps
from perin.graphs.codecs.tikz import escaped

GRAPH = Graph(
    "1",
    "eds",
    input="50% off",
    tops=(0,),
    nodes=(
        Node(0, "_be_v_1", (Property("TENSE", "pres"),), (Anchor(4, 7),)),
        Node(1, "100%&{x}", (), (Anchor(0, 3),)),
        Node(2, "[odd]", (Property("*p", "[v]"),)),
    ),
    edges=(Edge(0, 1, "ARG_1"), Edge(0, 2, "A", (Property("remote", True),)), Edge(1, 1, "SELF")),
)


def test_a_document_with_a_picture_for_each_graph():
    text = dumps([GRAPH, Graph("2", "amr", nodes=(Node(0, "x"),))], "tikz")
    assert text.startswith(r"\documentclass")
    assert text.endswith("\\end{document}\n")
    assert text.count(r"\begin{tikzpicture}") == text.count(r"\end{tikzpicture}") == 2
    assert dumps([], "tikz").count("tikzpicture") == 0


def test_nodes_edges_and_words_are_there():
    lines = dumps(GRAPH, "tikz").splitlines()
    nodes = [line for line in lines if re.match(r"  \\node\[.*\] \(n\d+\) at", line)]
    assert len(nodes) == 3
    assert nodes[0].startswith(r"  \node[box, top, ")
    assert nodes[0].endswith(r"{\_be\_v\_1\\{}{\footnotesize TENSE pres}};")
    assert nodes[1].endswith(r"{100\%\&\{x\}};")
    assert nodes[2].endswith(r"{[odd]\\{}{\footnotesize *p [v]}};")
    assert sum(line.startswith(r"  \draw[edge") for line in lines) == 3
    assert sum(line.startswith(r"  \draw[edge, remote") for line in lines) == 1
    assert [line for line in lines if "edge label" in line][1].endswith(r"{ARG\_1};")
    assert sum(line.startswith(r"  \node[word]") for line in lines) == 2


def test_no_stretch_of_a_line_is_empty():
    """TikZ turns an arrow round that ends a stretch without length."""
    for line in dumps(GRAPH, "tikz").splitlines():
        if line.startswith(r"  \draw"):
            points = re.findall(r"\(-?[\d.]+,-?[\d.]+\)", line.replace(" and ", " "))
            assert all(first != second for first, second in pairwise(points))


COMMAND = re.compile(r"\\(?:[A-Za-z]+(?:\{\})?|[{}$&#_%\\])|[-,]\{\}")


@given(st.text(string.printable + "é中“", max_size=20))
@settings(deadline=None, max_examples=200)
def test_escaped_text_has_no_character_that_means_something(text):
    rest = COMMAND.sub("", escaped(text))
    assert not set(rest) & set("\\{}$&#_%^~<>|\"`'")


@pytest.mark.parametrize("pair", ["--", ",,", "''", "``", "<<", ">>", "?`", "!`"])
def test_characters_are_not_joined(pair):
    assert pair not in escaped(pair)


def test_any_graph_gives_balanced_braces(graphs):
    @given(graphs(framework="amr"))
    @settings(deadline=None, max_examples=60)
    def check(graph):
        for line in dumps(graph, "tikz").partition("\\begin{document}")[2].splitlines():
            if not line.startswith("%"):
                bare = re.sub(r"\\[\\{}%]", "", line)
                assert bare.count("{") == bare.count("}")
                assert "%" not in bare

    check()
