"""Drawings as SVG: one self-contained picture, legible on light and dark pages, the same bytes for the same graph."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from itertools import pairwise
from string import Template
from typing import Literal, NamedTuple, TypeAlias

from perin.graphs.drawing.layered import EDGE, LABEL, NAME_GAP, SMALL, WORD, Line, drawable
from perin.graphs.drawing.layout import DrawingLayout, arrange
from perin.graphs.drawing.lettering import is_wide, printable, text_width
from perin.graphs.drawing.routing import Box, Route
from perin.graphs.drawing.sketch import Link, Shape, Sketch, Status, as_sketch
from perin.graphs.graph import Graph

# The look of drawings: a style sheet in two palettes, for light and dark pages.  Colour rules are spelled out instead
# of using CSS variables, which many programs that read SVG don't know.


Theme: TypeAlias = Literal["auto", "light", "dark"]
"""``auto`` follows the page or the reader's system where the viewer can tell, and is light elsewhere."""

_LIGHT = {
    "page": "#ffffff",
    "ink": "#1f2933",
    "muted": "#5c6876",
    "line": "#5b6876",
    "stem": "#c3ccd6",
    "box": "#f6f8fa",
    "frame": "#aab5c0",
    "relation": "#e9f1ec",
    "name": "#0b7a75",
    "top": "#b45309",
    "topbox": "#fef3d7",
    "shared": "#7c3aed",
    "sharedbox": "#f5f0ff",
    "scope": "#dbe5f0",
    "missing": "#c2261c",
    "missingbox": "#fdeceb",
    "extra": "#1257c9",
    "extrabox": "#e8f0fe",
}
_DARK = {
    "page": "#14181d",
    "ink": "#e4e9ee",
    "muted": "#97a3b0",
    "line": "#93a1af",
    "stem": "#3d4854",
    "box": "#20272e",
    "frame": "#5c6a78",
    "relation": "#22332b",
    "name": "#4fd1c5",
    "top": "#f5b544",
    "topbox": "#3a2c12",
    "shared": "#b79bff",
    "sharedbox": "#2b2440",
    "scope": "#33414f",
    "missing": "#ff8a80",
    "missingbox": "#3f1d1b",
    "extra": "#82b1ff",
    "extrabox": "#182a47",
}

SANS = "'Helvetica Neue',Helvetica,Arial,'Liberation Sans','Noto Sans','DejaVu Sans'"
"""Fonts that are equally wide, then others; the reader of an SVG or HTML file has one of them."""
SHIPPED_FONT = "Liberation Sans"
"""The font of PNG and PDF, which comes with this package: its letters have the widths that a layout reckons with."""
EAST_ASIAN_FONTS = (
    "PingFang SC",
    "Hiragino Sans GB",
    "Microsoft YaHei",
    "Noto Sans CJK SC",
    "Noto Sans SC",
    "Source Han Sans SC",
    "WenQuanYi Micro Hei",
)
"""Fonts with Chinese characters, one of which most systems have."""

_EAST_ASIAN = ",".join(f"'{name}'" for name in EAST_ASIAN_FONTS)

_SHAPES = f"""
.perin text{{font:{LABEL:g}px {SANS},{_EAST_ASIAN},sans-serif;text-anchor:middle;stroke:none}}
.perin .wide{{font-family:{_EAST_ASIAN},{SANS},sans-serif}}
.perin .small{{font-size:{SMALL:g}px}}
.perin .quote{{font-style:italic}}
.perin .edge{{font-size:{EDGE:g}px}}
.perin .word{{font-size:{WORD:g}px}}
.perin .caption{{font-size:{WORD:g}px;text-anchor:start}}
.perin path{{fill:none;stroke-width:1.2}}
.perin .arrow{{stroke:none}}
.perin .remote path.line{{stroke-dasharray:5 3}}
.perin .membership path.line{{stroke-dasharray:1.5 3;stroke-linecap:round}}
.perin .missing path.line{{stroke-dasharray:7 3}}
.perin .extra path.line,.perin .missing path.line{{stroke-width:1.7}}
.perin .frame{{stroke-width:1}}
.perin .rule{{stroke-width:.7}}
.perin .relation .frame{{stroke:none}}
.perin .relation text{{font-style:italic}}
.perin .top .frame,.perin .missing .frame,.perin .extra .frame{{stroke-width:2}}
.perin .missing .frame{{stroke-dasharray:6 3}}
"""

_COLOURS = Template("""
$at .page,$at .halo{fill:$page}
$at text{fill:$ink}
$at .quote,$at .membership text{fill:$muted}
$at .name,$at .edge.small{fill:$name}
$at .line{stroke:$line}
$at .arrow{fill:$line}
$at .stem{stroke:$stem}
$at .membership .line{stroke:$frame}
$at .membership .arrow{fill:$frame}
$at .frame{fill:$box;stroke:$frame}
$at .rule{stroke:$frame}
$at .dot .frame{fill:$line;stroke:$line}
$at .scope .frame{fill:$scope;stroke:$line}
$at .relation .frame{fill:$relation}
$at .shared .line,$at .shared .frame{stroke:$shared}
$at .shared .arrow,$at .shared .edge{fill:$shared}
$at .shared .frame{fill:$sharedbox}
$at .top .frame{fill:$topbox;stroke:$top}
$at .dot.shared .frame{fill:$shared}
$at .dot.top .frame{fill:$top}
$at.diff .top .frame{fill:$box;stroke:$ink}
$at .missing .line,$at .node.missing .frame{stroke:$missing}
$at .missing .arrow,$at .missing .edge,$at text.missing,$at .missing text,$at .missing .name{fill:$missing}
$at .node.missing .frame{fill:$missingbox}
$at .extra .line,$at .node.extra .frame{stroke:$extra}
$at .extra .arrow,$at .extra .edge,$at text.extra,$at .extra text,$at .extra .name{fill:$extra}
$at .node.extra .frame{fill:$extrabox}
""")


def style_sheet(theme: Theme = "auto") -> str:
    """The CSS of a drawing that stands alone."""
    light, dark = colours(".perin", dark=False), colours(".perin", dark=True)
    if theme == "auto":
        return f"{_SHAPES}{light}@media (prefers-color-scheme:dark){{{dark}}}"
    return _SHAPES + (dark if theme == "dark" else light)


def page_style_sheet() -> str:
    """The CSS of the drawings in a page; ``data-theme`` of its root, ``light`` or ``dark``, overrules the system."""
    follow = colours(":root:not([data-theme=light]) .perin", dark=True)
    chosen = colours(":root[data-theme=dark] .perin", dark=True)
    return f"{_SHAPES}{colours('.perin', dark=False)}@media (prefers-color-scheme:dark){{{follow}}}{chosen}"


def colours(selector: str, *, dark: bool) -> str:
    """The colour rules for everything inside the selected elements."""
    return _COLOURS.substitute(_DARK if dark else _LIGHT, at=selector)


# The picture.


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
    """Words of the sentence, as wide as they were laid out: in a wider font they would run together or be cut."""
    if len(text) > 1 and not is_wide(text):
        attributes += f' textLength="{_number(text_width(text, WORD))}" lengthAdjust="spacingAndGlyphs"'
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
