"""Which of many rules yield a label: by their affixes, and by where the rest of the label stands in a sentence."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import accumulate

from perin.labels.number_words import may_be_number
from perin.labels.rules import AbsoluteRule, Rule, TokenRule
from perin.labels.space import fold

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
