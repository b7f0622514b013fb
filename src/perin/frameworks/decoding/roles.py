"""The roles of a decoded graph and the rules of its framework (:mod:`perin.frameworks.rulebook`).

Here is how to see what breaks a rule, how to join parts by edges that obey, and how to remove what does not obey; how
to choose other roles is in :mod:`~perin.frameworks.decoding.repair`.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from perin.contract.heads import Bools, Ints, Prediction, Scores
from perin.frameworks.decoding.nodes import Nodes
from perin.frameworks.decoding.structure import Structure, best_attributes
from perin.frameworks.rulebook import BARRED, Checks, Floats, Rulebook, Traits

Pair: TypeAlias = tuple[int, int]

_SMALLEST = 1e-9
_LOOKED_AT, _CHUNK = 1024, 64
"""How many pairs are looked at, when parts are joined, as long as one might be better than the best so far: in all, and
then, when none is left, at a time."""
_PASSES = 8


@dataclass
class Faults:
    """What breaks rules."""

    roles: list[tuple[int, int, int]] = field(default_factory=list)
    """Source, target and label of roles that their ends do not allow."""
    crowded: list[tuple[int, int, bool]] = field(default_factory=list)
    """Node, label and direction (whether incoming) of roles of which a node has too many."""
    lacking: list[tuple[int, int]] = field(default_factory=list)
    """Nodes and the numbers of the needs that nothing serves."""
    torn: list[tuple[int, int]] = field(default_factory=list)
    """Nodes that have roles on both sides of a rule about roles apart, and the number of the rule."""

    def __bool__(self) -> bool:
        return bool(self.roles or self.crowded or self.lacking or self.torn)


class RoleChoice:
    """Which pairs of kept nodes have which labels: at first those of free decoding, not yet joined.

    ``labels``: [M, L], of the edges of ``structure``.  ``allowed``: [K, K], the pairs that may have an edge.
    """

    def __init__(
        self,
        prediction: Prediction,
        nodes: Nodes,
        traits: list[Traits],
        book: Rulebook,
        structure: Structure,
        labels: Bools,
        allowed: Bools,
    ) -> None:
        self.prediction, self.book, self.allowed = prediction, book, allowed
        self.flags: list[bool] = nodes.flags.tolist()
        self.traits = traits
        self.keep = structure.keep.tolist()
        self._structure = structure
        self.edges: dict[Pair, list[int]] = {}
        ends = list(map(tuple, structure.edges.tolist()))
        rows, columns = labels.nonzero()
        for row, label in zip(rows.tolist(), columns.tolist(), strict=True):
            self.edges.setdefault(ends[row], []).append(label)

    def find_faults(self, checks: Checks) -> Faults:
        """What breaks the rules that are checked."""
        traits, prices, least = self.traits, self.book.prices, checks.least
        once_out, once_in = checks.once_out, checks.once_in
        marks_out, marks_in = checks.leaving, checks.entering
        faults = Faults()
        leaving, entering = [0] * len(traits), [0] * len(traits)
        for (source, target), labels in self.edges.items():
            first, second = traits[source], traits[target]
            out, into = first.out, second.into
            special = first.of & second.bad or (second.is_constant and (first.barred | second.barred))
            for label in labels:
                priced = out[label] or into[label] or special  # cheaper than asking for the price
                if priced and prices(first, second).as_list[label] > least:
                    faults.roles.append((source, target, label))
                if leaving[source] & once_out[label]:
                    faults.crowded.append((source, label, False))
                if entering[target] & once_in[label]:
                    faults.crowded.append((target, label, True))
                leaving[source] |= marks_out[label]
                entering[target] |= marks_in[label]
        needs = checks.needs
        for node, each in enumerate(traits):
            if each.needs and (lacking := each.needs & needs & ~(leaving[node] | entering[node])) and self.keep[node]:
                faults.lacking.extend((node, at) for at in range(len(self.book.needs)) if lacking >> at & 1)
        for at, sides in enumerate(checks.apart):
            if sides:
                faults.torn.extend((node, at) for node, marks in enumerate(leaving) if marks & sides == sides)
        return faults

    def lacking(self, needs: int) -> list[tuple[int, int]]:
        """The nodes that lack something, of those needs (bits), and the numbers of the needs."""
        lacking = {node: own for node, each in enumerate(self.traits) if (own := each.needs & needs)}
        if not lacking:
            return []
        by_source, by_target = self.book.served[False], self.book.served[True]
        for (source, target), labels in self.edges.items():
            for label in labels:
                if source in lacking:
                    lacking[source] &= ~by_source[label]
                if target in lacking:
                    lacking[target] &= ~by_target[label]
        numbers = range(len(self.book.needs))
        kept = ((node, lack) for node, lack in lacking.items() if lack and self.keep[node])
        return [(node, number) for node, lack in kept for number in numbers if lack >> number & 1]

    def gains(self, pairs: list[Pair], columns: Ints | None = None) -> Floats:
        """[M, L]: what each label of each pair gains over no edge; ``columns``: of these labels only.

        That is ``logit p + log q - log max q`` where p is the probability of an edge and q that of its label, less what
        rules about its ends say against it.
        """
        traits, prices = self.traits, self.book.prices
        sources, targets = np.array(pairs, dtype=np.int64).T
        gains = _relative(self.prediction.edge_labels[sources, targets], self.book, columns)
        gains += odds(self.prediction.presence[sources, targets])[:, None]
        costs = np.array([prices(traits[source], traits[target]).array for source, target in pairs])
        gains -= costs if columns is None else costs[:, columns]
        np.maximum(gains, 2 * BARRED, out=gains)
        allowed = self.allowed[sources, targets]
        if not allowed.all():
            gains[~allowed] = 2 * BARRED
        return gains

    def presence(self, pair: Pair) -> float:
        """The log odds of an edge."""
        return log_odds(float(self.prediction.presence[pair]))

    def absence(self, node: int) -> float:
        """What leaving out a node gains, its edges apart."""
        return -log_odds(float(1 - self.prediction.labels[node, 0]))

    def join(self) -> tuple[bool, bool]:
        """Join parts by the most probable edges that obey; whether any was added, and whether the graph is whole.

        A soft rule may be broken if that costs less than two parts do.  The best edge comes next; a label never adds to
        the odds of its edge, so most pairs need not be looked at to know it.
        """
        least = self.book.least_joint
        if self.book.fixed or least >= 0.5:
            return False, True
        part = self._parts()
        count = len({part[node] for node, kept in enumerate(self.keep) if kept})
        if count < 2:
            return False, True
        joints = _Joints(self, part)
        added = False
        while count > 1 and joints.add_best():
            count, added = count - 1, True
        return added, count < 2

    def _parts(self) -> list[int]:
        """The part of each node, named by one of its nodes."""
        first = list(range(len(self.keep)))

        def find(node: int) -> int:
            while (above := first[node]) != node:
                first[node] = node = first[above]
            return node

        for source, target in self.edges:
            first[find(source)] = find(target)
        return list(map(find, first))

    def prune(self, *, whole: bool) -> None:
        """Remove what breaks hard rules, and parts that must be joined but are not; ``whole``: there are none."""
        for _ in range(_PASSES * len(self.keep) + _PASSES):
            if not self._prune(whole=whole):
                break
            whole = False

    def _prune(self, *, whole: bool) -> bool:
        faults = self.find_faults(self.book.hard_checks)
        if not faults:
            return self._drop_loose(whole=whole)
        if faults.lacking and not (faults.roles or faults.crowded or faults.torn):
            nodes = {node for node, _ in faults.lacking}
            self.drop_nodes({node for node in nodes if not self.traits[node].protected} or nodes)
        for role in faults.roles:
            self.drop_role(*role)
        for node, label, incoming in faults.crowded:
            for pair in self._weaker(node, label, incoming):
                self.drop_role(*pair, label)
        for node, number in faults.torn:
            second = self.book.apart[number][1]
            for (source, target), labels in list(self.edges.items()):
                if source == node:
                    for label in [label for label in labels if second[label]]:
                        self.drop_role(source, target, label)
        return True

    def _weaker(self, node: int, label: int, incoming: bool) -> list[Pair]:
        """All pairs in which a node has a role, but the most probable."""
        presence, scores = self.prediction.presence, self.prediction.edge_labels
        found = [pair for pair, labels in self.edges.items() if pair[incoming] == node and label in labels]
        return sorted(found, key=lambda pair: -presence[pair] * scores[(*pair, label)])[1:]

    def drop_role(self, source: int, target: int, label: int) -> None:
        """Take a role away; a pair that has to have an edge gets another label."""
        labels = self.edges.get((source, target), [])
        if label not in labels:
            return
        if self.book.fixed and len(labels) == 1:
            labels[0] = self._other_label(source, target)
            return
        labels.remove(label)
        if all(self.book.is_marker[other] for other in labels):
            del self.edges[source, target]

    def _other_label(self, source: int, target: int) -> int:
        """The most probable label that nothing forbids, for a pair that has to stay."""
        beside = self.own_labels(source, but=target)
        barred = beside & (self.book.once[False] > 0)
        for first, second, _ in self.book.apart:
            barred |= (second & (beside & first).any()) | (first & (beside & second).any())
        return int(np.where(barred, -np.inf, self.gains([(source, target)])[0]).argmax())

    def own_labels(self, node: int, but: int = -1) -> Bools:
        """[L]: the labels of the roles that leave a node, those to one node apart."""
        own = np.zeros(len(self.book.labels), dtype=np.bool_)
        for (source, target), labels in self.edges.items():
            if source == node and target != but:
                own[labels] = True
        return own

    def drop_nodes(self, nodes: Iterable[int]) -> None:
        """Leave out nodes with their edges."""
        for node in nodes:
            self.keep[node] = False
        self.edges = {pair: own for pair, own in self.edges.items() if self.keep[pair[0]] and self.keep[pair[1]]}

    def _drop_loose(self, *, whole: bool) -> bool:
        """Leave out constants without an owner and, where graphs are connected, all parts but the largest."""
        loose: set[int] = set()
        if self.book.owned:
            owned = {target for _, target in self.edges}
            loose = {node for node, flag in enumerate(self.flags) if flag and self.keep[node] and node not in owned}
        if self.book.least_joint <= 0 and not self.book.fixed and not whole:
            worth: dict[int, float] = defaultdict(float)
            part = self._parts()
            for node, kept in enumerate(self.keep):
                if kept:
                    worth[part[node]] += 1e3 if self.traits[node].protected else 1
            best = max(worth, key=lambda each: (worth[each], -part.index(each)), default=-1)
            loose |= {node for node, kept in enumerate(self.keep) if kept and part[node] != best}
        if loose:
            self.drop_nodes(loose)
        return bool(loose)

    def arrays(self) -> tuple[Structure, Bools]:
        """The structure of what was chosen, and its labels [M, L]."""
        ends = sorted(self.edges)
        pairs = np.array(ends, dtype=np.int64).reshape(-1, 2)
        labels = np.zeros((len(ends), len(self.book.labels)), dtype=np.bool_)
        rows = [row for row, pair in enumerate(ends) for _ in self.edges[pair]]
        labels[rows, [label for pair in ends for label in self.edges[pair]]] = True
        attributes = self._structure.attributes
        if not self.book.fixed:
            attributes = best_attributes(self.prediction, pairs)
        return Structure(np.array(self.keep, dtype=np.bool_), pairs, attributes, self._structure.anchors), labels


class _Joints:
    """The edges that could join parts, the best first.

    ``part``: of each node the part that it belongs to, named by one of its nodes.
    """

    def __init__(self, choice: RoleChoice, part: list[int]) -> None:
        self._choice, self._part = choice, part
        free = choice.keep
        if choice.book.owned:
            free = [kept and not flag for kept, flag in zip(choice.keep, choice.flags, strict=True)]
        parts = np.array(part)
        possible = (parts[:, None] != parts) & choice.allowed
        if choice.book.least_joint > 0:
            possible &= choice.prediction.presence >= choice.book.least_joint
        if closed := [node for node, is_free in enumerate(free) if not is_free]:
            possible[:, closed] = possible[closed] = False
        sources, targets = possible.nonzero()
        presence = choice.prediction.presence[sources, targets]
        order = (-presence).argsort(kind="stable")
        self._sources: list[int] = sources[order].tolist()
        self._targets: list[int] = targets[order].tolist()
        self._chances: list[float] = presence[order].tolist()
        self._seen = 0
        self._heap: list[tuple[float, int, int]] = []
        self._leaving: dict[int, set[int]] = defaultdict(set)
        self._entering: dict[int, set[int]] = defaultdict(set)
        self._use(choice.edges)

    def _use(self, edges: Mapping[Pair, list[int]]) -> None:
        """Remember which unique roles are taken."""
        once_out, once_in = self._choice.book.once_out, self._choice.book.once_in
        for (source, target), labels in edges.items():
            for label in labels:
                if once_out[label]:
                    self._leaving[source].add(label)
                if once_in[label]:
                    self._entering[target].add(label)

    def add_best(self) -> bool:
        """Join two parts by the best edge between any two; whether there is one."""
        while (found := self._best()) is not None:
            _, rank, label = found
            source, target = self._sources[rank], self._targets[rank]
            old, new = self._part[target], self._part[source]
            if old == new:
                continue
            if label in self._leaving[source] or label in self._entering[target]:
                self._look_at(rank)
                continue
            self._choice.edges.setdefault((source, target), []).append(label)
            self._use({(source, target): [label]})
            self._part = [new if each == old else each for each in self._part]
            return True
        return False

    def _best(self) -> tuple[float, int, int] | None:
        """Minus the gain of the best edge, the rank of its pair, and its label; pairs are looked at as needed."""
        heap, part, sources, targets, chances = self._heap, self._part, self._sources, self._targets, self._chances
        enough = _LOOKED_AT if heap else max(_LOOKED_AT, self._seen + _CHUNK)
        while (rank := self._seen) < len(chances):
            if heap and (rank >= enough or -heap[0][0] >= log_odds(chances[rank])):
                break
            if part[sources[rank]] != part[targets[rank]]:
                self._look_at(rank)
            self._seen += 1
        return heappop(heap) if heap else None

    def _look_at(self, rank: int) -> None:
        """Put the best label of a pair on the heap: the most probable one if no rule is against it."""
        choice, book = self._choice, self._choice.book
        source, target = self._sources[rank], self._targets[rank]
        scores = choice.prediction.edge_labels[source, target]
        used = self._leaving[source] | self._entering[target]
        prices = book.prices(choice.traits[source], choice.traits[target])
        gain, label = log_odds(self._chances[rank]), int(scores.argmax())
        if label in used or book.is_marker[label] or prices.as_list[label]:
            gains = _relative(scores[None], book)[0]
            gains += gain - prices.joints
            gains[list(used)] = -np.inf
            label = int(gains.argmax())
            gain = float(gains[label])
        if gain > BARRED:
            heappush(self._heap, (-gain, rank, label))


def _relative(scores: Scores, book: Rulebook, columns: Ints | None = None) -> Floats:
    """[M, L]: how much less probable, as a logarithm, each label is than the best one of its pair; no markers."""
    scores = np.maximum(scores, _SMALLEST)
    if book.has_markers:
        scores[:, book.markers] = _SMALLEST
    best = scores.max(axis=1, keepdims=True)
    if columns is not None:
        scores = scores[:, columns]
    found: Floats = np.log(scores / best, dtype=np.float64)
    if book.has_markers:
        found[:, book.markers if columns is None else book.markers[columns]] = 2 * BARRED
    return found


def odds(probabilities: NDArray[np.float32]) -> Floats:
    """The logarithm of the odds, finite."""
    clipped = np.minimum(np.maximum(probabilities, _SMALLEST, dtype=np.float64), 1 - _SMALLEST)
    found: Floats = np.log(clipped) - np.log1p(-clipped)
    return found


def log_odds(probability: float) -> float:
    """The same for one probability."""
    clipped = min(max(probability, _SMALLEST), 1 - _SMALLEST)
    return math.log(clipped) - math.log1p(-clipped)
