"""The look of drawings: a style sheet in two palettes, for light and for dark pages.

Colour rules are spelled out instead of using CSS variables, which many programs that read SVG don't know.
"""

from __future__ import annotations

from string import Template
from typing import Literal, TypeAlias

from perin.graphs.drawing.measures import EDGE, LABEL, SMALL, WORD

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
    """The colour rules for what is inside of the elements that the selector names."""
    return _COLOURS.substitute(_DARK if dark else _LIGHT, at=selector)
