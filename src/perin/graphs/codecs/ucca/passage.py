"""UCCA passages as they stand in XML: terminals in layer 0, units and their edges in layer 1.

The parser takes the document piece by piece and holds one passage at a time.  A document type declaration is refused,
so that no entity can be declared, expanded or fetched.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias
from xml.parsers import expat

from perin.errors import InputError
from perin.files import MAX_LINE, byte_limit, too_long
from perin.graphs.codecs import Lines
from perin.graphs.graph import Anchor

WRAPPER = "corpus"
"""The element that holds the passages of a file with several, or none."""

Attributes: TypeAlias = dict[str, str]
_CHUNK = 1 << 14
_ELSEWHERE = "?"
"""The place of all elements that are ignored."""


@dataclass
class Arc:
    """An edge element: several categories mean parallel edges."""

    target: str
    line: int
    kind: str | None
    labels: list[str] = field(default_factory=list)
    attributes: Attributes = field(default_factory=dict)


@dataclass
class Item:
    """A node element: a terminal if it is in layer 0, a unit if it is in layer 1."""

    id: str
    line: int
    kind: str
    attributes: Attributes = field(default_factory=dict)
    extra: Attributes = field(default_factory=dict)
    arcs: list[Arc] = field(default_factory=list)


@dataclass
class Passage:
    """A root element; ``layers`` holds the nodes by layer."""

    id: str | None
    line: int
    extra: Attributes = field(default_factory=dict)
    layers: dict[str, list[Item]] = field(default_factory=dict)


class BrokenXML(Exception):
    """The document is not well-formed from ``line`` on."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.line = line


def passages(lines: Lines, source: str) -> Iterator[Passage]:
    """The passages of a document, each as soon as it ends; :class:`BrokenXML` where the document stops being XML.

    A file with nothing in it has no passages.
    """
    reader = _Reader(source)
    blank = True
    held, limit = 0, byte_limit(MAX_LINE)
    try:
        for chunk in _chunks(lines):
            blank = blank and not chunk.strip()
            reader.parser.Parse(chunk, False)
            done = reader.taken()
            held = 0 if done else held + len(chunk)
            if held > limit:
                raise too_long("the passage", MAX_LINE, source, reader.parser.CurrentLineNumber)
            yield from done
        if not blank:
            reader.parser.Parse("", True)
    except expat.ExpatError as error:
        yield from reader.taken()
        raise BrokenXML(f"no well-formed XML: {expat.ErrorString(error.code)}", error.lineno) from None


class _Reader:
    """Turns the parser's events into passages; an element counts only where the format has it."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.StartDoctypeDeclHandler = self._refuse
        self.places: list[str] = []
        self.done: list[Passage] = []
        self.passage = Passage(None, 0)
        self.layer: list[Item] = []
        self.handlers: dict[str, Callable[[Attributes], object]] = {
            "root": self._root,
            "root/extra": lambda attributes: self.passage.extra.update(attributes),
            "root/layer": self._layer,
            "root/layer/node": self._node,
            "root/layer/node/attributes": lambda attributes: self.layer[-1].attributes.update(attributes),
            "root/layer/node/extra": lambda attributes: self.layer[-1].extra.update(attributes),
            "root/layer/node/edge": self._edge,
            "root/layer/node/edge/attributes": lambda attributes: self.layer[-1].arcs[-1].attributes.update(attributes),
            "root/layer/node/edge/category": self._category,
        }

    def taken(self) -> list[Passage]:
        done, self.done = self.done, []
        return done

    def _start(self, name: str, attributes: Attributes) -> None:
        if not self.places and name not in ("root", WRAPPER):
            raise self._error(f"no UCCA: the outermost element is <{name}>, expected <root> or <{WRAPPER}>")
        parent = self.places[-1] if self.places else ""
        place = f"{parent}/{name}" if parent else name
        is_wrapper = not self.places and name == WRAPPER
        self.places.append("" if is_wrapper else place if place in self.handlers else _ELSEWHERE)
        if place in self.handlers:
            self.handlers[place](attributes)

    def _end(self, name: str) -> None:
        if self.places.pop() == "root":
            self.done.append(self.passage)

    def _root(self, attributes: Attributes) -> None:
        self.passage = Passage(attributes.get("passageID"), self.parser.CurrentLineNumber)

    def _layer(self, attributes: Attributes) -> None:
        self.layer = self.passage.layers.setdefault(attributes.get("layerID", ""), [])

    def _node(self, attributes: Attributes) -> None:
        line = self.parser.CurrentLineNumber
        self.layer.append(Item(attributes.get("ID", ""), line, attributes.get("type", "")))

    def _edge(self, attributes: Attributes) -> None:
        line = self.parser.CurrentLineNumber
        self.layer[-1].arcs.append(Arc(attributes.get("toID", ""), line, attributes.get("type")))

    def _category(self, attributes: Attributes) -> None:
        self.layer[-1].arcs[-1].labels.append(attributes.get("tag", ""))

    def _refuse(self, *_: object) -> None:
        raise self._error("a document type declaration is not allowed in UCCA XML; remove it")

    def _error(self, message: str) -> InputError:
        return InputError(message, source=self.source, line=self.parser.CurrentLineNumber)


def _chunks(lines: Lines) -> Iterator[str]:
    chunk: list[str] = []
    size = 0
    for line in lines:
        chunk.append(line)
        size += len(line) + 1
        if size >= _CHUNK:
            yield "\n".join([*chunk, ""])
            chunk, size = [], 0
    yield "\n".join(chunk)


# From tokens to text: where the spaces of a sentence were, when a format holds its tokens only.
#
# The rules are those of English print and know no words: closing punctuation and clitics lean left, opening brackets
# and currency signs lean right, quotation marks alternate, a hyphen leans both ways.


_LEANS_LEFT = re.compile(r"[.,;:!?)\]}%…]+|['’][A-Za-z]{0,2}|n['’]t|[/—-]")
_LEANS_RIGHT = re.compile(r"[(\[{$£€#/—-]")
_QUOTATION_MARKS = frozenset('"“”„«»')


def spaced(tokens: Iterable[str]) -> tuple[str, list[Anchor]]:
    """The likely text of a sentence and the range of each of its tokens.

    >>> spaced(["Kim", "'s", "dog", "(", "Rex", ")", "barks", "."])[0]
    "Kim's dog (Rex) barks."
    """
    text = ""
    spans: list[Anchor] = []
    leaning = True
    quoting = False
    for token in tokens:
        if token in _QUOTATION_MARKS:
            left, right = quoting, not quoting
            quoting = not quoting
        else:
            left, right = bool(_LEANS_LEFT.fullmatch(token)), bool(_LEANS_RIGHT.fullmatch(token))
        if not (leaning or left):
            text += " "
        spans.append(Anchor(len(text), len(text) + len(token)))
        text += token
        leaning = right
    return text, spans


def aligned(tokens: Iterable[str], text: str) -> list[Anchor]:
    """The range of each token in a text of tokens and white space; ValueError names the first one that is not there.

    >>> aligned(["can", "not"], "I cannot")
    Traceback (most recent call last):
    ...
    ValueError: 'can' is not at character 0 of the text
    """
    spans: list[Anchor] = []
    position = 0
    for token in tokens:
        while position < len(text) and text[position].isspace():
            position += 1
        if not text.startswith(token, position):
            raise ValueError(f"{token!r} is not at character {position} of the text")
        spans.append(Anchor(position, position + len(token)))
        position += len(token)
    return spans
