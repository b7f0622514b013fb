"""What encoding and decoding lose on every treebank, the ceilings of parsers, and how long both take.

python benchmarks/roundtrip.py ../shared/data [--treebanks NAME …] [--tables NAME …] [--cache FOLDER]

own        rules of the file itself, the treebank's tokens split at anchors, train and dev; then the graphs that differ
tokenizer  rules of the file itself, our own tokens, train and dev; then the graphs that differ in more than anchors
ceiling    rules of train, dev, with either tokens as training has them
queries    nodes that find no query with the paper's number of queries
relations  what becomes of DRG's relation nodes
speed      CPU time of encoding and decoding a sentence of dev, with rules of train
"""

from __future__ import annotations

import argparse
import platform
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from machine import processor

import perin
from perin.frameworks import framework
from perin.frameworks.learn import learn_from_treebank
from perin.frameworks.roundtrip import RoundTripReport, assign_queries, oracle_prediction, roundtrip
from perin.frameworks.steps import RELATION, relations
from perin.frameworks.treebank import read_treebank
from perin.graphs import load

PAPER_QUERIES = {"amr": 3, "drg": 4, "eds": 4, "ptg": 3, "ucca": 4}
TYPES = ("tops", "labels", "properties", "anchors", "edges", "attributes", "all")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="folder with a folder for each treebank")
    parser.add_argument("--treebanks", nargs="+", metavar="NAME", help="only these")
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=list(TABLES), help="only these")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--cache", help="keep learned rules here (default: for this run only)")
    arguments = parser.parse_args()
    print(f"python {' '.join(sys.argv)}")
    print(f"{processor()}; perin {perin.__version__}, Python {platform.python_version()}")
    folders = [folder for folder in sorted(arguments.data.iterdir()) if (folder / "dev.mrp.gz").is_file()]
    if arguments.treebanks:
        folders = [folder for folder in folders if folder.name in arguments.treebanks]
    with tempfile.TemporaryDirectory() as temporary:
        for name in arguments.tables:
            print(f"\n{name}\n")
            TABLES[name](folders, arguments.jobs, arguments.cache or temporary)


def own(folders: Sequence[Path], jobs: int, cache: str) -> None:
    _scores(folders, jobs, cache, tokens=True)


def tokenizer(folders: Sequence[Path], jobs: int, cache: str) -> None:
    _scores(folders, jobs, cache, tokens=False)


def _scores(folders: Sequence[Path], jobs: int, cache: str, *, tokens: bool) -> None:
    _row("treebank", "graphs", "rules", *TYPES, "no query", "lost anchors", "differ", "invalid")
    differences = []
    for folder in folders:
        for split in ("train", "dev"):
            companion = folder / f"{split}.conllu.gz" if tokens else None
            outcome = roundtrip(folder / f"{split}.mrp.gz", tokens=companion, split=tokens, jobs=jobs, cache=cache)
            _outcome(f"{folder.name} {split}", outcome)
            for found in outcome.differences:
                if tokens or {*found["missing"], *found["surplus"]} != {"anchors"}:
                    differences.append(f"{folder.name} {split} {found}")
    print("", *differences, sep="\n")


def ceiling(folders: Sequence[Path], jobs: int, cache: str) -> None:
    _row("treebank", "graphs", "rules", *TYPES, "no query", "lost anchors", "differ", "invalid", "no rule")
    for folder in folders:
        for companion in (folder / "dev.conllu.gz", None):
            outcome = roundtrip(
                folder / "dev.mrp.gz", rules=[folder / "train.mrp.gz"], tokens=companion, jobs=jobs, cache=cache
            )
            tokens = "treebank's tokens" if companion else "our tokens"
            _outcome(f"{folder.name} {tokens}", outcome, str(outcome.losses["without_rule"]["nodes"]))


def queries(folders: Sequence[Path], jobs: int, cache: str) -> None:
    _row("treebank", "queries", "graphs", "nodes without a query", "in graphs")
    for folder in folders:
        for split in ("train", "dev"):
            data = read_treebank(folder / f"{split}.mrp.gz", folder / f"{split}.conllu.gz", split=True)
            given = PAPER_QUERIES[data.framework.name]
            surplus = [
                max(0, len(data.framework.simplified(graph).nodes) - given * len(sentence))
                for graph, sentence in zip(data.graphs, data.sentences, strict=True)
            ]
            _row(f"{folder.name} {split}", given, len(data.graphs), sum(surplus), sum(map(bool, surplus)))


def relations_table(folders: Sequence[Path], jobs: int, cache: str) -> None:
    _row("treebank", "relations", "edges", "with a box of their own", "of these edges", "nodes left")
    for folder in folders:
        if not folder.name.startswith("drg"):
            continue
        for split in ("train", "dev"):
            counts: Counter[str] = Counter()
            for graph in load(folder / f"{split}.mrp.gz"):
                simple = framework("drg").simplified(graph)
                marked = {(edge.source, edge.target) for edge in simple.edges if edge.label == RELATION}
                edges = [edge for edge in simple.edges if (edge.label or "").startswith(RELATION)]
                folded = len(graph) - len(simple)
                counts["relations"] += len(relations(graph))
                counts["edges"] += folded
                counts["boxes"] += sum(
                    any(edge.label == "in" for edge in graph.incoming(node.id)) for node in relations(graph)
                )
                counts["marked"] += sum(
                    (edge.source, edge.target) in marked and edge.label != RELATION for edge in edges
                )
            left = counts["relations"] - counts["edges"]
            _row(
                f"{folder.name} {split}", counts["relations"], counts["edges"], counts["boxes"], counts["marked"], left
            )


def speed(folders: Sequence[Path], jobs: int, cache: str) -> None:
    _row("treebank", "tokens", "nodes", "encode ms", "decode ms")
    for folder in folders:
        train = read_treebank(folder / "train.mrp.gz", folder / "train.conllu.gz")
        dev = read_treebank(folder / "dev.mrp.gz", folder / "dev.conllu.gz")
        form = dev.framework
        words = learn_from_treebank(form, train.graphs, train.sentences, dev.language, processes=jobs, cache=cache)
        start = time.process_time()
        targets = [form.encode(*pair, words) for pair in zip(dev.graphs, dev.sentences, strict=True)]
        encoded = time.process_time() - start
        decoded = 0.0
        for target, sentence in zip(targets, dev.sentences, strict=True):
            places = assign_queries(target, form.queries).places
            prediction = oracle_prediction(form, target, sentence, words, form.queries, places)
            start = time.process_time()
            form.decode(prediction, words)
            decoded += time.process_time() - start
        count = len(targets)
        tokens, nodes = sum(map(len, dev.sentences)) / count, sum(map(len, targets)) / count
        _row(
            folder.name, f"{tokens:.1f}", f"{nodes:.1f}", f"{1e3 * encoded / count:.2f}", f"{1e3 * decoded / count:.2f}"
        )


def _outcome(name: str, outcome: RoundTripReport, *more: str) -> None:
    tallies, losses = outcome.result.total.tallies, outcome.losses
    figures = [f"{100 * tallies[key].f1:.2f}" if tallies[key].g or tallies[key].s else "-" for key in TYPES]
    _row(
        name,
        len(outcome.trips),
        losses["rules"],
        *figures,
        losses["without_query"]["nodes"],
        losses["lost_anchors"]["nodes"],
        len(losses["differences"]),
        len(losses["invalid"]),
        *more,
    )


def _row(*cells: object) -> None:
    print(f"| {' | '.join(map(str, cells))} |", flush=True)


TABLES = {
    "own": own,
    "tokenizer": tokenizer,
    "ceiling": ceiling,
    "queries": queries,
    "relations": relations_table,
    "speed": speed,
}

if __name__ == "__main__":
    main()
