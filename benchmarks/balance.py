"""Whether loss weights balanced at the hidden states are as good as the paper's, and what each form costs.

python benchmarks/balance.py [--recipe small-eds] [--sentences 600] [--epochs 6] [--dev 200] [--seeds 2] [--rate 0.01]

Trains a recipe on the first sentences with GradNorm at the hidden states, GradNorm at the last decoder
layer (the paper's form) and equal weights, and prints MRP F1 on dev, CPU seconds, and the weights at the end (means
over the seeds).  The runs are short, so the weights learn faster than in a recipe.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import torch
from machine import describe

from perin.learning import Recipe, load_recipe
from perin.learning.data import Corpus, load_corpus
from perin.learning.run import Trainer
from perin.learning.run.evaluation import evaluate
from perin.learning.run.journal import Console
from perin.learning.run.optimisation import Processes

KINDS = ("hidden", "layer", "equal")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="../shared/data", help="folder of the treebanks")
    parser.add_argument("--recipe", default="small-eds")
    parser.add_argument("--sentences", type=int, default=600)
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--dev", type=int, default=200)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--rate", type=float, default=0.01)
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    print(describe())
    print(f"\n{'balance':<9}{'F1 by seed':<{8 * arguments.seeds + 2}}{'mean':>8}{'CPU s':>8}  weights")
    corpus = load_corpus(recipe(arguments, "hidden", 1))
    for kind in KINDS:
        runs = [train(recipe(arguments, kind, seed), corpus) for seed in range(1, arguments.seeds + 1)]
        scores = [100 * score for score, _, _ in runs]
        seconds = sum(seconds for _, seconds, _ in runs) / len(runs)
        weights = {task: sum(weights[task] for _, _, weights in runs) / len(runs) for task in runs[0][2]}
        shown = "".join(f"{score:>8.2f}" for score in scores)
        mean = sum(scores) / len(scores)
        listing = "  ".join(f"{task} {weight:.2f}" for task, weight in weights.items())
        print(f"{kind:<9}{shown}  {mean:>8.2f}{seconds:>8.0f}  {listing}", flush=True)


def recipe(arguments: argparse.Namespace, kind: str, seed: int) -> Recipe:
    return load_recipe(
        arguments.recipe,
        [
            f"data={arguments.data}",
            f"seed={seed}",
            f"treebanks.0.limit={arguments.sentences}",
            f"evaluation.limit={arguments.dev}",
            f"evaluation.start={arguments.epochs}",
            f"learning.epochs={arguments.epochs}",
            "learning.average=0.0",
            "learning.warmup=100",
            f"learning.balance='{kind}'",
            f"learning.balance_rate={arguments.rate}",
        ],
    )


def train(recipe: Recipe, corpus: Corpus) -> tuple[float, float, dict[str, float]]:
    """F1 on dev, CPU seconds of the training alone, and the loss weights at the end."""
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(
            recipe, Corpus(corpus.treebanks, corpus.examples, {}, []), Path(folder), Processes("no"), Console()
        )
        started = time.process_time()
        trainer.run()
        seconds = time.process_time() - started
    found = evaluate(trainer.model, corpus.dev, budget=recipe.evaluation.budget)
    (balance,) = trainer.state.balances.values()
    return found.mean, seconds, balance.weights


if __name__ == "__main__":
    main()
