"""How many anchors of a graph the tokens of its sentence can express."""

from __future__ import annotations

from typing import NamedTuple

from perin.graphs.graph import Anchor, Graph, Node
from perin.graphs.normalisation import SPACE, normal_anchors, trimmed
from perin.text.sentence import Sentence


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
    anchors = [anchor for node in graph.nodes for anchor in _anchors(node, text)]
    return Coverage(sum(start in starts and end in ends for start, end in anchors), len(anchors))


def _anchors(node: Node, text: str) -> list[Anchor]:
    """The runs of characters that a node is anchored to, with the spaces inside them."""
    runs: list[Anchor] = []
    for position in sorted(
        position for position in normal_anchors(node.anchors, text) or () if isinstance(position, int)
    ):
        if runs and all(character in SPACE for character in text[runs[-1].end : position]):
            runs[-1] = Anchor(runs[-1].start, position + 1)
        else:
            runs.append(Anchor(position, position + 1))
    return runs
