"""Sieves of a model: which share of the queries passes, and dev F1, for each cut that is tried.

python benchmarks/sieves.py MODEL [--data ../shared/data] [--treebanks NAME…] [--threads N] [--output FOLDER]

MODEL is a folder or the name of a model in the box.  Sieves learn from its treebanks' training files what the network
says of their sentences.  --output writes the model with them to a new folder, as `perin train` does at its end.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import torch
from machine import describe

from perin.frameworks.treebank import read_treebank
from perin.learning.corpus import Split
from perin.learning.folders import whole_folder
from perin.learning.sieves import MOST_SENTENCES, add_sieves
from perin.parsing.inference import words_of
from perin.parsing.model import Model
from perin.parsing.sources import model_folder


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="folder of a model, or the name of one in the box")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="folder of the treebanks")
    parser.add_argument("--treebanks", nargs="+", metavar="NAME", help="those of the model to be tried (default: all)")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--output", type=Path, help="new folder for the model with its sieves")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    print(describe())
    model = Model.load(model_folder(arguments.model))
    print(f"\n{'':<12}{'cut':>6}{'passed':>10}{'dev F1':>8}")
    for name in arguments.treebanks or model.treebanks:
        folder = arguments.data / name
        sentences = read_treebank(folder / "train.mrp.gz").sentences
        sentences = [sentence for sentence in sentences[:: max(1, len(sentences) // MOST_SENTENCES)] if len(sentence)]
        read = read_treebank(folder / "dev.mrp.gz")
        dev = Split(list(read.graphs), list(read.sentences))
        inputs = model.preparation([words_of(sentence) for sentence in sentences])
        choice = add_sieves(model, {name: inputs}, {name: dev}, budget=2.0)[name]
        print(f"{name:<12}{'none':>6}{'':>10}{100 * choice.without:>8.2f}")
        for cut, trial in choice.trials.items():
            taken = "  taken" if cut == choice.cut else ""
            print(f"{'':<12}{cut:>6.1f}{100 * trial.passed:>8.1f} %{100 * trial.f1:>8.2f}{taken}", flush=True)
    if arguments.output is not None:
        with whole_folder(arguments.output) as folder:
            model.save(folder, half=False)


if __name__ == "__main__":
    main()
