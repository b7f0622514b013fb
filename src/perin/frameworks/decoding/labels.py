"""Which label a node gets: the one with the most probability, summed over the rules that yield it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from perin.frameworks.arrays import Scores
from perin.labels.rules import AbsoluteRule
from perin.labels.ruleset import RuleSet
from perin.text.sentence import Sentence

_CANDIDATES = 8
"""How many of the best rules share in the sum."""

_TINY = float(np.finfo(np.float32).tiny)


@dataclass(frozen=True)
class Labelling:
    """How rules are read for the nodes of one sentence."""

    rules: RuleSet
    forms: tuple[str, ...]
    lemmas: tuple[str, ...]
    excluded: frozenset[int] = frozenset()
    """Rules that are not applied."""

    @classmethod
    def of(cls, rules: RuleSet, sentence: Sentence) -> Labelling:
        """The labelling of a sentence whose lemmas are translated already."""
        forms = tuple(token.form for token in sentence.tokens)
        return cls(rules, forms, tuple(token.lemma for token in sentence.tokens))

    def from_token(self, scores: Scores, token: int, *, value: bool) -> tuple[str, float] | None:
        """The best label, and its probability, where a rule sees all tokens from the query's on."""
        return self._best(scores, self.forms, self.lemmas, token, value)

    def from_anchors(self, scores: Scores, tokens: list[int], *, value: bool) -> tuple[str, float] | None:
        """The best label, and its probability, where a rule sees the node's tokens."""
        forms = tuple([self.forms[token] for token in tokens])
        lemmas = tuple([self.lemmas[token] for token in tokens])
        return self._best(scores, forms, lemmas, 0, value)

    def _best(
        self, scores: Scores, forms: tuple[str, ...], lemmas: tuple[str, ...], anchor: int, value: bool
    ) -> tuple[str, float] | None:
        def apply(rule: int) -> str | None:
            return None if rule in self.excluded else self.rules.apply(rule, forms, lemmas, anchor, value=value)

        return best_label(scores, apply)


def best_label(scores: Scores, apply: Callable[[int], str | None]) -> tuple[str, float] | None:
    """The most probable label and its probability; None if no rule is defined.

    ``scores``: [R + 1], one query's distribution over rules.  ``apply`` yields the label of a rule's number, or None
    where the rule is undefined.

    >>> labels = {1: "dog", 2: "dogs", 3: "dog"}
    >>> best_label(np.array([0.1, 0.3, 0.4, 0.2], dtype=np.float32), labels.get)[0]
    'dog'
    """
    if len(scores) == 1:
        return None
    number = int(scores[1:].argmax()) + 1
    if 2 * scores[number] >= 1 - scores[0] and (label := apply(number)) is not None:
        return label, float(scores[number])  # the other rules together have no more
    totals: dict[str, float] = {}
    for rank, number in enumerate(_by_score(scores)):
        if totals and rank >= _CANDIDATES:
            break
        if (label := apply(number)) is not None:
            totals[label] = totals.get(label, 0.0) + float(scores[number])
    return max(totals.items(), key=lambda pair: pair[1]) if totals else None


def _by_score(scores: Scores) -> Iterator[int]:
    """The numbers of the rules, the most probable first and of equal ones the first; most callers need only a few."""
    rules = scores[1:]
    if len(rules) > 4 * _CANDIDATES:
        enough = _CANDIDATES + 2
        least = np.partition(rules, -enough)[-enough]
        few = np.flatnonzero(rules > least)
        yield from (few[np.argsort(-rules[few], kind="stable")] + 1).tolist()
        rules = np.where(rules > least, -1.0, rules)
        yield from (np.argsort(-rules, kind="stable")[: len(rules) - len(few)] + 1).tolist()
    else:
        yield from (np.argsort(-rules, kind="stable") + 1).tolist()


def least_loss(named: Scores, others: Scores) -> int:
    """The node that should bear a label if one must: where its odds against the best other label are highest.

    ``named`` and ``others``: [K], the probabilities of that label and of the best other.
    """
    return int((np.log(np.maximum(named, _TINY)) - np.log(np.maximum(others, _TINY))).argmax())


def absolute_rules(rules: RuleSet, label: str) -> list[int]:
    """The numbers of the absolute rules that yield a label."""
    return [number for number, rule in enumerate(rules, start=1) if rule == AbsoluteRule(label)]
