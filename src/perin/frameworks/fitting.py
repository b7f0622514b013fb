"""Tokens that fit a graph: none missing where a node is anchored, none across the end of an anchor."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from perin.contract.sentence import Sentence, Token
from perin.frameworks.framework import Framework
from perin.graphs.graph import Anchor, Graph
from perin.graphs.normalisation import normal_anchors
from perin.text import refine, tokenize


@dataclass(frozen=True)
class LostAnchor:
    """A node whose anchors tokens can't render: they lie inside words."""

    graph: str
    node: int
    anchors: tuple[Anchor, ...]
    tokens: tuple[Anchor, ...]
    """The ranges of the tokens that the node gets instead."""


def fitted(sentence: Sentence, graph: Graph) -> Sentence:
    """The sentence with tokens added where there were none (by our own tokenizer) and split at the ends of anchors.

    Some treebanks leave out tokens and anchor parts of words.
    """
    tokens = sorted((*sentence.tokens, *_missing(sentence)), key=lambda token: token.start)
    ends = {end for node in graph.nodes for anchor in node.anchors or () for end in anchor}
    return refine(replace(sentence, tokens=tuple(tokens)), ends)


def lost_anchors(framework: Framework, graph: Graph, sentence: Sentence) -> list[LostAnchor]:
    """The nodes of a graph whose anchors, in the normal form of the MRP metric, can't be written in these tokens."""
    if framework.anchoring is None:
        return []
    anchored = [node for node in graph.nodes if node.anchors]
    rows = framework.anchoring.tokens([node.anchors for node in anchored], sentence)
    lost = []
    for node, row in zip(anchored, rows, strict=True):
        ranges = framework.anchoring.ranges(row.nonzero()[0].tolist(), sentence)
        if normal_anchors(ranges, graph.input) != normal_anchors(node.anchors, graph.input):
            lost.append(LostAnchor(graph.id, node.id, node.anchors or (), ranges))
    return lost


def _missing(sentence: Sentence) -> Iterator[Token]:
    """Our own tokens of the stretches of text that no token covers."""
    position = 0
    for start, end in [*((token.start, token.end) for token in sentence.tokens), (len(sentence.text),) * 2]:
        gap = sentence.text[position:start]
        if not gap.isspace():
            for token in tokenize(gap, sentence.language).tokens:
                yield replace(token, start=token.start + position, end=token.end + position)
        position = max(position, end)
