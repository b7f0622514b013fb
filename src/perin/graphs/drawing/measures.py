"""Sizes: of letters, of the boxes around them, and of the distances between things.  All in pixels (CSS)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from perin.graphs.drawing.lettering import text_width, wrapped
from perin.graphs.drawing.sketch import Link, Row, Shape

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
