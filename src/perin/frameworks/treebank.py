"""Graphs of one framework and language, read from files, with the tokens of their sentences."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from perin.contract.sentence import Sentence
from perin.errors import InputError
from perin.files import source_name
from perin.frameworks.fitting import fitted
from perin.frameworks.framework import Framework
from perin.frameworks.registry import framework
from perin.graphs.codecs.registry import load
from perin.graphs.graph import Graph
from perin.text import align, read_tokens, tokenize


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
