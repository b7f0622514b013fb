"""Whether each framework's graphs can be learned by heart: the MRP F1 on the sentences that the network was trained on.

python benchmarks/overfit.py [TREEBANK …] [--sentences 20] [--epochs 120] [--threads 1]

Anything far below 100 would mean that something between graph, target, losses, prediction and graph loses what it is
told.  English treebanks use MiniLM, the others the encoder that needs no download; there is no dropout.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import torch

from perin.frameworks import framework
from perin.learning import Recipe, load_recipe
from perin.learning.data import load_corpus
from perin.learning.run import Trainer
from perin.learning.run.evaluation import evaluate
from perin.learning.run.journal import Console
from perin.learning.run.optimisation import Processes

TREEBANKS = ("amr-eng", "amr-zho", "drg-eng", "drg-deu", "eds-eng", "ptg-eng", "ptg-ces", "ucca-eng", "ucca-deu")

DROPOUTS = ("layer", "word", "attention", "label", "anchor", "edge", "property", "top")


def main() -> None:
    from machine import describe

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("treebanks", nargs="*", metavar="TREEBANK", help=f"of {', '.join(TREEBANKS)} (default: all)")
    parser.add_argument("--data", default="../shared/data", help="folder of the treebanks")
    parser.add_argument("--sentences", type=int, default=20)
    parser.add_argument("--epochs", type=int, default=120)
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    print(describe())
    print(f"\n{'treebank':<12}{'encoder':<12}{'graphs':>7}{'nodes':>7}{'rules':>7}{'MRP F1':>9}{'CPU s':>8}")
    for treebank in arguments.treebanks or TREEBANKS:
        recipe = overfitting(treebank, arguments.data, arguments.sentences, arguments.epochs)
        print(f"{treebank:<12}{recipe.network.encoder:<12}", end="", flush=True)
        graphs, nodes, rules, f1, seconds = learned_by_heart(recipe)
        print(f"{graphs:>7}{nodes:>7}{rules:>7}{100 * f1:>9.2f}{seconds:>8.0f}", flush=True)


def overfitting(treebank: str, data: str, sentences: int, epochs: int) -> Recipe:
    """A recipe that learns the first graphs of a treebank by heart and is evaluated on them."""
    form, _, language = treebank.partition("-")
    name = f"small-{form}" if language == "eng" else f"small-{treebank}"
    train = f"['{treebank}/train.mrp.gz']"
    return load_recipe(
        name,
        [
            f"data={data}",
            f"treebanks.0.train={train}",
            f"treebanks.0.dev={train}",
            f"treebanks.0.limit={sentences}",
            f"treebanks.0.queries={framework(form, language).queries}",
            f"evaluation.limit={sentences}",
            f"evaluation.start={epochs}",
            f"learning.epochs={epochs}",
            "learning.average=0.0",
            "learning.label_smoothing=0.0",
            "learning.focal=0.0",
            "learning.per_node=false",
            "learning.balance='hidden'",
            "learning.sentences=10",
            "learning.encoder_delay=0",
            "network.encoder_dropout=0.0",
            "network.dropout=0.0",
            *(f"network.{kind}_dropout=0.0" for kind in DROPOUTS),
        ],
    )


def learned_by_heart(recipe: Recipe) -> tuple[int, int, int, float, float]:
    """Train, and return the numbers of graphs, nodes and rules, the F1 over all items, and the CPU seconds."""
    started = time.process_time()
    corpus = load_corpus(recipe)
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(recipe, corpus, Path(folder), Processes("no"), Console())
        trainer.run()
        found = evaluate(trainer.model, corpus.dev, budget=recipe.evaluation.budget)
    nodes = sum(len(example.target) for example in corpus.examples)
    seconds = time.process_time() - started
    return len(corpus.examples), nodes, corpus.treebanks[0].sizes.rules, found.mean, seconds


if __name__ == "__main__":
    main()
