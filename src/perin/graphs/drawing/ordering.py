"""The order of the vertices of each layer, chosen so that few edges cross."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Sequence
from itertools import pairwise

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
