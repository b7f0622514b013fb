"""The normal form in which graphs are compared (the official MRP normalisation), and equality up to node ids.

Inverse edges are turned round, anchors become sets of characters, case and default attribute values do not count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import TypeAlias

from perin.graphs.graph import Anchor, Edge, Graph, Node, Property, Scalar

SPACE = frozenset(" \t\n\f")
PUNCTUATION = frozenset(".?!;,:“\"”‘'’()[]{}") | SPACE
_DEFAULT_FALSE = frozenset(("remote", "effective", "member"))

Characters: TypeAlias = frozenset[int] | tuple[tuple[int, int], ...]
"""Anchors in normal form: character positions, or ranges where the input is not known."""


def normal_edge(edge: Edge) -> tuple[int, int, str | None]:
    """Source, target and label of an edge with inverse labels turned round.

    >>> normal_edge(Edge(0, 1, "ARG0-of"))
    (1, 0, 'ARG0')
    >>> normal_edge(Edge(0, 1, "mod")), normal_edge(Edge(0, 1, "prep-out-of"))
    ((1, 0, 'domain'), (0, 1, 'prep-out-of'))
    """
    label = edge.label or None
    if edge.normal:
        return edge.target, edge.source, edge.normal
    if edge.normal is None and label is not None:
        if label == "mod":
            return edge.target, edge.source, "domain"
        if label.endswith("-of-of") or (label.endswith("-of") and not label.startswith("prep-")):
            return edge.target, edge.source, label[:-3]
    return edge.source, edge.target, label


def normal_attributes(attributes: Iterable[Property]) -> list[tuple[str, str]]:
    """Attributes in lower case, without those that say ``false`` where false is the default."""
    pairs = [(folded(name), folded(value)) for name, value in attributes]
    return [(name, value) for name, value in pairs if not (value == "false" and name in _DEFAULT_FALSE)]


def folded(value: Scalar) -> str:
    """Lower-case text of a label, name or value, so that ``1`` equals ``"1"`` and ``True`` equals ``"true"``."""
    return value.lower() if type(value) is str else str(value).lower()


def normal_anchors(anchors: Iterable[Anchor] | None, text: str | None) -> Characters | None:
    """The characters that anchors cover, each run trimmed of punctuation and spaces; None for no anchors.

    >>> sorted(normal_anchors([Anchor(0, 4)], "Kim, who"))
    [0, 1, 2]
    """
    if anchors is None:
        return None
    runs = _runs(anchors, text or "")
    if not runs:
        return None
    if not text:
        return tuple(runs)
    positions: set[int] = set()
    for start, end in runs:
        start, end = trimmed(max(start, 0), min(end, len(text)), text)
        positions.update(position for position in range(start, end) if text[position] not in SPACE)
    return frozenset(positions)


def trimmed_runs(anchors: Iterable[Anchor], text: str) -> list[tuple[int, int]]:
    """The ranges that anchors cover in a text, trimmed of punctuation and spaces at their ends; some may be empty.

    >>> trimmed_runs([Anchor(0, 4), Anchor(5, 8)], "Kim, who")
    [(0, 3), (5, 8)]
    """
    return [trimmed(max(start, 0), min(end, len(text)), text) for start, end in _runs(anchors, text)]


def trimmed(start: int, end: int, text: str) -> tuple[int, int]:
    """A range without the punctuation and spaces at its ends; what is nothing else becomes empty."""
    while start < end and text[start] in PUNCTUATION:
        start += 1
    while start < end and text[end - 1] in PUNCTUATION:
        end -= 1
    return start, end


def _runs(anchors: Iterable[Anchor], text: str) -> list[tuple[int, int]]:
    """Maximal runs of covered positions; a gap of spaces is closed where the run before it ends in a space."""
    ranges = sorted((start, end) for start, end in anchors if start < end)
    runs: list[tuple[int, int]] = []
    for start, end in ranges:
        if runs and (start <= runs[-1][1] or _only_spaces(text, runs[-1][1] - 1, start)):
            runs[-1] = (runs[-1][0], max(runs[-1][1], end))
        else:
            runs.append((start, end))
    return runs


def _only_spaces(text: str, start: int, end: int) -> bool:
    return bool(text) and start >= 0 and all(character in SPACE for character in text[start:end])


# Equality of graphs up to node ids: colour refinement, then a search among the nodes that it can't tell apart.


@dataclass(frozen=True)
class _View:
    """A graph reduced to what is compared: a colour per node and the multiset of keys per ordered node pair."""

    colours: dict[int, Hashable]
    arcs: dict[tuple[int, int], Counter[Hashable]]


def isomorphic(first: Graph, second: Graph, *, normalised: bool = False) -> bool:
    """Whether a one-to-one map of nodes takes one graph to the other, with all that nodes and edges hold.

    With ``normalised``, the graphs are compared in the normal form of the MRP metric (inverse edges turned round,
    anchors as trimmed sets of characters, case ignored).  Ids, order and fields outside nodes and edges do not count.
    """
    a, b = _view(first, normalised), _view(second, normalised)
    return (
        len(a.colours) == len(b.colours)
        and sum(map(Counter.total, a.arcs.values())) == sum(map(Counter.total, b.arcs.values()))
        and _match(a, b)
    )


def _view(graph: Graph, normalised: bool) -> _View:
    tops = Counter(graph.tops)
    colours: dict[int, Hashable] = {}
    for node in graph.nodes:
        colours[node.id] = (tops[node.id], _node_colour(node, graph.input, normalised))
    arcs: dict[tuple[int, int], Counter[Hashable]] = {}
    for edge in graph.edges:
        source, target, key = _arc(edge, normalised)
        arcs.setdefault((source, target), Counter())[key] += 1
    if normalised:
        arcs = {pair: Counter(set(keys)) for pair, keys in arcs.items()}
    return _View(colours, arcs)


def _node_colour(node: Node, text: str | None, normalised: bool) -> Hashable:
    if not normalised:
        return node.label, _bag(node.properties), None if node.anchors is None else tuple(sorted(node.anchors))
    properties = frozenset((folded(name), folded(value)) for name, value in node.properties)
    label = None if node.label is None else folded(node.label)
    return label, properties, normal_anchors(node.anchors, text)


def _arc(edge: Edge, normalised: bool) -> tuple[int, int, Hashable]:
    if not normalised:
        return edge.source, edge.target, (edge.label, edge.normal, _bag(edge.attributes))
    source, target, label = normal_edge(edge)
    return source, target, (label and folded(label), frozenset(normal_attributes(edge.attributes)))


def _bag(pairs: tuple[tuple[str, object], ...]) -> Hashable:
    return frozenset(Counter((name, type(value), value) for name, value in pairs).items())


def _match(a: _View, b: _View) -> bool:
    """Backtracking over refined colour classes, smallest class first; as deep as guesses are needed."""
    refined = _refine(a, b)
    if refined is None:
        return False
    classes: dict[int, list[int]] = {}
    for node, colour in refined[0].items():
        classes.setdefault(colour, []).append(node)
    open_classes = [(len(nodes), colour) for colour, nodes in classes.items() if len(nodes) > 1]
    if not open_classes:
        return _preserves(a, b, refined)
    colour = min(open_classes)[1]
    fixed = classes[colour][0]
    fresh = len(a.colours) + 1
    for candidate in [node for node, other in refined[1].items() if other == colour]:
        left: dict[int, Hashable] = {**refined[0], fixed: fresh}
        right: dict[int, Hashable] = {**refined[1], candidate: fresh}
        if _match(_View(left, a.arcs), _View(right, b.arcs)):
            return True
    return False


def _refine(a: _View, b: _View) -> tuple[dict[int, int], dict[int, int]] | None:
    """Stable colours of both graphs, numbered alike; None as soon as their colour counts differ."""
    colours_a, colours_b = dict(a.colours), dict(b.colours)
    count = 0
    while True:
        numbers: dict[Hashable, int] = {}
        next_a = {node: numbers.setdefault(colour, len(numbers)) for node, colour in colours_a.items()}
        next_b = {node: numbers.setdefault(colour, len(numbers)) for node, colour in colours_b.items()}
        if Counter(next_a.values()) != Counter(next_b.values()):
            return None
        if len(numbers) == count:
            return next_a, next_b
        count = len(numbers)
        colours_a, colours_b = _spread(a, next_a), _spread(b, next_b)


def _spread(view: _View, colours: dict[int, int]) -> dict[int, Hashable]:
    around: dict[int, list[Hashable]] = {node: [] for node in colours}
    for (source, target), keys in view.arcs.items():
        bag = frozenset(keys.items())
        around[source].append((True, bag, colours[target]))
        around[target].append((False, bag, colours[source]))
    return {node: (colours[node], frozenset(Counter(around[node]).items())) for node in colours}


def _preserves(a: _View, b: _View, refined: tuple[dict[int, int], dict[int, int]]) -> bool:
    partner = {colour: node for node, colour in refined[1].items()}
    image = {node: partner[colour] for node, colour in refined[0].items()}
    return {(image[s], image[t]): keys for (s, t), keys in a.arcs.items()} == b.arcs
