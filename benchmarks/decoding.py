"""What other choices in decoding would do to the dev score of a trained model: edges that join what falls apart, and
the joint choice of labels that a source seldom has twice.

python benchmarks/decoding.py MODEL DEV.mrp.gz --train TRAIN.mrp.gz [--limit 300] [--threads 1]

The network runs once; its predictions are decoded in each way and scored by the MRP metric, exactly.  How often labels
repeat is learned from TRAIN.  The interval is that of the difference to the first row (95 %, paired bootstrap).
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

import torch
from machine import describe

from perin.contract.prediction import Prediction
from perin.frameworks.decoding.repeats import learn_repeats
from perin.graphs import load
from perin.graphs.graph import Graph
from perin.model.folder import Treebank
from perin.model.model import Model
from perin.parsing.inference import predictions
from perin.scoring import score
from perin.scoring.statistics import contrast
from perin.text import tokenize

JOINTS = (0.0, 0.03, 0.1, 0.2, 0.3, 0.5)
"""Least probabilities of an edge that joins parts of a graph; 0: always connected, .5: never joined."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, help="folder of a trained model")
    parser.add_argument("dev", type=Path, help="graphs to be parsed")
    parser.add_argument("--train", type=Path, required=True, help="graphs to learn from how often labels repeat")
    parser.add_argument("--limit", type=int, default=300, help="only the first graphs of dev")
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    print(describe())
    gold = list(islice(load(arguments.dev), arguments.limit))
    model = Model.load(arguments.model)
    treebank = model.treebanks[f"{gold[0].framework}-{gold[0].language}"]
    predicted = predict(model, treebank, gold)
    form, words = treebank.framework, treebank.vocabulary
    shy = replace(words, repeats=learn_repeats(map(form.simplified, load(arguments.train))))
    print(
        f"\n{len(gold)} graphs of {treebank.name}; {len(shy.repeats)} of {len(words.edge_labels)} labels seldom repeat"
    )
    print(f"\n{'decoding':<24}{'edges':>8}{'all':>8}{'gain':>8}  interval")
    plain = None
    for name, variant, vocabulary in (
        ("as it is", form, words),
        *((f"joints from {least}", replace(form, least_joint=least), words) for least in JOINTS),
        ("seldom repeated labels", form, shy),
    ):
        result = score(gold, [variant.decode(prediction, vocabulary) for prediction in predicted], "mrp").total
        plain = plain or result
        change = contrast(plain, result)
        low, high = change.interval.low, change.interval.high
        figures = [100 * result.tallies["edges"].f1, 100 * result.tallies["all"].f1, 100 * change.difference]
        print(f"{name:<24}" + "".join(f"{figure:>8.2f}" for figure in figures), end="")
        print(f"  [{100 * low:+.2f}, {100 * high:+.2f}]", flush=True)


def predict(model: Model, treebank: Treebank, gold: Sequence[Graph]) -> list[Prediction]:
    """What the network says about the texts of graphs, in their order."""
    language = treebank.vocabulary.language
    sentences = [tokenize(graph.input or "", language, graph.id) for graph in gold]
    found = dict(predictions(model, sentences, [treebank.name]))
    return [found[number][treebank.name] for number in range(len(sentences))]


if __name__ == "__main__":
    main()
