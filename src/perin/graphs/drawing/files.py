"""Drawings as files, in the form that a file's name points to."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from perin.errors import UsageError
from perin.files import write_bytes, write_text
from perin.graphs.drawing.html import write_html
from perin.graphs.drawing.raster import pdf, png
from perin.graphs.drawing.sketch import Sketch
from perin.graphs.drawing.style import Theme
from perin.graphs.drawing.svg import svg
from perin.graphs.drawing.text import text
from perin.graphs.graph import Graph

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
