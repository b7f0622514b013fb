"""What a framework's heads choose from: rules, edge labels, attribute and property classes, learned from a treebank."""

from __future__ import annotations

import os
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeAlias
from xml.etree import ElementTree

from perin.contract import Sentence
from perin.errors import InputError
from perin.frameworks.steps import FLAG, flagged
from perin.graphs.graph import Graph, Property, Scalar
from perin.labels.rules import fold
from perin.labels.ruleset import RuleSet
from perin.lazy import cached_property
from perin.text.translation import translated_by

AttributeClass: TypeAlias = tuple[tuple[str | None, tuple[Property, ...]], ...]
"""The attributes of the edges of a node pair: of all its edges (label None), or of each label that has any."""

Lexicon: TypeAlias = Mapping[str, tuple[str, ...]]
"""The values that a property may have, by node label in lower case, the most usual first."""


# Signatures: which properties the nodes of a kind of label can have, and which values, learned from a treebank.
#
# A verb has a tense and no number; ``compound`` has neither.  A property is barred for a kind of label if it never
# occurs there although, at its rate in the whole treebank, it would be expected several times.  Here a property is
# everything that leads from a node to a constant, as in :mod:`perin.graphs.constraints`, and what a classifier chooses.

_EXPECTED = 7.0
"""How often a property must be expected for its absence to mean something: by chance that is one case in a thousand."""
_FREQUENT = 25
"""Labels that occur at least as often are a kind of their own."""
_USES, _USES_OF_VALUE = 20, 3
"""How often a property, and each of its values, must occur for its values to be all that there are."""
_RARE = "*"


@dataclass(frozen=True)
class Signatures:
    """What a treebank says about properties; empty: no restriction.

    Kinds are labels in lower case; ``*_v`` stands for all lexical labels of one part of speech (see
    :attr:`~perin.frameworks.framework.Framework.lexical_labels`) and ``*`` for rare labels.
    """

    barred: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By kind: the properties that its nodes never have."""
    values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By property: all values in lower case, where they are a closed list."""

    def bars(self, label: str, lexical: str | None) -> tuple[str, ...]:
        """The properties that a node of this label can't have."""
        own = _kind(label, lexical)
        return self.barred.get(own, self.barred.get(_RARE, ()) if own == fold(label) else ())

    def to_json(self) -> dict[str, Any]:
        """As a JSON object."""
        return {
            "barred": {kind: list(names) for kind, names in self.barred.items()},
            "values": {name: list(values) for name, values in self.values.items()},
        }

    @classmethod
    def from_json(cls, data: Any) -> Signatures:
        """From :meth:`to_json`."""
        barred, values = data.get("barred", {}), data.get("values", {})
        return cls(
            {kind: tuple(names) for kind, names in barred.items()},
            {name: tuple(listed) for name, listed in values.items()},
        )


def count_signatures(graphs: Iterable[Graph], lexical: str | None, listed: Collection[str] = ()) -> Signatures:
    """The signatures of a treebank's graphs after the steps of their framework.

    ``lexical``: the pattern of labels made from words.  ``listed``: properties that a lexicon lists by label, which
    need no signature.
    """
    nodes: Counter[str] = Counter()
    uses: dict[str, Counter[str]] = defaultdict(Counter)
    values: dict[str, Counter[str]] = defaultdict(Counter)
    for graph in graphs:
        for label, names in _properties(graph, values):
            nodes[kind := _kind(label, lexical)] += 1
            uses[kind].update(names.difference(listed))
    everywhere: Counter[str] = Counter()
    pooled: Counter[str] = Counter()
    uses_of: dict[str, Counter[str]] = defaultdict(Counter)
    for kind, count in nodes.items():
        group = kind if count >= _FREQUENT else _RARE
        pooled[group] += count
        uses_of[group] += uses[kind]
        everywhere += uses[kind]
    rates = {name: count / nodes.total() for name, count in sorted(everywhere.items())}
    barred = {
        kind: tuple(name for name, rate in rates.items() if not uses_of[kind][name] and rate * count >= _EXPECTED)
        for kind, count in sorted(pooled.items())
    }
    if not barred.get(_RARE):  # then kinds without a bar need not be told from rare ones
        barred = {kind: names for kind, names in barred.items() if names}
    closed = {name: tuple(sorted(found)) for name, found in sorted(values.items()) if _is_closed(found)}
    return Signatures(barred, closed)


def _properties(graph: Graph, values: Mapping[str, Counter[str]]) -> Iterator[tuple[str, set[str]]]:
    """The label and the names of the properties of each node that is no constant; counts the values of constants."""
    names: dict[int, set[str]] = defaultdict(set)
    constants = {node.id: node.label or "" for node in graph.nodes if flagged(node)}
    for edge in graph.edges:
        if edge.target in constants and edge.label is not None:
            names[edge.source].add(edge.label)
            values[edge.label][fold(constants[edge.target])] += 1
    for node in graph.nodes:
        if node.id not in constants:
            yield node.label or "", names[node.id] | {pair.name for pair in node.properties if pair != FLAG}


def _is_closed(values: Counter[str]) -> bool:
    return values.total() >= _USES and min(values.values()) >= _USES_OF_VALUE


def _kind(label: str, lexical: str | None) -> str:
    found = None if lexical is None else _compiled(lexical).fullmatch(label)
    return fold(label) if found is None else f"*{found[1]}"


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.DOTALL)


# The vocabulary.


@dataclass(frozen=True)
class Vocabulary:
    """The classes of all heads of one treebank.  Class 0 means "none" in every head, so tuples start with class 1.

    The edge labels are the exception: they are numbered from 0.
    """

    framework: str
    language: str | None
    rules: RuleSet
    edge_labels: tuple[str | None, ...]
    edge_attributes: tuple[AttributeClass, ...] = ()
    property_classes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    lexica: Mapping[str, Lexicon] = field(default_factory=dict)
    """By property name; such a property is chosen only from what is listed for the node's label."""
    glossary: Mapping[str, str] = field(default_factory=dict)
    """Lemmas that are replaced before rules are applied."""
    signatures: Signatures = field(default_factory=Signatures)
    """Which properties nodes can have, by kind of label."""
    translator: str | None = None
    """A Marian model for lemmas that are not in the glossary, used where it has been downloaded."""

    def __repr__(self) -> str:
        kind = "-".join(filter(None, (self.framework, self.language)))
        return f"Vocabulary({kind}, {len(self.rules)} rules, {len(self.edge_labels)} edge labels)"

    def translated(self, sentence: Sentence) -> Sentence:
        """The sentence with its lemmas replaced as the glossary and the translator say."""
        if not self.glossary and self.translator is None:
            return sentence
        return translated_by(sentence, self.glossary, self.translator)

    @cached_property
    def class_numbers(self) -> dict[str, dict[str, int]]:
        """By property name: the number of each class."""
        return {
            name: {value: number for number, value in enumerate(classes, start=1)}
            for name, classes in self.property_classes.items()
        }

    def to_json(self) -> dict[str, Any]:
        """As a JSON object."""
        return {
            "framework": self.framework,
            "language": self.language,
            "rules": self.rules.to_json(),
            "edge_labels": list(self.edge_labels),
            "edge_attributes": [[[label, dict(pairs)] for label, pairs in item] for item in self.edge_attributes],
            "property_classes": {name: list(values) for name, values in self.property_classes.items()},
            "lexica": {
                name: {key: list(values) for key, values in lexicon.items()} for name, lexicon in self.lexica.items()
            },
            "glossary": dict(self.glossary),
            "signatures": self.signatures.to_json(),
            "translator": self.translator,
        }

    @classmethod
    def from_json(cls, data: Any) -> Vocabulary:
        """From :meth:`to_json`; :class:`~perin.errors.InputError` if it is none."""
        try:
            return cls(
                data["framework"],
                data["language"],
                RuleSet.from_json(data["rules"]),
                tuple(data["edge_labels"]),
                tuple(map(_attribute_class, data["edge_attributes"])),
                {name: tuple(values) for name, values in data["property_classes"].items()},
                {
                    name: {key: tuple(values) for key, values in lexicon.items()}
                    for name, lexicon in data["lexica"].items()
                },
                dict(data["glossary"]),
                Signatures.from_json(data.get("signatures", {})),
                _model_name(data.get("translator")),
            )
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise InputError(
                f"no vocabulary: {type(error).__name__} {error}; write it again with Vocabulary.to_json"
            ) from None


def _model_name(name: Any) -> str | None:
    if not isinstance(name, str | None):
        raise TypeError(f"translator is {name!r}")
    return name


def _attribute_class(item: list[tuple[str | None, dict[str, Scalar]]]) -> AttributeClass:
    return tuple((label, tuple(Property(name, value) for name, value in pairs.items())) for label, pairs in item)


# Lexica: properties whose values are listed by node label, such as the valency frames of PTG.
#
# A frame such as ``v#v-w8671f1`` names an entry of the lexicon (``w8671``) and a frame in it (``f1``).  The entry
# follows from the label, so the class that the network learns is the frame alone, unless the label has two such frames.

_FRAME = re.compile(r"f[^f]*$")

Uses: TypeAlias = Mapping[str, Counter[str]]
"""By label: how often each value occurs."""


def lexicon(uses: Uses) -> Lexicon:
    """The lexicon of a treebank; values of a label by frequency, then alphabetically."""
    return {
        label: tuple(sorted(counts, key=lambda value: (-counts[value], value)))
        for label, counts in sorted(uses.items())
    }


def class_name(value: str, listed: Iterable[str]) -> str:
    """The class of a value of a label for which the lexicon lists these values.

    >>> class_name("v#v-w8671f1", ["v#v-w8671f1", "v#v-w8671f2"])
    'f1'
    >>> class_name("v#v-w1f1", ["v#v-w1f1", "v#v-w2f1"])
    'v#v-w1f1'
    """
    ending = frame(value)
    return ending if sum(frame(other) == ending for other in listed) <= 1 else value


def frame(value: str) -> str:
    """The part of a value from its last ``f`` on; a value without one is its own frame."""
    found = _FRAME.search(value)
    return found.group() if found else value


def class_numbers(listed: Sequence[str], numbers: Mapping[str, int]) -> list[int]:
    """The class that speaks for each listed value: its own, else its frame's, else 0.

    >>> class_numbers(["v#v-w1f1", "v#v-w2f1", "v#v-w2f3"], {"f1": 1, "v#v-w2f1": 2})
    [1, 2, 0]
    """
    return [numbers.get(value, numbers.get(frame(value), 0)) for value in listed]


def merged(first: Lexicon, second: Lexicon) -> Lexicon:
    """All values of both lexica; those of the first come first.

    >>> merged({"jet": ("f1",)}, {"jet": ("f2", "f1"), "spát": ("f1",)})
    {'jet': ('f1', 'f2'), 'spát': ('f1',)}
    """
    labels = dict.fromkeys((*first, *second))
    return {label: tuple(dict.fromkeys((*first.get(label, ()), *second.get(label, ())))) for label in labels}


# Reader of valency lexica in XML: PDT-Vallex, EngVallex and the two halves of CzEngVallex.
#
# Written from the public description of the PDT-Vallex file; not tried on an original file, which is not free to pass
# on. A ``word`` element has a ``lemma`` and holds ``frame`` elements with an ``id`` each.


def read_vallex(path: str | os.PathLike[str], prefix: str = "v#") -> Lexicon:
    """The frames of each lemma in file order, with the prefix that the treebank puts before frame ids.

    Spaces in lemmas are underscores in graphs (``bát se``, ``bát_se``).
    """
    entries: dict[str, dict[str, None]] = {}
    try:
        for _, element in ElementTree.iterparse(path):
            if element.tag == "word":
                lemma = fold(element.get("lemma", "").replace(" ", "_"))
                frames = entries.setdefault(lemma, {})
                frames.update({prefix + id: None for frame in element.iter("frame") if (id := frame.get("id"))})
                element.clear()
    except ElementTree.ParseError as error:
        raise InputError(
            f"no XML ({error}); expected a Vallex file", source=os.fspath(path), line=error.position[0]
        ) from None
    except OSError as error:
        raise InputError(f"can't be read: {error.strerror or error}", source=os.fspath(path)) from None
    lexicon = {lemma: tuple(frames) for lemma, frames in entries.items() if frames}
    if not lexicon:
        raise InputError("no word with a frame in it; expected a Vallex file", source=os.fspath(path))
    return lexicon


def usual_prefix(lexicon: Lexicon) -> str:
    """What most values of a treebank's lexicon have before the id of the frame: all up to ``#``.

    >>> usual_prefix({"go": ("en-v#ev-w1f1", "en-v#ev-w1f2"), "be": ("2",)})
    'en-v#'
    """
    prefixes = Counter(value[: value.rfind("#") + 1] for values in lexicon.values() for value in values)
    return prefixes.most_common(1)[0][0] if prefixes else ""
