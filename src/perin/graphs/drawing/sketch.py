"""What a drawing shows, before it is decided where: shapes, links between them, the trees in them, the words below.

A sketch is made of a graph (:func:`sketch`) or of two (:mod:`perin.graphs.drawing.diff`); all drawing starts from it.
"""

from __future__ import annotations

import heapq
import re
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Literal, NamedTuple, TypeAlias

from perin.errors import wrong_type
from perin.graphs.drawing.lettering import printable
from perin.graphs.graph import Anchor, Edge, Graph, Node, Property
from perin.graphs.normalisation import folded
from perin.graphs.validation import DEMANDS

# A spanning forest: which edge a node hangs from, and which edges are left over as reentrancies.  The tree that readers
# see starts at the tops, follows edges forward, and turns an edge round only to reach what hangs by an outgoing edge
# alone (an EDS quantifier).  Edges that a framework itself calls extra are used last.


class Arc(NamedTuple):
    """An edge between nodes that are named by their numbers; the tree uses those that are not ``primary`` last."""

    source: int
    target: int
    primary: bool = True


class Branch(NamedTuple):
    """``child`` hangs from ``parent`` by the arc of this number, against its direction if ``inverse``."""

    parent: int
    arc: int
    child: int
    inverse: bool


class Forest(NamedTuple):
    """Roots in order, and the branches below each node in the order of the arcs."""

    roots: list[int]
    branches: list[list[Branch]]

    def arcs(self) -> set[int]:
        """The numbers of the arcs that the forest uses."""
        return {branch.arc for below in self.branches for branch in below}

    def depth_first(self) -> list[int]:
        """All nodes, each after the one that it hangs from."""
        order = []
        stack = self.roots[::-1]
        while stack:
            node = stack.pop()
            order.append(node)
            stack.extend(branch.child for branch in reversed(self.branches[node]))
        return order


_EXTRA_ATTRIBUTES = ("remote", "effective")


def is_primary(edge: Edge) -> bool:
    """Whether an edge belongs to the graph's backbone: not remote (UCCA), effective or coreferential (PTG)."""
    if (edge.label or "").startswith("coref"):
        return False
    return not any(folded(edge.get(name)) == "true" for name in _EXTRA_ATTRIBUTES)


def spanning_forest(count: int, arcs: Sequence[Arc], tops: Iterable[int]) -> Forest:
    """The forest over nodes 0 to ``count - 1``, grown from the tops breadth first.

    As long as a primary arc leads on, no other arc is used, and as long as any leads on, none is turned round.  A
    component without a top grows from its first node that nothing enters, or else from its first node.
    """
    steps = _steps(count, arcs)
    entered = {arc.target for arc in arcs if arc.source != arc.target}
    forest = Forest([], [[] for _ in range(count)])
    seen: set[int] = set()
    singles = [[node] for node in (*(node for node in range(count) if node not in entered), *range(count))]
    for group in [list(dict.fromkeys(tops)), *singles]:
        roots = [node for node in group if node not in seen]
        forest.roots.extend(roots)
        _grow(forest, steps, seen, roots)
    for below in forest.branches:
        below.sort(key=lambda branch: branch.arc)
    return forest


def _grow(forest: Forest, steps: list[list[tuple[Branch, bool]]], seen: set[int], roots: list[int]) -> None:
    """Add to the forest what can be reached from the roots."""
    queue: list[tuple[bool, bool, int, int, Branch]] = []
    reached = [(root, 0) for root in roots]
    seen.update(roots)
    pushed = 0
    while reached:
        for node, depth in reached:
            for branch, primary in steps[node]:
                heapq.heappush(queue, (branch.inverse, not primary, depth + 1, pushed, branch))
                pushed += 1
        reached = []
        while queue and not reached:
            _, _, depth, _, branch = heapq.heappop(queue)
            if branch.child not in seen:
                seen.add(branch.child)
                forest.branches[branch.parent].append(branch)
                reached = [(branch.child, depth)]


def _steps(count: int, arcs: Sequence[Arc]) -> list[list[tuple[Branch, bool]]]:
    steps: list[list[tuple[Branch, bool]]] = [[] for _ in range(count)]
    for number, arc in enumerate(arcs):
        if arc.source != arc.target:
            steps[arc.source].append((Branch(arc.source, number, arc.target, inverse=False), arc.primary))
            steps[arc.target].append((Branch(arc.target, number, arc.source, inverse=True), arc.primary))
    return steps


# The words under an anchored graph: pieces of the input that no anchor cuts, and which node stands for which.


class Word(NamedTuple):
    """A piece of the input; ``spaced`` says whether white space precedes it."""

    text: str
    start: int
    end: int
    spaced: bool


def split_words(text: str, anchors: Iterable[Anchor]) -> tuple[Word, ...]:
    """The input cut at white space and at the ends of anchors.

    >>> [word.text for word in split_words("Dogs bark.", [Anchor(5, 9)])]
    ['Dogs', 'bark', '.']
    """
    cuts = sorted({position for anchor in anchors for position in anchor})
    words: list[Word] = []
    for chunk in re.finditer(r"\S+", text):
        inner = [cut for cut in cuts if chunk.start() < cut < chunk.end()]
        ends = [chunk.start(), *inner, chunk.end()]
        words.extend(Word(printable(text[start:end]), start, end, start == ends[0]) for start, end in pairwise(ends))
    return tuple(words)


def anchored_words(graph: Graph) -> tuple[tuple[Word, ...], list[tuple[int, ...]]]:
    """The words of a graph and, for each of its nodes in order, the numbers of the words that its anchors touch.

    Both are empty of content for a graph without anchors or without input.
    """
    anchors = [anchor for node in graph.nodes for anchor in node.anchors or ()]
    words = split_words(graph.input or "", anchors) if anchors else ()
    return words, [touched_words(words, node.anchors) for node in graph.nodes]


def owned_words(words: Sequence[Word], anchored: Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
    """For each node, the words that it stands for: no other node has fewer words and touches them.

    A node that stands for less than half of its words (an EDS quantifier over a whole noun phrase) merely stretches
    over them and gets none.  Punctuation counts only for a node that has nothing else.
    """
    contents = [content_words(words, touched) for touched in anchored]
    fewest: dict[int, int] = {}
    for content in contents:
        for number in content:
            fewest[number] = min(fewest.get(number, len(content)), len(content))
    owned = [tuple(number for number in content if fewest[number] == len(content)) for content in contents]
    return [mine if 2 * len(mine) >= len(content) else () for mine, content in zip(owned, contents, strict=True)]


def content_words(words: Sequence[Word], touched: Sequence[int]) -> list[int]:
    """The words that are no punctuation, or all if none is left."""
    return [number for number in touched if any(map(str.isalnum, words[number].text))] or list(touched)


def touched_words(words: Sequence[Word], anchors: Iterable[Anchor] | None) -> tuple[int, ...]:
    """The numbers of the words that anchors touch, ascending."""
    touched = {
        number
        for start, end in anchors or ()
        for number, word in enumerate(words)
        if word.start < end and start < word.end
    }
    return tuple(sorted(touched))


Status: TypeAlias = Literal["plain", "matched", "missing", "extra"]
"""Matched, missing and extra are said of a system's graph against a gold graph; all else is plain."""

Form: TypeAlias = Literal["box", "dot", "scope", "relation"]
"""A box with text; the dot of a node without any; a DRG box; a DRG role, which is an edge in all but name."""


class Row(NamedTuple):
    """A line of text: a label (no name), a property or attribute, or the words that a node stretches over."""

    text: str
    name: str = ""
    kind: Literal["label", "property", "quote"] = "label"
    status: Status = "plain"


@dataclass(frozen=True, slots=True)
class Shape:
    """A node to draw.  ``words`` are the numbers of the words it is anchored to, ``owned`` those that it stands for."""

    id: int
    form: Form
    rows: tuple[Row, ...] = ()
    words: tuple[int, ...] = ()
    owned: tuple[int, ...] = ()
    top: bool = False
    reentrant: bool = False
    status: Status = "plain"


@dataclass(frozen=True, slots=True)
class Link:
    """An edge to draw, between shapes named by their numbers.

    ``reentrant``: the trees that a reader sees do without it.  ``membership``: it says which scope a node is in (DRG).
    """

    source: int
    target: int
    rows: tuple[Row, ...] = ()
    primary: bool = True
    reentrant: bool = False
    remote: bool = False
    membership: bool = False
    status: Status = "plain"


@dataclass(frozen=True)
class Sketch:
    """Everything that a drawing shows.

    ``words`` is empty where no node is anchored.  ``compared``: this is a gold graph and a system's in one; ``f1`` is
    how well they agree, between 0 and 1, where that is known.
    """

    name: str
    framework: str | None
    input: str
    words: tuple[Word, ...]
    shapes: tuple[Shape, ...]
    links: tuple[Link, ...]
    compared: bool = False
    f1: float | None = None

    def arcs(self) -> list[Arc]:
        """The links as plain arcs."""
        return [Arc(link.source, link.target, link.primary) for link in self.links]

    @cached_property
    def forest(self) -> Forest:
        """The trees that a reader sees in the graph.  A node hangs from a scope only if no other edge enters it."""
        entered = {link.target for link in self.links if link.primary and not link.membership}
        arcs = [
            Arc(link.source, link.target, link.primary and not (link.membership and link.target in entered))
            for link in self.links
        ]
        return spanning_forest(len(self.shapes), arcs, self.tops())

    def tops(self) -> list[int]:
        """The numbers of the top shapes."""
        return [number for number, shape in enumerate(self.shapes) if shape.top]


MOST_NODES = 2000
MOST_EDGES = 6000
"""What can be drawn: a larger graph would take minutes, and nobody could read it."""


def summary(of: Sketch, nodes: int, edges: int) -> Sketch:
    """What is drawn instead of a graph that is too large: how large it is; there is a warning as well."""
    warnings.warn(f"graph {of.name} has {nodes} nodes and {edges} edges, too many to be drawn", stacklevel=3)
    shape = Shape(0, "box", (Row(f"{nodes} nodes, {edges} edges:"), Row("too many to be drawn")))
    text = of.input if len(of.input) <= _LONGEST_SUMMARY else of.input[:_LONGEST_SUMMARY] + "…"
    return replace(of, input=text, words=(), shapes=(shape,), links=())


_LONGEST_SUMMARY = 300


def as_sketch(drawn: Graph | Sketch) -> Sketch:
    """The sketch of a graph, or the sketch that was given."""
    if isinstance(drawn, Sketch):
        return drawn
    if not isinstance(drawn, Graph):
        raise wrong_type("drawing", "graphs or sketches", drawn)
    return sketch(drawn)


def sketch(graph: Graph) -> Sketch:
    """The sketch of a graph.  An edge from or to nowhere can't be drawn and is left out.

    A graph of more than :data:`MOST_NODES` nodes or :data:`MOST_EDGES` edges becomes a summary, with a warning.
    """
    if len(graph.nodes) > MOST_NODES or len(graph.edges) > MOST_EDGES:
        empty = Sketch(printable(graph.id), graph.framework, printable(graph.input or ""), (), (), ())
        return summary(empty, len(graph.nodes), len(graph.edges))
    words, anchored = anchored_words(graph)
    owned = owned_words(words, anchored)
    numbers = {node.id: number for number, node in reversed(tuple(enumerate(graph.nodes)))}
    edges = [edge for edge in graph.edges if edge.source in numbers and edge.target in numbers]
    tops = {numbers[top] for top in graph.tops if top in numbers}
    boxes = has_boxes(graph)
    relations = relation_nodes(graph) if boxes else frozenset()
    shapes = []
    for number, node in enumerate(graph.nodes):
        rows = (*node_rows(node), *(() if owned[number] else quote_rows(words, anchored[number])))
        form = node_form(node, rows, boxes, node.id in relations)
        shapes.append(Shape(node.id, form, rows, anchored[number], owned[number], number in tops))
    links = tuple(
        Link(
            numbers[edge.source],
            numbers[edge.target],
            edge_rows(edge),
            is_primary(edge),
            remote=is_remote(edge),
            membership=boxes and edge.label == "in",
        )
        for edge in edges
    )
    plain = Sketch(printable(graph.id), graph.framework, printable(graph.input or ""), words, tuple(shapes), links)
    return _with_reentrancies(plain)


def _with_reentrancies(plain: Sketch) -> Sketch:
    """The sketch with the links marked that its trees leave over, and the shapes that these lead to."""
    in_tree = plain.forest.arcs()
    links = tuple(
        replace(link, reentrant=number not in in_tree and not link.membership and link.source != link.target)
        for number, link in enumerate(plain.links)
    )
    shared = {link.target for link in links if link.reentrant}
    shapes = tuple(replace(shape, reentrant=number in shared) for number, shape in enumerate(plain.shapes))
    return replace(plain, shapes=shapes, links=links)


def has_boxes(graph: Graph) -> bool:
    """Whether nodes without a label are scopes, as in DRG."""
    demands = DEMANDS.get(graph.framework or "")
    return demands is not None and demands.tops == "boxes"


def relation_nodes(graph: Graph) -> frozenset[int]:
    """The ids of the roles and comparisons of DRG: no concepts, and edges without labels enter and leave them."""
    entered = {edge.target for edge in graph.edges if not edge.label}
    left = {edge.source for edge in graph.edges if not edge.label}
    return frozenset(node.id for node in graph.nodes if node.id in entered & left and not _is_concept(node.label or ""))


def _is_concept(label: str) -> bool:
    return label.startswith('"') or re.search(r"\.[a-z]\.\w+$", label) is not None


def node_form(node: Node, rows: Sequence[Row], boxes: bool, relation: bool) -> Form:
    """The form in which a node is drawn that shows these rows."""
    if not node.label and boxes:
        return "scope"
    if node.label and relation and not node.properties:
        return "relation"
    return "box" if rows else "dot"


def node_rows(node: Node) -> tuple[Row, ...]:
    """The label and the properties of a node."""
    label = (Row(printable(node.label)),) if node.label else ()
    return (*label, *map(property_row, node.properties))


def property_row(item: Property) -> Row:
    """A property of a node or an attribute of an edge; one that is merely true shows its name only."""
    name, value = printable(item.name), printable(str(item.value))
    return Row(name, kind="property") if item.value is True else Row(value, name, "property")


def edge_rows(edge: Edge) -> tuple[Row, ...]:
    """The label and the attributes of an edge; remote edges are dashed and don't say so in words."""
    label = (Row(printable(edge.label)),) if edge.label else ()
    return (*label, *(property_row(item) for item in edge.attributes if not _says_remote(item)))


def is_remote(edge: Edge) -> bool:
    """Whether the edge is remote (UCCA)."""
    return any(map(_says_remote, edge.attributes))


def quote_rows(words: Sequence[Word], touched: Sequence[int]) -> tuple[Row, ...]:
    """The words of a node that stretches over them, without the inner ones and without punctuation at the ends."""
    content = content_words(words, touched)
    if not content:
        return ()
    first, last = words[content[0]], words[content[-1]]
    if len(content) > 2:
        text = f"{first.text} … {last.text}"
    elif len(content) == 2:
        text = f"{first.text} {last.text}" if last.spaced else first.text + last.text
    else:
        text = first.text
    return (Row(text, kind="quote"),)


def _says_remote(item: Property) -> bool:
    return item.name == "remote" and folded(item.value) == "true"
