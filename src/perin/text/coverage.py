"""How many anchors of a graph the tokens of its sentence can express."""

from __future__ import annotations

from typing import NamedTuple

from perin.contract.sentence import Sentence
from perin.graphs.graph import Graph
from perin.graphs.normalisation import trimmed, trimmed_runs


class Coverage(NamedTuple):
    """Anchors whose two ends are ends of tokens, and all anchors (punctuation alone does not count)."""

    expressible: int
    anchors: int

    def plus(self, other: Coverage) -> Coverage:
        """The sum of two counts."""
        return Coverage(self.expressible + other.expressible, self.anchors + other.anchors)


def coverage(graph: Graph, sentence: Sentence) -> Coverage:
    """Count the anchors of a graph, joined and trimmed of punctuation (as the tokens are) as the MRP metric does."""
    text = sentence.text
    ranges = [(token.start, token.end) for token in sentence.tokens]
    ranges += [trimmed(start, end, text) for start, end in ranges]
    starts, ends = {start for start, _ in ranges}, {end for _, end in ranges}
    anchors = [run for node in graph.nodes for run in trimmed_runs(node.anchors or (), text) if run[0] < run[1]]
    return Coverage(sum(start in starts and end in ends for start, end in anchors), len(anchors))
