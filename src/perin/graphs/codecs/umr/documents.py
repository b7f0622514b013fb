"""What is wrong with a UMR document as a whole, and which of its roles and values the guidelines do not know."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from perin.graphs.codecs.umr.reader import FIELD, VARIABLE
from perin.graphs.faults import Finding
from perin.graphs.graph import Graph

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
    """Of each variable of the current document the sentence that defines it."""
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
