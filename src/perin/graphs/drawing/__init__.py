"""Pictures of graphs: SVG, HTML, PNG, PDF and plain text, and files of them in the form that a file's name points to.

    sketch (what to show) -> layers, order, positions -> layout (where) -> SVG -> page, PNG, PDF

Every function takes a graph or a :class:`Sketch`, which :func:`diff_sketch` makes of two graphs.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import sys
import warnings
from collections.abc import Iterable
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, TextIO

from perin.errors import MissingDependencyError, UsageError
from perin.files import write_bytes, write_text
from perin.graphs.codecs import PictureFormat, picture_format
from perin.graphs.drawing.diff import diff_sketch
from perin.graphs.drawing.sketch import Sketch, as_sketch, sketch
from perin.graphs.drawing.svg import (
    EAST_ASIAN_FONTS,
    SANS,
    SHIPPED_FONT,
    Theme,
    bare_svg,
    page_style_sheet,
    rendered,
    svg,
)
from perin.graphs.drawing.text import text
from perin.graphs.graph import Graph

__all__ = ["Sketch", "diff_sketch", "pdf", "png", "save", "sketch", "svg", "text", "write_html"]

# The HTML page: a list to search and to leaf through, nothing loaded from elsewhere.  The drawings lie in the page as
# JSON and become elements one at a time: a page of thousands of graphs stays quick.


_HEAD = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; style-src '{style_hash}'; script-src '{script_hash}'">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<header>
<h1>{title}</h1>
<button type="button" id="previous" class="many" aria-label="previous graph" title="previous (←)">‹</button>
<span id="status" class="many" role="status" aria-live="polite"></span>
<button type="button" id="next" class="many" aria-label="next graph" title="next (→)">›</button>
<input type="search" id="search" class="many" placeholder="search ids, words, labels" aria-label="search graphs">
<select id="order" class="compared" aria-label="order of the graphs">
<option value="file">as in the file</option>
<option value="worst">lowest F1 first</option>
<option value="best">highest F1 first</option>
</select>
<span class="space"></span>
<button type="button" id="fit" aria-pressed="false" title="fit to the width (f)">fit</button>
<button type="button" id="theme" title="light or dark (t)">light/dark</button>
</header>
<nav aria-label="graphs"><ol id="list"></ol></nav>
<main>
<p id="about"></p>
<p id="legend" class="compared" aria-label="legend">{legend}</p>
<div id="stage" tabindex="0" role="region" aria-label="drawing">
<noscript>These drawings need JavaScript, which this page carries itself.</noscript></div>
<footer><span class="many"><kbd>←</kbd> <kbd>→</kbd> other graphs, <kbd>/</kbd> search,</span>
<kbd>Shift</kbd> + arrows scroll, <kbd>+</kbd> <kbd>-</kbd> <kbd>0</kbd> size, <kbd>f</kbd> fit, <kbd>t</kbd> light or
dark; point at a node or click it to see its neighbours and words</footer>
</main>
<script type="application/json" id="graphs">["""

_FOOT = """]</script>
<script>{script}</script>
</body>
</html>
"""


_LEGEND = {"": "in both", "missing": "− missing: only in gold", "extra": "+ extra: only in the system"}


def _legend() -> str:
    """How a comparison shows what both graphs have, what only gold has and what only the system has."""
    return "".join(
        f'<span><svg class="perin" width="44" height="18" viewBox="0 0 44 18" aria-hidden="true">'
        f'<g class="node {kind}"><rect class="frame" x="1" y="2" width="18" height="14" rx="4"/></g>'
        f'<g class="link {kind}"><path class="line" d="M22 9H43"/></g></svg>{words}</span>'
        for kind, words in _LEGEND.items()
    )


def write_html(drawn: Iterable[Graph | Sketch], stream: TextIO, title: str = "Graphs") -> None:
    """Write a page of drawings, holding one of them at a time."""
    style = page_style_sheet() + _resource("page.css")
    script = _resource("page.js")
    hashes = {"style_hash": _digest(style), "script_hash": _digest(script)}
    stream.write(_HEAD.format(title=escape(title), style=style, legend=_legend(), **hashes))
    for number, each in enumerate(drawn):
        stream.write(",\n" if number else "\n")
        stream.write(_entry(as_sketch(each)))
    stream.write(_FOOT.format(script=script))


def _entry(content: Sketch) -> str:
    """A drawing as JSON in which nothing can end the script element that it is in."""
    texts = [
        content.name,
        *filter(None, [content.framework]),
        content.input,
        *(row.text for shape in content.shapes for row in shape.rows),
    ]
    texts += dict.fromkeys(row.text for link in content.links for row in link.rows)
    entry: dict[str, str | float] = {
        "id": content.name,
        "framework": content.framework or "",
        "input": content.input,
        "find": "\n".join(dict.fromkeys(texts)).lower(),
        "svg": bare_svg(content),
    }
    if content.f1 is not None:
        entry["f1"] = round(content.f1, 4)
    return json.dumps(entry, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


def _resource(name: str) -> str:
    return files("perin.graphs.drawing").joinpath(name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


# Drawings as PNG and PDF, made by Typst, an optional package with an SVG engine.  Latin, Greek and Cyrillic letters are
# set in the font that comes with this package, others in the system's.


_FONTS = Path(__file__).parent / "fonts"
_OTHER_LETTERS = re.compile("[^\\u0000-\\u052f\\u1e00-\\u1eff\\u2010-\\u2027\\u2030-\\u203a\\u2212]")
"""Characters that the font of the package may lack."""
_SCALE = 2
_MOST_PIXELS = 100_000_000
_PAGES = b"""#set document(date: none)
#set page(width: auto, height: auto, margin: 0pt)
#for number in range(int(sys.inputs.count)) {
  page(image(bytes(sys.inputs.at(str(number))), format: "svg"))
}
"""
_PICTURE = b"""#set page(width: auto, height: auto, margin: 0pt)
#image(bytes(sys.inputs.picture), format: "svg", width: int(sys.inputs.width) * 0.75pt - 0.002pt)
"""


def png(drawn: Graph | Sketch | Iterable[Graph | Sketch], theme: Theme = "light") -> bytes:
    """A picture of a graph or of several, one below the other, two pixels for each pixel (CSS) of the drawing."""
    picture = rendered(drawn, theme)
    width, height = _SCALE * picture.width, _SCALE * picture.height
    if width * height > _MOST_PIXELS:
        message = f"a PNG of this drawing would have {width} by {height} pixels"
        raise UsageError(f"{message}; draw fewer graphs at once, or make an SVG, HTML or PDF file")
    # Typst rounds the size of the picture up and then drops a row or column to make it fit; a hair less keeps all.
    text = picture.text.replace(f'height="{picture.height}"', f'height="{picture.height - 0.01:.2f}"', 1)
    return _compiled(_PICTURE, "png", {"picture": text, "width": str(picture.width)})


def pdf(drawn: Graph | Sketch | Iterable[Graph | Sketch], theme: Theme = "light") -> bytes:
    """A document with a page for each graph, as large as its drawing; text stays text, with its fonts inside."""
    several = [drawn] if isinstance(drawn, (Graph, Sketch)) else list(drawn)
    pages = [svg(each, theme) for each in several] or [svg([], theme)]
    inputs = {str(number): page for number, page in enumerate(pages)}
    return _compiled(_PAGES, "pdf", {"count": str(len(pages)), **inputs})


def _compiled(source: bytes, format: Literal["png", "pdf"], inputs: dict[str, str]) -> bytes:
    typst = _typst()
    if any('wide"' in text for text in inputs.values()) and not set(EAST_ASIAN_FONTS) & set(typst.Fonts().families()):
        message = f"no font with Chinese characters found, which this drawing has; install one ({EAST_ASIAN_FONTS[3]})"
        warnings.warn(message, stacklevel=3)
    inputs = {name: text.replace(SANS, f"'{SHIPPED_FONT}',{SANS}") for name, text in inputs.items()}
    own = all(text.isascii() or not _OTHER_LETTERS.search(text) for text in inputs.values())
    try:
        made = typst.compile(
            source,
            format=format,
            ppi=96.0 * _SCALE,
            sys_inputs=inputs,
            font_paths=[_FONTS],
            ignore_system_fonts=own,  # the same bytes everywhere, whatever is installed
        )
    except typst.TypstError as error:
        raise UsageError(f"can't make a {format.upper()} of this drawing ({error}); try SVG or HTML") from None
    assert isinstance(made, bytes)
    return made


def _typst() -> Any:
    try:
        import typst
    except ImportError:
        raise MissingDependencyError("typst", "drawing PNG and PDF", "draw") from None
    return typst


def save(
    drawn: Iterable[Graph | Sketch],
    path: str | os.PathLike[str],
    format: PictureFormat | None = None,
    *,
    theme: Theme | None = None,
    title: str = "Graphs",
    colour: bool = False,
) -> None:
    """Draw graphs to a file (``-``: standard output), which appears only when all are drawn.

    SVG and PNG show several graphs one below the other, PDF one per page, HTML one at a time.  ``theme`` is that of
    pictures (by default light for PNG and PDF), ``title`` that of an HTML page, ``colour`` is for text on a terminal.
    """
    format = format or picture_format(path)
    if format in ("png", "pdf"):
        data = (png if format == "png" else pdf)(drawn, theme or "light")
        if os.fspath(path) == "-":
            sys.stdout.buffer.write(data)
            return
        with write_bytes(path) as binary:
            binary.write(data)
        return
    with write_text(path) as stream:
        if format == "html":
            write_html(drawn, stream, title)
        elif format == "svg":
            stream.write(svg(drawn, theme or "auto"))
        else:
            for number, each in enumerate(drawn):
                stream.write(("\n" if number else "") + text(each, colour=colour))
