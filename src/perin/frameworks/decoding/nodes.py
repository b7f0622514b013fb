"""What is decided about nodes before their edges: labels, flags and anchors, and which nodes are one and the same."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from perin.contract import Sentence
from perin.contract.heads import Bools, Prediction, Scores, true_columns
from perin.frameworks.encoding import Anchoring
from perin.labels.rules import apply
from perin.labels.ruleset import RuleSet
from perin.text.dictionary import is_word

if TYPE_CHECKING:
    from perin.frameworks.rulebook import Rulebook

# A node's label is the one with the most probability, summed over the rules that yield it.

_CANDIDATES = 8
"""How many of the best rules share in the sum."""

_UNLIKELY = 1e-4
"""Less probable rules are hardly ever looked at."""

_NO_WORD = 0.01
"""What a label counts for whose words are none (``exhibi-01``).  F1 on dev is nearly the same from .1 to .001."""

_TINY = float(np.finfo(np.float32).tiny)


class Spelling:
    """Which labels of a sentence's nodes are spelled like words.

    ``pattern``: see :attr:`~perin.frameworks.framework.Framework.words`.  ``labels``: those of absolute rules.
    """

    def __init__(self, pattern: str, labels: frozenset[str], sentence: Sentence) -> None:
        self._pattern = re.compile(pattern)
        self._labels = labels
        self._words = {token.form.lower() for token in sentence.tokens}
        self._words.update([token.lemma.lower() for token in sentence.tokens])
        self._language = sentence.language or "eng"

    def is_wrong(self, label: str) -> bool:
        """Whether some word of the label is neither in the sentence nor in a dictionary."""
        found = None if label in self._labels else self._pattern.fullmatch(label)
        if found is None or found[1].lower() in self._words:
            return False
        parts = _WORDS.findall(found[1])
        return not all(part.lower() in self._words or is_word(part, self._language) for part in parts)


_WORDS = re.compile(r"[^\W_]+")


@dataclass(frozen=True)
class Labelling:
    """How rules are read for the nodes of one sentence."""

    rules: RuleSet
    forms: tuple[str, ...]
    lemmas: tuple[str, ...]
    excluded: frozenset[int] = frozenset()
    """Rules that are not applied."""
    spelling: Spelling | None = None
    """None: labels may be spelled in any way."""

    @classmethod
    def of(cls, rules: RuleSet, sentence: Sentence, words: str | None = None) -> Labelling:
        """The labelling of a sentence whose lemmas are translated already; ``words``: the pattern of its spelling."""
        forms, lemmas = tuple([each.form for each in sentence.tokens]), tuple([each.lemma for each in sentence.tokens])
        spelling = Spelling(words, rules.absolute_labels, sentence) if words else None
        return cls(rules, forms, lemmas, spelling=spelling)

    def sure_labels(self, ranking: Ranking) -> list[str | None]:
        """Of each node the label of a sure rule that is absolute; None where the label depends on tokens."""
        absolute = self.rules.label_by_number
        return [absolute[number] for number in ranking.sure_rules]

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
        is_wrong = None if self.spelling is None or value else self.spelling.is_wrong
        return ranking.best_label(node, self._yielded(forms, lemmas, value), is_wrong)

    def _yielded(self, forms: tuple[str, ...], lemmas: tuple[str, ...], value: bool) -> Callable[[int], str | None]:
        rules, excluded, case = self.rules.rules, self.excluded, self.rules.space.case(value)
        absolute = self.rules.label_by_number

        def yielded(number: int) -> str | None:
            if number in excluded:
                return None
            return absolute[number] or apply(rules[number - 1], forms, lemmas, case)

        return yielded


class Ranking:
    """The rules of the nodes of a sentence, the most probable first.

    ``scores``: [K, R + 1], of each node a distribution over null and the rules, which are numbered from 1.
    """

    def __init__(self, scores: Scores) -> None:
        self._scores = scores
        self.sure_rules = [0] * len(scores)
        """Of each node the rule that is at least as probable as all others together; 0 if there is none."""
        self.likely = [0.0] * len(scores)
        """The probability of each node's best rule."""
        self._has_rules = scores.size > len(scores)
        if self._has_rules:
            first = scores[:, 1:].argmax(axis=1) + 1
            likely = scores[np.arange(len(scores)), first]
            self.likely = likely.tolist()
            self.sure_rules = np.where(2 * likely >= 1 - scores[:, 0], first, 0).tolist()

    def best_label(
        self, node: int, label_of: Callable[[int], str | None], is_wrong: Callable[[str], bool] | None = None
    ) -> tuple[str, float] | None:
        """The most probable label of a node and its probability; None if no rule is defined.

        ``label_of`` yields the label of a rule's number, or None where the rule is undefined.  ``is_wrong`` says
        whether a label is misspelled, so that it counts for little.

        >>> labels = {1: "dog", 2: "dogs", 3: "dog"}
        >>> Ranking(np.array([[0.1, 0.3, 0.4, 0.2]], dtype=np.float32)).best_label(0, labels.get)[0]
        'dog'
        """
        if not self._has_rules:
            return None
        label = label_of(self.sure_rules[node]) if self.sure_rules[node] else None
        if label is not None and (is_wrong is None or not is_wrong(label)):
            return label, self.likely[node]
        totals = self._totals(node, label_of)
        if not totals:
            return None
        best = max(totals.items(), key=lambda pair: pair[1])
        if is_wrong is not None and len(totals) > 1 and is_wrong(best[0]):
            best = max(totals.items(), key=lambda pair: pair[1] * (_NO_WORD if is_wrong(pair[0]) else 1))
        return best

    def ranked_labels(self, node: int, label_of: Callable[[int], str | None]) -> list[tuple[str, float]]:
        """All labels of a node's best rules and their probabilities, the most probable first."""
        if not self._has_rules:
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
        few = (rules > _UNLIKELY).nonzero()[0]
        yield from (few[(-rules[few]).argsort(kind="stable")] + 1).tolist()
        yield from ((-rules).argsort(kind="stable")[len(few) :] + 1).tolist()


def least_loss(named: Scores, others: Scores) -> int:
    """The node that should bear a label if one must: where its odds against the best other label are highest.

    ``named`` and ``others``: [K], the probabilities of that label and of the best other.
    """
    return int((np.log(np.maximum(named, _TINY)) - np.log(np.maximum(others, _TINY))).argmax())


def absolute_rules(rules: RuleSet, label: str) -> list[int]:
    """The numbers of the absolute rules that yield a label."""
    return [number for number, own in enumerate(rules.label_by_number) if own == label]


# Labels and anchors depend on each other.


@dataclass(frozen=True)
class Nodes:
    """Labels, flags and anchors of K nodes."""

    labels: list[str]
    probabilities: list[float]
    """Of the labels."""
    flags: Bools
    """[K]"""
    anchors: Bools | None
    """[K, T]"""


def choose_flags(scores: Scores | None, count: int, *, owned: bool) -> Bools:
    """[K]: the flagged nodes; if flagged nodes must have an owner, at least one node is not flagged."""
    if scores is None:
        return np.zeros(count, dtype=np.bool_)
    flags: Bools = scores >= 0.5
    if owned and flags.all():
        flags[scores.argmin()] = False
    return flags


class NodeChoice:
    """Chooses labels and anchors of the accepted queries of one prediction."""

    def __init__(self, prediction: Prediction, labelling: Labelling, flags: Bools, anchoring: Anchoring | None) -> None:
        self._labelling = labelling
        self._flags = flags
        self._scores = prediction.labels
        self._ranking = Ranking(prediction.labels)
        self._tokens = prediction.tokens.tolist()
        self._anchor_scores = prediction.anchors
        self._anchors = None
        self._anchored: list[list[int]] = []
        if anchoring is not None and prediction.anchors is not None:
            self._anchors = anchoring.choose(prediction.anchors)
            self._anchored = true_columns(self._anchors)

    def nodes(self, required: str | None, unique: bool) -> Nodes:
        """The most probable labels and anchors, with at least (or exactly) one node of the required label."""
        labelling, likely = self._labelling, self._ranking.likely
        chosen = [
            self._label(index, labelling) if label is None else (label, likely[index])
            for index, label in enumerate(labelling.sure_labels(self._ranking))
        ]
        if required is not None:
            count = [label for label, _ in chosen].count(required)
            if not count or (unique and count > 1):
                chosen = self._with(required, chosen, unique)
        labels, probabilities = zip(*chosen, strict=True)
        return Nodes(list(labels), list(probabilities), self._flags, self._anchors)

    def _label(self, index: int, labelling: Labelling) -> tuple[str, float]:
        """A node's best label and its probability; the form of the query's token if no rule is defined."""
        ranking, token, value = self._ranking, self._tokens[index], bool(self._flags[index])
        if self._anchors is None or self._anchor_scores is None:
            best = labelling.from_token(ranking, index, token, value=value)
        else:
            best = labelling.from_anchors(ranking, index, self._anchored[index], value=value)
            if not self._anchored[index]:
                # Without an anchor the label is absolute.  A relative one and the anchor it needs may be more probable.
                likely = int(self._anchor_scores[index].argmax())
                odds = float(self._anchor_scores[index, likely])
                other = labelling.from_anchors(ranking, index, [likely], value=value)
                if other is not None and (best is None or _outweighs(other, best, odds)):
                    self._anchors[index, likely] = True
                    best = other
        return best or (labelling.forms[token], 0.0)

    def _with(self, required: str, chosen: list[tuple[str, float]], unique: bool) -> list[tuple[str, float]]:
        rules = absolute_rules(self._labelling.rules, required)
        if unique:
            others = replace(self._labelling, excluded=frozenset(rules))
            chosen = [self._label(index, others) if pair[0] == required else pair for index, pair in enumerate(chosen)]
        named = self._scores[:, rules].sum(axis=1)
        best = least_loss(named, np.array([probability for _, probability in chosen]))
        return [*chosen[:best], (required, float(named[best])), *chosen[best + 1 :]]


def _outweighs(anchored: tuple[str, float], bare: tuple[str, float], probability: float) -> bool:
    """Whether another label with an anchor of this probability is more probable than a label without the anchor."""
    return anchored[0] != bare[0] and anchored[1] * probability > bare[1] * (1 - probability)


# One node for one reading: near-copies of a node (``stay-01`` and ``stay-02`` of one word) become part of it.


def merge_twins(prediction: Prediction, nodes: Nodes, book: Rulebook) -> tuple[Prediction, Nodes]:
    """Nodes that are one reading each (see :class:`~perin.graphs.constraints.NoTwins`).

    A twin goes if that it exists is less probable than gold's rate of twins allows; its edges become those of the node
    that stays, where they are more probable.
    """
    stems = [traits.stem for traits in book.traits(nodes)]
    named = [stem for stem in stems if stem]
    if len(set(named)) == len(named):
        return prediction, nodes
    groups: dict[tuple[str, object], list[int]] = {}
    for node, (stem, place) in enumerate(zip(stems, _places(prediction, nodes), strict=True)):
        if stem:
            groups.setdefault((stem, place), []).append(node)
    if len(groups) == len(named):
        return prediction, nodes
    null = prediction.labels[:, 0].tolist()
    surely = math.exp(-book.twin_cost)  # the odds against it
    gone: dict[int, int] = {}
    for group in groups.values():
        kept, *twins = sorted(group, key=null.__getitem__)
        gone |= {twin: kept for twin in twins if null[twin] > surely * (1 - null[twin])}
    return merge_nodes(prediction, nodes, gone) if gone else (prediction, nodes)


def _places(prediction: Prediction, nodes: Nodes) -> Sequence[object]:
    """What says that nodes are readings of the same words: their anchors, or the token of their query."""
    if nodes.anchors is None:
        places: list[int] = prediction.tokens.tolist()
        return places
    raw, width = nodes.anchors.tobytes(), nodes.anchors.shape[1]
    return [raw[start : start + width] for start in range(0, len(raw), width)]


def merge_nodes(prediction: Prediction, nodes: Nodes, gone: Mapping[int, int]) -> tuple[Prediction, Nodes]:
    """Prediction and nodes without those that are gone, each of which becomes part of another.

    An edge of the node that stays is that of the node that goes where this is more probable.
    """
    count = len(prediction)
    presence = prediction.presence.copy()
    own = np.arange(count * count).reshape(count, count)
    pairs = own.copy()  # whose scores each pair gets
    tops = None if prediction.tops is None else prediction.tops.copy()
    for twin, kept in gone.items():
        if tops is not None:
            tops[kept] += tops[twin]
        better, back = presence[twin] > presence[kept], presence[:, twin] > presence[:, kept]
        better[twin] = better[kept] = back[twin] = back[kept] = False
        for table in (presence, pairs):
            np.copyto(table[kept], table[twin], where=better)
            np.copyto(table[:, kept], table[:, twin], where=back)
    stay = [node for node in range(count) if node not in gone]
    rows = np.array(stay)
    pairs, moves = (table.take(rows, axis=0).take(rows, axis=1) for table in (pairs, pairs != own))
    moved = moves.nonzero()
    origins = np.divmod(pairs[moved], count)

    def of_pairs(scores: Scores) -> Scores:
        left: Scores = scores.take(rows, axis=0).take(rows, axis=1)  # faster than other ways to say so
        left[moved] = scores[origins]
        return left

    smaller = replace(
        prediction,
        labels=prediction.labels[rows],
        accepted=prediction.accepted[rows],
        presence=presence.take(rows, axis=0).take(rows, axis=1),
        edge_labels=of_pairs(prediction.edge_labels),
        anchors=None if prediction.anchors is None else prediction.anchors[rows],
        edge_attributes=None if prediction.edge_attributes is None else of_pairs(prediction.edge_attributes),
        properties=None if prediction.properties is None else prediction.properties[rows],
        property_classes={name: scores[rows] for name, scores in prediction.property_classes.items()},
        tops=None if tops is None else tops[rows],
    )
    left = Nodes(
        [nodes.labels[node] for node in stay],
        [nodes.probabilities[node] for node in stay],
        nodes.flags[rows],
        None if nodes.anchors is None else nodes.anchors[rows],
    )
    return smaller, left
