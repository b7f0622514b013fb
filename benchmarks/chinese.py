"""Chinese AMR of texts without spaces: what it is worth that the encoder reads spaces between tokens.

    python benchmarks/chinese.py [--data ../shared/data] [--limit N]

The dev sentences are parsed as they are, with the treebank's spaces; without spaces; and without spaces in the
encoder's input, either.  Smatch without anchors, because these are other characters of other texts.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from machine import describe

from perin.contract import Sentence
from perin.errors import Tolerant
from perin.graphs import Graph, load
from perin.network import inputs
from perin.parsing.parser import Parser
from perin.scoring import find_metric, score_pairs
from perin.scoring.reading import pair
from perin.scoring.result import Result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="folder of the treebanks")
    parser.add_argument("--limit", type=int, help="sentences, the first ones")
    arguments = parser.parse_args()
    print(describe())
    gold = list(load(arguments.data / "amr-zho" / "dev.mrp.gz"))[: arguments.limit]
    texts = [graph.input or "" for graph in gold]
    bare = ["".join(text.split()) for text in texts]
    model = Parser.load("multi")
    print(f"the treebank's spaces: {smatch(model, gold, texts):.2f}")
    print(f"without spaces: {smatch(model, gold, bare):.2f}")
    print(f"without spaces for the encoder, either: {smatch(model, gold, bare, plain):.2f}")


def plain(sentence: Sentence) -> tuple[str, list[tuple[int, int]]]:
    """A sentence's text as it is."""
    return sentence.text, [(token.start, token.end) for token in sentence.tokens]


def smatch(
    model: Parser,
    gold: list[Graph],
    texts: list[str],
    read: Callable[[Sentence], tuple[str, list[tuple[int, int]]]] = inputs.encoder_text,
) -> float:
    """F1 of the parsed texts, with what the encoder reads of a sentence."""
    usual = inputs.encoder_text
    setattr(inputs, "encoder_text", read)  # noqa: B010 -- a name that the module uses
    try:
        found = model.parse(texts, "amr", "zho", probabilities=False)
    finally:
        setattr(inputs, "encoder_text", usual)  # noqa: B010
    metric = find_metric("smatch")
    system = [replace(bare(graph), id=each.id) for graph, each in zip(found, gold, strict=True)]
    pairs = score_pairs(pair(list(map(bare, gold)), system, report=Tolerant()), metric, jobs=1, budget=2.0)
    return 100 * Result(metric, list(pairs)).f1


def bare(graph: Graph) -> Graph:
    """A graph without text and anchors."""
    return replace(graph, input=None, nodes=tuple(replace(node, anchors=None) for node in graph.nodes))


if __name__ == "__main__":
    main()
