"""Drawings as files, in the form that a file's name points to."""

from __future__ import annotations

import os
import re
import sys
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from perin.errors import MissingDependencyError, UsageError
from perin.files import write_bytes, write_text
from perin.graphs.drawing.html import write_html
from perin.graphs.drawing.sketch import Sketch
from perin.graphs.drawing.style import EAST_ASIAN_FONTS, SANS, SHIPPED_FONT, Theme
from perin.graphs.drawing.svg import rendered, svg
from perin.graphs.drawing.text import text
from perin.graphs.graph import Graph

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


PictureFormat: TypeAlias = Literal["text", "svg", "html", "png", "pdf"]
PICTURE_FORMATS: tuple[PictureFormat, ...] = get_args(PictureFormat)

_SUFFIXES: dict[str, PictureFormat] = {
    ".txt": "text",
    ".svg": "svg",
    ".html": "html",
    ".htm": "html",
    ".png": "png",
    ".pdf": "pdf",
}


def picture_format(path: str | os.PathLike[str]) -> PictureFormat:
    """The format that the name of a file points to; standard output (``-``) gets text."""
    if os.fspath(path) == "-":
        return "text"
    suffix = Path(path).suffix.lower()
    if suffix not in _SUFFIXES:
        known = ", ".join(_SUFFIXES)
        raise UsageError(f"can't draw to {os.fspath(path)}: its name should end in one of {known} (or say --to)")
    return _SUFFIXES[suffix]


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

    SVG and PNG show several graphs one below the other, PDF one a page, HTML one at a time.  ``theme`` is that of
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
