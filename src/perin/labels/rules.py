"""Relative label rules: how a label comes from tokens (the paper's section "Space of Relative Rules").

A rule is a small value.  Its text form is its name and arguments in the order of the paper, strings as in JSON:

    token(0, 1, "+", 0, 0, "_", "_a_1")     delete no token left and 1 right, join with "+", cut nothing, add affixes
    lemma_first(2, "~", 0, 0, "", ".n.01")  join the first 2 lemmas with "~", cut nothing, add affixes
    number("eng", 0, "")                    the number that the words spell; 0: all words, k: the first k
    absolute("udef_q")                      this label, whatever the tokens
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, NamedTuple, TypeAlias

from perin.errors import InputError
from perin.text.numbers import to_number

# What rules are learned from: labels with their tokens, and the space of rules that a framework allows.


Case: TypeAlias = Literal["token", "lower"]
"""Where the case of the kept characters comes from: as the token has it, or lower case."""

_FEW_CAPITALS = 0.01


class LabelItem(NamedTuple):
    """A node's label and the tokens that its rules see.

    In an anchored rule space these are the tokens that the node is anchored to (none: only absolute rules apply);
    otherwise all tokens of the sentence, each of which may be the anchor.  ``value`` marks names and property values,
    whose case follows ``RuleSpace.value_case``.
    """

    label: str
    forms: tuple[str, ...] = ()
    lemmas: tuple[str, ...] = ()
    value: bool = False


@dataclass(frozen=True, slots=True)
class RuleSpace:
    """The rules that a framework allows; absolute rules always belong to the space.

    ``separators`` join several tokens in token and lemma rules (without any there are no such rules).  If not
    ``anchored``, a rule sees the tokens from its anchor to the end of the sentence and may take the first k of them.
    ``number_language`` (ISO 639-3) allows number rules; ``number_groups`` may stand between groups of three digits.
    ``label_case`` and ``value_case`` say how kept characters are written in labels and in names and property values;
    learning makes that lower case where a treebank has hardly any capitals.
    """

    separators: tuple[str, ...] = ("",)
    anchored: bool = True
    number_language: str | None = None
    number_groups: tuple[str, ...] = ("",)
    label_case: Case = "token"
    value_case: Case = "token"

    def case(self, value: bool) -> Case:
        """The case of kept characters in a label, or in a name or property value."""
        return self.value_case if value else self.label_case

    def with_capitals(self, labels: float, values: float) -> RuleSpace:
        """The space of a treebank in which such shares of labels and of values have capitals."""
        return replace(
            self,
            label_case=self.label_case if labels >= _FEW_CAPITALS else "lower",
            value_case=self.value_case if values >= _FEW_CAPITALS else "lower",
        )

    def to_json(self) -> dict[str, Any]:
        """As a JSON object."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> RuleSpace:
        """From :meth:`to_json`."""
        fields = dict(data, separators=tuple(data["separators"]), number_groups=tuple(data["number_groups"]))
        return cls(**fields)


def fold(text: str) -> str:
    """Lower case, character by character, so that lengths and positions stay as they are.

    >>> fold("İNES")
    'İnes'
    """
    if text.isascii():
        return text.lower()
    return "".join([low if len(low := character.lower()) == 1 else character for character in text])


Source: TypeAlias = Literal["token", "lemma"]


@dataclass(frozen=True, slots=True)
class AbsoluteRule:
    """Yields its label, whatever the tokens."""

    label: str

    def __str__(self) -> str:
        return f"absolute({_quoted(self.label)})"


@dataclass(frozen=True, slots=True)
class NumberRule:
    """Yields the number that the words spell, in digits; ``first`` = 0 reads all words, k the first k.

    ``group`` stands between groups of three digits.
    """

    language: str
    first: int = 0
    group: str = ""

    def __str__(self) -> str:
        return f"number({_quoted(self.language)}, {self.first}, {_quoted(self.group)})"


@dataclass(frozen=True, slots=True)
class TokenRule:
    """The paper's seven-tuple on forms or lemmas: delete tokens, join, cut characters, add affixes.

    ``first`` = k takes the first k tokens instead of deleting some (then both ``drop`` fields are 0).  Such a rule
    keeps characters of the first and of the last token that it takes; otherwise it would belong to another anchor.
    """

    source: Source
    drop_left: int
    drop_right: int
    separator: str
    cut_left: int
    cut_right: int
    prefix: str
    suffix: str
    first: int = 0

    def __str__(self) -> str:
        name, span = (f"{self.source}_first", f"{self.first}")
        if not self.first:
            name, span = self.source, f"{self.drop_left}, {self.drop_right}"
        cuts = f"{self.cut_left}, {self.cut_right}"
        return f"{name}({span}, {_quoted(self.separator)}, {cuts}, {_quoted(self.prefix)}, {_quoted(self.suffix)})"


Rule: TypeAlias = AbsoluteRule | TokenRule | NumberRule


def apply(rule: Rule, forms: Sequence[str], lemmas: Sequence[str], case: Case = "token") -> str | None:
    """The label that a rule yields, or None where the rule is undefined on these tokens.

    A token or lemma rule is undefined where there are too few tokens or where no character would be kept.  ``case`` is
    that of the kept characters; affixes and absolute labels are written as the rule has them.

    >>> apply(parse('token(0, 1, "+", 0, 0, "_", "_a_1")'), ("at", "the", "very", "least", ","), ())
    '_at+the+very+least_a_1'
    """
    if isinstance(rule, AbsoluteRule):
        return rule.label
    if isinstance(rule, NumberRule):
        return _number(rule, forms)
    tokens = forms if rule.source == "token" else lemmas
    end = rule.first or len(tokens) - rule.drop_right
    if end > len(tokens) or end <= rule.drop_left:
        return None
    if rule.first and (rule.cut_left >= len(tokens[0]) or rule.cut_right >= len(tokens[end - 1])):
        return None
    joined = rule.separator.join(tokens[rule.drop_left : end])
    if len(joined) <= rule.cut_left + rule.cut_right:
        return None
    kept = joined[rule.cut_left : len(joined) - rule.cut_right]
    return rule.prefix + (fold(kept) if case == "lower" else kept) + rule.suffix


def parse(text: str) -> Rule:
    """The rule of a text form; :class:`~perin.errors.InputError` if it is none."""
    try:
        if type(text) is not str or text[-1:] != ")":
            raise ValueError("it does not end with a bracket")
        name, _, arguments = text[:-1].partition("(")
        rule = _build(name, json.loads(f"[{arguments}]"))
    except (ValueError, TypeError) as error:
        raise InputError(f"no label rule: {text!r} ({error}); expected for example {_EXAMPLE}") from None
    return rule


_EXAMPLE = 'token(0, 0, "", 0, 0, "", "")'
_SHAPES = {
    "absolute": (str,),
    "number": (str, int, str),
    "token": (int, int, str, int, int, str, str),
    "lemma": (int, int, str, int, int, str, str),
    "token_first": (int, str, int, int, str, str),
    "lemma_first": (int, str, int, int, str, str),
}


def _build(name: str, arguments: list[Any]) -> Rule:
    shape = _SHAPES.get(name)
    if shape is None:
        raise ValueError(f"unknown rule name {name!r}")
    if tuple(map(type, arguments)) != shape:
        raise TypeError(f"wrong arguments for {name}")
    if any(type(value) is int and value < 0 for value in arguments):
        raise ValueError("negative number")
    if name == "absolute":
        return AbsoluteRule(*arguments)
    if name == "number":
        return NumberRule(*arguments)
    source: Source = "token" if name.startswith("token") else "lemma"
    if not name.endswith("_first"):
        return TokenRule(source, *arguments)
    first, separator, cut_left, cut_right, prefix, suffix = arguments
    if not first:
        raise ValueError("the first 0 tokens")
    return TokenRule(source, 0, 0, separator, cut_left, cut_right, prefix, suffix, first)


def _number(rule: NumberRule, forms: Sequence[str]) -> str | None:
    if not forms or rule.first > len(forms):
        return None
    number = to_number(list(forms[: rule.first] if rule.first else forms), rule.language)
    return number if number is None or not rule.group else _grouped(number, rule.group)


def _grouped(number: str, group: str) -> str:
    """Digits of the integer part in groups of three.

    >>> _grouped("-1234567.5", "_")
    '-1_234_567.5'
    """
    sign = number[: len(number) - len(number.lstrip("-"))]
    whole, point, fraction = number.removeprefix(sign).partition(".")
    starts = range(len(whole) % 3 or 3, len(whole), 3)
    parts = [whole[start:end] for start, end in zip((0, *starts), (*starts, len(whole)), strict=True)]
    return sign + group.join(parts) + point + fraction


def _quoted(text: str) -> str:
    """A JSON string; readable unless it has lone surrogates, which no file could hold."""
    surrogates = any("\ud800" <= character <= "\udfff" for character in text)
    return json.dumps(text, ensure_ascii=surrogates)


def may_be_number(label: str) -> bool:
    """Whether a label begins as the result of a number rule does."""
    return label[:1].isdigit() or label[:1] == "-"


LONGEST_NUMBER = 12
"""Without anchors, number rules take at most this many tokens."""


def number_rules(count: int, space: RuleSpace) -> Iterator[NumberRule]:
    """The number rules of the space that are defined on this many tokens."""
    if space.number_language is not None:
        for first in (0,) if space.anchored else range(1, min(count, LONGEST_NUMBER) + 1):
            for group in space.number_groups:
                yield NumberRule(space.number_language, first, group)
