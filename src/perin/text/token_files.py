"""Sentences from files: plain text, CoNLL-U, and MRP companion files (graphs of the framework ``ud``)."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from perin.contract import Sentence
from perin.errors import InputError, UsageError
from perin.files import MAX_LINE, read_lines, source_name, within_limit
from perin.graphs.codecs import locate as graphs
from perin.graphs.graph import Graph, Node
from perin.text.alignment import Place, locate, placed
from perin.text.languages import LANGUAGES, checked
from perin.text.tokenizer import lemmatize, tokenize

# Tokens and lemmas from CoNLL-U.


_RANGE = re.compile(r"(\d{1,9}):(\d{1,9})", re.ASCII)
_TEXT = re.compile(r"# *text *= ?(.*)")
_COLUMNS = 10
_ID = re.compile(r"[0-9]{1,6}(?:[-.][0-9]{1,6})?\t")
_UNUSED = {name: lambda columns, index: None for name in ("xpos", "feats", "head", "deps")}


def read_conllu(lines: Iterable[str], source: str, language: str | None) -> Iterator[Sentence]:
    """Read sentences; ``sent_id`` becomes the id, ``text`` the text (without it the forms, spaced by ``SpaceAfter``).

    A token's range is ``TokenRange=from:to`` of its last column where that is given, otherwise it is found in the text.
    Words of a multiword token that spell it one after the other (``do`` ``n't``) are tokens of their own; other
    multiword tokens (``zum``) are one token with the lemma of their first word.  Empty nodes are left out.
    A lemma ``_`` is replaced by the own lemmatizer's, for which a language is needed; without one by the form.
    Comments that stand alone are skipped.
    """
    limited = within_limit(lines, source, "the sentence", MAX_LINE, blocks=True)
    for number, block in _blocks(limited):
        if not all(row.startswith("#") and not _TEXT.fullmatch(row) for row in block):
            yield _sentence(block, source, number, language)


def _blocks(lines: Iterable[str]) -> Iterator[tuple[int, list[str]]]:
    """The paragraphs of a file, each with the number of its first line."""
    block: list[str] = []
    number = 0
    for number, line in enumerate(lines, start=1):
        if line.strip():
            block.append(line)
        elif block:
            yield number - len(block), block
            block = []
    if block:
        yield number - len(block) + 1, block


def _sentence(block: list[str], source: str, line: int, language: str | None) -> Sentence:
    import conllu

    for number, row in enumerate(block, start=line):
        if not row.startswith("#") and (row.count("\t") != _COLUMNS - 1 or "  " in row):
            message = f"no CoNLL-U: a token needs {_COLUMNS} columns separated by tabs, without double spaces inside"
            raise InputError(message, source=source, line=number)
        if not row.startswith("#") and not _ID.match(row):
            found = row.partition("\t")[0]
            shown = found if len(found) <= 20 else f"{found[:17]}..."
            message = f"no CoNLL-U: the id of a token should be as 3, 3-4 or 3.1, found {shown!r}"
            raise InputError(message, source=source, line=number)
    try:
        [parsed] = conllu.parse("\n".join(block), field_parsers=_UNUSED)
    except conllu.exceptions.ParseException as error:
        raise InputError(f"no CoNLL-U: {error}", source=source, line=line) from None
    given = next((match[1] for row in block if (match := _TEXT.fullmatch(row))), None)
    rows = _surface(parsed)
    text = given if given is not None else _spaced(rows)
    place = Place(source, line, parsed.metadata.get("sent_id"))
    forms = [row["form"] for row in rows]
    tokens = placed(forms, [_lemma(row, language) for row in rows], _ranges(rows, text, place), text, place)
    return Sentence(text, tokens, place.id, language)


def _surface(rows: Iterable[Any]) -> list[Any]:
    """The rows that spell the text: words, or a multiword token where its words do not spell it."""
    words = {row["id"]: row for row in rows if isinstance(row["id"], int)}
    surface: list[Any] = []
    covered: set[int] = set()
    for row in rows:
        id = row["id"]
        if isinstance(id, int):
            if id not in covered:
                surface.append(row)
        elif id[1] == "-":
            inside = [words[number] for number in range(id[0], id[2] + 1) if number in words]
            covered.update(range(id[0], id[2] + 1))
            if inside and "".join(word["form"] for word in inside) == row["form"]:
                surface.extend(inside)
            else:
                surface.append(row | {"lemma": inside[0]["lemma"] if inside else row["form"]})
    return surface


def _ranges(rows: list[Any], text: str, place: Place) -> list[tuple[int, int]]:
    given = [_RANGE.fullmatch((row.get("misc") or {}).get("TokenRange") or "") for row in rows]
    if all(given):
        return [(int(match[1]), int(match[2])) for match in given if match]
    return locate([row["form"] for row in rows], text, place)


def _spaced(rows: list[Any]) -> str:
    """The text that forms and ``SpaceAfter=No`` stand for."""
    parts = []
    for row in rows:
        parts += [row["form"], "" if (row.get("misc") or {}).get("SpaceAfter") == "No" else " "]
    return "".join(parts).rstrip(" ")


def _lemma(row: Any, language: str | None) -> str:
    lemma: str = row["lemma"]
    return lemma if lemma != "_" or row["form"] == "_" else lemmatize(row["form"], language)


FORMATS = ("text", "conllu", "mrp")
"""What :func:`read_tokens` reads; ``text`` is one sentence per line."""


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
        return read_conllu(read_lines(path), source_name(path), language)
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
    lemmas = [_node_lemma(node, form, known) for node, form in zip(nodes, forms, strict=True)]
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


def _node_lemma(node: Node, form: str, language: str | None) -> str:
    lemma = node.get("lemma")
    return lemma if isinstance(lemma, str) and lemma not in ("", "_") else lemmatize(form, language)
