"""What a framework's heads choose from: rules, edge labels, attribute and property classes, learned from a treebank."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from perin.contract.sentence import Sentence
from perin.errors import InputError
from perin.frameworks.signatures import Signatures
from perin.graphs.graph import Property, Scalar
from perin.labels.ruleset import RuleSet
from perin.text.translation import translated_by

AttributeClass: TypeAlias = tuple[tuple[str | None, tuple[Property, ...]], ...]
"""The attributes of the edges of a node pair: of all its edges (label None), or of each label that has any."""

Lexicon: TypeAlias = Mapping[str, tuple[str, ...]]
"""The values that a property may have, by node label in lower case, the most usual first."""


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

    def translated(self, sentence: Sentence) -> Sentence:
        """The sentence with its lemmas replaced as the glossary and the translator say."""
        if not self.glossary and self.translator is None:
            return sentence
        return translated_by(sentence, self.glossary, self.translator)

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
