"""The command line: one module per verb, each a thin skin over a function that Python users call too.

Here is what several verbs share: options, so that a flag means the same in all of them, and how warnings are printed.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections import Counter

from perin.errors import Finding, UsageError
from perin.graphs.codecs import FORMATS, PICTURE_FORMATS, canonical

SHOWN = 3
"""Findings of one kind that are printed; more are counted."""
_FILE_NAME = re.compile(r"\S+\.(txt|text|md|conllu|mrp|jsonl|tsv|csv)(\.gz)?", re.IGNORECASE)
_PARTICULARS = re.compile(r"'[^']*'|\([^)]*\)|\d+(?:\.\d+)?")


def add_threads(parser: argparse.ArgumentParser, help: str, default: int | None = None) -> None:
    """Add ``--threads``, also called ``--jobs``: how many cores to use."""
    parser.add_argument("--threads", "--jobs", "-j", type=count, default=default, metavar="N", help=help)


def add_format(parser: argparse.ArgumentParser) -> None:
    """Add ``--from``: the format of files of graphs."""
    parser.add_argument(
        "--from",
        dest="format",
        type=graph_format,
        metavar="FORMAT",
        help="format of the files (default: by their names)",
    )


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


def is_file(text: str, program: str) -> bool:
    """Whether a text is the name of a file; says so if it only looks like one."""
    try:
        found = os.path.isfile(text)
    except ValueError:  # NUL characters
        return False
    if not found and _FILE_NAME.fullmatch(text):
        print(f"{program}: warning: there is no file {text}; it is taken for a sentence", file=sys.stderr)
    return found


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


class Warnings:
    """Prints the first few findings of each kind, and at the end how many more there were."""

    def __init__(self, program: str) -> None:
        self.program = program
        self.counts: Counter[str] = Counter()

    def __call__(self, finding: Finding) -> None:
        """Print a finding, or only count it."""
        kind = _PARTICULARS.sub("…", finding.message)
        self.counts[kind] += 1
        if self.counts[kind] <= SHOWN:
            print(f"{self.program}: warning: {finding}", file=sys.stderr)

    def close(self) -> None:
        """Say what was not printed."""
        for kind, count in self.counts.items():
            if count > SHOWN:
                print(f"{self.program}: warning: {count - SHOWN} more like this: {kind}", file=sys.stderr)
