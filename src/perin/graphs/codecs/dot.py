"""Graphviz: one digraph per graph, to be drawn with ``dot``.  Written only.

Tops have a double outline, remote edges are dashed, and the words that a node is anchored to stand below its label.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TextIO

from perin.graphs.codecs import Codec
from perin.graphs.graph import Edge, Graph, Node, Property
from perin.graphs.normalisation import folded

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def write(graphs: Iterable[Graph], stream: TextIO) -> None:
    """Write the graphs one after the other; ``dot`` draws them all."""
    for graph in graphs:
        stream.writelines(f"{line}\n" for line in _lines(graph))


def _lines(graph: Graph) -> Iterator[str]:
    yield f"digraph {_quoted(graph.id)} {{"
    if graph.input:
        yield f"  label={_quoted(graph.input)}; labelloc=b;"
    yield "  node [shape=box, style=rounded];"
    for node in graph.nodes:
        rows = _rows(node, graph)
        look = {"label": "\n".join(rows)} if rows else {"label": "", "shape": "circle", "width": "0.15"}
        if node.id in graph.tops:
            look["peripheries"] = "2"
        yield f'  "{node.id}" {_attributes(look)};'
    for edge in graph.edges:
        look = {"label": "\n".join(_edge_rows(edge))}
        if folded(edge.get("remote")) == "true":
            look["style"] = "dashed"
        yield f'  "{edge.source}" -> "{edge.target}" {_attributes(look)};'
    yield "}"


def _rows(node: Node, graph: Graph) -> list[str]:
    words = graph.anchored_text(node.id)
    rows = [node.label] if node.label is not None else []
    return rows + [_pair(pair) for pair in node.properties] + ([f"“{words}”"] if words else [])


def _edge_rows(edge: Edge) -> list[str]:
    return [edge.label or "", *(_pair(pair) for pair in edge.attributes if pair.name != "remote")]


def _pair(pair: Property) -> str:
    return f"{pair.name} {pair.value}"


def _attributes(values: dict[str, str]) -> str:
    return "[" + ", ".join(f"{name}={_quoted(value)}" for name, value in values.items()) + "]"


def _quoted(text: str) -> str:
    """A string in which Graphviz takes every character for itself; line ends become line breaks."""
    lines = [_CONTROL.sub("\ufffd", line) for line in text.split("\n")]
    return '"' + "\\n".join(_escaped(line) for line in lines) + '"'


def _escaped(line: str) -> str:
    return line.replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"')


CODEC = Codec("dot", "Graphviz, to be drawn with the program dot", (".dot", ".gv"), (), None, write)
