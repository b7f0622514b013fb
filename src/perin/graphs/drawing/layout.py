"""Where everything in a drawing stands: boxes on layers, words in a line below, edges and their labels between."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from math import ceil

from perin.graphs.drawing.layered import Layered, layered
from perin.graphs.drawing.lettering import text_width, wrapped
from perin.graphs.drawing.measures import LEADING, LOOP, MARGIN, WORD, Block, loop_height
from perin.graphs.drawing.ordering import reduce_crossings
from perin.graphs.drawing.positions import Pull, Sentence, Ties, place, straighten
from perin.graphs.drawing.routing import Band, Box, Route, routes
from perin.graphs.drawing.sketch import Sketch

_FIRST_TIE, _ANCHORED_TIE, _LINE_TIE, _STEM_TIE, _EXTRA = 1.0, 0.1, 12.0, 40.0, 0.25
_SPAN_PULL = 1.0
_RANK_GAP, _SLOPE, _WIDEST_GAP = 13.0, 0.07, 60.0
_CAPTION_WIDTH = 480.0


@dataclass(frozen=True, slots=True)
class Layout:
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


def arrange(sketch: Sketch) -> Layout:
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
    return Layout(
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
