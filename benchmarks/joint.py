"""One joint model or one for each framework: dev scores after the same number of passes over the same sentences.

python benchmarks/joint.py [--recipe small-eng] [--sentences 1000] [--epochs 6] [--dev 150] [--seeds 1] [--threads 1]

Of each treebank of the recipe the first sentences are taken.  The last, averaged weights are scored; nothing is chosen
by dev.  Sizes are those of the weights as they are shipped: in 16 bits, without the encoder's word embeddings.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import torch
from machine import describe

from perin.learning import Recipe, load_recipe
from perin.learning.data import Corpus, load_corpus
from perin.learning.run import Trainer
from perin.learning.run.evaluation import evaluate
from perin.learning.run.journal import Console
from perin.learning.run.optimisation import Processes
from perin.model.model import Model


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="../shared/data", help="folder of the treebanks")
    parser.add_argument("--recipe", default="small-eng")
    parser.add_argument("--sentences", type=int, default=1000, help="of each treebank")
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--dev", type=int, default=150, help="dev graphs of each treebank")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    print(describe())
    print(f"\n{'seed':<6}{'treebanks':<44}{'minutes':>8}{'MB':>7}  dev F1")
    for seed in arguments.seeds:
        joint = limited(arguments, seed)
        for recipe in (joint, *(replace(joint, treebanks=(treebank,)) for treebank in joint.treebanks)):
            names = " ".join(f"{treebank.framework}-{treebank.language}" for treebank in recipe.treebanks)
            print(f"{seed:<6}{names:<44}{trained(recipe)}", flush=True)


def limited(arguments: argparse.Namespace, seed: int) -> Recipe:
    """The recipe with fewer sentences."""
    recipe = load_recipe(
        arguments.recipe,
        [
            f"data={arguments.data}",
            f"seed={seed}",
            f"learning.epochs={arguments.epochs}",
            f"evaluation.limit={arguments.dev}",
        ],
    )
    few = (replace(each, limit=arguments.sentences, repeat=1) for each in recipe.treebanks)
    return replace(recipe, treebanks=tuple(few))


def trained(recipe: Recipe) -> str:
    """Train, and return what a row says."""
    corpus = load_corpus(recipe)
    begun = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        alone = Corpus(corpus.treebanks, corpus.examples, {}, [])
        trainer = Trainer(recipe, alone, Path(folder), Processes("no"), Console())
        trainer.run()
    minutes = (time.process_time() - begun) / 60
    with trainer.state.average.applied():
        found = evaluate(trainer.model, corpus.dev, budget=recipe.evaluation.budget)
    return f"{minutes:>8.1f}{megabytes(trainer.model):>7.1f}  {found}"


def megabytes(model: Model) -> float:
    """Of the weights in 16 bits, without those that the encoder has."""
    count: int = sum(weight.numel() for weight in model.network.parameters() if weight.requires_grad)
    return 2 * count / 1e6


if __name__ == "__main__":
    main()
