"""From a sentence block of a UMR file to a graph: its words, its PENMAN text, its alignment, its document level."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, NamedTuple

from perin.errors import Severity
from perin.graphs.codecs.penman_text import normal_label, quoted, unquoted
from perin.graphs.codecs.penman_text import role as penman_role
from perin.graphs.graph import Anchor, Edge, Graph, Node, Property

NAME = re.compile(r'[^\s()":/#][^\s()":/]*')
VARIABLES = re.compile(r"s[0-9]+[a-z]+[0-9]*")

FIELD = "umr"
"""The field of a graph that holds what MRP has no words for: document, lines above the graph, document level."""
VARIABLE = "variable"
"""The field of a node that holds its variable."""
SPELLING = "spelling"
"""The field of a node that holds constants, by role, that are written in an unusual way."""
REFERENCE = "reference"
"""The field of an edge that says: here stands a variable that is defined only further below."""
TEXT = "# text = "
"""How a line begins that holds the text where it is not that of the words joined by spaces."""

_LANGUAGES = {
    "arapaho": "arp",
    "chinese": "zho",
    "cocama": "cod",
    "czech": "ces",
    "english": "eng",
    "kukama": "cod",
    "latin": "lat",
    "navajo": "nav",
    "sanapana": "spn",
}
_WORD = re.compile(r'"(?:[^"\\]|\\.)*"(?=[\s()]|$)|[()]|[^\s()]+')
_TIGHT = re.compile(r"(s[0-9]+[a-z]+[0-9]*)/(.*)")

_ALIGNED = re.compile(r"\s*([^\s:]+)\s*:\s*(-?[0-9]+--?[0-9]+(?:\s*,\s*-?[0-9]+--?[0-9]+)*)\s*")
_SPAN = re.compile(r"(-?[0-9]{1,9})-(-?[0-9]{1,9})")
_SENTENCE = re.compile(r"#\s*::\s*snt\s*([0-9]{1,9})\b")
_META = re.compile(r"::\s*(\w+)\s*=\s*(.*?)\s*(?=::|$)")
_SYMBOL = re.compile(r'[^\s"()/:][^\s"()]*')
_NUMBER = re.compile(r"[-+]?[0-9]+(?:\.[0-9]+)?|[-+]")
_STRING_ROLE = re.compile(r"op[0-9]+|wiki|value|time|li|list-item")

Report = Callable[[str, Severity], None]


@dataclass
class Block:
    """The lines of a sentence by section, and the number of the first."""

    line: int
    document: str | None = None
    head: list[str] = field(default_factory=list)
    graph: list[str] = field(default_factory=list)
    alignment: list[str] = field(default_factory=list)
    level: list[str] = field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        """Whether nothing is said in it."""
        return not any(line.strip() for part in (self.head, self.graph, self.alignment, self.level) for line in part)


class Head(NamedTuple):
    """The content of the lines above a graph; ``ranges`` tell where its words are in the text."""

    number: int | None
    text: str | None
    ranges: tuple[Anchor, ...]
    meta: Mapping[str, str]

    def id(self, document: str | None, count: int) -> str:
        """The id of the ``count``-th sentence of a file."""
        if document:
            return f"{stem(document)}-s{count if self.number is None else self.number}"
        return self.meta.get("sent_id") or str(count)

    def language(self, document: str | None) -> str | None:
        """The language: what the meta-info says, or what the name of the document begins with."""
        return self.meta.get("language") or _LANGUAGES.get(stem(document or "").partition("_")[0].lower())


class _Branch(NamedTuple):
    source: str
    role: str
    value: str
    is_node: bool


@dataclass
class _Draft:
    """What PENMAN text says, in the order of the text; ``labels`` by variable, the first of which is the top."""

    labels: dict[str, str | None] = field(default_factory=dict)
    branches: list[_Branch] = field(default_factory=list)
    known: list[int] = field(default_factory=list)
    """How many variables were defined before each branch."""
    is_whole: bool = True


def read_block(block: Block, count: int, fault: Callable[[str, Severity, str], None]) -> Graph:
    """The graph of a block, the ``count``-th of the file; what is wrong with it is reported with its id."""
    head = read_head(block.head)
    id = head.id(block.document, count)

    def report(message: str, severity: Severity = "error") -> None:
        fault(message, severity, id)

    if head.text is None:
        report("no line 'Words:' stands above the graph, so that there is no text", "note")
    draft = parse(" ".join(block.graph), report)
    if not draft.labels:
        report("there is no sentence graph", "note")
    aligned = _alignment(block.alignment, draft.labels, len(head.ranges), report)
    nodes, edges = _parts(draft, {name: _anchors(spans, head.ranges) for name, spans in aligned.items()}, report)
    extra: dict[str, Any] = {"document": block.document, "sentence": head.number, "head": _stripped(block.head)}
    graph = Graph(
        id,
        "umr",
        language=head.language(block.document),
        flavor=1 if any(node.anchors for node in nodes) else 2,
        input=head.text,
        tops=(0,) if nodes else (),
        nodes=nodes,
        edges=edges,
    )
    if not draft.is_whole:
        extra["graph"] = _stripped(block.graph)
    lines = [line for line in block.alignment if line.strip()]
    if lines != alignment_lines(nodes, list(draft.labels), head.ranges):
        extra["alignment"] = lines
    extra.update(_document_level(block.level, report))
    return replace(graph, extra={FIELD: {name: value for name, value in extra.items() if value is not None}})


def stem(document: str) -> str:
    """The name of a document without the ending of its file."""
    return document.removesuffix(".umr")


def read_head(lines: Iterable[str]) -> Head:
    """Number, text and meta-info of a sentence, as far as the lines above its graph say them.

    The text is that of a line ``# text = …`` if the words are found in it, else the words joined by spaces.
    """
    number, words, raw = None, None, None
    meta: dict[str, str] = {}
    for line in lines:
        if line.startswith("Words:"):
            words = (*(words or ()), *line.split()[1:])
        elif match := _SENTENCE.match(line):
            number = int(match[1])
        elif line.startswith(TEXT):
            raw = line[len(TEXT) :]
        elif line.startswith("#"):
            meta.update(_META.findall(line))
    if words is None:
        return Head(number, None, (), meta)
    ranges = None if raw is None else located(words, raw)
    if raw is not None and ranges is not None:
        return Head(number, raw, ranges, meta)
    text = " ".join(words)
    return Head(number, text, located(words, text) or (), meta)


def located(words: Iterable[str], text: str) -> tuple[Anchor, ...] | None:
    """Where words stand in a text that has nothing but spaces between them; None if it has.

    >>> located(["bark", "!"], "bark!")
    (Anchor(start=0, end=4), Anchor(start=4, end=5))
    """
    ranges, end = [], 0
    for word in words:
        start = text.find(word, end)
        if start < 0 or text[end:start].strip():
            return None
        end = start + len(word)
        ranges.append(Anchor(start, end))
    return None if text[end:].strip() else tuple(ranges)


def parse(text: str, report: Report) -> _Draft:
    """Parse PENMAN; concepts may be anything but spaces and parentheses, ``#Forn`` and ``/`` included."""
    draft = _Draft()
    stack: list[str] = []
    words = _WORD.findall(text)
    role, position, count = None, 0, len(words)
    while position < count:
        word = words[position]
        position += 1
        if draft.labels and not stack:
            _broken(draft, report, f"something follows the closed graph: {word}")
            break
        if word == "(":
            if position == count or words[position] in "()":
                _broken(draft, report, "a parenthesis opens, and no variable follows it")
                break
            variable, label, position = _opened(words, position)
            if not NAME.fullmatch(variable):
                _broken(draft, report, f"a parenthesis opens, and no variable follows it, but {variable}")
                break
            if stack:
                if role is None:
                    _broken(draft, report, f"node {variable} stands there without a role")
                _branch(draft, stack[-1], role or "", variable, True)
                role = None
            if draft.labels.get(variable) is not None:
                _broken(draft, report, f"variable {variable} is defined twice")
            else:
                draft.labels[variable] = label
            stack.append(variable)
            continue
        if not stack:
            _broken(draft, report, f"the graph begins with {word}, not with a parenthesis")
            break
        if role is not None and (word == ")" or _is_role(word)):
            _broken(draft, report, f"role :{role} of {stack[-1]} has no value")
            role = None
        if word == ")":
            stack.pop()
        elif role is not None:
            _branch(draft, stack[-1], role, word, False)
            role = None
        elif _is_role(word):
            role = word[1:]
            if not _is_plain_role(role):
                _broken(draft, report, f"{word} is no role")
        else:
            _broken(draft, report, f"{word} stands there without a role")
    if stack:
        _broken(draft, report, f"{len(stack)} parentheses are not closed")
    return draft


def constant(role: str, value: str) -> str:
    """A constant as it is usually written: names, links and the like in quotes, attributes and numbers without.

    >>> constant("op1", "Praha"), constant("aspect", "state"), constant("quant", "3")
    ('"Praha"', 'state', '3')
    """
    is_symbol = _SYMBOL.fullmatch(value) and not _STRING_ROLE.fullmatch(role) and not VARIABLES.fullmatch(value)
    return value if is_symbol or _NUMBER.fullmatch(value) else quoted(value)


def normal(role: str) -> str | None:
    """The un-inverted label of an inverse role; ``mod`` is a role of its own, which an empty string says."""
    return "" if role == "mod" else normal_label(role)


def alignment_lines(nodes: Iterable[Node], variables: Iterable[str], words: Sequence[Anchor]) -> list[str]:
    """The lines ``variable: 1-2,4-4`` of the nodes with anchors, including empty ones (``0-0``)."""
    lines = []
    for node, variable in zip(nodes, variables, strict=True):
        if node.anchors is None:
            continue
        covered = [
            number
            for number, (start, end) in enumerate(words, start=1)
            if any(start < anchor.end and anchor.start < end for anchor in node.anchors)
        ]
        lines.append(f"{variable}: " + (",".join(f"{first}-{last}" for first, last in _runs(covered)) or "0-0"))
    return lines


def level_lines(level: Mapping[str, Any]) -> list[str]:
    """The document level of a sentence as text."""
    lines = [f"({level[VARIABLE]} / sentence"]
    for name, triples in level.items():
        if name != VARIABLE:
            rows = [f"({source} :{relation} {target})" for source, relation, target in triples]
            lines.append(f"    :{name} (" + f"\n{' ' * 12}".join(rows) + ")")
    lines[-1] += ")"
    return "\n".join(lines).split("\n")


def _broken(draft: _Draft, report: Report, message: str) -> None:
    draft.is_whole = False
    report(message, "error")


def _opened(words: Sequence[str], position: int) -> tuple[str, str | None, int]:
    """Variable and concept behind a parenthesis, and where the text goes on; there may be no space at the slash."""
    variable, label = words[position], None
    position += 1
    if tight := _TIGHT.fullmatch(variable):
        variable, label = tight[1], tight[2] or None
    elif position < len(words) and words[position] == "/":
        position += 1
    else:
        return variable, None, position
    if label is None and position < len(words) and words[position] not in "()":
        label = words[position]
        position += 1
    return variable, plain(label) if label else label, position


def plain(word: str) -> str:
    """A word without its quotes, if it has any."""
    return unquoted(word) if word[0] == '"' == word[-1] and len(word) > 1 else word


@cache
def _is_plain_role(name: str) -> bool:
    return penman_role(name) == ":" + name


def _is_role(word: str) -> bool:
    return len(word) > 1 and word[0] == ":"


def _branch(draft: _Draft, source: str, role: str, value: str, is_node: bool) -> None:
    draft.branches.append(_Branch(source, role, value, is_node))
    draft.known.append(len(draft.labels))


def _parts(
    draft: _Draft, anchors: Mapping[str, tuple[Anchor, ...]], report: Report
) -> tuple[tuple[Node, ...], tuple[Edge, ...]]:
    """Nodes in the order of their definitions, edges in the order of the text."""
    ids = {variable: id for id, variable in enumerate(draft.labels)}
    properties: dict[str, list[Property]] = {}
    spellings: dict[str, dict[str, str]] = {}
    edges = []
    for (source, role, value, is_node), known in zip(draft.branches, draft.known, strict=True):
        if value in ids:
            target = ids[value]
            early = {REFERENCE: True} if not is_node and target >= known else None
            edges.append(Edge(ids[source], target, role or None, normal=normal(role), extra=early))
            continue
        if VARIABLES.fullmatch(value):
            report(f"role :{role} of {source} points to {value}, which no node defines", "error")
        text = plain(value)
        properties.setdefault(source, []).append(Property(role, text))
        if constant(role, text) != value:
            spellings.setdefault(source, {})[role] = value
    nodes = []
    for variable, label in draft.labels.items():
        extra: dict[str, Any] = {VARIABLE: variable}
        if variable in spellings:
            extra[SPELLING] = spellings[variable]
        pairs = tuple(properties.get(variable, ()))
        nodes.append(Node(ids[variable], label, pairs, anchors.get(variable), extra))
    return tuple(nodes), tuple(edges)


def _alignment(
    lines: Iterable[str], variables: Mapping[str, Any], length: int, report: Report
) -> dict[str, list[tuple[int, int]]]:
    """By variable the ranges of words, counted from 1; ``0-0`` and ranges outside the sentence are left out."""
    found: dict[str, list[tuple[int, int]]] = {}
    for line in lines:
        if not line.strip():
            continue
        match = _ALIGNED.fullmatch(line)
        if match is None:
            report(f"no alignment such as 's1x1: 1-2,4-4': {line.strip()}", "error")
            continue
        if match[1] not in variables:
            report(f"the alignment names {match[1]}, which is no node", "note")
            continue
        spans = found.setdefault(match[1], [])
        for first, last in _SPAN.findall(match[2]):
            if (first, last) == ("0", "0"):
                continue
            if 1 <= int(first) <= int(last) <= length:
                spans.append((int(first), int(last)))
            else:
                report(f"{match[1]} is aligned to {first}-{last}, but the words are 1 to {length}", "note")
    return found


def _anchors(spans: Iterable[tuple[int, int]], ranges: Sequence[Anchor]) -> tuple[Anchor, ...]:
    return tuple(ranges[number - 1] for number in sorted({n for a, b in spans for n in range(a, b + 1)}))


def _runs(numbers: Sequence[int]) -> list[tuple[int, int]]:
    runs: list[tuple[int, int]] = []
    for number in numbers:
        if runs and runs[-1][1] == number - 1:
            runs[-1] = runs[-1][0], number
        else:
            runs.append((number, number))
    return runs


def _document_level(lines: Sequence[str], report: Report) -> dict[str, Any]:
    """The triples of a sentence by kind; text that says more than that is kept as it is, too."""
    text = " ".join(lines)
    if not text.strip():
        return {}
    words = _WORD.findall(text)
    level: dict[str, Any] = {}
    if len(words) > 3 and words[0] == "(" and words[2:4] == ["/", "sentence"]:
        level[VARIABLE] = words[1]
    kind, position, is_whole = None, 4, VARIABLE in level
    while is_whole and position < len(words):
        part = words[position : position + 5]
        if len(part) == 5 and part[0] == "(" and _is_role(part[2]) and part[4] == ")" and kind is not None:
            level[kind].append([part[1], part[2][1:], part[3]])
            position += 5
        else:
            if _is_role(part[0]) and part[1:2] == ["("]:
                kind = part[0][1:]
                level.setdefault(kind, [])
                position += 1
            elif part[0] != ")":
                report(f"the document level has something else than triples: {part[0]}", "note")
            position += 1
    if " ".join(_WORD.findall(" ".join(level_lines(level)))) == " ".join(words) if is_whole else False:
        return {"level": level}
    if not is_whole:
        report("the document level does not begin with '(VARIABLE / sentence'", "note")
    return {"level": level, "level_text": _stripped(lines)} if is_whole else {"level_text": _stripped(lines)}


def _stripped(lines: Sequence[str]) -> list[str]:
    """Lines without the blank ones at both ends."""
    start, end = 0, len(lines)
    while start < end and not lines[start].strip():
        start += 1
    while start < end and not lines[end - 1].strip():
        end -= 1
    return list(lines[start:end])
