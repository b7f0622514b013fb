"""There and back: a graph to its target, the target to a perfect prediction, the prediction to a graph."""

from __future__ import annotations

from dataclasses import dataclass, replace

from perin.contract.sentence import Sentence
from perin.frameworks.framework import Framework
from perin.frameworks.perfect import layout, perfect_prediction
from perin.frameworks.vocabulary import Vocabulary
from perin.graphs.graph import Graph


@dataclass(frozen=True)
class Trip:
    """The graph that came back, with the header of the one that went, and what was lost on the way."""

    graph: Graph
    nodes: int
    """Nodes of the target."""
    dropped: int
    """Nodes that found no query."""
    outside: int
    """Nodes on a query of a token that the mask does not allow."""
    unlabelled: int
    """Nodes on a query from which no rule yields their label."""


def round_trip(
    framework: Framework, graph: Graph, sentence: Sentence, vocabulary: Vocabulary, queries: int | None = None
) -> Trip:
    """Encode a graph and decode a perfect prediction of it; ``queries`` a token are the framework's if not given."""
    queries = framework.queries if queries is None else queries
    target = framework.encode(graph, sentence, vocabulary)
    laid = layout(target, queries)
    prediction = perfect_prediction(framework, target, sentence, vocabulary, queries, laid.places)
    decoded = framework.decode(prediction, vocabulary)
    header = {name: getattr(graph, name) for name in ("id", "language", "flavor", "version", "time", "source", "input")}
    counts = (int(nodes.sum()) for nodes in (laid.dropped, laid.outside, laid.unlabelled))
    return Trip(replace(decoded, **header), len(target), *counts)
