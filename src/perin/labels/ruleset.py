"""A set of numbered rules and what it says about a node: its rules, target distribution and artificial anchors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from perin.errors import InputError
from perin.labels.lookup import AffixIndex, folded_tokens, windows
from perin.labels.rules import AbsoluteRule, Rule, TokenRule, apply, parse
from perin.labels.space import LabelItem, RuleSpace, fold

ANY_TOKEN = -1
"""The anchor of a rule that may be predicted from any token."""


class Encoding(NamedTuple):
    """From ``token`` (or from any, :data:`ANY_TOKEN`) the rule of this number yields the label."""

    token: int
    rule: int


class RuleSet:
    """Rules numbered from 1 (0 is the null class of the network), in a fixed order.

    >>> rules = RuleSet(RuleSpace(("",)), [parse('lemma(0, 0, "", 0, 0, "_", "_n_1")'), parse('absolute("udef_q")')])
    >>> rules.encodings(LabelItem("_dog_n_1", ("Dogs",), ("dog",)))
    [Encoding(token=-1, rule=1)]
    """

    def __init__(self, space: RuleSpace, rules: Iterable[Rule]) -> None:
        self.space = space
        self.rules = tuple(rules)

    def __len__(self) -> int:
        return len(self.rules)

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.rules)

    def __getitem__(self, number: int) -> Rule:
        """The rule of a number, counted from 1."""
        if not 1 <= number <= len(self.rules):
            raise IndexError(f"rules are numbered from 1 to {len(self.rules)}, not {number}")
        return self.rules[number - 1]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RuleSet) and (self.space, self.rules) == (other.space, other.rules)

    def apply(
        self, number: int, forms: Sequence[str], lemmas: Sequence[str], anchor: int = 0, *, value: bool = False
    ) -> str | None:
        """The label that a rule yields, or None where it is undefined.

        ``forms`` and ``lemmas`` are the anchored tokens, or all tokens of the sentence, seen from the ``anchor`` on.
        ``value`` says that the label is a name or a property value, which decides about case.
        """
        return apply(self[number], forms[anchor:], lemmas[anchor:], self.space.case(value))

    def encodings(self, item: LabelItem) -> list[Encoding]:
        """All ways to yield an item's label, compared without case, in order of rule and token.

        Absolute rules and all rules of an anchored space have the token :data:`ANY_TOKEN`.
        """
        label, forms, lemmas = fold(item.label), folded_tokens(item.forms), folded_tokens(item.lemmas)
        numbers = self._index.fitting(label)
        if self.space.anchored:
            return [Encoding(ANY_TOKEN, number) for number in numbers if self._yields(number, label, forms, lemmas)]
        return [Encoding(token, number) for number in numbers for token in self._anchors(number, label, forms, lemmas)]

    def distribution(self, item: LabelItem) -> dict[int, float]:
        """The target distribution of the paper: uniform over the rules that yield the item's label."""
        numbers = dict.fromkeys(encoding.rule for encoding in self.encodings(item))
        return {number: 1 / len(numbers) for number in numbers}

    def anchors(self, item: LabelItem) -> tuple[int, ...]:
        """The artificial anchors of a node: the tokens from which a rule that is not absolute yields its label."""
        return tuple(sorted({encoding.token for encoding in self.encodings(item) if encoding.token != ANY_TOKEN}))

    def to_json(self) -> dict[str, Any]:
        """As a JSON object; rules in their text form."""
        return {"space": self.space.to_json(), "rules": [str(rule) for rule in self.rules]}

    @classmethod
    def from_json(cls, data: Any) -> RuleSet:
        """From :meth:`to_json`; :class:`~perin.errors.InputError` if it is none."""
        try:
            return cls(RuleSpace.from_json(data["space"]), [parse(text) for text in data["rules"]])
        except (KeyError, TypeError, AttributeError) as error:
            raise InputError(
                f"no rule set: {type(error).__name__} {error}; expected an object with space and rules"
            ) from None

    def _yields(self, number: int, label: str, forms: tuple[str, ...], lemmas: tuple[str, ...]) -> bool:
        """Whether a rule whose affixes fit yields a folded label from folded tokens."""
        yielded = apply(self.rules[number - 1], forms, lemmas)
        return yielded is not None and fold(yielded) == label

    def _anchors(self, number: int, label: str, forms: tuple[str, ...], lemmas: tuple[str, ...]) -> Iterable[int]:
        """The tokens of a sentence from which a rule whose affixes fit yields the label."""
        rule = self.rules[number - 1]
        if isinstance(rule, AbsoluteRule):
            return (ANY_TOKEN,)
        if isinstance(rule, TokenRule) and rule.first:
            return windows(rule, label, forms if rule.source == "token" else lemmas)
        return (anchor for anchor in range(len(forms)) if self._yields(number, label, forms[anchor:], lemmas[anchor:]))

    @cached_property
    def _index(self) -> AffixIndex:
        return AffixIndex(self.rules)
