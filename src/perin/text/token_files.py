"""Sentences from files: plain text, CoNLL-U, and MRP companion files (graphs of the framework ``ud``)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from perin.contract.sentence import Sentence
from perin.errors import UsageError
from perin.files import read_lines, source_name
from perin.graphs.codecs.registry import locate as graphs
from perin.graphs.graph import Graph, Node
from perin.text import conllu_files
from perin.text.alignment import Place, locate, placed
from perin.text.languages import LANGUAGES, checked
from perin.text.lemmas import lemmatize
from perin.text.tokenizer import tokenize

FORMATS = ("text", "conllu", "mrp")
"""What :func:`read_tokens` reads; ``text`` is one sentence a line."""


def read_tokens(
    path: str | os.PathLike[str], language: str | None = None, format: str | None = None
) -> Iterator[Sentence]:
    """Read tokenized sentences one by one from a file (``-``: standard input; gzip is recognised by content).

    The format is told from the name (``.conllu``, ``.mrp``, anything else is text) unless it is given.  Text is
    tokenized and lemmatized here; blank lines in it are skipped.  From the other formats tokens are taken as they are,
    and lemmas too where there are any.
    """
    language = checked(language) if language is not None else None
    format = format or _guess(path)
    if format == "text":
        return (tokenize(line, language) for line in read_lines(path) if not line.isspace() and line)
    if format == "conllu":
        return conllu_files.read(read_lines(path), source_name(path), language)
    if format == "mrp":
        found = graphs(path, "mrp")
        return (companion_sentence(graph, language, Place(source, line, graph.id)) for source, line, graph in found)
    raise UsageError(f"unknown format {format!r} of tokens; known are: {', '.join(FORMATS)}")


def _guess(path: str | os.PathLike[str]) -> str:
    suffix = Path(Path(path).name.removesuffix(".gz")).suffix
    return {".conllu": "conllu", ".mrp": "mrp"}.get(suffix, "text")


def companion_sentence(graph: Graph, language: str | None, place: Place) -> Sentence:
    """The sentence of a companion graph: its nodes in the order of their anchors are the tokens.

    Nodes whose anchors overlap (words of one token) make one token.  ``place`` is for error messages.
    """
    if graph.framework != "ud":
        raise place.error(f"no companion graph: its framework is {graph.framework!r} instead of 'ud'")
    if graph.input is None:
        raise place.error("a companion graph needs the field 'input'")
    language = language or graph.language
    given = [node.anchors or () for node in graph.nodes]
    if all(given):
        spans = [(min(anchors).start, max(anchor.end for anchor in anchors)) for anchors in given]
    else:
        spans = locate([node.label or "" for node in graph.nodes], graph.input, place)
    nodes, ranges = _merged(graph.nodes, spans)
    forms = [node.label or graph.input[start:end] for node, (start, end) in zip(nodes, ranges, strict=True)]
    known = language if language in LANGUAGES else None
    lemmas = [_lemma(node, form, known) for node, form in zip(nodes, forms, strict=True)]
    return Sentence(graph.input, placed(forms, lemmas, ranges, graph.input, place), graph.id, language)


def _merged(nodes: Iterable[Node], spans: Iterable[tuple[int, int]]) -> tuple[list[Node], list[tuple[int, int]]]:
    """Nodes in the order of their spans; overlapping ones are joined to one without a label, with the first's lemma."""
    kept: list[Node] = []
    ranges: list[tuple[int, int]] = []
    for (start, end), node in sorted(zip(spans, nodes, strict=True), key=lambda pair: pair[0]):
        if ranges and start < ranges[-1][1]:
            kept[-1] = replace(kept[-1], label=None)
            ranges[-1] = (ranges[-1][0], max(end, ranges[-1][1]))
        else:
            kept.append(node)
            ranges.append((start, end))
    return kept, ranges


def _lemma(node: Node, form: str, language: str | None) -> str:
    lemma = node.get("lemma")
    return lemma if isinstance(lemma, str) and lemma not in ("", "_") else lemmatize(form, language)
