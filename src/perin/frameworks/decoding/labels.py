"""Which label a node gets: the one with the most probability, summed over the rules that yield it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from perin.contract.heads import Bools, Scores
from perin.contract.sentence import Sentence
from perin.labels.rules import AbsoluteRule, apply
from perin.labels.ruleset import RuleSet
from perin.lazy import cached_property

# Which labels the edges have.


def choose_edge_labels(scores: Scores, *, multilabel: bool, markers: Bools) -> Bools:
    """[M, L]: the labels of M pairs, at least one that is no marker each.

    ``scores``: [M, L].  ``markers``: [L], labels that only stand beside another.
    """
    chosen = np.zeros(scores.shape, dtype=np.bool_)
    if not scores.size:
        return chosen
    if multilabel:
        chosen |= scores >= 0.5
    plain = np.where(markers, -1.0, scores)
    bare = ~(chosen & ~markers).any(axis=1)
    chosen[bare, plain[bare].argmax(axis=1)] = True
    return chosen


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

    def from_token(self, ranking: Ranking, node: int, token: int, *, value: bool) -> tuple[str, float] | None:
        """A node's best label, and its probability, where a rule sees all tokens from the query's on."""
        return self._best(ranking, node, self.forms[token:], self.lemmas[token:], value)

    def from_anchors(self, ranking: Ranking, node: int, tokens: list[int], *, value: bool) -> tuple[str, float] | None:
        """A node's best label, and its probability, where a rule sees the node's tokens."""
        forms = tuple([self.forms[token] for token in tokens])
        lemmas = tuple([self.lemmas[token] for token in tokens])
        return self._best(ranking, node, forms, lemmas, value)

    def ranked(self, ranking: Ranking, node: int, tokens: Sequence[int], *, value: bool) -> list[tuple[str, float]]:
        """A node's labels and their probabilities, the most probable first, where a rule sees these tokens."""
        forms = tuple([self.forms[token] for token in tokens])
        lemmas = tuple([self.lemmas[token] for token in tokens])
        return ranking.ranked_labels(node, self._yielded(forms, lemmas, value))

    def _best(
        self, ranking: Ranking, node: int, forms: tuple[str, ...], lemmas: tuple[str, ...], value: bool
    ) -> tuple[str, float] | None:
        return ranking.best_label(node, self._yielded(forms, lemmas, value))

    def _yielded(self, forms: tuple[str, ...], lemmas: tuple[str, ...], value: bool) -> Callable[[int], str | None]:
        rules, excluded, case = self.rules.rules, self.excluded, self.rules.space.case(value)

        def yielded(number: int) -> str | None:
            return None if number in excluded else apply(rules[number - 1], forms, lemmas, case)

        return yielded


class Ranking:
    """The rules of the nodes of a sentence, the most probable first.

    ``scores``: [K, R + 1], of each node a distribution over null and the rules, which are numbered from 1.
    """

    def __init__(self, scores: Scores) -> None:
        self._scores = scores
        self._first: list[int] = []
        if not scores.size or scores.shape[1] == 1:
            return
        first = scores[:, 1:].argmax(axis=1) + 1
        likely = scores[np.arange(len(scores)), first]
        self._first, self._likely = first.tolist(), likely.tolist()
        self._sure = (2 * likely >= 1 - scores[:, 0]).tolist()  # the other rules together are no more probable

    def best_label(self, node: int, label_of: Callable[[int], str | None]) -> tuple[str, float] | None:
        """The most probable label of a node and its probability; None if no rule is defined.

        ``label_of`` yields the label of a rule's number, or None where the rule is undefined.

        >>> labels = {1: "dog", 2: "dogs", 3: "dog"}
        >>> Ranking(np.array([[0.1, 0.3, 0.4, 0.2]], dtype=np.float32)).best_label(0, labels.get)[0]
        'dog'
        """
        if not self._first:
            return None
        if self._sure[node] and (label := label_of(self._first[node])) is not None:
            return label, self._likely[node]
        totals = self._totals(node, label_of)
        return max(totals.items(), key=lambda pair: pair[1]) if totals else None

    def ranked_labels(self, node: int, label_of: Callable[[int], str | None]) -> list[tuple[str, float]]:
        """All labels of a node's best rules and their probabilities, the most probable first."""
        if not self._first:
            return []
        return sorted(self._totals(node, label_of).items(), key=lambda pair: -pair[1])

    def _totals(self, node: int, label_of: Callable[[int], str | None]) -> dict[str, float]:
        totals: dict[str, float] = {}
        scores = self._scores[node]
        for rank, number in enumerate(self._numbers(node)):
            if totals and rank >= _CANDIDATES:
                break
            if (label := label_of(number)) is not None:
                totals[label] = totals.get(label, 0.0) + float(scores[number])
        return totals

    def _numbers(self, node: int) -> Iterator[int]:
        """The numbers of a node's rules, of equally probable ones the first; most callers need only a few."""
        rules = self._scores[node, 1:]
        least = self._least[node]
        few = np.flatnonzero(rules > least)
        yield from (few[np.argsort(-rules[few], kind="stable")] + 1).tolist()
        rules = np.where(rules > least, -1.0, rules)
        yield from (np.argsort(-rules, kind="stable")[: len(rules) - len(few)] + 1).tolist()

    @cached_property
    def _least(self) -> Scores:
        """[K]: less probable rules are hardly ever looked at."""
        rules = self._scores[:, 1:]
        enough = min(_CANDIDATES + 2, rules.shape[1])
        least = np.zeros(len(rules), dtype=np.float32)
        unsure = np.flatnonzero(~np.array(self._sure))
        least[unsure] = np.partition(rules[unsure], -enough, axis=1)[:, -enough]
        return least


def least_loss(named: Scores, others: Scores) -> int:
    """The node that should bear a label if one must: where its odds against the best other label are highest.

    ``named`` and ``others``: [K], the probabilities of that label and of the best other.
    """
    return int((np.log(np.maximum(named, _TINY)) - np.log(np.maximum(others, _TINY))).argmax())


def absolute_rules(rules: RuleSet, label: str) -> list[int]:
    """The numbers of the absolute rules that yield a label."""
    return [number for number, rule in enumerate(rules, start=1) if rule == AbsoluteRule(label)]
