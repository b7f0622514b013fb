"""Where everything in a drawing stands: boxes on layers, words in a line below, edges and their labels between."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from math import ceil

from perin.graphs.drawing.layered import LEADING, LOOP, MARGIN, WORD, Block, Layered, layered, loop_height
from perin.graphs.drawing.lettering import text_width, wrapped
from perin.graphs.drawing.routing import Band, Box, Pull, Route, Sentence, Ties, place, routes, straighten
from perin.graphs.drawing.sketch import Sketch

# The order of the vertices of each layer, chosen so that few edges cross.


Layers = list[list[int]]
Neighbours = Sequence[Sequence[int]]

_ROUNDS = 12
_PATIENCE = 4


def reduce_crossings(layers: Layers, above: Neighbours, below: Neighbours, *, fixed_last: bool = False) -> Layers:
    """The layers in an order with few crossings: barycentre sweeps down and up from the given order, then swaps.

    ``above[v]`` and ``below[v]`` are the neighbours of a vertex in the layers next to its own; one that is listed
    several times counts that often.  ``fixed_last`` keeps the last layer (the words of a sentence) as it is.
    """
    best = [list(layer) for layer in layers]
    _swap_neighbours(best, above, below, fixed_last)
    fewest = crossings(best, below)
    current, idle = [list(layer) for layer in layers], 0
    for turn in range(_ROUNDS):
        if not fewest or idle >= _PATIENCE:
            break
        _sweep(current, above if turn % 2 else below, downward=bool(turn % 2), fixed_last=fixed_last)
        _swap_neighbours(current, above, below, fixed_last)
        count = crossings(current, below)
        idle += 1
        if count < fewest:
            best, fewest, idle = [list(layer) for layer in current], count, 0
    return best


def crossings(layers: Layers, below: Neighbours) -> int:
    """How many pairs of edges between neighbouring layers cross.

    >>> crossings([[0, 1], [2, 3]], [[3], [2], [], []])
    1
    """
    total = 0
    for upper, lower in pairwise(layers):
        place = {vertex: index for index, vertex in enumerate(lower)}
        passed: list[int] = []
        for vertex in upper:
            ends = sorted(place[end] for end in below[vertex])
            total += sum(len(passed) - bisect_left(passed, end + 1) for end in ends)
            for end in ends:
                insort(passed, end)
    return total


def _sweep(layers: Layers, neighbours: Neighbours, *, downward: bool, fixed_last: bool) -> None:
    """Sort each layer by the mean place of neighbours in the layer before it; vertices without any keep their place."""
    last = len(layers) - 1
    numbers = range(1, last + 1) if downward else range(last - 1, -1, -1)
    for number in numbers:
        if fixed_last and number == last:
            continue
        reference = layers[number - 1 if downward else number + 1]
        place = {vertex: index for index, vertex in enumerate(reference)}
        means = {
            vertex: sum(place[near] for near in neighbours[vertex]) / len(neighbours[vertex])
            for vertex in layers[number]
            if neighbours[vertex]
        }
        movable = iter(sorted((vertex for vertex in layers[number] if vertex in means), key=means.__getitem__))
        layers[number] = [next(movable) if vertex in means else vertex for vertex in layers[number]]


def _swap_neighbours(layers: Layers, above: Neighbours, below: Neighbours, fixed_last: bool) -> None:
    """Swap adjacent vertices as long as that removes crossings."""
    place = [0] * sum(map(len, layers))
    for layer in layers:
        for index, vertex in enumerate(layer):
            place[vertex] = index
    movable = layers[:-1] if fixed_last else layers
    for _ in range(_ROUNDS):
        swapped = False
        for layer in movable:
            for index in range(len(layer) - 1):
                left, right = layer[index], layer[index + 1]
                if _gain(left, right, above, place) + _gain(left, right, below, place) > 0:
                    layer[index], layer[index + 1] = right, left
                    place[left], place[right] = index + 1, index
                    swapped = True
        if not swapped:
            break


def _gain(left: int, right: int, neighbours: Neighbours, place: list[int]) -> int:
    """How many crossings disappear on one side when two adjacent vertices change places."""
    gain = 0
    for first in neighbours[left]:
        for second in neighbours[right]:
            if place[first] > place[second]:
                gain += 1
            elif place[first] < place[second]:
                gain -= 1
    return gain


_FIRST_TIE, _ANCHORED_TIE, _LINE_TIE, _STEM_TIE, _EXTRA = 1.0, 0.1, 12.0, 40.0, 0.25
_SPAN_PULL = 1.0
_RANK_GAP, _SLOPE, _WIDEST_GAP = 13.0, 0.07, 60.0
_CAPTION_WIDTH = 480.0


@dataclass(frozen=True, slots=True)
class DrawingLayout:
    """The places of a sketch's shapes, links and words, in their order.

    ``blocks`` and ``texts`` are what is written in the boxes and at the links; ``labels`` is where the latter stands,
    None where there is nothing to write.  A link from a shape to itself has an empty route and always a place for a
    label.  ``stems`` join shapes and their words.  ``caption`` are the lines of a sentence without anchors.
    """

    width: int
    height: int
    boxes: tuple[Box, ...]
    blocks: tuple[Block, ...]
    routes: tuple[Route, ...]
    texts: tuple[Block, ...]
    labels: tuple[Box | None, ...]
    stems: tuple[Route, ...]
    words: tuple[Box, ...]
    caption: tuple[tuple[str, Box], ...]


def arrange(sketch: Sketch) -> DrawingLayout:
    """Lay out a sketch.  The same sketch always gives the same layout."""
    graph = layered(sketch)
    at, bands = _positions(graph, sketch)
    count = len(sketch.shapes)
    heights = [*(block.height for block in graph.blocks), *[LEADING[WORD]] * len(sketch.words)]
    ends = tuple(
        Box(at[number] - vertex.left, bands[vertex.rank].top, 2 * vertex.left, height)
        for number, (vertex, height) in enumerate(zip(graph.vertices, heights, strict=False))
    )
    both = routes(graph, [*graph.paths, *graph.stems], at, bands, ends)
    bottom = max((band.bottom for band in bands), default=MARGIN)
    right = max((at[number] + vertex.right for number, vertex in enumerate(graph.vertices)), default=MARGIN)
    caption = () if sketch.words else _caption(sketch.input, right, bottom)
    for _, box in caption:
        right, bottom = max(right, box.right), box.bottom
    return DrawingLayout(
        ceil(right + MARGIN),
        ceil(bottom + MARGIN),
        ends[:count],
        tuple(graph.blocks),
        tuple(both[: len(graph.paths)]),
        tuple(graph.labels),
        tuple(_labels(graph, sketch, at, bands, ends)),
        tuple(both[len(graph.paths) :]),
        ends[count:],
        caption,
    )


def _positions(graph: Layered, sketch: Sketch) -> tuple[list[float], list[Band]]:
    """The horizontal position of each vertex and the vertical extent of each rank."""
    above, below = _neighbours(graph)
    layers = reduce_crossings(graph.layers(), above, below, fixed_last=bool(sketch.words))
    pulls = {
        number: Pull((len(sketch.shapes) + shape.words[0], len(sketch.shapes) + shape.words[-1]), _SPAN_PULL)
        for number, shape in enumerate(sketch.shapes)
        if shape.words and not shape.owned
    }
    sentence = _sentence(graph, layers[-1]) if sketch.words else None
    at = place(layers, *_ties(graph, sketch), graph.gap, pulls, sentence)
    straighten(at, layers, graph.gap, [*graph.paths, *graph.stems])
    left = min((at[number] - vertex.left for number, vertex in enumerate(graph.vertices)), default=0.0)
    at = [MARGIN - left + position for position in at]
    return at, _bands(graph, layers, below, at)


def _sentence(graph: Layered, words: Sequence[int]) -> Sentence:
    at = [0.0, *accumulate(graph.gap(left, right) for left, right in pairwise(words))]
    start = []
    for vertex in graph.vertices:
        before = min(int(vertex.key), len(at) - 1)
        after = min(before + 1, len(at) - 1)
        start.append(at[before] + (at[after] - at[before]) * (vertex.key - before))
    first = [number for number, word in enumerate(words) if number == 0 or graph.vertices[word].spaced]
    return Sentence([range(*ends) for ends in zip(first, [*first[1:], len(words)], strict=True)], start)


def _neighbours(graph: Layered) -> tuple[list[list[int]], list[list[int]]]:
    """The neighbours of each vertex in the layers above and below its own."""
    above: list[list[int]] = [[] for _ in graph.vertices]
    below: list[list[int]] = [[] for _ in graph.vertices]
    for path in (*graph.paths, *graph.stems):
        for upper, lower in pairwise(path):
            below[upper].append(lower)
            above[lower].append(upper)
    return above, below


def _ties(graph: Layered, sketch: Sketch) -> tuple[Ties, Ties]:
    """What pulls at each vertex from above and from below, and how strongly.

    A line wants to be upright from its label down to the shape it enters.  A shape wants to stand over its words, and
    words below what stands for them, whatever lies between.
    """
    above: list[list[tuple[int, float]]] = [[] for _ in graph.vertices]
    below: list[list[tuple[int, float]]] = [[] for _ in graph.vertices]
    in_tree = sketch.forest.arcs()
    first_tie = _ANCHORED_TIE if sketch.words else _FIRST_TIE
    for number, path in enumerate(graph.paths):
        for upper, lower in pairwise(path):
            tie = (first_tie if upper == path[0] else _LINE_TIE) * (1.0 if number in in_tree else _EXTRA)
            below[upper].append((lower, tie))
            above[lower].append((upper, tie))
    for upper, *between, lower in graph.stems:
        below[upper].append((lower, _STEM_TIE))
        above[lower].append((upper, _STEM_TIE))
        for vertex in between:
            above[vertex].append((upper, _STEM_TIE))
            below[vertex].append((lower, _STEM_TIE))
    return above, below


def _bands(
    graph: Layered, layers: Sequence[Sequence[int]], below: Sequence[Sequence[int]], at: Sequence[float]
) -> list[Band]:
    """The extent of each rank; ranks are farther apart where lines between them run far sideways."""
    bands: list[Band] = []
    top = MARGIN
    for layer in layers:
        height = max((graph.vertices[vertex].height for vertex in layer), default=0.0)
        bands.append(Band(top, top + height))
        farthest = max((abs(at[near] - at[vertex]) for vertex in layer for near in below[vertex]), default=0.0)
        top += height + min(_RANK_GAP + _SLOPE * farthest, _WIDEST_GAP)
    return bands


def _labels(
    graph: Layered, sketch: Sketch, at: Sequence[float], bands: Sequence[Band], boxes: Sequence[Box]
) -> list[Box | None]:
    """Where the labels of links stand: in the middle of their rank, or beside a shape, one below the other."""
    labels: list[Box | None] = []
    loops: dict[int, float] = {}
    for path, block, link in zip(graph.paths, graph.labels, sketch.links, strict=True):
        if path:
            middle = next((vertex for vertex in path if graph.vertices[vertex].kind == "label"), None)
            if middle is None:
                labels.append(None)
                continue
            top, bottom = bands[graph.vertices[middle].rank]
            x, y = at[middle] - block.width / 2, (top + bottom - block.height) / 2
        else:
            x, top = boxes[link.source].right + LOOP, loops.get(link.source, boxes[link.source].y)
            loops[link.source] = top + loop_height(block)
            y = top + (loop_height(block) - block.height) / 2
        labels.append(Box(x, y, block.width, block.height))
    return labels


def _caption(text: str, right: float, bottom: float) -> tuple[tuple[str, Box], ...]:
    if not text:
        return ()
    lines = wrapped(" ".join(text.split()), WORD, max(right - MARGIN, _CAPTION_WIDTH))
    top = bottom + MARGIN
    return tuple(
        (line, Box(MARGIN, top + number * LEADING[WORD], text_width(line, WORD), LEADING[WORD]))
        for number, line in enumerate(lines)
    )
