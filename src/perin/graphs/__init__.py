"""Meaning graphs: the data type, formats, validation, drawing.  Needs no neural network."""

from perin.errors import Finding, Tolerant
from perin.graphs.codecs import codec, dump, dumps, load, loads
from perin.graphs.graph import Anchor, Edge, Graph, Node, Property
from perin.graphs.validation import findings

__all__ = [
    "Anchor",
    "Edge",
    "Finding",
    "Graph",
    "Node",
    "Property",
    "Tolerant",
    "codec",
    "dump",
    "dumps",
    "findings",
    "load",
    "loads",
]
