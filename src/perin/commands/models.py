"""List the models in the box: frameworks, languages, exact MRP F1 on dev, the weakest type of item, size.

The figures are those of the models' cards, which say how they were measured.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from perin.model.packaging import ModelCard

HEADER = ("model", "language", "framework", "F1", "ceiling", "weakest", "size")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``perin models``."""
    shape = parser.add_mutually_exclusive_group()
    shape.add_argument("--markdown", action="store_true", help="print a table in Markdown")
    shape.add_argument("--json", action="store_true", help="print a JSON object for each model")


def run(arguments: argparse.Namespace) -> int:
    """Print the list."""
    from perin.model.packaging import cards

    found = cards()
    if arguments.json:
        for card in found:
            print(json.dumps(_fields(card)))
    else:
        print(markdown(found) if arguments.markdown else table(found))
    return 0


def markdown(cards: Sequence[ModelCard]) -> str:
    """The table of the README."""
    rows = [HEADER, ("---",) * len(HEADER), *_rows(cards)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def table(cards: Sequence[ModelCard]) -> str:
    """The table on the terminal."""
    rows = [HEADER, *_rows(cards)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)


def _rows(cards: Sequence[ModelCard]) -> Iterator[tuple[str, ...]]:
    for card in cards:
        for number, treebank in enumerate(card.treebanks):
            weakest = treebank.weakest
            yield (
                card.name if number == 0 else "",
                treebank.language,
                treebank.framework.upper(),
                f"{treebank.f1['all']:.1f}" if "all" in treebank.f1 else "not measured",
                f"{treebank.ceiling:.1f}" if treebank.ceiling is not None else "",
                f"{weakest} {treebank.f1[weakest]:.1f}" if weakest else "",
                f"{card.size / 1e6:.0f} MB" if number == 0 else "",
            )


def _fields(card: ModelCard) -> dict[str, object]:
    return {
        "model": card.name,
        "bytes": card.size,
        "treebanks": {
            treebank.name: {
                "framework": treebank.framework,
                "language": treebank.language,
                "f1": dict(treebank.f1),
                "ceiling": treebank.ceiling,
            }
            for treebank in card.treebanks
        },
    }
