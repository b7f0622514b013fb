"""All rules that yield a label from given tokens: the inverse of :func:`perin.labels.rules.apply`.

This is the plain definition of the rule space.  Learning does not use it: it would yield millions of rules for a long
node (see :mod:`perin.labels.minimal.candidates`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from perin.labels.rules import AbsoluteRule, NumberRule, Rule, Source, TokenRule, apply
from perin.labels.space import RuleSpace, fold

LONGEST_NUMBER = 12
"""In spaces without anchors number rules take at most this many tokens."""


def enumerate_rules(label: str, forms: Sequence[str], lemmas: Sequence[str], space: RuleSpace) -> Iterator[Rule]:
    """Every rule of the space that yields the label (without case) from these tokens, each once.

    In a space without anchors the tokens are those from the anchor to the end of the sentence.

    >>> for rule in enumerate_rules("a_1", ("a",), ("b",), RuleSpace()):
    ...     print(rule)
    absolute("a_1")
    token(0, 0, "", 0, 0, "", "_1")
    """
    label = fold(label)
    yield AbsoluteRule(label)
    sources: tuple[tuple[Source, Sequence[str]], ...] = (("token", forms), ("lemma", lemmas))
    for source, tokens in sources:
        folded = [fold(token) for token in tokens]
        for span in _spans(len(folded), space):
            yield from _token_rules(label, folded, source, *span)
    for number in number_rules(len(forms), space):
        if apply(number, forms, lemmas) == label:
            yield number


def _spans(count: int, space: RuleSpace) -> Iterator[tuple[int, int, int, str]]:
    """(drop left, drop right, first, separator) of all token rules that are defined on this many tokens."""
    if space.anchored:
        for separator in space.separators:
            for left in range(count):
                for right in range(count - left):
                    yield left, right, 0, separator
        return
    for first in range(1, count + 1):
        for separator in space.separators if first > 1 else space.separators[:1]:
            yield 0, 0, first, separator


def _token_rules(
    label: str, tokens: list[str], source: Source, left: int, right: int, first: int, separator: str
) -> Iterator[TokenRule]:
    joined = separator.join(tokens[left : first or len(tokens) - right])
    for start in range(len(label)):
        for end in range(start + 1, len(label) + 1):
            place = joined.find(label[start:end])
            while place >= 0:
                cuts = place, len(joined) - place - (end - start)
                rule = TokenRule(source, left, right, separator, *cuts, label[:start], label[end:], first)
                if apply(rule, tokens, tokens) is not None:
                    yield rule
                place = joined.find(label[start:end], place + 1)


def number_rules(count: int, space: RuleSpace) -> Iterator[NumberRule]:
    """The number rules of the space that are defined on this many tokens."""
    if space.number_language is not None:
        for first in (0,) if space.anchored else range(1, min(count, LONGEST_NUMBER) + 1):
            for group in space.number_groups:
                yield NumberRule(space.number_language, first, group)
