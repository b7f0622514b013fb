"""A set of numbered rules and what it says about a node: its rules and artificial anchors."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import Any, NamedTuple

from perin.errors import InputError
from perin.labels.rules import AbsoluteRule, LabelItem, Rule, RuleSpace, TokenRule, apply, fold, may_be_number, parse
from perin.lazy import cached_property

# Which of many rules yield a label: by their affixes, and by where the rest of the label stands in a sentence.


_SENTENCES = 256
"""Nodes of a sentence come one after the other; so much is remembered about the last ones."""


class AffixIndex:
    """Numbers of rules, counted from 1, by what a label must look like."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.absolute: dict[str, list[int]] = {}
        self.numbers: list[int] = []
        self.affixes: dict[str, dict[str, list[int]]] = {}
        """Token and lemma rules by prefix and suffix."""
        for number, rule in enumerate(rules, start=1):
            if isinstance(rule, AbsoluteRule):
                self.absolute.setdefault(fold(rule.label), []).append(number)
            elif isinstance(rule, TokenRule):
                by_suffix = self.affixes.setdefault(fold(rule.prefix), {})
                by_suffix.setdefault(fold(rule.suffix), []).append(number)
            else:
                self.numbers.append(number)
        self.prefix_lengths = sorted({len(prefix) for prefix in self.affixes})

    def fitting(self, label: str) -> list[int]:
        """The rules that could yield a folded label, ascending."""
        found = list(self.absolute.get(label, ()))
        if may_be_number(label):
            found += self.numbers
        for length in self.prefix_lengths:
            if length >= len(label):
                break
            by_suffix = self.affixes.get(label[:length])
            if by_suffix is not None:
                for suffix, numbers in by_suffix.items():
                    if length + len(suffix) < len(label) and label.endswith(suffix):
                        found += numbers
        return sorted(found)


@lru_cache(maxsize=_SENTENCES)
def folded_tokens(tokens: tuple[str, ...]) -> tuple[str, ...]:
    """Tokens without case."""
    return tuple(map(fold, tokens))


def windows(rule: TokenRule, label: str, tokens: tuple[str, ...]) -> Iterator[int]:
    """The tokens from which a rule that takes the first k tokens yields a label that has its affixes; all folded."""
    kept = label[len(rule.prefix) : len(label) - len(rule.suffix)]
    text, starts = _joined(tokens, rule.separator)
    place = text.find(kept)
    while place >= 0:
        first = bisect_right(starts, place) - 1
        last = first + rule.first - 1
        if (
            last < len(tokens)
            and place == starts[first] + rule.cut_left
            and place + len(kept) == starts[last] + len(tokens[last]) - rule.cut_right
            and rule.cut_left < len(tokens[first])
            and rule.cut_right < len(tokens[last])
        ):
            yield first
        place = text.find(kept, place + 1)


@lru_cache(maxsize=_SENTENCES)
def _joined(tokens: tuple[str, ...], separator: str) -> tuple[str, list[int]]:
    """Tokens joined, and where each of them starts."""
    lengths = (len(token) + len(separator) for token in tokens)
    return separator.join(tokens), list(accumulate(lengths, initial=0))[: len(tokens)]


ANY_TOKEN = -1
"""The anchor of a rule that may be predicted from any token."""


class LabelEncoding(NamedTuple):
    """From ``token`` (or from any, :data:`ANY_TOKEN`) the rule of this number yields the label."""

    token: int
    rule: int


class RuleSet:
    """Rules numbered from 1 (0 is the null class of the network), in a fixed order.

    >>> rules = RuleSet(RuleSpace(("",)), [parse('lemma(0, 0, "", 0, 0, "_", "_n_1")'), parse('absolute("udef_q")')])
    >>> rules.encodings(LabelItem("_dog_n_1", ("Dogs",), ("dog",)))
    [LabelEncoding(token=-1, rule=1)]
    """

    def __init__(self, space: RuleSpace, rules: Iterable[Rule]) -> None:
        self.space = space
        self.rules = tuple(rules)

    def __repr__(self) -> str:
        return f"RuleSet({len(self.rules)} rules)"

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

    def encodings(self, item: LabelItem) -> list[LabelEncoding]:
        """All ways to yield an item's label, compared without case, in order of rule and token.

        Absolute rules and all rules of an anchored space have the token :data:`ANY_TOKEN`.
        """
        label, forms, lemmas = fold(item.label), folded_tokens(item.forms), folded_tokens(item.lemmas)
        numbers = self._index.fitting(label)
        if self.space.anchored:
            return [
                LabelEncoding(ANY_TOKEN, number) for number in numbers if self._yields(number, label, forms, lemmas)
            ]
        return [
            LabelEncoding(token, number) for number in numbers for token in self._anchors(number, label, forms, lemmas)
        ]

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
    def absolute_labels(self) -> frozenset[str]:
        """The labels of absolute rules."""
        return frozenset(label for label in self.label_by_number if label is not None)

    @cached_property
    def label_by_number(self) -> list[str | None]:
        """By number: the label of an absolute rule; None for other rules and for the null class."""
        return [None, *(rule.label if isinstance(rule, AbsoluteRule) else None for rule in self.rules)]

    @cached_property
    def _index(self) -> AffixIndex:
        return AffixIndex(self.rules)


# How many labels of other text a rule set can yield, beside what a plain list of labels would.


@dataclass(frozen=True)
class RuleCoverage:
    """Numbers of nodes: all, those whose label a rule yields from the right tokens, those whose label was seen before.

    ``with_case``: a rule yields the label with every letter in the right case.
    """

    nodes: int
    rules: int
    with_case: int
    vocabulary: int

    def share(self, nodes: int) -> float:
        """The share of all nodes, from 0 to 1; 1 where there are none."""
        return nodes / self.nodes if self.nodes else 1.0


def coverage(rules: RuleSet, labels: Collection[str], items: Iterable[LabelItem]) -> RuleCoverage:
    """The coverage of items by a rule set and by the folded ``labels`` of its training data."""
    nodes = covered = with_case = known = 0
    for item, count in Counter(items).items():
        encodings = rules.encodings(item)
        nodes += count
        covered += count * bool(encodings)
        known += count * (fold(item.label) in labels)
        with_case += count * any(
            rules.apply(number, item.forms, item.lemmas, max(token, 0), value=item.value) == item.label
            for token, number in encodings
        )
    return RuleCoverage(nodes, covered, with_case, known)
