"""How good a parser gets under the limits at which the original was measured.

python benchmarks/accuracy.py [--data ../shared/data] [--epochs 6] [--threads 2] [--output FOLDER]

The recipe small-eds on the first 2,000 EDS training sentences with MiniLM, then the exact MRP F1 of the last weights on
the first 300 dev sentences.  Nothing is chosen by dev.  The original reaches 53.1 after 36 minutes on two idle cores
(55 CPU minutes).  Reading the data and learning its rules are counted here, evaluation is not.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from pathlib import Path

import torch
from machine import describe, memory

from perin.learning import load_recipe
from perin.learning.data import load_corpus
from perin.learning.run import Trainer
from perin.learning.run.evaluation import evaluate
from perin.learning.run.journal import Console
from perin.learning.run.optimisation import Processes

ORIGINAL = {"all": 53.1, "tops": 64.3, "labels": 61.1, "properties": 69.1, "anchors": 49.5, "edges": 42.7}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="../shared/data", help="folder of the treebanks")
    parser.add_argument("--recipe", default="small-eds")
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--output", type=Path, help="folder of the run (default: a temporary one)")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="change a key of the recipe")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    print(describe())
    recipe = load_recipe(
        arguments.recipe,
        [
            f"data={arguments.data}",
            'treebanks.0.train=["eds-eng/train.mrp.gz"]',
            "treebanks.0.limit=2000",
            "evaluation.limit=300",
            f"evaluation.start={arguments.epochs + 1}",
            f"learning.epochs={arguments.epochs}",
            *arguments.set,
        ],
    )
    os.environ["PERIN_CACHE"] = cache = tempfile.mkdtemp()
    wall, cpu = time.perf_counter(), time.process_time()
    corpus = load_corpus(recipe)
    dev, corpus.dev = corpus.dev, {}
    output = arguments.output or Path(cache) / "run"
    output.mkdir(parents=True, exist_ok=True)
    trainer = Trainer(recipe, corpus, output, Processes("no"), Console())
    trainer.run()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    with trainer.state.average.applied():
        found = evaluate(trainer.model, dev, budget=10.0).scores["eds-eng"]
    print(
        f"\n{arguments.epochs} epochs: {wall / 60:.1f} minutes, {cpu / 60:.1f} CPU minutes, {memory()['peak']:.0f} MB"
    )
    print(f"{'':<12}{'original':>10}{'PERIN':>10}")
    for kind, value in found.items():
        print(f"{kind:<12}{ORIGINAL.get(kind, 0.0):>10.1f}{100 * value:>10.1f}")


if __name__ == "__main__":
    main()
