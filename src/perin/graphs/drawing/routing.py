"""Horizontal positions, and the way of each line: where it leaves and enters shapes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate, pairwise
from math import inf
from typing import NamedTuple

from perin.graphs.drawing.layered import Layered

# Horizontal positions: order and least distances kept, lines upright, words below what stands for them.


Layers = Sequence[Sequence[int]]

Ties = Sequence[Sequence[tuple[int, float]]]
"""For each vertex, its neighbours and how strongly each pulls."""

Gap = Callable[[int, int], float]
"""The least distance between the positions of two vertices that stand next to each other, left one first."""


class Pull(NamedTuple):
    """A place that a vertex is drawn to besides its neighbours: the middle of these vertices (a span of words)."""

    towards: tuple[int, ...]
    weight: float


class Sentence(NamedTuple):
    """The last layer, where that is a sentence: ``chunks`` of words that no space divides.

    ``start`` is where every vertex of the graph would stand if the sentence were set as usual and nothing needed room.
    """

    chunks: Sequence[range]
    start: Sequence[float]


def spread(wanted: Sequence[float], weights: Sequence[float], gaps: Sequence[float]) -> list[float]:
    """The positions nearest to the wanted ones (weighted least squares) whose distances are at least the gaps.

    This is isotonic regression, solved by pooling adjacent violators.

    >>> spread([0, 0], [1, 1], [10])
    [-5.0, 5.0]
    """
    offsets = list(accumulate(gaps, initial=0.0))[: len(wanted)]
    pools: list[tuple[float, float, int]] = []  # sum of weighted positions, sum of weights, size
    for position, weight, offset in zip(wanted, weights, offsets, strict=True):
        total, mass, size = (position - offset) * weight, weight, 1
        while pools and pools[-1][0] * mass >= total * pools[-1][1]:
            before = pools.pop()
            total, mass, size = total + before[0], mass + before[1], size + before[2]
        pools.append((total, mass, size))
    means = [total / mass for total, mass, size in pools for _ in range(size)]
    return [mean + offset for mean, offset in zip(means, offsets, strict=True)]


def place(
    layers: Layers, above: Ties, below: Ties, gap: Gap, pulls: Mapping[int, Pull], sentence: Sentence | None = None
) -> list[float]:
    """A position for each vertex: every layer settles between its neighbours again and again.

    Without a sentence, the layers start packed, and each settles on the one before it first.
    """
    gaps = _gaps(layers, gap)
    none: Ties = [()] * sum(map(len, layers))
    downward, upward = range(len(layers)), range(len(layers) - 1, -1, -1)
    rounds = [(downward, above, below), (upward, above, below)] * _SETTLING
    if sentence is None:
        rounds = [(downward, above, none), (upward, none, below)] * _FIRST + rounds
    at = list(sentence.start) if sentence else [0.0] * len(none)
    for layer, distances in zip(layers, gaps, strict=True):
        _assign(at, layer, spread([at[vertex] for vertex in layer], [1.0] * len(layer), distances))
    for numbers, upper, lower in rounds:
        for number in numbers:
            if sentence and number == len(layers) - 1:
                _settle_sentence(at, layers[number], gaps[number], above, sentence.chunks)
            else:
                _settle(at, layers[number], gaps[number], (upper, lower), pulls)
    return at


_FIRST = 3
_SETTLING = 8
_IDLE_WEIGHT = 0.01
_WIDEST_SPACE = 48.0
_NEAR = 12.0


def _settle_sentence(
    at: list[float], words: Sequence[int], gaps: Sequence[float], above: Ties, chunks: Sequence[range]
) -> None:
    """Put words below what stands for them, with no wide spaces between; other words keep to the nearest of those.

    Chunks that no space divides stay in one piece.
    """
    natural = list(accumulate(gaps, initial=0.0))
    wanted: dict[int, tuple[float, float]] = {}
    for number, chunk in enumerate(chunks):
        ties = [(at[near] - natural[word], tie) for word in chunk for near, tie in above[words[word]]]
        weight = sum(tie for _, tie in ties)
        if weight:
            wanted[number] = sum(offset * tie for offset, tie in ties) / weight, weight
    if not wanted:
        return
    shifts = spread(
        [shift for shift, _ in wanted.values()], [weight for _, weight in wanted.values()], [0.0] * (len(wanted) - 1)
    )
    shift = dict(zip(wanted, shifts, strict=True))
    for number, chunk in enumerate(chunks):
        if number not in shift:
            shift[number] = shift[min(wanted, key=lambda other: abs(natural[chunks[other][0]] - natural[chunk[0]]))]
    for number in range(len(chunks) // 2 + 1, len(chunks)):
        shift[number] = min(shift[number], shift[number - 1] + _WIDEST_SPACE)
    for number in range(len(chunks) // 2 - 1, -1, -1):
        shift[number] = max(shift[number], shift[number + 1] - _WIDEST_SPACE)
    for number, chunk in enumerate(chunks):
        _assign(at, [words[word] for word in chunk], [natural[word] + shift[number] for word in chunk])


def _settle(
    at: list[float], layer: Sequence[int], gaps: Sequence[float], sides: tuple[Ties, Ties], pulls: Mapping[int, Pull]
) -> None:
    wanted, weights = [], []
    for vertex in layer:
        weight = _IDLE_WEIGHT
        total = at[vertex] * weight
        for ties in sides:
            for near, strength in ties[vertex]:
                total += at[near] * strength
                weight += strength
        pull = pulls.get(vertex)
        if pull:
            middle = (at[pull.towards[0]] + at[pull.towards[-1]]) / 2
            total += middle * pull.weight
            weight += pull.weight
        wanted.append(total / weight)
        weights.append(weight)
    _assign(at, layer, spread(wanted, weights, gaps))


def straighten(at: list[float], layers: Layers, gap: Gap, paths: Sequence[Sequence[int]]) -> None:
    """Make the inner vertices of each path upright, in as few pieces as their neighbours leave room for.

    A piece that is nearly above or below an end of its path comes to stand exactly there.
    """
    low, high = [-inf] * len(at), [inf] * len(at)
    left: dict[int, tuple[int, float]] = {}
    right: dict[int, tuple[int, float]] = {}
    for layer, distances in zip(layers, _gaps(layers, gap), strict=True):
        for first, second, distance in zip(layer, layer[1:], distances, strict=False):
            right[first], left[second] = (second, distance), (first, distance)
    for path in sorted(paths, key=len, reverse=True):
        for vertex in path[1:-1]:
            low[vertex] = at[left[vertex][0]] + left[vertex][1] if vertex in left else -inf
            high[vertex] = at[right[vertex][0]] - right[vertex][1] if vertex in right else inf
        for piece in _pieces(path[1:-1], low, high):
            least, most = max(low[vertex] for vertex in piece), min(high[vertex] for vertex in piece)
            mean = sum(at[vertex] for vertex in piece) / len(piece)
            near = [at[end] for end in (path[-1], path[0]) if abs(at[end] - mean) < _NEAR]
            _assign(at, piece, [min(max(near[0] if near else mean, least), most)] * len(piece))


def _pieces(path: Sequence[int], low: Sequence[float], high: Sequence[float]) -> list[list[int]]:
    """The path cut where the room of its vertices has nothing in common any more."""
    pieces: list[list[int]] = []
    least, most = -inf, inf
    for vertex in path:
        least, most = max(least, low[vertex]), min(most, high[vertex])
        if pieces and least <= most:
            pieces[-1].append(vertex)
        else:
            pieces.append([vertex])
            least, most = low[vertex], high[vertex]
    return pieces


def _gaps(layers: Layers, gap: Gap) -> list[list[float]]:
    return [[gap(left, right) for left, right in pairwise(layer)] for layer in layers]


def _assign(at: list[float], vertices: Sequence[int], values: Sequence[float]) -> None:
    for vertex, value in zip(vertices, values, strict=True):
        at[vertex] = value


# The way of each line: where it leaves and enters shapes, and the upright stretches it consists of.


_PORT_DISTANCE, _CORNER = 11.0, 7.0


class Box(NamedTuple):
    """A rectangle; ``x`` and ``y`` are its left upper corner."""

    x: float
    y: float
    width: float
    height: float

    @property
    def right(self) -> float:
        """The right end."""
        return self.x + self.width

    @property
    def bottom(self) -> float:
        """The lower end."""
        return self.y + self.height

    @property
    def middle(self) -> float:
        """Half way between left and right."""
        return self.x + self.width / 2


class Band(NamedTuple):
    """The height that a rank takes."""

    top: float
    bottom: float


class Station(NamedTuple):
    """A stretch of a line that runs straight down; from one station to the next it swings."""

    x: float
    top: float
    bottom: float


Route = tuple[Station, ...]
"""A line from top to bottom."""


def routes(
    graph: Layered, paths: Sequence[Sequence[int]], at: Sequence[float], bands: Sequence[Band], boxes: Sequence[Box]
) -> list[Route]:
    """The routes of paths through the layered graph, from the lower side of the first box to the upper of the last.

    ``at`` are the positions of the vertices; a path that is empty (a loop) has an empty route.
    """
    leaving = _ports(paths, at, boxes, upper=True)
    entering = _ports(paths, at, boxes, upper=False)
    found: list[Route] = []
    for number, path in enumerate(paths):
        if not path:
            found.append(())
            continue
        first, last = path[0], path[-1]
        inner = [(at[vertex], *bands[graph.vertices[vertex].rank]) for vertex in path[1:-1]]
        start = Station(leaving[number], boxes[first].bottom, bands[graph.vertices[first].rank].bottom)
        end = Station(entering[number], bands[graph.vertices[last].rank].top, boxes[last].y)
        found.append((start, *(Station(*station) for station in inner), end))
    return found


def _ports(
    paths: Sequence[Sequence[int]], at: Sequence[float], boxes: Sequence[Box], *, upper: bool
) -> dict[int, float]:
    """Where paths touch the boxes at their upper (or lower) ends: near where they go, in that order, well apart."""
    touching: dict[int, list[tuple[float, int]]] = {}
    for number, path in enumerate(paths):
        if path:
            end, near = (path[0], path[1]) if upper else (path[-1], path[-2])
            touching.setdefault(end, []).append((at[near], number))
    ports: dict[int, float] = {}
    for end, lines in touching.items():
        lines.sort()
        box = boxes[end]
        corner = min(_CORNER, box.width / 2)
        low, room = box.x + corner, box.width - 2 * corner
        step = min(_PORT_DISTANCE, room / max(len(lines) - 1, 1))
        wanted = [min(max(x, low), low + room) for x, _ in lines]
        placed = spread(wanted, [1.0] * len(lines), [step] * (len(lines) - 1))
        for index, ((_, number), x) in enumerate(zip(lines, placed, strict=True)):
            least, most = low + index * step, low + room - (len(lines) - 1 - index) * step
            ports[number] = min(max(x, least), most)
    return ports
