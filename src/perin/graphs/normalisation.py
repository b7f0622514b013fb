"""The normal form in which graphs are compared (the official MRP normalisation).

Inverse edges are turned round, anchors become sets of characters, case and default attribute values do not count.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from perin.graphs.graph import Anchor, Edge, Property, Scalar

SPACE = frozenset(" \t\n\f")
PUNCTUATION = frozenset(".?!;,:“\"”‘'’()[]{}") | SPACE
_DEFAULT_FALSE = frozenset(("remote", "effective", "member"))

Characters: TypeAlias = frozenset[int] | tuple[tuple[int, int], ...]
"""Anchors in normal form: character positions, or ranges where the input is not known."""


def normal_edge(edge: Edge) -> tuple[int, int, str | None]:
    """Source, target and label of an edge with inverse labels turned round.

    >>> normal_edge(Edge(0, 1, "ARG0-of"))
    (1, 0, 'ARG0')
    >>> normal_edge(Edge(0, 1, "mod")), normal_edge(Edge(0, 1, "prep-out-of"))
    ((1, 0, 'domain'), (0, 1, 'prep-out-of'))
    """
    label = edge.label or None
    if edge.normal:
        return edge.target, edge.source, edge.normal
    if edge.normal is None and label is not None:
        if label == "mod":
            return edge.target, edge.source, "domain"
        if label.endswith("-of-of") or (label.endswith("-of") and not label.startswith("prep-")):
            return edge.target, edge.source, label[:-3]
    return edge.source, edge.target, label


def normal_attributes(attributes: Iterable[Property]) -> list[tuple[str, str]]:
    """Attributes in lower case, without those that say ``false`` where false is the default."""
    pairs = [(folded(name), folded(value)) for name, value in attributes]
    return [(name, value) for name, value in pairs if not (value == "false" and name in _DEFAULT_FALSE)]


def folded(value: Scalar) -> str:
    """Lower-case text of a label, name or value, so that ``1`` equals ``"1"`` and ``True`` equals ``"true"``."""
    return value.lower() if type(value) is str else str(value).lower()


def normal_anchors(anchors: Iterable[Anchor] | None, text: str | None) -> Characters | None:
    """The characters that anchors cover, each run trimmed of punctuation and spaces; None for no anchors.

    >>> sorted(normal_anchors([Anchor(0, 4)], "Kim, who"))
    [0, 1, 2]
    """
    if anchors is None:
        return None
    runs = _runs(anchors, text or "")
    if not runs:
        return None
    if not text:
        return tuple(runs)
    positions: set[int] = set()
    for start, end in runs:
        start, end = trimmed(max(start, 0), min(end, len(text)), text)
        positions.update(position for position in range(start, end) if text[position] not in SPACE)
    return frozenset(positions)


def trimmed_runs(anchors: Iterable[Anchor], text: str) -> list[tuple[int, int]]:
    """The ranges that anchors cover in a text, trimmed of punctuation and spaces at their ends; some may be empty.

    >>> trimmed_runs([Anchor(0, 4), Anchor(5, 8)], "Kim, who")
    [(0, 3), (5, 8)]
    """
    return [trimmed(max(start, 0), min(end, len(text)), text) for start, end in _runs(anchors, text)]


def trimmed(start: int, end: int, text: str) -> tuple[int, int]:
    """A range without the punctuation and spaces at its ends; what is nothing else becomes empty."""
    while start < end and text[start] in PUNCTUATION:
        start += 1
    while start < end and text[end - 1] in PUNCTUATION:
        end -= 1
    return start, end


def _runs(anchors: Iterable[Anchor], text: str) -> list[tuple[int, int]]:
    """Maximal runs of covered positions; a gap of spaces is closed where the run before it ends in a space."""
    ranges = sorted((start, end) for start, end in anchors if start < end)
    runs: list[tuple[int, int]] = []
    for start, end in ranges:
        if runs and (start <= runs[-1][1] or _only_spaces(text, runs[-1][1] - 1, start)):
            runs[-1] = (runs[-1][0], max(runs[-1][1], end))
        else:
            runs.append((start, end))
    return runs


def _only_spaces(text: str, start: int, end: int) -> bool:
    return bool(text) and start >= 0 and all(character in SPACE for character in text[start:end])
