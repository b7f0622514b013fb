"""Which form of DRG's relations is learned best: dev scores of small trainings.

python benchmarks/relations.py [--treebank drg-deu] [--sentences 1687] [--epochs 8] [--dev 550] [--seeds 1 2]

marked  a relation in the box of its target is an edge with a second label, which says so (what the package does)
nodes   every relation that has an ``in`` edge of its own stays a node

Relations in the box of their source are edges in both.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from machine import describe

from perin.frameworks import framework, register
from perin.frameworks.drg import DRG
from perin.frameworks.steps import MEMBER, RelationsAsEdges, relations
from perin.graphs.graph import Graph, Property
from perin.learning import Recipe, load_recipe
from perin.learning.data import Corpus, load_corpus
from perin.learning.run import Trainer
from perin.learning.run.evaluation import evaluate
from perin.learning.run.journal import Console
from perin.learning.run.optimisation import Processes

BOXED = Property("boxed", True)
"""Nodes with properties are not folded."""


@dataclass(frozen=True)
class UnmarkedRelations(RelationsAsEdges):
    """Folds only relations without a box of their own."""

    def encode(self, graph: Graph) -> Graph:
        boxed = {node.id for node in relations(graph) if any(edge.label == MEMBER for edge in graph.incoming(node.id))}
        nodes = [replace(node, properties=(BOXED,)) if node.id in boxed else node for node in graph.nodes]
        folded = super().encode(replace(graph, nodes=tuple(nodes)))
        return replace(folded, nodes=tuple(replace(node, properties=()) for node in folded.nodes))


FORMS = {
    "marked": DRG.steps,
    "nodes": tuple(UnmarkedRelations() if isinstance(step, RelationsAsEdges) else step for step in DRG.steps),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="../shared/data", help="folder of the treebanks")
    parser.add_argument("--treebank", choices=["drg-deu", "drg-eng"], default="drg-deu")
    parser.add_argument("--sentences", type=int, default=1687)
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--dev", type=int, default=550)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    print(describe())
    print(f"\n{'form':<9}{'nodes':>7}{'rules':>7}{'edge labels':>13}  F1 by seed: labels, edges, all")
    for seed in arguments.seeds:
        for form, steps in FORMS.items():
            register(replace(DRG, steps=steps))
            with tempfile.TemporaryDirectory() as cache:  # prepared data are not kept by the framework's steps
                os.environ["PERIN_CACHE"] = cache
                print(f"{form:<9}{train(recipe(arguments, seed))}", flush=True)


def recipe(arguments: argparse.Namespace, seed: int) -> Recipe:
    name = "small-drg" if arguments.treebank == "drg-eng" else f"small-{arguments.treebank}"
    return load_recipe(
        name,
        [
            f"data={arguments.data}",
            f"seed={seed}",
            f"treebanks.0.queries={framework('drg').queries}",
            f"treebanks.0.limit={arguments.sentences}",
            f"evaluation.limit={arguments.dev}",
            f"evaluation.start={arguments.epochs}",
            f"learning.epochs={arguments.epochs}",
            "learning.average=0.0",
            "learning.warmup=100",
        ],
    )


def train(recipe: Recipe) -> str:
    """Train, and return what a row says."""
    corpus = load_corpus(recipe)
    with tempfile.TemporaryDirectory() as folder:
        alone = Corpus(corpus.treebanks, corpus.examples, {}, [])
        trainer = Trainer(recipe, alone, Path(folder), Processes("no"), Console())
        trainer.run()
    ((_, scores),) = evaluate(trainer.model, corpus.dev, budget=recipe.evaluation.budget).scores.items()
    nodes = sum(len(example.target) for example in corpus.examples)
    sizes = corpus.treebanks[0].sizes
    figures = "".join(f"{100 * scores[kind]:>8.2f}" for kind in ("labels", "edges", "all"))
    return f"{nodes:>7}{sizes.rules:>7}{sizes.edge_labels:>13}  {figures}"


if __name__ == "__main__":
    main()
