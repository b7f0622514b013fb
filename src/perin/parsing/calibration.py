"""How far the probabilities of nodes, edges and labels can be trusted, and temperatures that make them truer.

A probability is calibrated if, of all nodes (edges, labels, …) that have it, that share is right.  A temperature T
replaces p by sigmoid(logit(p) / T): above 1 it makes a network that is too sure of itself more modest.  It changes
what graphs say of their probabilities and nothing else: which queries become nodes and which pairs become edges is
decided by what the network says, with thresholds that were chosen for that.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from perin.graphs.graph import Edge, Graph, Node
from perin.model.folder import CALIBRATED
from perin.scoring import correspondence

BINS = 15
"""Probabilities are compared with shares in so many ranges of equal width."""
ENOUGH = 200
"""Decisions of a kind that a temperature needs."""
_TEMPERATURES = np.exp(np.linspace(np.log(0.2), np.log(10), 200))
_SURE = 1e-4
"""Probabilities are rounded to four digits; 0 and 1 stand for this and one minus this."""

_FIELDS: dict[type, dict[str, str]] = {
    Node: {"probability": "node", "label_probability": "label", "top_probability": "top"},
    Edge: {"probability": "edge", "label_probability": "edge_label"},
}
"""The kinds of probabilities that nodes and edges have in ``extra``."""

Item = TypeVar("Item", Node, Edge)


@dataclass(frozen=True, eq=False)
class Decisions:
    """Probabilities [n] of one kind, and whether what they are of is right [n]."""

    probabilities: NDArray[np.float64]
    right: NDArray[np.bool_]

    def __len__(self) -> int:
        """How many there are."""
        return len(self.right)

    @property
    def error(self) -> float:
        """The expected calibration error: how far shares and mean probabilities are apart, on average."""
        if not len(self):
            return 0.0
        bins = np.minimum((self.probabilities * BINS).astype(np.int64), BINS - 1)
        sure = np.bincount(bins, self.probabilities, BINS)
        right = np.bincount(bins, self.right, BINS)
        return float(np.abs(sure - right).sum() / len(self))

    def at(self, temperature: float) -> Decisions:
        """The same decisions with probabilities at a temperature."""
        return Decisions(at_temperature(self.probabilities, temperature), self.right)

    def best_temperature(self) -> float:
        """The temperature at which what is right is most probable; 1 if there are too few decisions to tell."""
        if len(self) < ENOUGH:
            return 1.0
        losses = []
        for temperature in _TEMPERATURES:
            p = at_temperature(self.probabilities, temperature)
            losses.append(-np.log(np.where(self.right, p, 1 - p)).mean())
        return round(float(_TEMPERATURES[int(np.argmin(losses))]), 3)


def at_temperature(probabilities: NDArray[np.float64], temperature: float) -> NDArray[np.float64]:
    """``sigmoid(logit(p) / temperature)``, never quite 0 or 1."""
    p = np.clip(probabilities, _SURE, 1 - _SURE)
    result: NDArray[np.float64] = 1 / (1 + ((1 - p) / p) ** (1 / temperature))
    return np.clip(result, 1e-12, 1 - 1e-12)


def collect_decisions(pairs: Iterable[tuple[Graph, Graph]], *, budget: float) -> dict[str, Decisions]:
    """The decisions in graphs with probabilities, by kind, beside the gold graphs (which come first).

    A node is right if the best correspondence of both graphs has a gold node for it, an edge if these have one, and a
    label, of what is right itself, if it is that of gold.
    """
    found: dict[str, list[tuple[float, bool]]] = {kind: [] for kind in CALIBRATED}
    for gold, system in pairs:
        for kind, probability, right in _decisions(gold, system, budget):
            found[kind].append((probability, right))
    return {
        kind: Decisions(
            np.array([p for p, _ in each], dtype=np.float64), np.array([r for _, r in each], dtype=np.bool_)
        )
        for kind, each in found.items()
        if each
    }


def _decisions(gold: Graph, system: Graph, budget: float) -> Iterator[tuple[str, float, bool]]:
    partners = {ours: theirs for theirs, ours in correspondence(gold, system, budget=budget)}
    labels = {node.id: node.label for node in gold.nodes}
    for node in system.nodes:
        extra, partner = node.extra or {}, partners.get(node.id)
        if "probability" in extra:
            yield "node", extra["probability"], partner is not None
        if "label_probability" in extra and partner is not None and node.label is not None:
            yield "label", extra["label_probability"], node.label == labels[partner]
        if "top_probability" in extra and partner is not None:
            yield "top", extra["top_probability"], partner in gold.tops
    edges: dict[tuple[int, int], set[str | None]] = {}
    for edge in gold.edges:
        edges.setdefault((edge.source, edge.target), set()).add(edge.label)
    for edge in system.edges:
        extra = edge.extra or {}
        ends = partners.get(edge.source), partners.get(edge.target)
        named = None if None in ends else edges.get(ends)  # type: ignore[arg-type]
        if "probability" in extra:
            yield "edge", extra["probability"], named is not None
        if "label_probability" in extra and named is not None:
            yield "edge_label", extra["label_probability"], edge.label in named


def best_temperatures(decisions: Mapping[str, Decisions]) -> dict[str, float]:
    """The temperature of each kind of decision, without those of which there are too few."""
    return {kind: each.best_temperature() for kind, each in decisions.items() if len(each) >= ENOUGH}


def calibrate(graph: Graph, temperatures: Mapping[str, float]) -> Graph:
    """A graph with probabilities at some temperatures; kinds without one stay as they are."""
    if not temperatures:
        return graph
    nodes = _calibrated(graph.nodes, _FIELDS[Node], temperatures)
    return replace(graph, nodes=nodes, edges=_calibrated(graph.edges, _FIELDS[Edge], temperatures))


def _calibrated(
    items: Sequence[Item], fields: Mapping[str, str], temperatures: Mapping[str, float]
) -> tuple[Item, ...]:
    """All probabilities of a kind at once; alternatives to labels are probabilities of labels."""
    extras: list[dict[str, Any] | None] = [None if item.extra is None else dict(item.extra) for item in items]
    for field, kind in fields.items():
        if kind not in temperatures:
            continue
        places = [place for place, extra in enumerate(extras) if extra is not None and field in extra]
        raw = np.array([(extras[place] or {})[field] for place in places], dtype=np.float64)
        for place, p in zip(places, at_temperature(raw, temperatures[kind]).tolist(), strict=True):
            extras[place] = {**(extras[place] or {}), field: round(p, 4)}
        if field == "label_probability":
            for place, extra in enumerate(extras):
                if extra is not None and extra.get("alternatives"):
                    others = np.array([p for _, p in extra["alternatives"]], dtype=np.float64)
                    truer = at_temperature(others, temperatures[kind]).tolist()
                    named = [[label, round(p, 4)] for (label, _), p in zip(extra["alternatives"], truer, strict=True)]
                    extras[place] = {**extra, "alternatives": named}
    return tuple(
        item if extra is None else replace(item, extra=extra) for item, extra in zip(items, extras, strict=True)
    )
