"""The way of each line: where it leaves and enters shapes, and the upright stretches it consists of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from perin.graphs.drawing.layered import Layered
from perin.graphs.drawing.positions import spread

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
