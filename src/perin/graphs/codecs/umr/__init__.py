"""Uniform Meaning Representation: documents of sentence blocks, each with words, graph, alignment and document level.

    ################################################################################
    # meta-info :: sent_id = 1
    # :: snt1
    Index: 1    2
    Words: Psi  štěkají

    # sentence level graph:
    (s1s1 / štěkat-001
            :ARG0 (s1p1 / pes
                :refer-number plural)
            :aspect activity)

    # alignment:
    s1s1: 2-2
    s1p1: 1-1

    # document level annotation:
    (s1s0 / sentence)

A file may hold several documents, each after a line ``# document = NAME``.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, TextIO

from perin.errors import Finding, Report, Severity
from perin.graphs.codecs import Codec, Lines
from perin.graphs.codecs.amr import Branch, check, oriented, unsayable
from perin.graphs.codecs.penman_text import quoted, role
from perin.graphs.codecs.umr.reader import (
    FIELD,
    NAME,
    REFERENCE,
    SPELLING,
    TEXT,
    VARIABLE,
    Block,
    Head,
    alignment_lines,
    constant,
    level_lines,
    located,
    normal,
    plain,
    read_block,
    read_head,
)
from perin.graphs.graph import Anchor, Edge, Graph, Node
from perin.graphs.normalisation import normal_edge

# From a graph to a sentence block of a UMR file.


_CONCEPT = re.compile(r'[^\s()"][^\s()]*')
_MARGIN, _INDENT = 4, 4


def encode(graph: Graph, count: int) -> str:
    """The block of a graph that is the ``count``-th of its document, without the line of ``#`` above it."""
    fields = own_fields(graph)
    lines, head = _head(graph, fields, count)
    number = count if head.number is None else head.number
    names = _variables(graph.nodes, number)
    sections = {
        "sentence level graph": _graph(graph, fields, names),
        "alignment": _alignment(graph, fields, names, head.ranges),
        "document level annotation": _level(graph, fields, number),
    }
    parts = ["\n".join(lines), *("\n".join([f"# {name}:", *text]) for name, text in sections.items())]
    return "\n\n".join(parts) + "\n"


def own_fields(graph: Graph) -> Mapping[str, Any]:
    """What a graph holds for UMR beside what MRP knows."""
    fields = graph.extra.get(FIELD) if graph.extra else None
    return fields if isinstance(fields, Mapping) else {}


def _head(graph: Graph, fields: Mapping[str, Any], count: int) -> tuple[list[str], Head]:
    """The lines as they were read if they still say what the graph says, or else new ones."""
    lines = _strings(fields.get("head"))
    document = fields.get("document")
    if "head" in fields:
        head = read_head(lines)
        if (head.text, head.id(document, count), head.language(document)) == (graph.input, graph.id, graph.language):
            return lines, head
    words = _words(graph)
    id = re.sub(r"\s*::\s*", ":", " ".join(graph.id.split()))
    language = f" :: language = {graph.language}" if graph.language else ""
    lines = [f"# meta-info :: sent_id = {id}{language}", f"# :: snt{fields.get('sentence', count)}"]
    text = graph.input or ""
    if text != " ".join(words) and len(text.splitlines()) == 1:
        lines.append(TEXT + text)
    widths = [max(len(word), len(str(number))) for number, word in enumerate(words, start=1)]
    columns = list(zip(words, widths, strict=True))
    index = " ".join(str(number).ljust(width) for number, (_, width) in enumerate(columns, start=1))
    lines += [f"Index: {index}".rstrip(), "Words: " + " ".join(word.ljust(width) for word, width in columns).rstrip()]
    head = read_head(lines)
    return lines, head._replace(ranges=located(words, text) or ())


def _words(graph: Graph) -> list[str]:
    """The words of the input, cut where an anchor begins or ends."""
    text = graph.input or ""
    borders = {border for node in graph.nodes for anchor in node.anchors or () for border in anchor}
    words = []
    for match in re.finditer(r"\S+", text):
        cuts = [match.start(), *sorted(at for at in borders if match.start() < at < match.end()), match.end()]
        words += [text[start:end] for start, end in pairwise(cuts)]
    return words


def _variables(nodes: Sequence[Node], number: int) -> list[str]:
    """The nodes' own variables if these are sound, or else ones of the usual form, ``s3j1``."""
    own = [node.extra.get(VARIABLE) if node.extra else None for node in nodes]
    names = [name for name in own if type(name) is str and NAME.fullmatch(name)]
    if len(set(names)) == len(nodes):
        return names
    counts: dict[str, int] = {}
    names = []
    for node in nodes:
        letter = unicodedata.normalize("NFD", node.label or "")[:1].lower()
        letter = letter if letter.isascii() and letter.isalpha() else "x"
        counts[letter] = counts.get(letter, 0) + 1
        names.append(f"s{number}{letter}{counts[letter]}")
    return names


def _graph(graph: Graph, fields: Mapping[str, Any], names: Sequence[str]) -> list[str]:
    if text := _strings(fields.get("graph")):
        return text
    if not graph.nodes:
        return []
    check(graph)
    by_id = dict(zip((node.id for node in graph.nodes), names, strict=True))
    top = graph.tops[0] if graph.tops else (graph.roots() or graph.nodes)[0].id
    branches = oriented(graph, top)
    return _laid_out(graph, top, branches, by_id, True) or _laid_out(graph, top, branches, by_id, False) or []


def _laid_out(
    graph: Graph, top: int, branches: Mapping[int, list[Branch]], names: Mapping[int, str], references: bool
) -> list[str] | None:
    """The lines of the tree; None if ``references``, which define no node where they stand, leave some out."""
    lines = ["(" + _defined(graph.node(top), names)]
    seen = {top}
    stack: list[tuple[int, Iterator[Branch]]] = [(top, iter(branches[top]))]
    while stack:
        id, rest = stack[-1]
        margin = " " * (_MARGIN + _INDENT * len(stack))
        for number, is_inverse in rest:
            edge = graph.edges[number]
            other = edge.source if is_inverse else edge.target
            name = _role(edge, is_inverse)
            if other in seen or (references and edge.extra and edge.extra.get(REFERENCE) is True):
                lines.append(f"{margin}{name} {names[other]}")
                continue
            seen.add(other)
            lines.append(f"{margin}{name} ({_defined(graph.node(other), names)}")
            stack.append((other, iter(branches[other])))
            break
        else:
            lines += [f"{margin}{role(name)} {value}" for name, value in _constants(graph.node(id))]
            lines[-1] += ")"
            stack.pop()
    if len(seen) < len(graph.nodes):
        if references:
            return None
        raise unsayable(graph, "not all nodes can be reached from its top")
    return lines


def _defined(node: Node, names: Mapping[int, str]) -> str:
    label = node.label
    if label is None:
        return names[node.id]
    return f"{names[node.id]} / {label if _CONCEPT.fullmatch(label) else quoted(label)}"


def _constants(node: Node) -> Iterator[tuple[str, str]]:
    spelling = node.extra.get(SPELLING) if node.extra else None
    for name, value in node.properties:
        text = value if type(value) is str else json.dumps(value)
        own = spelling.get(name) if isinstance(spelling, Mapping) else None
        yield name, own if isinstance(own, str) and own and plain(own) == text else constant(name, text)


def _role(edge: Edge, is_inverse: bool) -> str:
    """The role that is read as this edge, at its source or at its target."""
    source, _, label = normal_edge(edge)
    if (source != edge.source) != is_inverse:
        return role(label) + "-of"
    return role(edge.label if not is_inverse and normal(edge.label or "") is not None else label)


def _alignment(graph: Graph, fields: Mapping[str, Any], names: Sequence[str], words: Sequence[Anchor]) -> list[str]:
    return _strings(fields.get("alignment")) or alignment_lines(graph.nodes, names, words)


def _level(graph: Graph, fields: Mapping[str, Any], number: int) -> list[str]:
    if text := _strings(fields.get("level_text")):
        return text
    if isinstance(level := fields.get("level"), Mapping):
        return level_lines(level)
    return [] if fields else [f"(s{number}s0 / sentence)"]


def _strings(value: Any) -> list[str]:
    """A list of lines; anything else is none."""
    is_text = isinstance(value, list) and all(type(line) is str and "\n" not in line for line in value)
    return list(value) if is_text else []


# What is wrong with a UMR document as a whole, and which of its roles and values the guidelines do not know.


_NUMBERED = re.compile(r"s([0-9]+)[a-z]+[0-9]*")
_ROLES = re.compile(
    r"prep-.*|conj-.*|(?:ARG[0-9]+|op[0-9]+|[xyz]|actor|undergoer|theme|recipient|force|causer|experiencer|stimulus|instrument|companion|material|source|place|goal|"
    r"affectee|cause|manner|reason|purpose|temporal|extent|start|result|path|direction|medium|duration|frequency|topic|"
    r"condition|concession|concessive-condition|concessive-conditional|substitute|subtraction|comparison|regard|effect|"
    r"mod|domain|possessor|poss|part|name|quant|unit|ord|age|example|degree|value|vocative|quote|polarity|mode|polite|wiki|"
    r"aspect|modal-strength|modal-predicate|refer-person|refer-number|refer-definiteness|other-role|list-item|li|"
    r"apprehensive|pure-addition|consist|group|subset|scale|range|time|timezone|year|year2|month|day|weekday|dayperiod|"
    r"decade|century|season|quarter|era|calendar|interjection|parenthesis|clausal-marker|predicative-noun|"
    r"part-of-phraseme|destination|location|color|size|configuration|anchor|axis|range-start|range-trajectory|subevent)"
    r"(?:-of)?"
)
_VALUES = {
    "polarity": {"-", "+"},
    "polite": {"+", "-"},
    "mode": {"imperative", "interrogative", "expressive"},
    "refer-person": {"1st", "2nd", "3rd", "4th", "excl", "incl"},
    "refer-number": {"singular", "non-singular", "dual", "trial", "paucal", "plural"},
    "modal-strength": {
        f"{strength}-{sign}" for strength in ("full", "partial", "neutral") for sign in ("affirmative", "negative")
    },
    "aspect": {
        "activity",
        "atelic-process",
        "directed-achievement",
        "directed-activity",
        "directed-endeavor",
        "endeavor",
        "generic",
        "habitual",
        "imperfective",
        "inceptive",
        "incremental-accomplishment",
        "inherent-state",
        "irreversible-directed-achievement",
        "irreversible-state",
        "iterative",
        "nonincremental-accomplishment",
        "perfective",
        "performance",
        "point-state",
        "process",
        "reversible-directed-achievement",
        "reversible-state",
        "semelfactive",
        "state",
        "undirected-activity",
        "undirected-endeavor",
    },
}


@dataclass
class Documents:
    """Checks graphs in the order of their file; graphs that were not read from UMR are let pass."""

    _name: object = None
    _places: dict[str, str] = field(default_factory=dict)
    """The sentence that defines each variable of the current document."""
    _sentences: set[str] = field(default_factory=set)
    _pointers: list[tuple[str, Finding]] = field(default_factory=list)

    def check(self, graph: Graph, source: str, line: int) -> Iterator[Finding]:
        """What is wrong with a graph, and when a new document begins, with the triples of the one before."""
        own = graph.extra.get(FIELD) if graph.extra else None
        if not isinstance(own, Mapping):
            return
        if own.get("document") != self._name:
            yield from self.end()
            self._name = own.get("document")
        self._sentences.add(str(own.get("sentence")))
        for node in graph.nodes:
            variable = (node.extra or {}).get(VARIABLE)
            if not isinstance(variable, str):
                continue
            if variable in self._places:
                message = f"variable {variable} is also one of {self._places[variable]}"
                yield Finding(message, source, line, graph.id)
            self._places[variable] = graph.id
        level = own.get("level")
        for name, triples in level.items() if isinstance(level, Mapping) else ():
            for triple in triples if isinstance(triples, list) else ():
                for end in (triple[0], triple[-1]):
                    message = f"a triple :{name} points to {end}, which no node of the document defines"
                    self._pointers.append((end, Finding(message, source, line, graph.id)))
        for message in _unknown(graph):
            yield Finding(message, source, line, graph.id, "note")

    def end(self) -> Iterator[Finding]:
        """Triples that point to no variable; sentences that the file leaves out may define theirs."""
        for end, finding in self._pointers:
            sentence = _NUMBERED.fullmatch(end)
            if sentence and sentence[1] in self._sentences and end not in self._places:
                yield finding
        self._places.clear()
        self._sentences.clear()
        self._pointers.clear()


def _unknown(graph: Graph) -> Iterable[str]:
    names = [edge.label or "" for edge in graph.edges]
    names += [pair.name for node in graph.nodes for pair in node.properties]
    roles = sorted({name for name in names if not _ROLES.fullmatch(name)})
    if roles:
        yield f"roles that the guidelines do not know: {', '.join(roles)}"
    for node in graph.nodes:
        for name, value in node.properties:
            if name in _VALUES and value not in _VALUES[name]:
                yield f"{value} is no value of :{name}"


SEPARATOR = "#" * 80
_SEPARATOR = re.compile(r"#{20,}\s*")
_DOCUMENT = re.compile(r"#\s*document\s*=\s*(.*?)\s*")
_SECTION = re.compile(r"#\s*(sentence level graph|alignment|document level annotation)\s*:?\s*", re.IGNORECASE)
_SECTIONS = {"sentence level graph": "graph", "alignment": "alignment", "document level annotation": "level"}


def read(lines: Lines, source: str, report: Report) -> Iterator[tuple[int, Graph]]:
    """Read the graphs of all sentences; a sentence of a named document is called ``NAME-s3``."""
    document, count = None, 0
    for block in _blocks(lines):
        count = count + 1 if block.document == document else 1
        document = block.document

        def fault(message: str, severity: Severity, id: str, line: int = block.line) -> None:
            report(Finding(message, source, line, id, severity))

        yield block.line, read_block(block, count, fault)


def _blocks(lines: Lines) -> Iterator[Block]:
    block = Block(1)
    section = block.head
    for number, line in enumerate(lines, start=1):
        if line.startswith("#"):
            document = _DOCUMENT.fullmatch(line)
            if document or _SEPARATOR.fullmatch(line):
                if not block.is_empty:
                    yield block
                block = Block(number, (document[1] or None) if document else block.document)
                section = block.head
                continue
            if found := _SECTION.fullmatch(line):
                section = getattr(block, _SECTIONS[found[1].lower()])
                continue
        section.append(line)
    if not block.is_empty:
        yield block


def write(graphs: Iterable[Graph], stream: TextIO) -> None:
    """Write sentences; those in a row that belong to no named document are one document, numbered from 1."""
    document, count = None, 0
    for graph in graphs:
        own = own_fields(graph).get("document")
        if own != document:
            stream.write(f"# document = {own or ''}".rstrip() + "\n")
            document, count = own, 0
        count += 1
        stream.write(f"{SEPARATOR}\n{encode(graph, count)}\n")


CODEC = Codec("umr", "UMR documents: graphs, alignments and document level", (".umr",), ("umr",), read, write)
