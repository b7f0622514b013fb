"""How unlikely null must be for a query to become a node: dev F1 of a model by that limit.

python benchmarks/limits.py MODEL [--data ../shared/data] [--limit N] [--threads N] [--output FOLDER]

--output writes the model with the best limits to a new folder, as `perin train` does at its end.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import torch
from machine import describe

from perin.files import whole_folder
from perin.frameworks.treebank import read_treebank
from perin.learning.data import Split
from perin.learning.run.evaluation import NULL_THRESHOLDS, choose_null_thresholds
from perin.model import model_folder
from perin.model.model import Model
from perin.parsing.evaluation import dev_file


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="folder of a model, or the name of one in the box")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="folder of the treebanks")
    parser.add_argument("--limit", type=int, help="dev graphs of each treebank, the first ones (default: all)")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--output", type=Path, help="new folder for the model with the best limits")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    print(describe())
    model = Model.load(model_folder(arguments.model))
    dev = {}
    for name in model.treebanks:
        path = dev_file(arguments.data, name)
        if path is None:
            continue
        read = read_treebank(path)
        dev[name] = Split(list(read.graphs[: arguments.limit]), list(read.sentences[: arguments.limit]))
    print(f"\n{'':<12}{'graphs':>7}" + "".join(f"{limit:>8.2f}" for limit in NULL_THRESHOLDS))
    for name, split in dev.items():
        scores = choose_null_thresholds(model, {name: split}, budget=2.0)[name]
        print(
            f"{name:<12}{len(split):>7}" + "".join(f"{100 * scores[limit]:>8.2f}" for limit in NULL_THRESHOLDS),
            flush=True,
        )
    if arguments.output is not None:
        with whole_folder(arguments.output) as folder:
            model.save(folder, half=False)


if __name__ == "__main__":
    main()
