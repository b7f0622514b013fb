"""Equality of graphs up to node ids: colour refinement, then a search among the nodes that it can't tell apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass

from perin.graphs.graph import Edge, Graph, Node
from perin.graphs.normalisation import folded, normal_anchors, normal_attributes, normal_edge


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
