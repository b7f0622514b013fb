"""Sentences from files, one after the other; one that can't be read comes as an error in its place."""

from __future__ import annotations

import bisect
import itertools
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeAlias

from perin.contract import Sentence
from perin.errors import Finding, InputError
from perin.files import each_line, source_name
from perin.graphs.codecs import locate
from perin.text import split_sentences, tokenize
from perin.text.adapters import SomeText, as_sentence, companion_sentence, read_conllu, sentences_of
from perin.text.alignment import Place

_LONG_PARAGRAPH = 500
"""Lines after which running text is cut where a line ends a sentence, even without a blank line: memory is finite."""
CHARACTERS = 100_000
"""Characters of the longest text that is tokenized as one sentence."""
_FINAL = re.compile(r"[.!?。！？][\"'”’)]*\s*$")

Item: TypeAlias = Sentence | InputError


def read_sentences(
    path: str | os.PathLike[str],
    language: str | None,
    *,
    tokens: bool = False,
    split: bool = False,
    characters: int = CHARACTERS,
) -> Iterator[Item]:
    """The sentences of a file (``-``: standard input; gzip is recognised by content).

    ``.conllu`` holds tokens and ``.mrp`` graphs, of which the texts are taken; anything else is text with a sentence a
    line, whose id is the number of the line, or running text (``split``), in which sentences may go on over line ends
    and blank lines end paragraphs.  ``tokens`` says that the file holds tokens: CoNLL-U, or MRP companion graphs.  A
    sentence of more than so many ``characters`` is an error in its place.
    """
    suffix = Path(Path(path).name.removesuffix(".gz")).suffix
    if suffix in (".mrp", ".jsonl"):
        return _graphs(path, language, tokens, characters)
    if tokens or suffix == ".conllu":
        return _conllu(path, language)
    if split and language is not None:
        return _running_text(path, language, characters)
    return _lines(path, language, characters)


def as_sentences(
    texts: Iterable[SomeText | InputError], language: str | None, characters: int = CHARACTERS
) -> Iterator[Item]:
    """Sentences of a language with ids: those that have none get their number, counted from 1."""
    for number, text in enumerate(texts, start=1):
        if isinstance(text, InputError):
            yield InputError(text.message, text.source, text.line, text.graph or str(number))
        elif isinstance(text, str):
            yield _tokenized(text, language, str(number), characters)
        else:
            yield as_sentence(text, language, str(number))


def _tokenized(text: str, language: str | None, id: str, characters: int) -> Item:
    if len(text) > characters:
        return InputError(
            f"{len(text):,} characters, more than the limit of {characters:,}; split it or raise the limit", graph=id
        )
    return tokenize(text, language, id)


def split_texts(
    texts: Iterable[SomeText | InputError], language: str | None, characters: int = CHARACTERS
) -> Iterator[Item]:
    """The sentences of running texts, in which line ends are spaces and blank lines end a sentence.

    The ids of the sentences of the third text are 3.1, 3.2, …  Text that is split already stays whole.
    """
    for number, text in enumerate(texts, start=1):
        if isinstance(text, InputError):
            yield text
        elif isinstance(text, str) and language is not None:
            for part, (start, end) in enumerate(split_sentences(text, language), start=1):
                yield _tokenized(_unwrapped(text[start:end]), language, f"{number}.{part}", characters)
        elif (sentences := sentences_of(text)) is not None:
            for part, sentence in enumerate(sentences, start=1):
                yield as_sentence(sentence, language, f"{number}.{part}")
        else:
            yield as_sentence(text, language, str(number))


def _running_text(path: str | os.PathLike[str], language: str, characters: int) -> Iterator[Item]:
    """The sentences of a file of running text, hard-wrapped or a paragraph a line; blank lines end a sentence.

    Ids are the number of the line in which a sentence begins and its number among those that begin there.
    """
    lines: list[str] = []
    first = 1
    size = 0
    for number, line in enumerate(_readable(path), start=1):
        if isinstance(line, InputError):
            yield line
            line = ""
        first = first if lines else number
        if line.strip():
            lines.append(line)
            size += len(line)
        full = size >= characters or (len(lines) >= _LONG_PARAGRAPH and _FINAL.search(line))
        if lines and (full or not line.strip()):
            yield from _paragraph(lines, first, language, characters)
            lines, size = [], 0
    yield from _paragraph(lines, first, language, characters)


def _paragraph(lines: Sequence[str], first: int, language: str, characters: int) -> Iterator[Item]:
    ends = list(itertools.accumulate(len(line) + 1 for line in lines))
    text = "\n".join(lines)
    begun: Counter[int] = Counter()
    for start, end in split_sentences(text, language):
        line = first + bisect.bisect_right(ends, start)
        begun[line] += 1
        yield _tokenized(_unwrapped(text[start:end]), language, f"{line}.{begun[line]}", characters)


def _unwrapped(text: str) -> str:
    return text.replace("\r", " ").replace("\n", " ")


def _lines(path: str | os.PathLike[str], language: str | None, characters: int) -> Iterator[Item]:
    for number, line in enumerate(_readable(path), start=1):
        if isinstance(line, InputError):
            yield line
        elif line and not line.isspace():
            yield _tokenized(line, language, str(number), characters)


def _readable(path: str | os.PathLike[str]) -> Iterator[str | InputError]:
    """The lines of a file; one that can't be read is an error whose id is its number."""
    for number, line in enumerate(each_line(path), start=1):
        yield InputError(line.message, line.source, graph=str(number)) if isinstance(line, InputError) else line


def _conllu(path: str | os.PathLike[str], language: str | None) -> Iterator[Item]:
    """Each block of lines is read alone, so that what is wrong in one does no harm to the next."""
    block: list[str] = []
    start = 1
    for number, line in enumerate(each_line(path), start=1):
        if isinstance(line, InputError):
            yield line
        elif line.strip():
            start = start if block else number
            block.append(line)
        else:
            yield from _block(block, start, source_name(path), language)
            block = []
    yield from _block(block, start, source_name(path), language)


def _block(block: list[str], start: int, source: str, language: str | None) -> Iterator[Item]:
    try:
        yield from read_conllu(block, source, language)
    except InputError as error:
        line = None if error.line is None else error.line + start - 1
        yield InputError(error.message, error.source, line, error.graph)


def _graphs(path: str | os.PathLike[str], language: str | None, tokens: bool, characters: int) -> Iterator[Item]:
    """The texts, or as companions the tokens, of graphs, each id once.

    A line that is no graph is an error, what is wrong inside a graph is not.
    """
    faults: list[Finding] = []
    seen: set[str] = set()
    for source, line, graph in locate(path, "mrp", report=faults.append):
        yield from _lost(faults, line)
        if graph.id in seen:
            continue
        seen.add(graph.id)
        try:
            if tokens:
                yield companion_sentence(graph, language, Place(source, line, graph.id))
            elif graph.input is not None:
                yield _tokenized(graph.input, language, graph.id, characters)
            else:
                yield InputError("the graph has no input text", source, line, graph.id)
        except InputError as error:
            yield error
    yield from _lost(faults, None)


def _lost(faults: list[Finding], line: int | None) -> Iterator[InputError]:
    for fault in faults:
        if fault.line != line and fault.severity == "error":
            yield InputError(fault.message, fault.source, fault.line, fault.graph)
    faults.clear()
