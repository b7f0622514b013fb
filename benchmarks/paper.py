"""The results of the models in the box in the form of the paper's tables, from their cards.

python benchmarks/paper.py [--write]

``--write`` puts the tables into docs/paper.md, and the list of the models into README.md; a test says where that was
forgotten.  Where several models know a treebank, the best one counts.  In the mean over item types a type that a
framework lacks counts as 0, as it does in the paper's table.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from pathlib import Path

from perin.commands.models import markdown
from perin.model.packaging import TreebankCard, cards

ROOT = Path(__file__).resolve().parents[1]
PAGE, README = ROOT / "docs" / "paper.md", ROOT / "README.md"
TABLES = r"(?<=^<!-- results -->\n\n).*?(?=\n\n<!-- end of results -->$)"
"""Where the paper's tables are on their page."""
MODELS = r"^\| model \|.*?(?=\n\n)"
"""Where the list of the models is in the README."""
ENGLISH = ("amr-eng", "drg-eng", "eds-eng", "ptg-eng", "ucca-eng")
OTHERS = ("amr-zho", "drg-deu", "ptg-ces", "ucca-deu")
TYPES = ("tops", "labels", "properties", "anchors", "edges", "attributes")
SYSTEMS: dict[str, tuple[tuple[float, ...], tuple[float, ...]]] = {
    "HUJI-KU": ((52.36, 62.75, 79.68, 53.76, 72.91, 64.29), (44.92, 62.33, 58.49, 74.72, 60.11)),
    "Hitachi": ((81.54, 93.19, 93.56, 88.73, 75.07, 86.42), (80.44, 93.36, 87.35, 79.04, 85.05)),
    "HIT-SCIR": ((69.80, 89.07, 87.40, 84.26, 74.76, 81.06), (49.39, 68.31, 77.93, 80.02, 68.91)),
    "PERIN": ((80.23, 94.16, 92.73, 88.44, 76.40, 86.39), (78.17, 89.83, 91.27, 81.01, 85.07)),
    "PERIN*": ((80.23, 94.16, 92.73, 89.19, 76.40, 86.54), (80.52, 89.83, 92.24, 81.01, 85.90)),
}
"""Table 2: the shared task's systems on the evaluation sets of MRP 2020, English and other languages; means last."""
SYSTEMS_BY_TYPE = {
    "HUJI-KU": (85.85, 22.80, 29.48, 46.79, 61.35, 7.67, 62.43),
    "Hitachi": (95.67, 68.93, 48.89, 61.95, 80.14, 24.93, 85.81),
    "HIT-SCIR": (94.37, 61.84, 30.80, 52.18, 71.41, 22.51, 75.66),
    "PERIN*": (94.20, 70.36, 49.34, 63.45, 79.68, 27.07, 86.26),
}
"""Table 3: means over all nine treebanks."""
THEIRS, OURS = "the paper: {}", "models in the box, dev of the open treebanks"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="into docs/paper.md and README.md")
    arguments = parser.parse_args()
    print(tables())
    if arguments.write:
        for path, text in pages().items():
            path.write_text(text, encoding="utf-8")


def pages() -> dict[Path, str]:
    """The pages with tables from the cards, as they should be."""
    wanted = ((PAGE, TABLES, tables()), (README, MODELS, markdown(cards())))
    return {path: replaced(pattern, path.read_text(encoding="utf-8"), table) for path, pattern, table in wanted}


def replaced(pattern: str, page: str, table: str) -> str:
    """A page with a table in the one place that the pattern finds."""
    text, count = re.subn(pattern, lambda _: table, page, flags=re.MULTILINE | re.DOTALL)
    if count != 1:
        raise ValueError(f"{count} places fit {pattern!r}; one should")
    return text


def tables() -> str:
    """The paper's tables 2 and 3."""
    return "\n\n".join((track("cross-framework", ENGLISH, 0), track("cross-lingual", OTHERS, 1), types()))


def known() -> dict[str, TreebankCard]:
    """The best card of each treebank."""
    found: dict[str, TreebankCard] = {}
    for model in cards():
        for treebank in model.treebanks:
            if treebank.f1.get("all", 0.0) > found.get(treebank.name, TreebankCard("", {})).f1.get("all", -1.0):
                found[treebank.name] = treebank
    return found


def track(title: str, names: Sequence[str], number: int) -> str:
    """The scores of a track, the first or the second, and their mean."""
    scores = known()
    ours = [scores[name].f1["all"] for name in names]
    return table(
        (title, *(name.replace("-", " ") for name in names), "mean"),
        *((THEIRS.format(system), *tracks[number]) for system, tracks in SYSTEMS.items()),
        (OURS, *ours, sum(ours) / len(ours)),
    )


def types() -> str:
    """Means over all nine treebanks by item type."""
    scores = known()
    names = ENGLISH + OTHERS
    ours = [sum(scores[name].f1.get(kind, 0.0) for name in names) / len(names) for kind in (*TYPES, "all")]
    return table(
        ("mean over nine treebanks", *TYPES, "all"),
        *((THEIRS.format(system), *values) for system, values in SYSTEMS_BY_TYPE.items()),
        (OURS, *ours),
    )


def table(head: Sequence[str], *rows: Sequence[object]) -> str:
    lines = [f"| {' | '.join(head)} |", f"|---|{'---:|' * (len(head) - 1)}"]
    for row in rows:
        cells = (f"{cell:.2f}" if isinstance(cell, float) else str(cell) for cell in row)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
