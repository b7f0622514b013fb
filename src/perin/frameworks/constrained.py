"""The most probable graph that obeys its framework's rules (:mod:`perin.graphs.constraints`).

Free decoding comes first.  If its graph breaks no rule, it is the result.  Otherwise roles are chosen again, block by
block, each block exactly (a maximum-weight assignment): which constants are whose; who has what each node needs (a
quantifier its ``BV``, a name its entity, a concept its box); which labels the other edges of each source have; what
joins the parts.  An edge of probability p and label probability q gains ``logit p + log q - log max q``; a node is left
out at the loss of its own odds and those of its edges.  Breaking a soft rule costs ``-log rate``.  What no block could
mend is removed until the graph obeys.  All blocks are polynomial, so no limit on time is needed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from perin.contract.arrays import Bools, Ints
from perin.contract.prediction import Prediction
from perin.frameworks.decoding.nodes import Nodes
from perin.frameworks.decoding.structure import Structure, best_attributes, components
from perin.frameworks.vocabulary import Vocabulary
from perin.graphs.constraints import Apart, Constraint, Needs, NoTwins, Roles, Unique, matches
from perin.graphs.graph import Property
from perin.labels.space import fold
from perin.lazy import cached_property

Floats = NDArray[np.float64]

_SMALLEST = 1e-9
_HARD = 1e4
"""The cost of breaking a hard rule, more than everything else in a graph."""
_BARRED = -_HARD / 2
_OWNERS = 5
"""How many owners are considered for a constant, and how many labels for each."""
_PASSES = 8


@dataclass(frozen=True)
class Traits:
    """What rules say about nodes of one label; costs are 0 where nothing speaks against it.  L edge labels."""

    source: Floats
    """[L]: the cost of a role of each label that leaves such a node."""
    target: Floats
    """[L]: the cost of a role of each label that leads to it."""
    of: Bools
    """[P]: the conditional rules that speak of such a source."""
    bad: Bools
    """[P]: the conditional rules that such a target breaks."""
    needs: Bools
    """[R]: the needs that it has."""


class Rulebook:
    """Rules in terms of the edge labels of a vocabulary, and the signatures of its treebank."""

    def __init__(self, rules: tuple[Constraint, ...], vocabulary: Vocabulary, lexical: str | None) -> None:
        self.labels = labels = tuple(label or "" for label in vocabulary.edge_labels)
        self._signatures, self._lexical = vocabulary.signatures, lexical
        self.once = {True: np.zeros(len(labels)), False: np.zeros(len(labels))}
        self.needs: list[tuple[Needs, Bools]] = []
        self.apart: list[tuple[Bools, Bools, float]] = []
        self.twins: list[NoTwins] = []
        self._roles: list[tuple[Roles, Bools]] = []
        self._pairs: list[tuple[Roles, Bools]] = []
        for rule in rules:
            if isinstance(rule, Unique):
                costs = self.once[rule.incoming]
                costs[:] = np.maximum(costs, np.where(self._mask(rule.labels), cost(rule.rate), 0.0))
            elif isinstance(rule, Needs):
                self.needs.append((rule, self._mask(rule.labels)))
            elif isinstance(rule, Apart):
                self.apart.append((self._mask(rule.first), self._mask(rule.second), cost(rule.rate)))
            elif isinstance(rule, NoTwins):
                self.twins.append(rule)
            elif isinstance(rule, Roles):
                (self._roles if rule.of == ".*" else self._pairs).append((rule, self._mask(rule.labels)))
        self.pair_costs = np.array([mask * cost(rule.rate) for rule, mask in self._pairs]).reshape(-1, len(labels))
        self._traits: dict[str, Traits] = {}
        self._bars: dict[str, tuple[str, ...]] = {}

    def _mask(self, pattern: str) -> Bools:
        return np.array([matches(pattern, label) for label in self.labels], dtype=np.bool_)

    def traits(self, label: str) -> Traits:
        """What the rules say about nodes of a label."""
        found = self._traits.get(label)
        if found is None:
            if len(self._traits) > 20_000:
                self._traits.clear()
            found = self._traits[label] = self._new_traits(label)
        return found

    def bars(self, label: str) -> tuple[str, ...]:
        """The properties that nodes of a label can't have, as their treebank says."""
        found = self._bars.get(label)
        if found is None:
            if len(self._bars) > 20_000:
                self._bars.clear()
            found = self._bars[label] = self._signatures.bars(label, self._lexical)
        return found

    def possible(self, label: str, properties: tuple[Property, ...]) -> tuple[Property, ...]:
        """The properties that a node of this label can have."""
        barred = self.bars(label) if properties else ()
        return tuple(pair for pair in properties if pair.name not in barred) if barred else properties

    def barred(self, label: str) -> Bools:
        """[L]: the edge labels that can't lead from a node of this label to a constant."""
        return np.isin(self.labels, self.bars(label))

    def impossible(self, value: str) -> Bools:
        """[L]: the edge labels that can't lead to this constant."""
        closed = self._signatures.values
        return np.array([fold(value) not in closed[label] if label in closed else False for label in self.labels])

    def _new_traits(self, label: str) -> Traits:
        source, target = np.zeros((2, len(self.labels)))
        for rule, mask in self._roles:
            if not matches(rule.source, label):
                source = np.maximum(source, mask * cost(rule.rate))
            if not matches(rule.target, label):
                target = np.maximum(target, mask * cost(rule.rate))
        return Traits(
            source,
            target,
            np.array([matches(rule.of, label) for rule, _ in self._pairs], dtype=np.bool_),
            np.array([not matches(rule.target, label) for rule, _ in self._pairs], dtype=np.bool_),
            np.array([matches(rule.nodes, label) for rule, _ in self.needs], dtype=np.bool_),
        )


@lru_cache(maxsize=64)
def rulebook(rules: tuple[Constraint, ...], vocabulary: Vocabulary, lexical: str | None) -> Rulebook:
    """The rules in terms of a vocabulary; ``lexical``: the pattern of labels made from words."""
    return Rulebook(rules, vocabulary, lexical)


def cost(rate: float) -> float:
    """What breaking a rule costs that gold graphs break at this rate."""
    return _HARD if rate <= 0 else float(-np.log(rate))


def without_twins(
    prediction: Prediction, nodes: Nodes, names: Sequence[str], book: Rulebook
) -> tuple[Prediction, Nodes]:
    """Nodes that are one reading each: twins of a node (see :class:`NoTwins`) become part of it.

    A twin goes if that it exists is less probable than gold's rate of twins allows; its edges become those of the node
    that stays, where they are more probable.
    """
    gone: dict[int, int] = {}
    for rule in book.twins:
        first: dict[tuple[object, str], int] = {}
        exists = _odds(1 - prediction.labels[:, 0])
        for node in np.argsort(prediction.labels[:, 0], kind="stable").tolist():
            stem = None if nodes.flags[node] or node in gone else rule.stem(names[node])
            if stem:
                place = nodes.anchors[node].tobytes() if nodes.anchors is not None else int(prediction.tokens[node])
                kept = first.setdefault((place, stem), node)
                if kept != node and exists[node] < cost(rule.rate):
                    gone[node] = kept
    return (prediction, nodes) if not gone else merged(prediction, nodes, gone)


def merged(prediction: Prediction, nodes: Nodes, gone: Mapping[int, int]) -> tuple[Prediction, Nodes]:
    """Prediction and nodes without those that are gone, each of which becomes part of another.

    An edge of the node that stays is that of the node that goes where this is more probable.
    """
    presence, labels = prediction.presence.copy(), prediction.edge_labels.copy()
    tops = None if prediction.tops is None else prediction.tops.copy()
    attributes = None if prediction.edge_attributes is None else prediction.edge_attributes.copy()
    for twin, kept in gone.items():
        if tops is not None:
            tops[kept] += tops[twin]
        better = presence[twin] > presence[kept]
        better[[twin, kept]] = False
        back = presence[:, twin] > presence[:, kept]
        back[[twin, kept]] = False
        for scores in (presence, labels, attributes):
            if scores is not None:
                scores[kept, better] = scores[twin, better]
                scores[back, kept] = scores[back, twin]
    stay = np.array([node for node in range(len(prediction)) if node not in gone])
    pairs = np.ix_(stay, stay)
    smaller = replace(
        prediction,
        labels=prediction.labels[stay],
        accepted=prediction.accepted[stay],
        presence=presence[pairs],
        edge_labels=labels[pairs],
        anchors=None if prediction.anchors is None else prediction.anchors[stay],
        edge_attributes=None if attributes is None else attributes[pairs],
        properties=None if prediction.properties is None else prediction.properties[stay],
        property_classes={name: scores[stay] for name, scores in prediction.property_classes.items()},
        tops=None if tops is None else tops[stay],
    )
    left = Nodes(
        [nodes.labels[node] for node in stay],
        [nodes.probabilities[node] for node in stay],
        nodes.flags[stay],
        None if nodes.anchors is None else nodes.anchors[stay],
    )
    return smaller, left


@dataclass(frozen=True)
class Shape:
    """What constrained decoding has to know of a framework besides its rules."""

    owned: bool
    """Flagged nodes are leaves with exactly one parent."""
    multilabel: bool
    markers: Bools
    """[L]: labels that only stand beside another."""
    least_joint: float
    allowed: Bools
    """[K, K]: the pairs that may have an edge."""
    protected: Bools
    """[K]: the nodes that are never left out."""
    fixed: bool = False
    """The edges are a tree that has to stay; only their labels are chosen."""


def _none() -> Ints:
    return np.zeros(0, dtype=np.int64)


@dataclass(frozen=True)
class Fault:
    """What breaks a rule: some labels (columns) of some pairs (rows), or nodes that lack something."""

    rows: Ints = field(default_factory=_none)
    columns: Ints = field(default_factory=_none)
    nodes: Ints = field(default_factory=_none)


class Choice:
    """Roles of one prediction: which pairs of kept nodes have which labels."""

    def __init__(
        self,
        prediction: Prediction,
        nodes: Nodes,
        names: Sequence[str],
        book: Rulebook,
        shape: Shape,
        structure: Structure,
        labels: Bools,
    ) -> None:
        self._prediction = prediction
        self._book = book
        self._shape = shape
        self._structure = structure
        self.keep = structure.keep.copy()
        self.pairs, self.labels = structure.edges, labels
        self._flagged = nodes.flags
        traits = [book.traits(name) for name in names]
        self._source = np.array([each.source for each in traits])
        self._target = np.array([each.target for each in traits])
        self._of = np.array([each.of for each in traits])
        self._bad = np.array([each.bad for each in traits])
        self._needs = np.array([each.needs for each in traits])
        self._barred = np.zeros((len(names), len(book.labels)), dtype=np.bool_)
        for node, (label, flag) in enumerate(zip(nodes.labels, nodes.flags.tolist(), strict=True)):
            self._barred[node] = book.impossible(label) if flag else book.barred(label)

    def costs(self, sources: Ints, targets: Ints) -> Floats:
        """[M, L]: what rules about its ends say against each label of M pairs."""
        found: Floats = self._source[sources] + self._target[targets]
        if self._book.pair_costs.size:
            found = found + (self._of[sources] & self._bad[targets]) @ self._book.pair_costs
        constant = self._flagged[targets]
        found[constant] += _HARD * (self._barred[sources[constant]] | self._barred[targets[constant]])
        return found

    def obeys(self, *, hard: bool = False) -> bool:
        """Whether no rule is broken (``hard``: no hard one)."""
        return not any(True for _ in self._broken(hard=hard))

    def _broken(self, *, hard: bool) -> Iterator[Fault]:
        """What breaks each rule."""
        least = _HARD if hard else 1e-9
        sources, targets = self.pairs.T
        rows, columns = np.nonzero(self.labels)
        against = self.costs(sources, targets)[rows, columns] >= least
        if against.any():
            yield Fault(rows[against], columns[against])
        for incoming, ends in ((False, sources), (True, targets)):
            once = self._book.once[incoming]
            counted = once[columns] >= least
            if counted.any():
                slots = ends[rows[counted]] * len(once) + columns[counted]
                order = np.argsort(-self._strength(rows[counted], columns[counted]), kind="stable")
                _, first = np.unique(slots[order], return_index=True)
                if len(first) < len(slots):
                    spare = np.delete(order, first)
                    yield Fault(rows[counted][spare], columns[counted][spare])
        for number, (rule, mask) in enumerate(self._book.needs):
            if cost(rule.rate) >= least:
                served = np.zeros(len(self.keep), dtype=np.bool_)
                served[(targets if rule.incoming else sources)[rows[mask[columns]]]] = True
                lacking = self._needs[:, number] & self.keep & ~served
                if lacking.any():
                    yield Fault(nodes=np.flatnonzero(lacking))
        for first_mask, second_mask, price in self._book.apart:
            if price >= least:
                one, other = np.zeros((2, len(self.keep)), dtype=np.bool_)
                one[sources[rows[first_mask[columns]]]] = True
                other[sources[rows[second_mask[columns]]]] = True
                both = one & other
                if both.any():
                    bad = both[sources[rows]] & second_mask[columns]
                    yield Fault(rows[bad], columns[bad])

    def _strength(self, rows: Ints, columns: Ints) -> Floats:
        sources, targets = self.pairs[rows].T
        scores = self._prediction.presence[sources, targets] * self._prediction.edge_labels[sources, targets, columns]
        strength: Floats = scores.astype(np.float64)
        return strength

    @cached_property
    def _presence(self) -> Floats:
        """[K, K]: log odds."""
        return _odds(self._prediction.presence)

    @cached_property
    def _absence(self) -> Floats:
        """[K]: what leaving out a node gains, its edges apart."""
        return -_odds(1 - self._prediction.labels[:, 0])

    def gains(self, sources: Ints, targets: Ints) -> Floats:
        """[M, L]: what each label of each pair gains over no edge."""
        scores = np.log(np.clip(self._prediction.edge_labels[sources, targets].astype(np.float64), _SMALLEST, 1))
        plain = np.where(self._shape.markers, -np.inf, scores)
        gains = self._presence[sources, targets][:, None] + plain - plain.max(axis=1, keepdims=True)
        gains = gains - self.costs(sources, targets)
        return np.where(self._shape.allowed[sources, targets][:, None], np.maximum(gains, 2 * _BARRED), 2 * _BARRED)

    def mend(self) -> None:
        """Choose all roles again so that they obey, and remove what still does not."""
        chosen: dict[tuple[int, int], int] = {}
        if self._shape.fixed:
            self._label_sources(chosen, self.pairs)
        else:
            if self._shape.owned:
                self._own_constants(chosen)
            for number, (rule, mask) in enumerate(self._book.needs):
                if mask.any() and (self._book.once[rule.incoming][mask] > 0).all():
                    self._serve(chosen, number, rule, mask)
            self._label_sources(chosen, self._candidates(chosen))
            self._join(chosen)
        self._set(chosen)
        for _ in range(_PASSES * len(self.keep) + _PASSES):
            if not self._prune():
                break

    def _serve(self, chosen: dict[tuple[int, int], int], number: int, rule: Needs, mask: Bools) -> None:
        """Give each node that needs a role of some labels exactly one, or leave it out."""
        flags = self._flagged if self._shape.owned else np.zeros(len(self.keep), dtype=np.bool_)
        lacking = self._needs[:, number] & self.keep & ~flags
        lacking[[pair[rule.incoming] for pair, label in chosen.items() if mask[label]]] = False
        rows = np.flatnonzero(lacking)
        partners = np.flatnonzero(self.keep & ~flags)
        if not len(rows) or not len(partners):
            return
        labels = np.flatnonzero(mask)
        first, second = np.repeat(rows, len(partners)), np.tile(partners, len(rows))
        ends = (second, first) if rule.incoming else (first, second)
        gains = self.gains(*ends)[:, labels]
        best = labels[gains.argmax(axis=1)].reshape(len(rows), -1)
        gains = gains.max(axis=1).reshape(len(rows), -1)
        gains[rows[:, None] == partners] = 2 * _BARRED
        top = gains.max(axis=1, keepdims=True)
        gains -= np.where(top > _BARRED, np.minimum(top, 0.0), 0.0)  # the best partner is one in any case
        lacks = np.full(len(rows), -cost(rule.rate))
        leaves = np.where(self._shape.protected[rows], 2 * _BARRED, self._absence[rows] - self._ties(rows, mask))
        without = np.maximum(lacks, leaves)
        again = self._book.once[not rule.incoming][labels].max()
        if again > 0:
            alone = np.full((len(rows), len(rows)), 4 * _BARRED)
            np.fill_diagonal(alone, without)
            found = linear_sum_assignment(np.concatenate([gains, gains - again, alone], axis=1), maximize=True)[1]
            columns = np.where(found < 2 * len(partners), found % len(partners), -1)
        else:
            columns = np.where(gains.max(axis=1) >= without, gains.argmax(axis=1), -1)
        for row, column in enumerate(columns.tolist()):
            if column >= 0 and gains[row, column] > _BARRED:
                pair = int(rows[row]), int(partners[column])
                chosen[pair[::-1] if rule.incoming else pair] = int(best[row, column])
            elif leaves[row] >= lacks[row] and not self._shape.protected[rows[row]]:
                self.keep[rows[row]] = False

    def _ties(self, nodes: Ints, mask: Bools) -> Floats:
        """[N]: what the edges of nodes are worth that free decoding chose, those with a label of the mask apart."""
        sources, targets = self.pairs.T
        worth = np.maximum(self._presence[sources, targets], 0.0) * ~(self.labels & mask).any(axis=1)
        total = np.bincount(sources, worth, len(self.keep)) + np.bincount(targets, worth, len(self.keep))
        ties: Floats = total[nodes].astype(np.float64)
        return ties

    def _own_constants(self, chosen: dict[tuple[int, int], int]) -> None:
        """Give each constant an owner and a label: at most one constant for each owner and label, or leave it out."""
        constants = np.flatnonzero(self._flagged & self.keep)
        owners = np.flatnonzero(~self._flagged & self.keep)
        if not len(constants):
            return
        if not len(owners):
            self.keep[constants] = False
            return
        few = min(_OWNERS, len(owners))
        near = owners[np.argsort(-self._prediction.presence[np.ix_(owners, constants)], axis=0, kind="stable")[:few]].T
        gains = self.gains(near.ravel(), np.repeat(constants, few)).reshape(len(constants), few, -1)
        gains -= self._presence[near[:, 0], constants][:, None, None]  # the best owner is one in any case
        barred: set[tuple[int, int]] = set()
        for _ in range(_PASSES):
            found = self._assigned_constants(constants, near, gains, barred)
            clashes = self._clashes(found)
            if not clashes:
                break
            barred |= clashes
        for constant, entry in zip(constants.tolist(), found, strict=True):
            if entry is None:
                self.keep[constant] = False
            else:
                chosen[entry[0], constant] = entry[1]

    def _assigned_constants(
        self, constants: Ints, near: Ints, gains: Floats, barred: set[tuple[int, int]]
    ) -> list[tuple[int, int, float] | None]:
        slots: dict[tuple[int, int], int] = {}
        cells: list[tuple[int, int, float]] = []
        once = self._book.once[False]
        for row in range(len(constants)):
            ranks = np.argsort(-gains[row], axis=1, kind="stable")[:, :_OWNERS]
            for place, owner in enumerate(near[row].tolist()):
                for label in ranks[place].tolist():
                    gain = float(gains[row, place, label])
                    if gain > _BARRED and (owner, label) not in barred:
                        slot = (owner, label) if once[label] > 0 else (owner, -1 - row * len(once) - label)
                        cells.append((row, slots.setdefault(slot, len(slots)), gain))
        again = [once[label] if label >= 0 else _HARD for _, label in slots]
        count, width = len(constants), len(slots)
        table = np.full((count, 2 * width + count), 4 * _BARRED)
        for row, column, gain in cells:
            table[row, column] = gain
            table[row, width + column] = gain - again[column]
        leaves = np.where(self._shape.protected[constants], 2 * _BARRED, self._absence[constants])
        table[np.arange(count), 2 * width + np.arange(count)] = leaves
        names = [(owner, label if label >= 0 else (-1 - label) % len(once)) for owner, label in slots]
        found: list[tuple[int, int, float] | None] = []
        for row, column in enumerate(linear_sum_assignment(table, maximize=True)[1].tolist()):
            inside = column < 2 * width and table[row, column] > _BARRED
            found.append((*names[column % width], float(table[row, column])) if inside else None)
        return found

    def _clashes(self, found: list[tuple[int, int, float] | None]) -> set[tuple[int, int]]:
        """The slots of the weaker kind of role where an owner has two that must be apart."""
        clashes: set[tuple[int, int]] = set()
        for first, second, _ in self._book.apart:
            by_owner: dict[int, list[float]] = {}
            for entry in found:
                if entry is not None:
                    owner, label, gain = entry
                    sums = by_owner.setdefault(owner, [-np.inf, -np.inf])
                    for side, mask in enumerate((first, second)):
                        if mask[label]:
                            sums[side] = max(sums[side], gain)
            for owner, (one, other) in by_owner.items():
                if one > -np.inf and other > -np.inf:
                    clashes |= {(owner, label) for label in np.flatnonzero(second if one >= other else first).tolist()}
        return clashes

    def _candidates(self, chosen: dict[tuple[int, int], int]) -> Ints:
        """[M, 2]: the other pairs that free decoding would link, without constants where these have owners."""
        likely = (self._prediction.presence >= 0.5) & self._shape.allowed & self.keep & self.keep[:, None]
        if self._shape.owned:
            likely &= ~self._flagged & ~self._flagged[:, None]
        for source, target in chosen:
            likely[source, target] = False
        return np.argwhere(likely)

    def _label_sources(self, chosen: dict[tuple[int, int], int], ends: Ints) -> None:
        """Choose the labels of the other pairs of each source, or no edge.  ``ends``: [M, 2]."""
        if not len(ends):
            return
        gains = self.gains(*ends.T)
        for (source, target), label in chosen.items():
            self._use(gains, ends, source, target, label)
        labels = gains.argmax(axis=1)
        once = self._book.once[False]
        slots = ends[:, 0] * len(once) + labels
        _, place, counts = np.unique(slots, return_inverse=True, return_counts=True)
        crowded = (counts[place] > 1) & (once[labels] > 0)
        unsure = np.isin(ends[:, 0], ends[crowded, 0])
        value = gains[np.arange(len(ends)), labels]
        for row in np.flatnonzero(~unsure & ((value >= 0) | self._shape.fixed)).tolist():
            chosen[int(ends[row, 0]), int(ends[row, 1])] = int(labels[row])
        for source in np.unique(ends[unsure, 0]).tolist():
            rows = np.flatnonzero(ends[:, 0] == source)
            for row, label in zip(rows.tolist(), self._labelled(gains[rows]), strict=True):
                if label >= 0:
                    chosen[source, int(ends[row, 1])] = label

    def _use(self, gains: Floats, ends: Ints, source: int, target: int, label: int) -> None:
        """Make other pairs pay for a label that a chosen role uses already."""
        if (again := self._book.once[False][label]) > 0:
            gains[ends[:, 0] == source, label] -= again
        if (again := self._book.once[True][label]) > 0:
            gains[ends[:, 1] == target, label] -= again

    def _labelled(self, gains: Floats) -> list[int]:
        """The labels of all edges of a source, -1 for no edge; labels that occur once are assigned."""
        once = self._book.once[False]
        unique = np.flatnonzero(once > 0)
        free = np.where(once > 0, 4 * _BARRED, gains)
        count = len(gains)
        other = free.argmax(axis=1)
        alone = np.full((count, count), 8 * _BARRED)
        none = 3 * _BARRED if self._shape.fixed else 0.0
        np.fill_diagonal(alone, np.maximum(free.max(axis=1), none))
        table = np.concatenate([gains[:, unique], gains[:, unique] - once[unique], alone], axis=1)
        found = []
        for row, column in enumerate(linear_sum_assignment(table, maximize=True)[1].tolist()):
            if column < 2 * len(unique):
                found.append(int(unique[column % len(unique)]))
            else:
                found.append(int(other[row]) if free[row, other[row]] >= none else -1)
        return found

    def _join(self, chosen: dict[tuple[int, int], int]) -> None:
        """Join parts by the most probable edges that obey; leave out what can't be joined but must be.

        A soft rule may be broken if that costs less than two parts do; how sure a label is does not count.
        """
        if self._shape.least_joint >= 0.5:
            return
        size = len(self.keep)
        edges = np.zeros((size, size), dtype=np.bool_)
        for source, target in chosen:
            edges[source, target] = True
        part = components(edges)
        parts = len(np.unique(part[self.keep]))
        if parts < 2:
            return
        outside = ~self.keep | (self._flagged if self._shape.owned else False)
        possible = (part[:, None] != part) & self._shape.allowed & ~outside & ~outside[:, None]
        possible &= self._prediction.presence >= self._shape.least_joint
        pairs = np.argwhere(possible)
        apart = cost(self._shape.least_joint)
        used = {(source, label, False) for (source, _), label in chosen.items()}
        used |= {(target, label, True) for (_, target), label in chosen.items()}
        gains = self.gains(*pairs.T)
        rows, labels = np.nonzero((gains > _BARRED) & (self.costs(*pairs.T) < apart))
        order = np.argsort(-gains[rows, labels], kind="stable")
        for row, label in zip(rows[order].tolist(), labels[order].tolist(), strict=True):
            source, target = pairs[row].tolist()
            if part[source] == part[target]:
                continue
            once_out, once_in = self._book.once[False][label], self._book.once[True][label]
            if (once_out and (source, label, False) in used) or (once_in and (target, label, True) in used):
                continue
            chosen[source, target] = label
            used |= {(source, label, False), (target, label, True)}
            part[part == part[target]] = part[source]
            parts -= 1
            if parts < 2:
                return

    def _set(self, chosen: dict[tuple[int, int], int]) -> None:
        pairs = sorted(pair for pair in chosen if self.keep[pair[0]] and self.keep[pair[1]])
        self.pairs = np.array(pairs, dtype=np.int64).reshape(-1, 2)
        self.labels = np.zeros((len(pairs), len(self._book.labels)), dtype=np.bool_)
        self.labels[np.arange(len(pairs)), [chosen[pair] for pair in pairs]] = True
        if self._shape.multilabel and len(pairs):
            self._add_labels()

    def _add_labels(self) -> None:
        """Further labels of p >= .5 where they break no rule."""
        sources, targets = self.pairs.T
        likely = (self._prediction.edge_labels[sources, targets] >= 0.5) & ~self.labels
        likely &= self.costs(sources, targets) == 0
        for row, label in np.argwhere(likely).tolist():
            taken = self.labels[:, label]
            out = self._book.once[False][label] and taken[sources == sources[row]].any()
            into = self._book.once[True][label] and taken[targets == targets[row]].any()
            if not out and not into and not self._clash(row, label):
                self.labels[row, label] = True

    def _clash(self, row: int, label: int) -> bool:
        own = self.labels[self.pairs[:, 0] == self.pairs[row, 0]].any(axis=0)
        return any(
            (first[label] and (own & second).any()) or (second[label] and (own & first).any())
            for first, second, _ in self._book.apart
        )

    def _prune(self) -> bool:
        """Remove what breaks a hard rule first, and parts that must be joined but are not; whether there was any."""
        fault = next(self._broken(hard=True), None)
        if fault is None:
            return self._drop_loose()
        if len(fault.nodes):
            self._drop_nodes(fault.nodes)
        else:
            self._drop_labels(fault.rows, fault.columns)
        return True

    def _drop_labels(self, rows: Ints, columns: Ints) -> None:
        if self._shape.fixed:
            for row in np.unique(rows).tolist():
                self._relabel(row)
            return
        self.labels[rows, columns] = False
        bare = ~(self.labels & ~self._shape.markers).any(axis=1)
        self.pairs, self.labels = self.pairs[~bare], self.labels[~bare]

    def _relabel(self, row: int) -> None:
        """Give a pair that has to stay the most probable label that nothing forbids."""
        source = self.pairs[row, 0]
        beside = self.labels[(self.pairs[:, 0] == source) & (np.arange(len(self.pairs)) != row)].any(axis=0)
        barred = beside & (self._book.once[False] > 0)
        for first, second, _ in self._book.apart:
            barred |= (second & (beside & first).any()) | (first & (beside & second).any())
        gains = np.where(barred, -np.inf, self.gains(*self.pairs[row][:, None])[0])
        self.labels[row] = False
        self.labels[row, gains.argmax()] = True

    def _drop_nodes(self, nodes: Ints) -> None:
        removable = nodes[~self._shape.protected[nodes]]
        self.keep[removable if len(removable) else nodes] = False
        inside = self.keep[self.pairs].all(axis=1)
        self.pairs, self.labels = self.pairs[inside], self.labels[inside]

    def _drop_loose(self) -> bool:
        """Leave out constants without an owner and, where graphs are connected, all parts but the most probable."""
        edges = np.zeros((len(self.keep), len(self.keep)), dtype=np.bool_)
        edges[self.pairs[:, 0], self.pairs[:, 1]] = True
        loose = np.zeros(len(self.keep), dtype=np.bool_)
        if self._shape.owned:
            loose = self.keep & self._flagged & ~edges.any(axis=0)
        if self._shape.least_joint <= 0 and not self._shape.fixed:
            part = components(edges)
            worth = np.bincount(part, np.where(self.keep, 1 + 1e3 * self._shape.protected, 0.0))
            loose |= self.keep & (part != worth.argmax())
        if not loose.any():
            return False
        self.keep &= ~loose
        inside = self.keep[self.pairs].all(axis=1)
        self.pairs, self.labels = self.pairs[inside], self.labels[inside]
        return True

    def structure(self) -> Structure:
        """The structure of what was chosen."""
        attributes = self._structure.attributes
        if not self._shape.fixed:
            attributes = best_attributes(self._prediction, self.pairs)
        return Structure(self.keep, self.pairs, attributes, self._structure.anchors)


def _odds(probabilities: NDArray[np.float32]) -> Floats:
    clipped = np.clip(probabilities.astype(np.float64), _SMALLEST, 1 - _SMALLEST)
    odds: Floats = np.log(clipped) - np.log1p(-clipped)
    return odds
