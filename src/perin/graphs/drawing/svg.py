"""Drawings as SVG: one self-contained picture, legible on light and dark pages, the same bytes for the same graph."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from itertools import pairwise
from typing import NamedTuple

from perin.graphs.drawing.layered import drawable
from perin.graphs.drawing.layout import DrawingLayout, arrange
from perin.graphs.drawing.lettering import is_wide, printable
from perin.graphs.drawing.measures import NAME_GAP, SMALL, WORD, Line
from perin.graphs.drawing.routing import Box, Route
from perin.graphs.drawing.sketch import Link, Shape, Sketch, Status, as_sketch
from perin.graphs.drawing.style import Theme, style_sheet
from perin.graphs.graph import Graph

_NAMESPACE = "http://www.w3.org/2000/svg"
_NOTHING = 24
_ARROW_LENGTH, _ARROW_WIDTH = 7.0, 6.0


class Rendered(NamedTuple):
    """An SVG document and its size in pixels (CSS)."""

    text: str
    width: int
    height: int


def svg(drawn: Graph | Sketch | Iterable[Graph | Sketch], theme: Theme = "auto") -> str:
    """A picture of a graph, or of several, one below the other."""
    return rendered(drawn, theme).text


def rendered(drawn: Graph | Sketch | Iterable[Graph | Sketch], theme: Theme) -> Rendered:
    """Like :func:`svg`, with the size of the picture."""
    pictures = [_Picture(each) for each in ([drawn] if isinstance(drawn, (Graph, Sketch)) else drawn)]
    parts = [f"<style>{style_sheet(theme)}</style>", '<rect class="page" width="100%" height="100%"/>']
    height = 0
    for picture in pictures:
        parts.append(f'<g transform="translate(0 {height})">{picture.body}</g>')
        height += picture.layout.height
    width = max((picture.layout.width for picture in pictures), default=_NOTHING)
    height = height or _NOTHING
    title = "; ".join(picture.title for picture in pictures) or "no graph"
    compared = any(picture.content.compared for picture in pictures)
    return Rendered(_element(width, height, title, compared, "".join(parts)) + "\n", width, height)


def bare_svg(drawn: Graph | Sketch) -> str:
    """A picture of one graph without colours of its own, for a page that has :func:`.style.page_style_sheet`."""
    picture = _Picture(drawn)
    layout = picture.layout
    return _element(layout.width, layout.height, picture.title, picture.content.compared, picture.body)


class _Picture:
    """A drawing laid out, with its elements and its title."""

    def __init__(self, drawn: Graph | Sketch) -> None:
        self.content = drawable(as_sketch(drawn))
        self.layout = arrange(self.content)
        self.body = "".join(_body(self.content, self.layout))
        kind = f"{printable(self.content.framework)} graph" if self.content.framework else "graph"
        self.title = f"{kind} {self.content.name}" + (f": {self.content.input}" if self.content.input else "")


def _element(width: int, height: int, title: str, compared: bool, content: str) -> str:
    kind = "perin diff" if compared else "perin"
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    return f'<svg xmlns="{_NAMESPACE}" class="{kind}" {size} role="img" aria-label="{escape(title)}">{content}</svg>'


def _body(content: Sketch, layout: DrawingLayout) -> Iterator[str]:
    stems = "".join(map(_line, layout.stems))
    if stems:
        yield f'<path class="stem" d="{stems}"/>'
    for number, link in enumerate(content.links):
        yield _link(content, layout, number, link)
    for shape, box, block in zip(content.shapes, layout.boxes, layout.blocks, strict=True):
        yield _shape(content, shape, box, block.lines)
    for number, (word, box) in enumerate(zip(content.words, layout.words, strict=True)):
        yield _text(word.text, box.middle, box.y + _baseline(box.height, WORD), "word", f' data-w="{number}"')
    for line, box in layout.caption:
        yield _text(line.rstrip(), box.x, box.y + _baseline(box.height, WORD), "caption")


def _shape(content: Sketch, shape: Shape, box: Box, lines: tuple[Line, ...]) -> str:
    classes = _classes("node", shape.form, shape.top and "top", shape.reentrant and "shared", _wrong(shape.status))
    words = f' data-w="{" ".join(map(str, shape.words))}"' if shape.words else ""
    parts = [f'<g{classes} data-n="{shape.id}"{words}><title>{escape(_title(content, shape))}</title>']
    x, y, w, h = map(_number, box)
    radius = {"dot": box.width / 2, "scope": 2.0, "relation": min(box.height / 2, 10.0)}.get(shape.form, 5.0)
    parts.append(f'<rect class="frame" x="{x}" y="{y}" width="{w}" height="{h}" rx="{_number(radius)}"/>')
    top = box.y + (box.height - sum(line.height for line in lines)) / 2
    for before, line in zip((None, *lines), lines, strict=False):
        if before is not None and before.row.kind == "label" and line.row.kind == "property":
            parts.append(f'<path class="rule" d="M{x} {_number(top)}H{_number(box.right)}"/>')
        parts.append(_set_line(line, box.middle, top, ""))
        top += line.height
    parts.append("</g>")
    return "".join(parts)


def _link(content: Sketch, layout: DrawingLayout, number: int, link: Link) -> str:
    route, label = layout.routes[number], layout.labels[number]
    kinds = link.reentrant and "shared", link.remote and "remote", link.membership and "membership"
    ends = f'data-s="{content.shapes[link.source].id}" data-t="{content.shapes[link.target].id}"'
    parts = [f"<g{_classes('link', *kinds, _wrong(link.status))} {ends}>"]
    if route:
        upward = layout.boxes[link.source].y > layout.boxes[link.target].y
        parts.append(f'<path class="line" d="{_line(route)}"/><path class="arrow" d="{_arrow(route, upward)}"/>')
    elif label:
        parts.append(_loop(layout.boxes[link.source], label))
    if label:
        x, y, w, h = map(_number, label)
        parts.append(f'<rect class="halo" x="{x}" y="{y}" width="{w}" height="{h}"/>')
        top = label.y
        for line in layout.texts[number].lines:
            parts.append(_set_line(line, label.middle, top, "edge"))
            top += line.height
    parts.append("</g>")
    return "".join(parts)


def _set_line(line: Line, middle: float, top: float, kind: str) -> str:
    quote = line.row.kind == "quote"
    classes = [kind, line.size == SMALL and "small", quote and "quote", _wrong(line.row.status)]
    text = line.text.rstrip()
    if line.name:
        # The names and values of a row are one text, so that the row stays centred in whatever font it is set.
        content = (
            f'<tspan class="name">{escape(line.name)}</tspan><tspan dx="{_number(NAME_GAP)}">{escape(text)}</tspan>'
        )
    else:
        content = escape(text)
    return _text_element(content, line.name + text, middle, top + _baseline(line.height, line.size), classes)


def _text(text: str, x: float, y: float, kind: str, attributes: str = "") -> str:
    return _text_element(escape(text), text, x, y, [kind], attributes)


def _text_element(
    content: str, text: str, x: float, y: float, classes: Sequence[str | bool], attributes: str = ""
) -> str:
    named = _classes(*classes, is_wide(text) and "wide")
    return f'<text{named} x="{_number(x)}" y="{_number(y)}"{attributes}>{content}</text>'


def _classes(*names: str | bool) -> str:
    """The class attribute of those names that are not empty or false."""
    found = " ".join(str(name) for name in names if name)
    return f' class="{found}"' if found else ""


def _wrong(status: Status) -> str:
    return status if status in ("missing", "extra") else ""


def _line(route: Route) -> str:
    """The path of a route: straight at its stations, an S-curve with upright ends from one to the next."""
    parts = [f"M{_number(route[0].x)} {_number(route[0].top)}"]
    for here, there in pairwise(route):
        if _number(here.x) == _number(there.x):
            continue
        swing = (there.top - here.bottom) * 0.55
        points = (here.x, here.bottom + swing, there.x, there.top - swing, there.x, there.top)
        parts.append(f"V{_number(here.bottom)}C" + " ".join(map(_number, points)))
    parts.append(f"V{_number(route[-1].bottom)}")
    return "".join(parts)


def _arrow(route: Route, upward: bool) -> str:
    x, tip = (route[0].x, route[0].top) if upward else (route[-1].x, route[-1].bottom)
    back = tip + _ARROW_LENGTH if upward else tip - _ARROW_LENGTH
    half = _ARROW_WIDTH / 2
    return f"M{_number(x)} {_number(tip)}L{_number(x - half)} {_number(back)}H{_number(x + half)}Z"


def _loop(box: Box, label: Box) -> str:
    """A line from the right side of a box to its label and back."""
    start, middle = box.y + box.height / 2, label.y + label.height / 2
    reach = box.right + (label.x - 2 - box.right) / 0.75
    numbers = (box.right, start - 3, reach, middle - 9, reach, middle + 9, box.right, start + 3)
    x0, y0, x1, y1, x2, y2, x3, y3 = map(_number, numbers)
    tip = f"M{x3} {y3}l6.5 -.5l-3.5 5.5z"
    return f'<path class="line" d="M{x0} {y0}C{x1} {y1} {x2} {y2} {x3} {y3}"/><path class="arrow" d="{tip}"/>'


def _title(content: Sketch, shape: Shape) -> str:
    """What a reader hears or sees on pointing at a node."""
    parts = [f"node {shape.id}" + (" (top)" if shape.top else "")]
    parts += [f"{row.name} = {row.text}" if row.name else row.text for row in shape.rows if row.kind != "quote"]
    if shape.words:
        parts.append("“" + " ".join(content.words[word].text for word in shape.words) + "”")
    return ", ".join(parts)


def _baseline(height: float, size: float) -> float:
    return height / 2 + 0.355 * size


def _number(value: float) -> str:
    return f"{round(value, 1):g}"
