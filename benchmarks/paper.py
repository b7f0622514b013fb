"""The results of the models in the box in the form of the paper's tables, from their cards.

python benchmarks/paper.py [--write]

``--write`` puts the tables into docs/paper.md.  Where several models know a treebank, the best one counts.  In the mean
over item types a type that a framework lacks counts as 0, as it does in the paper's table.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from pathlib import Path

from perin.model.packaging import TreebankCard, cards

PAGE = Path(__file__).resolve().parents[1] / "docs" / "paper.md"
ENGLISH = ("amr-eng", "drg-eng", "eds-eng", "ptg-eng", "ucca-eng")
OTHERS = ("amr-zho", "drg-deu", "ptg-ces", "ucca-deu")
TYPES = ("tops", "labels", "properties", "anchors", "edges", "attributes")
PAPER = {
    **dict(zip(ENGLISH, (80.23, 94.16, 92.73, 89.19, 76.40), strict=True)),
    **dict(zip(OTHERS, (80.52, 89.83, 92.24, 81.01), strict=True)),
}
"""PERIN* on the evaluation sets of MRP 2020."""
PAPER_TYPES = (94.20, 70.36, 49.34, 63.45, 79.68, 27.07, 86.26)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="into docs/paper.md")
    arguments = parser.parse_args()
    text = "\n\n".join((track("cross-framework", ENGLISH), track("cross-lingual", OTHERS), types()))
    print(text)
    if arguments.write:
        page = PAGE.read_text(encoding="utf-8")
        marked = re.compile(r"(<!-- results -->\n).*?(\n<!-- end of results -->)", re.DOTALL)
        PAGE.write_text(marked.sub(lambda match: f"{match[1]}\n{text}\n{match[2]}", page), encoding="utf-8")


def known() -> dict[str, TreebankCard]:
    """The best card of each treebank."""
    found: dict[str, TreebankCard] = {}
    for model in cards():
        for treebank in model.treebanks:
            if treebank.f1.get("all", 0.0) > found.get(treebank.name, TreebankCard("", {})).f1.get("all", -1.0):
                found[treebank.name] = treebank
    return found


def track(title: str, names: Sequence[str]) -> str:
    """The scores of a track and their mean."""
    scores = known()
    ours = [scores[name].f1["all"] for name in names]
    theirs = [PAPER[name] for name in names]
    return table(
        (title, *(name.replace("-", " ") for name in names), "mean"),
        ("the paper, evaluation sets of MRP 2020", *theirs, sum(theirs) / len(theirs)),
        ("models in the box, dev of the open treebanks", *ours, sum(ours) / len(ours)),
    )


def types() -> str:
    """Means over all nine treebanks by item type."""
    scores = known()
    names = ENGLISH + OTHERS
    ours = [sum(scores[name].f1.get(kind, 0.0) for name in names) / len(names) for kind in (*TYPES, "all")]
    return table(
        ("mean over nine treebanks", *TYPES, "all"),
        ("the paper, evaluation sets of MRP 2020", *PAPER_TYPES),
        ("models in the box, dev of the open treebanks", *ours),
    )


def table(head: Sequence[str], *rows: Sequence[object]) -> str:
    lines = [f"| {' | '.join(head)} |", f"|---|{'---:|' * (len(head) - 1)}"]
    for row in rows:
        cells = (f"{cell:.2f}" if isinstance(cell, float) else str(cell) for cell in row)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
