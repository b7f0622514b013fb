"""A sketch as a layered graph: texts measured, vertices on ranks, joined only between neighbouring ranks.

Shapes stand on even ranks, edge labels on the odd ranks between them, words on the last rank.  A link or an anchor has
a vertex of its own on every rank that it passes, so that no line runs through a box or a label.  Sizes are CSS pixels.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from perin.graphs.drawing.lettering import text_width, wrapped
from perin.graphs.drawing.sketch import Arc, Link, Row, Shape, Sketch, summary

# Sizes: of letters, of the boxes around them, and of the gaps between things.


LABEL, SMALL, EDGE, WORD = 13.0, 10.5, 11.0, 14.0
"""Font sizes: of node labels; of properties, attributes and quotes; of edge labels; of the sentence."""

LEADING = {LABEL: 17.0, SMALL: 14.0, EDGE: 14.0, WORD: 20.0}
"""Line heights by font size."""

MARGIN = 14.0
DOT, SCOPE = 10.0, 18.0
LOOP = 16.0
NAME_GAP = 5.0
BOX_PADDING, RELATION_PADDING = (8.0, 4.0), (7.0, 2.0)
"""Between text and frame: left and right, above and below."""

_WIDEST_LINE = 260.0
_SIGNS = {"missing": "− ", "extra": "+ "}


class Line(NamedTuple):
    """A line of text as it is set: a row, or a part of one that is too long for a line."""

    row: Row
    name: str
    text: str
    size: float
    width: float

    @property
    def height(self) -> float:
        """The height that the line takes."""
        return LEADING[self.size]


class Block(NamedTuple):
    """Text in a frame of this size."""

    lines: tuple[Line, ...]
    width: float
    height: float


def shape_block(shape: Shape) -> Block:
    """The text of a shape and the size of the frame around it."""
    if not shape.rows:
        side = SCOPE if shape.form == "scope" else DOT
        return Block((), side, side)
    return _block(shape.rows, LABEL, *(RELATION_PADDING if shape.form == "relation" else BOX_PADDING))


def label_block(link: Link) -> Block:
    """The text at a link: its label and below that its attributes."""
    return _block(link.rows, EDGE, 2.0, 0.0) if link.rows else Block((), 0.0, 0.0)


def loop_height(label: Block) -> float:
    """The height that a link from a shape to itself takes beside the shape."""
    return max(label.height, LOOP)


def _block(rows: Iterable[Row], label_size: float, across: float, along: float) -> Block:
    lines = tuple(line for row in rows for line in _lines(row, label_size if row.kind == "label" else SMALL))
    width = max(line.width for line in lines) + 2 * across
    return Block(lines, width, sum(line.height for line in lines) + 2 * along)


def _lines(row: Row, size: float) -> list[Line]:
    sign = _SIGNS.get(row.status, "")
    name = sign + row.name if row.name else ""
    text = row.text if row.name else sign + (f"“{row.text}”" if row.kind == "quote" else row.text)
    indent = text_width(name, size) + NAME_GAP if name else 0.0
    pieces = wrapped(text, size, max(_WIDEST_LINE - indent, _WIDEST_LINE / 2))
    first = Line(row, name, pieces[0], size, indent + text_width(pieces[0], size))
    return [first, *(Line(row, "", piece, size, text_width(piece, size)) for piece in pieces[1:])]


# Which layer a node stands on: parents above children, edges short.


_PASSES = 8
_MOST_ADDED = 6


def assign_layers(count: int, arcs: Sequence[Arc], tops: Iterable[int]) -> list[int]:
    """A layer for each node, 0 at the top; no arc joins nodes of one layer, except an arc from a node to itself.

    Primary arcs point down wherever they form no cycle; the other arcs then point where the layers let them.
    """
    order = _depth_first(count, arcs, tops)
    downward = _oriented([arc for arc in arcs if arc.primary], order)
    layer = _longest_paths(count, downward)
    extra = [arc for arc in arcs if not arc.primary and arc.source != arc.target]
    for source, target, _ in extra:
        first, second = sorted((source, target), key=lambda node: (layer[node], order[node]))
        downward.append((first, second))
    return _tightened(_longest_paths(count, downward), downward)


def _depth_first(count: int, arcs: Sequence[Arc], tops: Iterable[int]) -> list[int]:
    """For each node, when a depth-first walk along primary arcs leaves it for good, latest first.

    An arc that leads from a later to an earlier place in this order closes a cycle.
    """
    children: list[list[int]] = [[] for _ in range(count)]
    entered = set()
    for arc in arcs:
        if arc.primary and arc.source != arc.target:
            children[arc.source].append(arc.target)
            entered.add(arc.target)
    starts = [*tops, *(node for node in range(count) if node not in entered), *range(count)]
    left = [-1] * count
    seen: set[int] = set()
    clock = count
    for start in starts:
        stack = [] if start in seen else [(start, iter(children[start]))]
        seen.add(start)
        while stack:
            node, rest = stack[-1]
            child = next((child for child in rest if child not in seen), None)
            if child is None:
                clock -= 1
                left[node] = clock
                stack.pop()
            else:
                seen.add(child)
                stack.append((child, iter(children[child])))
    return left


def _oriented(arcs: Iterable[Arc], order: list[int]) -> list[tuple[int, int]]:
    pairs = ((arc.source, arc.target) for arc in arcs if arc.source != arc.target)
    return [(source, target) if order[source] < order[target] else (target, source) for source, target in pairs]


def _longest_paths(count: int, downward: Sequence[tuple[int, int]]) -> list[int]:
    layer = [0] * count
    below: list[list[int]] = [[] for _ in range(count)]
    waiting = [0] * count
    for upper, lower in downward:
        below[upper].append(lower)
        waiting[lower] += 1
    ready = [node for node in range(count) if not waiting[node]]
    for node in ready:
        for lower in below[node]:
            layer[lower] = max(layer[lower], layer[node] + 1)
            waiting[lower] -= 1
            if not waiting[lower]:
                ready.append(lower)
    return layer


def _tightened(layer: list[int], downward: Sequence[tuple[int, int]]) -> list[int]:
    """Move nodes between their neighbours above and below to where their arcs are shortest in sum."""
    above: list[list[int]] = [[] for _ in layer]
    below: list[list[int]] = [[] for _ in layer]
    for upper, lower in downward:
        above[lower].append(upper)
        below[upper].append(lower)
    for _ in range(_PASSES):
        moved = False
        for node in sorted(range(len(layer)), key=lambda node: -layer[node]):
            pull = len(below[node]) - len(above[node])
            if pull > 0:
                new = min(layer[lower] for lower in below[node]) - 1
            elif pull < 0:
                new = max(layer[upper] for upper in above[node]) + 1
            else:
                continue
            moved = moved or new != layer[node]
            layer[node] = new
        if not moved:
            break
    return _packed(layer)


def stagger(
    layer: Sequence[int], arcs: Sequence[Arc], widths: Sequence[float], keys: Sequence[float], room: float
) -> list[int]:
    """The layers with every second node that nothing enters moved up from layers that are wider than there is room.

    Widths are those of the nodes; keys tell their order from left to right.
    """
    layer = list(layer)
    entered = {max(arc.source, arc.target, key=layer.__getitem__) for arc in arcs if arc.source != arc.target}
    for number in range(max(layer, default=0), -_MOST_ADDED, -1):
        members = sorted((node for node in range(len(layer)) if layer[node] == number), key=keys.__getitem__)
        free = [node for node in members if node not in entered]
        if sum(widths[node] for node in members) > room and len(free) > 1:
            for node in free[::2]:
                layer[node] -= 1
    return _packed(layer)


def _packed(layer: Sequence[int]) -> list[int]:
    """The layers numbered from 0 without gaps."""
    numbers = {value: number for number, value in enumerate(sorted(set(layer)))}
    return [numbers[value] for value in layer]


Kind = Literal["shape", "word", "bend", "label", "stem"]

_DISTANCE = {"shape": 14.0, "word": 5.0, "bend": 9.0, "label": 7.0, "stem": 8.0}
_ROOM = 900.0
_TOUCHING = 0.5
_PORT, _MOST_PORTS = 10.0, 12


@dataclass(slots=True)
class Vertex:
    """Something that takes room on a rank; it reaches ``left`` and ``right`` of its position.

    ``key`` is its first place among the others of its rank; ``spaced`` is false for a word with no space before it.
    """

    kind: Kind
    rank: int
    left: float
    right: float
    height: float
    key: float = 0.0
    spaced: bool = True


@dataclass(slots=True)
class Layered:
    """Vertices, and how they are joined: shapes first, then words, then what lies on links and on anchors.

    ``paths[i]`` are the vertices of link ``i`` from its upper to its lower shape (empty for a loop); ``stems`` those of
    the lines from a shape to a word, or to the next shape that stands for the same word.  ``blocks`` are the texts of
    the shapes and ``labels`` those of the links.
    """

    vertices: list[Vertex] = field(default_factory=list)
    paths: list[list[int]] = field(default_factory=list)
    stems: list[list[int]] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    labels: list[Block] = field(default_factory=list)

    def layers(self) -> list[list[int]]:
        """The vertices of each rank, ordered by their keys."""
        layers: list[list[int]] = [[] for _ in range(1 + max((vertex.rank for vertex in self.vertices), default=-1))]
        for number, vertex in enumerate(self.vertices):
            layers[vertex.rank].append(number)
        for layer in layers:
            layer.sort(key=lambda number: self.vertices[number].key)
        return layers

    def gap(self, first: int, second: int) -> float:
        """The least distance between the positions of two neighbours on a rank."""
        left, right = self.vertices[first], self.vertices[second]
        between = max(_DISTANCE[left.kind], _DISTANCE[right.kind]) if right.spaced else _TOUCHING
        return left.right + between + right.left


MOST_VERTICES = 40_000
"""Limit on the vertices of a layered graph: an edge has one on every rank that it passes, so that long ones add up."""


def drawable(content: Sketch) -> Sketch:
    """The sketch, or a summary of one whose layers would have too many vertices."""
    if len(content.shapes) * len(content.links) <= MOST_VERTICES:
        return content
    layer = assign_layers(len(content.shapes), content.arcs(), content.tops())
    if sum(2 * abs(layer[link.source] - layer[link.target]) for link in content.links) <= MOST_VERTICES:
        return content
    return summary(content, len(content.shapes), len(content.links))


def layered(sketch: Sketch) -> Layered:
    """The layered graph of a sketch, not yet ordered and without positions."""
    graph = Layered()
    graph.blocks = [shape_block(shape) for shape in sketch.shapes]
    graph.labels = [label_block(link) for link in sketch.links]
    keys = _keys(sketch)
    layer = assign_layers(len(sketch.shapes), sketch.arcs(), sketch.tops())
    if sketch.words:
        room = sum(text_width(word.text, WORD) + _DISTANCE["word"] * word.spaced for word in sketch.words)
        widths = [block.width + _DISTANCE["shape"] for block in graph.blocks]
        layer = stagger(layer, sketch.arcs(), widths, keys, max(room, _ROOM))
    _add_shapes(graph, sketch, keys, layer)
    last = 2 * (max(layer, default=-1) + 1)
    for number, word in enumerate(sketch.words):
        half = text_width(word.text, WORD) / 2
        graph.vertices.append(Vertex("word", last, half, half, LEADING[WORD], float(number), word.spaced))
    _add_links(graph, sketch)
    _add_stems(graph, sketch)
    return graph


def _add_shapes(graph: Layered, sketch: Sketch, keys: Sequence[float], layer: Sequence[int]) -> None:
    busy = _busiest_side(sketch, layer)
    loops: dict[int, list[Block]] = {}
    for link, block in zip(sketch.links, graph.labels, strict=True):
        if link.source == link.target:
            loops.setdefault(link.source, []).append(block)
    for number, (shape, block) in enumerate(zip(sketch.shapes, graph.blocks, strict=True)):
        ports = 0.0 if shape.form == "dot" else _PORT * min(busy[number], _MOST_PORTS)
        half = max(block.width, ports) / 2
        beside = loops.get(number, [])
        right = half + (LOOP + max(label.width for label in beside) if beside else 0.0)
        height = max(block.height, sum(map(loop_height, beside)))
        graph.vertices.append(Vertex("shape", 2 * layer[number], half, right, height, keys[number]))


def _add_links(graph: Layered, sketch: Sketch) -> None:
    in_tree = sketch.forest.arcs()
    for number, link in enumerate(sketch.links):
        if link.source == link.target:
            graph.paths.append([])
            continue
        upper, lower = sorted((link.source, link.target), key=lambda shape: graph.vertices[shape].rank)
        first, last = graph.vertices[upper], graph.vertices[lower]
        middle = first.rank + (last.rank - first.rank) // 4 * 2 + 1
        block = graph.labels[number]
        path = [upper]
        for rank in range(first.rank + 1, last.rank):
            share = 1.0 if number in in_tree else (rank - first.rank) / (last.rank - first.rank)
            key = first.key + (last.key - first.key) * share
            path.append(len(graph.vertices))
            if rank == middle and block.lines:
                graph.vertices.append(Vertex("label", rank, block.width / 2, block.width / 2, block.height, key))
            else:
                graph.vertices.append(Vertex("bend", rank, 0.0, 0.0, 0.0, key))
        graph.paths.append([*path, lower])


def _add_stems(graph: Layered, sketch: Sketch) -> None:
    """Join each word to the lowest shape that stands for it, and that one to the next above it."""
    standing: dict[int, list[int]] = {}
    for number, shape in enumerate(sketch.shapes):
        for word in shape.owned:
            standing.setdefault(word, []).append(number)
    joined: dict[tuple[int, int], None] = {}
    for word, shapes in sorted(standing.items()):
        shapes.sort(key=lambda shape: -graph.vertices[shape].rank)
        for index, upper in enumerate(shapes):
            below = [lower for lower in shapes[:index] if graph.vertices[lower].rank > graph.vertices[upper].rank]
            joined[upper, below[-1] if below else len(sketch.shapes) + word] = None
    for upper, lower in joined:
        first, last = graph.vertices[upper], graph.vertices[lower]
        between = range(len(graph.vertices), len(graph.vertices) + last.rank - first.rank - 1)
        graph.vertices.extend(
            Vertex("stem", rank, 0.0, 0.0, 0.0, last.key) for rank in range(first.rank + 1, last.rank)
        )
        graph.stems.append([upper, *between, lower])


def _busiest_side(sketch: Sketch, layer: Sequence[int]) -> list[int]:
    """How many links touch each shape from above or from below, whichever are more."""
    above, below = [0] * len(layer), [0] * len(layer)
    for link in sketch.links:
        if link.source != link.target:
            upper, lower = sorted((link.source, link.target), key=layer.__getitem__)
            below[upper] += 1
            above[lower] += 1
    return list(map(max, above, below))


def _keys(sketch: Sketch) -> list[float]:
    """Where each shape starts, from left to right: over its words, or over what hangs from it, or beside its parent.

    These are numbers of words; without words, numbers in depth-first order.
    """
    forest = sketch.forest
    order = forest.depth_first()
    if not sketch.words:
        place = {node: index for index, node in enumerate(order)}
        return [float(place[node]) for node in range(len(order))]
    parent = {branch.child: branch.parent for below in forest.branches for branch in below}
    keys: dict[int, float] = {}
    for node in reversed(order):
        words = sketch.shapes[node].words
        below = [keys[branch.child] for branch in forest.branches[node] if branch.child in keys]
        if words:
            keys[node] = sum(words) / len(words)
        elif below:
            keys[node] = sum(below) / len(below)
    for node in order:
        keys.setdefault(node, keys[parent[node]] if node in parent else 0.0)
    return [keys[node] for node in range(len(order))]
