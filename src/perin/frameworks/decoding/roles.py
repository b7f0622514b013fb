"""The roles of a decoded graph and the rules of its framework (:mod:`perin.frameworks.rulebook`).

Here is how to see what breaks a rule, how to join parts by edges that obey, and how to remove what does not obey; how
to choose other roles is in :mod:`~perin.frameworks.decoding.repair`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from perin.contract.heads import Bools, Ints, Prediction
from perin.frameworks.decoding.nodes import Nodes
from perin.frameworks.decoding.structure import Structure, best_attributes
from perin.frameworks.rulebook import BARRED, HARD, Floats, Rulebook, Traits, cost
from perin.lazy import cached_property

Pair: TypeAlias = tuple[int, int]

_SMALLEST = 1e-9
_CHUNK = 16
"""How many pairs are looked at together when parts are joined."""
_LOOKED_AT = 256
"""How many are looked at as long as one of them might be better than the best so far."""
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
        self.flags = nodes.flags
        self.traits = traits
        self.keep = structure.keep.tolist()
        self._structure = structure
        self.edges: dict[Pair, list[int]] = {}
        ends = list(map(tuple, structure.edges.tolist()))
        for row, label in zip(*(each.tolist() for each in np.nonzero(labels)), strict=True):
            self.edges.setdefault(ends[row], []).append(label)

    def find_faults(self, least: float) -> Faults:
        """What breaks rules that cost more than ``least``."""
        book, traits, keep = self.book, self.traits, self.keep
        once_out, once_in, sides = book.once_out, book.once_in, book.sides
        serves_source, serves_target = book.served[False], book.served[True]
        faults, price = Faults(), book.price
        served = [0] * len(keep)
        own_sides = [0] * len(keep)
        leaving: set[Pair] = set()
        entering: set[Pair] = set()
        for (source, target), labels in self.edges.items():
            first, second = traits[source], traits[target]
            special = first.of & second.bad or (second.is_constant and (first.barred | second.barred))
            for label in labels:
                priced = first.out[label] or second.into[label] or special  # cheaper than asking for the price
                if priced and price(first, second, label) > least:
                    faults.roles.append((source, target, label))
                if once_out[label] > least:
                    if (source, label) in leaving:
                        faults.crowded.append((source, label, False))
                    leaving.add((source, label))
                if once_in[label] > least:
                    if (target, label) in entering:
                        faults.crowded.append((target, label, True))
                    entering.add((target, label))
                served[source] |= serves_source[label]
                served[target] |= serves_target[label]
                own_sides[source] |= sides[label]
        for node, each in enumerate(traits):
            if each.needs and keep[node] and (lacking := each.needs & ~served[node]):
                needs = (at for at in range(len(book.needs)) if lacking >> at & 1 and book.needs[at].price > least)
                faults.lacking.extend((node, at) for at in needs)
        if book.apart:
            for node, found in enumerate(own_sides):
                torn = (at for at, rule in enumerate(book.apart) if found >> 2 * at & 3 == 3 and rule[2] > least)
                faults.torn.extend((node, at) for at in torn)
        return faults

    def lacking(self, needs: int) -> list[tuple[int, int]]:
        """The nodes that lack something, of those needs (bits), and the numbers of the needs."""
        served = [0] * len(self.keep)
        by_source, by_target = self.book.served[False], self.book.served[True]
        for (source, target), labels in self.edges.items():
            for label in labels:
                served[source] |= by_source[label]
                served[target] |= by_target[label]
        found = []
        for node, traits in enumerate(self.traits):
            if self.keep[node] and (lack := traits.needs & needs & ~served[node]):
                found += [(node, number) for number in range(len(self.book.needs)) if lack >> number & 1]
        return found

    def gains(self, pairs: list[Pair], columns: Ints | None = None) -> Floats:
        """[M, L]: what each label of each pair gains over no edge; ``columns``: of these labels only.

        That is ``logit p + log q - log max q`` where p is the probability of an edge and q that of its label, less what
        rules about its ends say against it.
        """
        return self._gains(pairs, self.prices(pairs), columns)

    def _gains(self, pairs: list[Pair], prices: Floats, columns: Ints | None = None) -> Floats:
        sources, targets = np.array(pairs, dtype=np.int64).T
        scores = np.maximum(self.prediction.edge_labels[sources, targets], _SMALLEST)
        if self.book.has_markers:
            scores[:, self.book.markers] = 0.0
        best = scores.max(axis=1, keepdims=True)
        if columns is not None:
            scores, prices = scores[:, columns], prices[:, columns]
        with np.errstate(divide="ignore"):
            gains: Floats = np.log((scores / best).astype(np.float64))
        gains += odds(self.prediction.presence[sources, targets])[:, None]
        gains -= prices
        np.maximum(gains, 2 * BARRED, out=gains)
        gains[~self.allowed[sources, targets]] = 2 * BARRED
        return gains

    def prices(self, pairs: list[Pair]) -> Floats:
        """[M, L]: what rules about their ends say against each label of each pair."""
        ends = np.array(pairs, dtype=np.int64)
        source_costs, target_costs = self._costs
        found: Floats = np.maximum(source_costs[ends[:, 0]], target_costs[ends[:, 1]])
        return self.book.add_prices(found, [(self.traits[source], self.traits[target]) for source, target in pairs])

    @cached_property
    def _costs(self) -> tuple[Floats, Floats]:
        """[K, L] each: what rules say against roles that leave a node, and against those that lead to it."""
        out, into = zip(*((each.source_costs, each.target_costs) for each in self.traits), strict=True)
        return np.array(out), np.array(into)

    @cached_property
    def absence(self) -> Floats:
        """[K]: what leaving out a node gains, its edges apart."""
        return -odds(1 - self.prediction.labels[:, 0])

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
        pairs, chances = self._between(np.array(part), least)
        used_out = {(source, label) for (source, _), labels in self.edges.items() for label in labels}
        used_in = {(target, label) for (_, target), labels in self.edges.items() for label in labels}
        heap: list[tuple[float, int, int]] = []
        rows: dict[int, Floats] = {}
        added, seen = False, 0
        while count > 1:
            while seen < len(pairs) and (not heap or (seen < _LOOKED_AT and -heap[0][0] < chances[seen])):
                numbers: list[int] = []
                while seen < len(pairs) and len(numbers) < _CHUNK:
                    if part[pairs[seen][0]] != part[pairs[seen][1]]:
                        numbers.append(seen)
                    seen += 1
                self._look_at(pairs, numbers, rows, heap)
            if not heap:
                break
            _, number, label = heappop(heap)
            source, target = pairs[number]
            if part[source] == part[target]:
                continue
            again_out = self.book.once_out[label] and (source, label) in used_out
            if again_out or (self.book.once_in[label] and (target, label) in used_in):
                rows[number][label] = -np.inf
                other = int(rows[number].argmax())
                if rows[number][other] > -np.inf:
                    heappush(heap, (-float(rows[number][other]), number, other))
                continue
            self.edges.setdefault((source, target), []).append(label)
            used_out.add((source, label))
            used_in.add((target, label))
            old, new = part[target], part[source]
            part = [new if each == old else each for each in part]
            count, added = count - 1, True
        return added, count < 2

    def _look_at(
        self, pairs: list[Pair], numbers: list[int], rows: dict[int, Floats], heap: list[tuple[float, int, int]]
    ) -> None:
        """Put the best labels of some pairs on the heap."""
        if numbers:
            found = self._joints([pairs[number] for number in numbers])
            best = found.max(axis=1).tolist(), found.argmax(axis=1).tolist()
            for number, row, gain, label in zip(numbers, found, *best, strict=True):
                if gain > -np.inf:
                    rows[number] = row
                    heappush(heap, (-gain, number, label))

    def _between(self, part: NDArray[np.int64], least: float) -> tuple[list[Pair], list[float]]:
        """The pairs that could join two parts, the most probable first, and their log odds."""
        outside = ~np.array(self.keep)
        if self.book.owned:
            outside |= self.flags
        possible = (part[:, None] != part) & self.allowed & ~outside & ~outside[:, None]
        possible &= self.prediction.presence >= least
        sources, targets = np.nonzero(possible)
        presence = self.prediction.presence[sources, targets]
        order = np.argsort(-presence, kind="stable")
        pairs = list(zip(sources[order].tolist(), targets[order].tolist(), strict=True))
        return pairs, odds(presence[order]).tolist()

    def _joints(self, pairs: list[Pair]) -> Floats:
        """[M, L]: what each label of pairs gains, minus infinity where two parts are better."""
        prices = self.prices(pairs)
        gains = self._gains(pairs, prices)
        gains[(prices >= cost(self.book.least_joint)) | (gains <= BARRED)] = -np.inf
        return gains

    def _parts(self) -> list[int]:
        """The part of each node, named by one of its nodes."""
        first = list(range(len(self.keep)))

        def find(node: int) -> int:
            while first[node] != node:
                first[node] = node = first[first[node]]
            return node

        for source, target in self.edges:
            first[find(source)] = find(target)
        return [find(node) for node in range(len(first))]

    def prune(self) -> None:
        """Remove what breaks hard rules, and parts that must be joined but are not."""
        for _ in range(_PASSES * len(self.keep) + _PASSES):
            if not self._prune():
                break

    def _prune(self) -> bool:
        faults = self.find_faults(HARD - 1)
        if not faults:
            return self._drop_loose()
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
        if all(self.book.markers[other] for other in labels):
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

    def _drop_loose(self) -> bool:
        """Leave out constants without an owner and, where graphs are connected, all parts but the largest."""
        loose: set[int] = set()
        if self.book.owned:
            owned = {target for _, target in self.edges}
            loose = {node for node in np.flatnonzero(self.flags).tolist() if self.keep[node] and node not in owned}
        if self.book.least_joint <= 0 and not self.book.fixed:
            worth: dict[int, float] = defaultdict(float)
            part = self._parts()
            for node, kept in enumerate(self.keep):
                if kept:
                    worth[part[node]] += 1e3 if self.traits[node].protected else 1
            best = max(worth, key=lambda each: (worth[each], -part.index(each)), default=-1)
            loose |= {node for node, kept in enumerate(self.keep) if kept and part[node] != best}
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


def odds(probabilities: NDArray[np.float32]) -> Floats:
    """The logarithm of the odds, finite."""
    clipped = np.clip(probabilities.astype(np.float64), _SMALLEST, 1 - _SMALLEST)
    found: Floats = np.log(clipped) - np.log1p(-clipped)
    return found
