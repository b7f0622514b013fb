"""The speed and memory of a model that is shipped: prints a section for its card, and with --write puts it there.

python benchmarks/model_card.py MODEL --data ../shared/data [--threads N] [--limit N] [--write]

MODEL is a folder made by `perin package`, or the name of a model in the box.  Each treebank is measured on the first
sentences of its dev file, in a process of its own.
"""

from __future__ import annotations

import argparse
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path

from machine import describe

from perin.graphs.codecs import dump
from perin.model import model_folder
from perin.model.folder import CARD, ModelFolder
from perin.model.packaging import markdown_table
from perin.parsing.benchmark import Figures, measure
from perin.parsing.evaluation import dev_graphs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="folder of a model, or the name of one in the box")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="folder of the treebanks")
    parser.add_argument("--threads", type=int, help="cores to use (default: all)")
    parser.add_argument("--limit", type=int, default=300, help="sentences of each treebank")
    parser.add_argument("--write", action="store_true", help="write the section into the model's card")
    arguments = parser.parse_args()
    folder = model_folder(arguments.model)
    section = speed(measured(folder, arguments.data, arguments.limit, arguments.threads))
    print(section)
    if arguments.write:
        card = folder / CARD
        card.write_text(with_section(card.read_text(encoding="utf-8"), section), encoding="utf-8")


def measured(folder: Path, data: Path, limit: int, threads: int | None) -> dict[str, Figures]:
    """Figures of each treebank that has dev graphs."""
    figures = {}
    with tempfile.TemporaryDirectory() as place:
        for name, treebank in ModelFolder.read(folder).treebanks.items():
            words, file = treebank.vocabulary, str(Path(place) / f"{name}.mrp")
            if graphs := dev_graphs(data, name, limit):
                dump(graphs, file, "mrp")
                figures[name] = measure(folder, file, words.framework, words.language, threads=threads)
    return figures


def speed(figures: Mapping[str, Figures]) -> str:
    """The section of a card."""
    anyone = next(iter(figures.values()))
    rows = [
        (
            name,
            f"{each.sentences_per_second:.0f}",
            f"{each.tokens_per_second:.0f}",
            f"{1000 * sum(each.parts.values()) / each.sentences:.1f} ms",
            f"{1000 * each.latency:.0f} ms",
            "unknown" if each.memory is None else f"{each.memory:.0f} MB",
        )
        for name, each in figures.items()
    ]
    head = ("treebank", "sentences/s", "tokens/s", "CPU time of a sentence", "one short sentence", "peak memory")
    return (
        f"## Speed\n\nDev sentences of each treebank on {anyone.threads} cores with {anyone.bits} bits. A parser is "
        f"ready {anyone.start:.1f} s after the start of Python.\n\n{markdown_table(head, rows)}\n\n"
        f"Measured by `benchmarks/model_card.py` on {describe().splitlines()[-1]}."
    )


def with_section(card: str, section: str) -> str:
    """A card with a section on speed, in the place of an older one or before the section on limits."""
    card = re.sub(r"## Speed\n.*?(?=^## )", "", card, flags=re.DOTALL | re.MULTILINE)
    before, limits, after = card.partition("## Limits\n")
    return f"{before}{section}\n\n{limits}{after}"


if __name__ == "__main__":
    main()
