"""Relative label rules: how a label comes from tokens (the paper's section "Space of Relative Rules").

A rule is a small value.  Its text form is its name and arguments in the order of the paper, strings as in JSON:

    token(0, 1, "+", 0, 0, "_", "_a_1")     delete no token left and 1 right, join with "+", cut nothing, add affixes
    lemma_first(2, "~", 0, 0, "", ".n.01")  join the first 2 lemmas with "~", cut nothing, add affixes
    number("eng", 0, "")                    the number that the words spell; 0: all words, k: the first k
    absolute("udef_q")                      this label, whatever the tokens
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from perin.errors import InputError
from perin.labels.space import Case, fold
from perin.text.numbers import to_number

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
    kept = joined[rule.cut_left : max(len(joined) - rule.cut_right, 0)]
    if not kept:
        return None
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
