"""Which layer a node stands on: parents above children, edges short."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from perin.graphs.drawing.spanning import Arc

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
