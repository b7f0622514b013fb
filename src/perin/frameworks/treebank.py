"""Treebanks: graphs and the tokens of their sentences, read in the same way for training, round trips and rules."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from perin.contract import Sentence, Token
from perin.errors import Finding, InputError, strict
from perin.files import source_name
from perin.frameworks import framework
from perin.frameworks.framework import Framework
from perin.graphs.codecs import load
from perin.graphs.graph import Anchor, Graph
from perin.graphs.normalisation import normal_anchors
from perin.text import align, read_tokens, refine, tokenize


def tokens_by_id(path: str | os.PathLike[str], language: str | None) -> dict[str, Sentence]:
    """The tokens of a CoNLL-U or companion file."""
    return {sentence.id: sentence for sentence in read_tokens(path, language) if sentence.id is not None}


def sentence_of(graph: Graph, language: str | None, tokens: Mapping[str, Sentence] | None) -> Sentence:
    """The tokens of a graph's text: those that were read for its id, or else (None) of our own tokenizer.

    Where there are none for it, or they are not those of the text, this is an :class:`~perin.errors.InputError`.
    """
    if graph.input is None:
        raise InputError("the graph has no input text", graph=graph.id)
    if tokens is None:
        return tokenize(graph.input, language, graph.id)
    if graph.id not in tokens:
        raise InputError("there are no tokens for this graph", graph=graph.id)
    return align(tokens[graph.id], graph.input)


@dataclass(frozen=True)
class Unusable:
    """Why a graph of a file can't be used."""

    kind: str
    what: str


def read_pairs(
    path: str | os.PathLike[str],
    language: str | None = None,
    tokens: str | os.PathLike[str] | None = None,
    *,
    treebank: str | None = None,
) -> Iterator[tuple[Graph, Sentence | Unusable]]:
    """Each graph of a file with the tokens of its sentence, or what is wrong with it.

    ``tokens`` is a file of tokens (see :func:`perin.text.read_tokens`); without it the tokens are our own.
    ``language`` is that of graphs that do not say theirs.
    ``treebank``: such as ``eds-eng``; graphs of others can't be used.
    """
    given: dict[str, Sentence] | None = None
    faults: dict[str, str] = {}
    for graph in load(path, report=partial(_note_fault, faults)):
        own = graph.language or language
        found = f"{graph.framework}-{own}"
        if tokens is not None and given is None:
            given = tokens_by_id(tokens, own)
        if graph.id in faults:
            yield graph, Unusable("with faults", faults[graph.id])
        elif treebank is not None and found != treebank:
            yield graph, Unusable("of another treebank", f"the graph is {found}")
        else:
            try:
                yield graph, sentence_of(graph, own, given)
            except InputError as error:
                yield graph, Unusable("without tokens", error.message)


def _note_fault(faults: dict[str, str], finding: Finding) -> None:
    """Keep an error by the id of its graph; one that belongs to no graph is raised."""
    if finding.graph is None:
        strict(finding)
    elif finding.severity == "error":
        faults.setdefault(finding.graph, finding.message)


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
    path: str | os.PathLike[str], tokens: str | os.PathLike[str] | None = None, *, split: bool = False
) -> TreebankFile:
    """Read a file of graphs of one framework and language, all of which must be usable.

    ``tokens`` is a file of tokens; a graph that it lacks gets our own.  ``split``: tokens are made to fit the graphs'
    anchors (:func:`fitted`), which no parser can do.
    """
    source = source_name(path)
    graphs, sentences, missing = [], [], []
    for graph, found in read_pairs(path, tokens=tokens):
        if isinstance(found, Unusable):
            if graph.input is None or found.kind != "without tokens":
                raise InputError(found.what, source=source, graph=graph.id)
            found = tokenize(graph.input, graph.language, graph.id)
            missing.append(graph.id)
        graphs.append(graph)
        sentences.append(fitted(found, graph) if split else found)
    kinds = {(graph.framework, graph.language) for graph in graphs}
    if not kinds:
        raise InputError("there are no graphs in this file", source=source)
    if len(kinds) > 1:
        names = ", ".join(sorted(" ".join(map(str, kind)) for kind in kinds))
        raise InputError(f"graphs of several kinds ({names}); split the file", source=source)
    name, language = kinds.pop()
    return TreebankFile(framework(name or "", language), language, graphs, sentences, missing)


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
    tokens = framework.anchoring.tokens([node.anchors for node in anchored], sentence)
    lost = []
    for node, ranges in zip(anchored, framework.anchoring.ranges(tokens, sentence), strict=True):
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
