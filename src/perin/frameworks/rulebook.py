"""The rules of a framework (:mod:`perin.graphs.constraints`) and the signatures of a treebank, ready for decoding.

Everything is said in terms of a vocabulary's edge labels, and of labels of nodes as they turn up.  Breaking a rule has
a cost that grows with minus the logarithm of how often gold graphs break it, and is :data:`HARD` where they never do.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from perin.contract.heads import Bools, Ints
from perin.frameworks.decoding.nodes import Nodes
from perin.frameworks.steps import NamedUnlabelled
from perin.frameworks.vocabulary import Vocabulary
from perin.graphs.constraints import (
    Apart,
    Connected,
    Constraint,
    Coordination,
    Families,
    Members,
    Needs,
    NoTwins,
    OneRole,
    OneWay,
    Roles,
    Unique,
    constant,
    matches,
)
from perin.graphs.graph import Property
from perin.labels.rules import fold

if TYPE_CHECKING:
    from perin.frameworks.framework import Framework

Floats = NDArray[np.float64]

HARD = 1e4
"""The cost of breaking a hard rule, more than everything else in a graph."""
BARRED = -HARD / 2
"""Less than anything gains that breaks no hard rule."""

_REMEMBERED = 1 << 13


_CAUTION = 2.0
"""By how much the network's log odds are too large, most of all outside its domain: with 1, soft rules are broken more
often than in gold; F1 on dev is the same."""


def cost(rate: float) -> float:
    """What breaking a rule costs that gold graphs break at this rate."""
    return HARD if rate <= 0 else float(-_CAUTION * np.log(rate))


@dataclass(frozen=True, eq=False, slots=True)
class Traits:
    """What the rules say about nodes of one label; costs are 0 where nothing speaks against it.  L edge labels.

    Sets of rules and of edge labels are integers with a bit for each.
    """

    out: list[float]
    """[L]: the cost of a role of each label that leaves such a node."""
    into: list[float]
    """[L]: the cost of a role of each label that leads to it."""
    of: int
    """The conditional rules that speak of such a source."""
    bad: int
    """The conditional rules that such a target breaks."""
    needs: int
    """The needs that it has."""
    barred: int
    """The edge labels that can't lead from it to a constant; of a constant, those that can't lead to it."""
    is_constant: bool
    protected: bool
    """Whether the node is never left out."""
    lacks: tuple[str, ...]
    """The properties that it can't have."""
    stem: str | None
    """Its label without the sense, where two nodes of one reading are seldom or never."""
    source_costs: Floats
    """``out``"""
    target_costs: Floats
    """``into``"""
    bars: Bools
    """[L]: ``barred``."""

    def possible(self, properties: tuple[Property, ...]) -> tuple[Property, ...]:
        """The properties, of those that classifiers chose, that such a node can have."""
        if not properties or not self.lacks:
            return properties
        return tuple([pair for pair in properties if pair.name not in self.lacks])


class Prices(NamedTuple):
    """What rules say against the roles between two nodes, [L]."""

    array: Floats
    as_list: list[float]
    joints: Floats
    """The same for roles that join two parts; infinite where two parts are better."""


@dataclass(frozen=True)
class Need:
    """A :class:`~perin.graphs.constraints.Needs` rule."""

    incoming: bool
    price: float
    serving: Ints
    """The edge labels that serve it, in order."""
    labels: frozenset[int]
    """The same as a set."""
    assignable: bool
    """Whether such roles are unique, so that giving one to each node that needs it is an assignment."""


@dataclass(frozen=True, eq=False)
class Checks:
    """What to look at to see whether the roles of a graph break a rule that costs more than ``least``.

    Each node collects the marks (bits) of the roles that leave it and of those that enter it; a unique role has a mark
    of its own.  L edge labels.
    """

    least: float
    leaving: list[int]
    """[L]: the marks that a role leaves on its source."""
    entering: list[int]
    """[L]: those that it leaves on its target."""
    once_out: list[int]
    """[L]: the mark that the source must not have yet; 0 if it may."""
    once_in: list[int]
    """[L]: the same for the target."""
    needs: int
    """The needs; the marks of roles that serve them are the same bits."""
    apart: list[int]
    """Of each rule about roles apart: the marks of both sides; 0 if it costs no more than ``least``."""


@dataclass(frozen=True, eq=False)
class Grammar:
    """What rules about trees and coordination say of a vocabulary's L labels and A attribute classes."""

    beside: Bools
    """[L]: labels of edges beside the tree."""
    coordinating: Bools
    """[L]: labels of edges that lead to a coordination."""
    once: Floats
    """[L]: the cost of a second edge of a label that leaves the same node."""
    member: int
    """The class of edges to members; 0 if there is none."""
    shared: int
    """The class of edges that follow from a coordination; 0 if there is none."""
    lonely: float
    """The cost of a coordination of fewer than two members."""

    @classmethod
    def of(cls, rules: tuple[Constraint, ...], vocabulary: Vocabulary) -> Grammar:
        """The grammar of a framework whose rules have a :class:`~perin.graphs.constraints.Coordination`."""
        (rule,) = (rule for rule in rules if isinstance(rule, Coordination))
        labels = [label or "" for label in vocabulary.edge_labels]
        once = np.zeros(len(labels))
        for other in rules:
            if isinstance(other, Unique):
                once[[matches(other.labels, label) for label in labels]] = cost(other.rate)
        return cls(
            np.array([matches(rule.tree.beside, label) for label in labels], dtype=np.bool_),
            np.array([matches(rule.labels, label) for label in labels], dtype=np.bool_),
            once,
            _class_of(rule.member, vocabulary),
            _class_of(rule.shared, vocabulary),
            max((cost(other.rate) for other in rules if isinstance(other, Members)), default=0.0),
        )


def _class_of(name: str, vocabulary: Vocabulary) -> int:
    """The attribute class that says only this; 0 if there is none."""
    for number, item in enumerate(vocabulary.edge_attributes, start=1):
        if [[pair.name for pair in pairs] for _, pairs in item] == [[name]]:
            return number
    return 0


class Rulebook:
    """The rules of a framework for one vocabulary."""

    def __init__(self, framework: Framework, vocabulary: Vocabulary) -> None:
        self.labels = tuple(label or "" for label in vocabulary.edge_labels)
        size = len(self.labels)
        self.owned, self.multilabel = framework.owned, framework.multilabel
        self.fixed = framework.fixed_edges
        self.least_joint = framework.least_joint
        self.markers = np.array([label in framework.markers for label in vocabulary.edge_labels], dtype=np.bool_)
        self.is_marker: list[bool] = self.markers.tolist()
        self.has_markers = any(self.is_marker)
        mended = {rule for mend in framework.mends for rule in mend.rules}
        self._rules = [rule for rule in framework.constraints if rule not in mended]
        self.further = np.full(size, 0.5)
        """[L]: how probable a label must be to stand beside another one of the same pair."""
        self.families: list[Bools] = []
        """[L] each: the labels that may be beside each other."""
        self.return_cost = 0.0
        """The cost of an edge between two nodes that are linked in the other direction."""
        self.twin_cost, self._twins = 0.0, [rule for rule in self._rules if isinstance(rule, NoTwins)]
        once = {False: np.zeros(size), True: np.zeros(size)}
        self.apart: list[tuple[Bools, Bools, float]] = []
        for rule in self._rules:
            if isinstance(rule, Unique):
                once[rule.incoming] = np.maximum(once[rule.incoming], self._mask(rule.labels) * cost(rule.rate))
            elif isinstance(rule, Apart):
                self.apart.append((self._mask(rule.first), self._mask(rule.second), cost(rule.rate)))
            elif isinstance(rule, Connected):
                self.least_joint = rule.rate / (1 + rule.rate)
            elif isinstance(rule, NoTwins):
                self.twin_cost = cost(rule.rate)
            elif isinstance(rule, Families):
                masks = [self._mask(pattern) for pattern in rule.families]
                neutral = ~np.any(masks, axis=0)
                self.families = [mask | neutral for mask in masks if mask.any()]
            elif isinstance(rule, OneRole):
                self.further[~self.markers] = 1 / (1 + np.exp(-cost(rule.rate)))
            elif isinstance(rule, OneWay):
                self.return_cost = cost(rule.rate)
        self.once = once
        """By direction (incoming or not), [L]: the cost of a second role of each label."""
        self.once_out, self.once_in = once[False].tolist(), once[True].tolist()
        self._set_needs([rule for rule in self._rules if isinstance(rule, Needs)])
        self._set_roles([rule for rule in self._rules if isinstance(rule, Roles)])
        self.sides = [
            sum(int(first[label]) << 2 * at | int(second[label]) << 2 * at + 1 for at, (first, second, _) in rules)
            for rules in [list(enumerate(self.apart))]
            for label in range(size)
        ]
        """[L]: the bits 2n and 2n + 1 say on which side of the n-th rule about roles apart a label is."""
        self.all_checks, self.hard_checks = self._checks(0.0), self._checks(HARD - 1)
        only_once = not (
            self.needs or self._ends or self._conditional or once[True].any() or vocabulary.signatures.barred
        )
        self.ruled = np.flatnonzero((once[False] > 0) | np.array(self.sides, dtype=np.bool_)) if only_once else None
        """The labels that rules speak of, if no node that has one of them at most can break a rule; else None."""
        self._signatures, self._lexical = vocabulary.signatures, framework.lexical_labels
        self._unlabelled = {step.name for step in framework.steps if isinstance(step, NamedUnlabelled)}
        self._required = framework.required
        has_grammar = any(isinstance(rule, Coordination) for rule in framework.constraints)
        self.grammar = Grammar.of(framework.constraints, vocabulary) if has_grammar else None
        self._traits: dict[tuple[str, bool], Traits] = {}
        self._costs: dict[tuple[bool, ...], tuple[Floats, list[float]]] = {}
        self._barred: dict[tuple[str, ...], tuple[Bools, int]] = {}
        self._prices: dict[tuple[int, int, int, int], Prices] = {}

    def _checks(self, least: float) -> Checks:
        """The checks of rules that cost more than this."""
        sides, marks = len(self.needs), len(self.needs) + 2 * len(self.apart)
        once_out = [(price > least) << marks + label for label, price in enumerate(self.once_out)]
        once_in = [(price > least) << marks + label for label, price in enumerate(self.once_in)]
        labels = range(len(self.labels))
        return Checks(
            least,
            [once_out[label] | self.served[False][label] | self.sides[label] << sides for label in labels],
            [once_in[label] | self.served[True][label] for label in labels],
            once_out,
            once_in,
            _bits(need.price > least for need in self.needs),
            [3 << sides + 2 * at if price > least else 0 for at, (_, _, price) in enumerate(self.apart)],
        )

    def _set_needs(self, rules: list[Needs]) -> None:
        self.needs: list[Need] = []
        self.served = {False: [0] * len(self.labels), True: [0] * len(self.labels)}
        """By direction, [L]: the needs that a role of each label serves, of its source or of its target."""
        self._needy = [rule.nodes for rule in rules]
        for number, rule in enumerate(rules):
            mask = self._mask(rule.labels)
            assignable = bool(mask.any() and (self.once[rule.incoming][mask] > 0).all())
            serving = mask.nonzero()[0]
            self.needs.append(Need(rule.incoming, cost(rule.rate), serving, frozenset(serving.tolist()), assignable))
            for label in serving.tolist():
                self.served[rule.incoming][label] |= 1 << number
        self.loose_needs = _bits(not need.assignable for need in self.needs)
        """The needs (bits) that are no assignment."""

    def _set_roles(self, rules: list[Roles]) -> None:
        self._ends = [(rule, self._mask(rule.labels) * cost(rule.rate)) for rule in rules if rule.of == ".*"]
        self._conditional = [rule for rule in rules if rule.of != ".*"]
        self._conditional_costs = [self._mask(rule.labels) * cost(rule.rate) for rule in self._conditional]

    def _mask(self, pattern: str) -> Bools:
        return np.array([matches(pattern, label) for label in self.labels], dtype=np.bool_)

    def traits(self, nodes: Nodes) -> list[Traits]:
        """What the rules say about each node."""
        known = self._traits
        found = [known.get(key) for key in zip(nodes.labels, nodes.flags.tolist(), strict=True)]
        if None not in found:
            return found  # type: ignore[return-value]
        if len(known) > _REMEMBERED:
            known.clear()
        return [
            traits or self._remember(label, flag)
            for traits, label, flag in zip(found, nodes.labels, nodes.flags.tolist(), strict=True)
        ]

    def _remember(self, label: str, flag: bool) -> Traits:
        made = self._traits[label, flag] = self._make_traits(label, flag)
        return made

    def _make_traits(self, label: str, flag: bool) -> Traits:
        name = constant(label) if flag else "" if label in self._unlabelled else label
        source, out = self._end_costs(tuple(not matches(rule.source, name) for rule, _ in self._ends))
        target, into = self._end_costs(tuple(not matches(rule.target, name) for rule, _ in self._ends))
        lacks = () if flag else self._signatures.bars(label, self._lexical)
        bars, barred = self._bars(self._impossible(label) if flag else lacks)
        stems = [] if flag else [stem for rule in self._twins if (stem := rule.stem(name))]
        return Traits(
            out,
            into,
            _bits(matches(rule.of, name) for rule in self._conditional),
            _bits(not matches(rule.target, name) for rule in self._conditional),
            _bits(matches(pattern, name) for pattern in self._needy),
            barred,
            flag,
            label == self._required,
            lacks,
            stems[0] if stems else None,
            source,
            target,
            bars,
        )

    def _end_costs(self, broken: tuple[bool, ...]) -> tuple[Floats, list[float]]:
        """[L]: the costs of a node at an end of roles that breaks some of the rules; few combinations occur."""
        if broken not in self._costs:
            costs = np.zeros(len(self.labels))
            for (_, more), is_broken in zip(self._ends, broken, strict=True):
                costs = np.maximum(costs, more) if is_broken else costs
            self._costs[broken] = costs, costs.tolist()
        return self._costs[broken]

    def _bars(self, barred: tuple[str, ...]) -> tuple[Bools, int]:
        """[L]: which edge labels are among these, also as bits."""
        if barred not in self._barred:
            if len(self._barred) > _REMEMBERED:
                self._barred.clear()
            mask = np.array([label in barred for label in self.labels], dtype=np.bool_)
            self._barred[barred] = mask, _bits(mask.tolist())
        return self._barred[barred]

    def _impossible(self, value: str) -> tuple[str, ...]:
        """The edge labels that can't lead to a constant."""
        closed = self._signatures.values
        return tuple(label for label in self.labels if label in closed and fold(value) not in closed[label])

    def prices(self, source: Traits, target: Traits) -> Prices:
        """What rules about their ends say against roles between two nodes; made once for each two kinds of them."""
        rules = source.of & target.bad
        barred = source.barred | target.barred if target.is_constant else 0
        key = id(source.out), id(target.into), rules, barred
        found = self._prices.get(key)
        if found is None:
            if len(self._prices) > _REMEMBERED:
                self._prices.clear()
            costs = np.maximum(source.source_costs, target.target_costs)
            for at, more in enumerate(self._conditional_costs):
                costs = costs + more if rules >> at & 1 else costs
            if barred:
                costs = costs + HARD * (source.bars | target.bars)
            joints = np.where(costs >= cost(self.least_joint), np.inf, costs)
            found = self._prices[key] = Prices(costs, costs.tolist(), joints)
        return found


_BOOKS: dict[tuple[int, int], tuple[Framework, Vocabulary, Rulebook]] = {}


def rulebook(framework: Framework, vocabulary: Vocabulary) -> Rulebook:
    """The rules of a framework for a vocabulary; made once for each two of them."""
    key = id(framework), id(vocabulary)
    known = _BOOKS.get(key)
    if known is None:
        if len(_BOOKS) > 64:
            _BOOKS.clear()
        known = _BOOKS[key] = framework, vocabulary, Rulebook(framework, vocabulary)  # which keeps the ids theirs
    return known[2]


def _bits(flags: Iterable[bool]) -> int:
    return sum(1 << at for at, flag in enumerate(flags) if flag)
