"""Options that several verbs share, so that a flag means the same in all of them."""

from __future__ import annotations

import argparse

from perin.errors import UsageError
from perin.graphs.codecs.registry import FORMATS, canonical
from perin.graphs.drawing.files import PICTURE_FORMATS


def add_threads(parser: argparse.ArgumentParser, help: str, default: int | None = None) -> None:
    """Add ``--threads``, also called ``--jobs``: how many cores to use."""
    parser.add_argument("--threads", "--jobs", "-j", type=count, default=default, metavar="N", help=help)


def count(text: str) -> int:
    """The value of an argument that counts something."""
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"expected a number of at least 1, found {text!r}")
    return number


def frameworks(text: str) -> str | list[str]:
    """A framework or several, in any case, separated by commas."""
    names = [name.strip().lower() for name in text.split(",") if name.strip()]
    if not names:
        raise argparse.ArgumentTypeError("expected the name of a framework, such as eds")
    return names[0] if len(names) == 1 else names


def graph_format(text: str) -> str:
    """The name of a format of graphs, in any case and under any of its names."""
    try:
        return canonical(text)
    except UsageError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def output_format(text: str) -> str:
    """The name of a format of graphs or of pictures."""
    if text.lower() in PICTURE_FORMATS:
        return text.lower()
    try:
        return canonical(text)
    except UsageError:
        known = ", ".join((*FORMATS, *PICTURE_FORMATS))
        raise argparse.ArgumentTypeError(f"unknown format {text!r}; known are: {known}") from None
