"""Whether a model has learned its training graphs: F1 on some of them beside F1 on dev.

python benchmarks/fit.py MODEL [--data ../shared/data] [--graphs 250]

A small difference means that the network is too small or was trained too short a time, a large one that there were too
few data.  The graphs are drawn at random, the same in every run; plain text goes in.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator
from pathlib import Path

from machine import describe

from perin.graphs import Graph
from perin.model import model_folder
from perin.model.folder import ModelFolder
from perin.parsing.evaluation import dev_graphs, dev_scores, training_graphs
from perin.parsing.parser import Parser

TYPES = ("tops", "labels", "properties", "anchors", "edges", "attributes", "all")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="folder of a model, or the name of one in the box")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="folder of the treebanks")
    parser.add_argument("--graphs", type=int, default=250, help="graphs of each split")
    arguments = parser.parse_args()
    print(describe())
    print(f"\n| graphs of | {' | '.join(TYPES)} |\n|{'---|' * (1 + len(TYPES))}")
    for row in rows(model_folder(arguments.model), arguments.data, arguments.graphs):
        print(row, flush=True)


def rows(folder: Path, data: Path, count: int) -> Iterator[str]:
    """Two rows of the table for each treebank."""
    parser = Parser.load(folder)
    for name in ModelFolder.read(folder).treebanks:
        for split, graphs in (("train", list(training_graphs(data, name))), ("dev", dev_graphs(data, name))):
            found = dev_scores(parser, drawn(graphs, count), budget=1.0).f1
            values = (f"{100 * found[kind]:.1f}" if kind in found else "–" for kind in TYPES)
            yield f"| {name} {split} | {' | '.join(values)} |"


def drawn(graphs: list[Graph], count: int) -> list[Graph]:
    """Some graphs, the same ones each time."""
    return random.Random(1).sample(graphs, min(count, len(graphs)))


if __name__ == "__main__":
    main()
