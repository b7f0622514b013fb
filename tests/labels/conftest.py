"""The plain definition of the rule space: all rules that yield a label, which learning is measured against."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from perin.labels.rules import AbsoluteRule, Rule, RuleSpace, Source, TokenRule, apply, fold, number_rules


@pytest.fixture(scope="session")
def enumerate_rules():
    """The inverse of :func:`perin.labels.rules.apply`."""
    return every_rule


def every_rule(label: str, forms: Sequence[str], lemmas: Sequence[str], space: RuleSpace) -> Iterator[Rule]:
    """Every rule of the space that yields the label (without case) from these tokens, each once.

    In a space without anchors the tokens are those from the anchor to the end of the sentence.
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
