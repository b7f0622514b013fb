"""Two graphs in one drawing: what a system's graph has right (matched), lacks (missing) and has in surplus (extra).

Items are compared in the normal form of the MRP metric: inverse edges turned round, anchors as sets of characters,
case ignored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeVar

from perin.errors import UsageError
from perin.graphs.drawing.lettering import printable
from perin.graphs.drawing.sketch import (
    MOST_EDGES,
    MOST_NODES,
    Link,
    Row,
    Shape,
    Sketch,
    Status,
    Word,
    has_boxes,
    is_primary,
    is_remote,
    node_form,
    owned_words,
    property_row,
    quote_rows,
    relation_nodes,
    split_words,
    summary,
    touched_words,
)
from perin.graphs.graph import Edge, Graph, Node, Property
from perin.graphs.normalisation import folded, normal_anchors, normal_attributes, normal_edge

_Item = TypeVar("_Item")


class _Merged(NamedTuple):
    """A node of either graph, or one of each that correspond."""

    gold: Node | None
    system: Node | None

    @property
    def node(self) -> Node:
        """The node that the merged one is drawn for: gold if there is one."""
        node = self.gold or self.system
        assert node is not None
        return node

    @property
    def status(self) -> Status:
        if self.gold and self.system:
            return "matched"
        return "missing" if self.gold else "extra"


def diff_sketch(gold: Graph, system: Graph, pairs: Iterable[tuple[int, int]], *, f1: float | None = None) -> Sketch:
    """The sketch of a gold and a system graph, given the ids of the nodes that correspond, gold first.

    ``f1`` is their score, if it should be shown.
    """
    merged = _merged(gold, system, pairs)
    text = system.input if gold.input is None else gold.input
    framework = gold.framework or system.framework
    empty = Sketch(printable(gold.id), framework, printable(text or ""), (), (), (), compared=True, f1=f1)
    edges = len(gold.edges) + len(system.edges)
    if len(merged) > MOST_NODES or edges > MOST_EDGES:
        return summary(empty, len(merged), edges)
    gold_numbers = {both.gold.id: number for number, both in reversed(tuple(enumerate(merged))) if both.gold}
    system_numbers = {both.system.id: number for number, both in reversed(tuple(enumerate(merged))) if both.system}
    anchors = [anchor for both in merged for node in both if node for anchor in node.anchors or ()]
    words = split_words(text or "", anchors) if anchors else ()
    touched = [touched_words(words, both.node.anchors) for both in merged]
    owned = owned_words(words, touched)
    boxes = has_boxes(gold) or has_boxes(system)
    relations = {gold_numbers[id] for id in relation_nodes(gold)}
    relations |= {system_numbers[id] for id in relation_nodes(system)}
    gold_tops = {gold_numbers[top] for top in gold.tops if top in gold_numbers}
    system_tops = {system_numbers[top] for top in system.tops if top in system_numbers}
    shapes = []
    for number, both in enumerate(merged):
        top = _status(number in gold_tops, number in system_tops)
        rows = [*_rows(both, text, words), *([Row("top", kind="property", status=top)] if top in _WRONG else [])]
        if not owned[number] and not any(row.kind == "quote" for row in rows):
            rows += quote_rows(words, touched[number])
        form = node_form(both.node, rows, boxes, number in relations)
        shapes.append(
            Shape(number, form, tuple(rows), touched[number], owned[number], top is not None, status=both.status)
        )
    links = _links(gold, system, gold_numbers, system_numbers, boxes)
    return replace(empty, words=words, shapes=tuple(shapes), links=links)


_WRONG: tuple[Status, Status] = ("missing", "extra")


def _status(in_gold: bool, in_system: bool) -> Status | None:
    if in_gold and in_system:
        return "matched"
    return "missing" if in_gold else "extra" if in_system else None


def _merged(gold: Graph, system: Graph, pairs: Iterable[tuple[int, int]]) -> list[_Merged]:
    gold_nodes, system_nodes = ({node.id: node for node in reversed(graph.nodes)} for graph in (gold, system))
    partners: dict[int, int] = {}
    taken: set[int] = set()
    for first, second in pairs:
        if first not in gold_nodes or second not in system_nodes:
            raise UsageError(f"the correspondence pairs nodes {first} and {second}, one of which does not exist")
        if first in partners or second in taken:
            raise UsageError(f"the correspondence uses node {first} or {second} twice")
        partners[first] = second
        taken.add(second)
    merged = [_Merged(node, system_nodes[partners[node.id]] if node.id in partners else None) for node in gold.nodes]
    return merged + [_Merged(None, node) for node in system.nodes if node.id not in taken]


def _rows(both: _Merged, text: str | None, words: Sequence[Word]) -> list[Row]:
    """Labels and properties with their status, and the anchors of both sides where they differ."""
    sides = [node for node in both if node]
    labels = [[node.label] if node and node.label else [] for node in both]
    properties = [list(node.properties) if node else [] for node in both]
    rows = [Row(printable(label), status=status) for label, status in _compared(labels[0], labels[1], folded)]
    for item, status in _compared(properties[0], properties[1], _property_key):
        rows.append(property_row(item)._replace(status=status))
    anchors = [normal_anchors(node.anchors, text) or None for node in sides]
    if len(sides) == 2 and anchors[0] != anchors[1]:
        for node, status in zip(sides, _WRONG, strict=True):
            found = quote_rows(words, touched_words(words, node.anchors))
            rows += [row._replace(status=status) for row in found or [Row("no anchor", kind="property")]]
    return rows


def _property_key(item: Property) -> Hashable:
    return folded(item.name), folded(item.value)


def _compared(
    gold: Sequence[_Item], system: Sequence[_Item], key: Callable[[_Item], Hashable]
) -> list[tuple[_Item, Status]]:
    """Gold items as matched or missing, then system items without a match as extra."""
    left = Counter(map(key, system))
    found: Counter[Hashable] = Counter()
    marked: list[tuple[_Item, Status]] = []
    for item in gold:
        matched = found[key(item)] < left[key(item)]
        found[key(item)] += matched
        marked.append((item, "matched" if matched else "missing"))
    for item in system:
        if found[key(item)]:
            found[key(item)] -= 1
        else:
            marked.append((item, "extra"))
    return marked


def _links(
    gold: Graph, system: Graph, gold_numbers: Mapping[int, int], system_numbers: Mapping[int, int], boxes: bool
) -> tuple[Link, ...]:
    """The edges of both graphs; one that both have is drawn as gold has it, with its attributes compared."""
    left: dict[Hashable, list[Edge]] = {}
    for edge in system.edges:
        if edge.source in system_numbers and edge.target in system_numbers:
            left.setdefault(_edge_key(edge, system_numbers), []).append(edge)
    links = []
    for edge in gold.edges:
        if edge.source in gold_numbers and edge.target in gold_numbers:
            candidates = left.get(_edge_key(edge, gold_numbers), [])
            alike = sorted(normal_attributes(edge.attributes))
            candidates.sort(key=lambda other: sorted(normal_attributes(other.attributes)) != alike)
            links.append(_link(edge, candidates.pop(0) if candidates else None, gold_numbers, boxes))
    for candidates in left.values():
        links += [_link(None, edge, system_numbers, boxes) for edge in candidates]
    return tuple(links)


def _edge_key(edge: Edge, numbers: Mapping[int, int]) -> Hashable:
    source, target, label = normal_edge(edge)
    return numbers[source], numbers[target], None if label is None else folded(label)


def _link(gold: Edge | None, system: Edge | None, numbers: Mapping[int, int], boxes: bool) -> Link:
    edge = gold or system
    assert edge is not None
    status: Status = "matched" if gold and system else "missing" if gold else "extra"
    rows = [Row(printable(edge.label), status=status)] if edge.label else []
    attributes = [
        [Property(*pair) for pair in normal_attributes(side.attributes)] if side else [] for side in (gold, system)
    ]
    for item, agreement in _compared(attributes[0], attributes[1], _property_key):
        if item != ("remote", "true") or agreement != status:
            shown = item._replace(value=True) if item.value == "true" else item
            rows.append(property_row(shown)._replace(status=agreement))
    source, target = numbers[edge.source], numbers[edge.target]
    remote, membership = is_remote(edge), boxes and edge.label == "in"
    return Link(source, target, tuple(rows), is_primary(edge), False, remote, membership, status)
