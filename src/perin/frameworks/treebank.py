"""Graphs of one framework and language, read from files, with the tokens of their sentences."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from perin.contract.sentence import Sentence, Token
from perin.errors import InputError
from perin.files import source_name
from perin.frameworks.framework import Framework
from perin.frameworks.registry import framework
from perin.graphs.codecs.registry import load
from perin.graphs.graph import Anchor, Graph
from perin.graphs.normalisation import normal_anchors
from perin.text import align, read_tokens, refine, tokenize

# Tokens that fit a graph: none missing where a node is anchored, none across the end of an anchor.


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


@dataclass(frozen=True)
class TreebankFile:
    """Graphs and their sentences, in the same order."""

    framework: Framework
    language: str | None
    graphs: list[Graph]
    sentences: list[Sentence]
    without_tokens: list[str]
    """Ids of the graphs that the file of tokens lacks; their tokens are our own."""


def read_treebank(
    path: str | os.PathLike[str], tokens: str | os.PathLike[str] | None = None, format: str | None = None
) -> TreebankFile:
    """Read a file of graphs.

    ``tokens`` is a file of tokens (see :func:`perin.text.read_tokens`), which are then made to fit the graphs' anchors;
    without it the tokens are our own and do not know the anchors.
    """
    graphs = list(load(path, format))
    source = source_name(path)
    if not graphs:
        raise InputError("there are no graphs in this file", source=source)
    kinds = {(graph.framework, graph.language) for graph in graphs}
    if len(kinds) > 1:
        names = ", ".join(sorted(" ".join(map(str, kind)) for kind in kinds))
        raise InputError(f"graphs of several kinds ({names}); split the file", source=source)
    name, language = kinds.pop()
    form = framework(name or "", language)
    given = {} if tokens is None else {sentence.id: sentence for sentence in read_tokens(tokens, language)}
    sentences, missing = [], []
    for graph in graphs:
        if graph.input is None:
            raise InputError("the graph has no input text", source=source, graph=graph.id)
        if graph.id in given:
            sentence = align(given[graph.id], graph.input)
        else:
            sentence = tokenize(graph.input, language, graph.id)
            missing.append(graph.id)
        sentences.append(sentence if tokens is None else fitted(sentence, graph))
    return TreebankFile(form, language, graphs, sentences, [] if tokens is None else missing)


def joined(parts: Sequence[TreebankFile]) -> TreebankFile:
    """Several files of the same framework and language as one."""
    first = parts[0]
    if any((part.framework, part.language) != (first.framework, first.language) for part in parts):
        raise InputError("the files hold graphs of different frameworks or languages")
    return TreebankFile(
        first.framework,
        first.language,
        [graph for part in parts for graph in part.graphs],
        [sentence for part in parts for sentence in part.sentences],
        [id for part in parts for id in part.without_tokens],
    )
