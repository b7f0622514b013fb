"""How fast and how exact scoring is, on one core, in CPU time.

    python benchmarks/scoring.py ../shared [--budget 10] [--graphs 30]

Four tables: the fixtures, with the recorded CPU time and F1 of the official scorer, whose search was capped there (time
is counted over the graphs that take us less than a second); fixtures of medium noise against the official scorer at its
default limit, as far as that was measured; dev sets against themselves; and growth with the number of nodes, for graphs
of the treebanks against a copy with a tenth of its nodes and edges changed.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import statistics
import time
from collections.abc import Iterator
from dataclasses import replace
from importlib.metadata import version
from itertools import islice
from pathlib import Path

from machine import describe

from perin.graphs import Anchor, Graph, Node, Tolerant, load
from perin.scoring.evaluation import Pair, prepare, score_pair
from perin.scoring.metrics import METRICS
from perin.scoring.reading import pair, read_gold, read_system
from perin.scoring.result import GraphScore, Result

SIZES = (10, 20, 40, 80, 160)
DEFAULT_LIMIT = {"amr-eng-medium": 0.71, "ptg-ces-medium": 0.95, "drg-eng-medium": 0.51, "ucca-wsj-medium": 4.95}
"""CPU seconds a graph of the official scorer at its default limit of 500,000 steps."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shared", type=Path, help="folder with data and fixtures")
    parser.add_argument("--budget", type=float, default=10.0, help="seconds for a graph (default: 10)")
    parser.add_argument("--graphs", type=int, default=30, help="graphs of each size (default: 30)")
    arguments = parser.parse_args()
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")  # read when numpy is imported, which nothing has done yet
    print(describe(), flush=True)
    prepare("mrp")
    print(", ".join(f"{package} {version(package)}" for package in ("scipy", "highspy")), flush=True)
    fixtures(arguments.shared / "fixtures" / "public", arguments.budget)
    themselves(arguments.shared / "data", arguments.budget)
    growth(arguments.shared / "data", arguments.budget, arguments.graphs)


def timed(pairs: list[Pair], budget: float, metric: str = "mrp") -> tuple[list[GraphScore], list[float]]:
    """Scores of pairs and the CPU seconds that each took."""
    scores, seconds = [], []
    for each in pairs:
        start = time.process_time()
        scores.append(score_pair(each, METRICS[metric], budget))
        seconds.append(time.process_time() - start)
    return scores, seconds


def fixtures(folder: Path, budget: float) -> None:
    times = ("median ms", "mean ms", "max ms", "official ms", "ratio")
    print("\n" + row(("fixture", "graphs", "exact", "settled", *times, "F1", "official F1")))
    whole = [0.0, 0.0]
    counts = [0, 0, 0]
    means: dict[str, float] = {}
    for path in sorted(folder.iterdir(), key=by_strength):
        quiet = Tolerant()
        gold = read_gold(path / "gold.mrp", report=quiet)
        pairs = pair(gold, read_system(path / "system.mrp", report=quiet), report=quiet)
        expected = json.loads((path / "expected.json").read_text())
        official = [graph["cpu"] for graph in expected["graphs"]]
        scores, seconds = timed(pairs, budget)
        quick = [(ours, theirs) for ours, theirs in zip(seconds, official, strict=True) if ours < 1]
        ours, theirs = (sum(side) for side in zip(*quick, strict=True))
        block = Result(METRICS["mrp"], scores).total
        numbers = (statistics.median(seconds), statistics.mean(seconds), max(seconds), statistics.mean(official))
        f1 = block.f1, expected["all"]["f"]
        speed = [*(f"{1000 * number:.1f}" for number in numbers), f"{theirs / ours:.0f}"]
        print(
            row((path.name, len(pairs), block.exact, block.settled, *speed, *(f"{100 * each:.2f}" for each in f1))),
            flush=True,
        )
        whole = [whole[0] + ours, whole[1] + theirs]
        counts = [counts[0] + len(pairs), counts[1] + block.exact, counts[2] + block.settled]
        means[path.name] = statistics.mean(seconds)
    print(row(("all", *counts, "", "", "", "", f"{whole[1] / whole[0]:.0f}")))
    print(f"graphs under 1 s: {whole[0]:.1f} s, official {whole[1]:.1f} s", flush=True)
    print("\n" + row(("fixture", "mean ms", "official ms", "ratio")))
    for name, official_mean in DEFAULT_LIMIT.items():
        mean = means[name]
        print(row((name, f"{1000 * mean:.1f}", f"{1000 * official_mean:.0f}", f"{official_mean / mean:.0f}")))


def by_strength(path: Path) -> tuple[str, int]:
    name, _, strength = path.name.rpartition("-")
    return name, ("light", "medium", "heavy").index(strength)


def themselves(data: Path, budget: float) -> None:
    print("\n" + row(("gold = system", "graphs", "median ms", "mean ms", "mrp-max ms")))
    for path in sorted(data.glob("*/dev.mrp.gz")):
        graphs = list(islice(load(path), 300))
        pairs: list[Pair] = [(graph, graph) for graph in graphs]
        seconds, other = timed(pairs, budget)[1], timed(pairs, budget, "mrp-max")[1]
        numbers = (statistics.median(seconds), statistics.mean(seconds), statistics.median(other))
        print(row((path.parent.name, len(graphs), *(f"{1000 * number:.2f}" for number in numbers))), flush=True)


def growth(data: Path, budget: float, count: int) -> None:
    columns = [f"{size} {what}" for size in SIZES for what in ("ms", "exact")]
    print("\n" + row(("nodes", *columns, "growth")))
    for path in sorted(data.glob("*/train.mrp.gz")):
        cells: list[str] = []
        medians = []
        for size in SIZES:
            golds = islice(of_size(path, size), count)
            pairs: list[Pair] = [(gold, disturbed(gold, number)) for number, gold in enumerate(golds)]
            scores, seconds = timed(pairs, budget)
            medians.append(statistics.median(seconds))
            exact = sum(score.comparison.exact for score in scores)
            cells += [f"{1000 * medians[-1]:.1f}", f"{exact}/{len(pairs)}"]
        power = math.log(medians[-1] / medians[0]) / math.log(SIZES[-1] / SIZES[0])
        print(row((path.parent.name, *cells, f"n ** {power:.1f}")), flush=True)


def of_size(path: Path, size: int) -> Iterator[Graph]:
    """Graphs of about so many nodes; if the treebank has none so large, two or more of its graphs in one."""
    found = False
    for graph in load(path):
        if abs(len(graph) - size) <= size / 10:
            found = True
            yield graph
    if not found:
        joined: Graph | None = None
        for graph in load(path):
            joined = graph if joined is None else union(joined, graph)
            if len(joined) >= size:
                yield joined
                joined = None


def union(first: Graph, second: Graph) -> Graph:
    """Two graphs side by side, over one text after the other."""
    start = len(first.input or "") + 1
    offset = max(node.id for node in first.nodes) + 1
    moved = second.relabelled({node.id: node.id + offset for node in second.nodes})
    nodes = [
        replace(node, anchors=node.anchors and tuple(Anchor(a + start, b + start) for a, b in node.anchors))
        for node in moved.nodes
    ]
    return replace(
        first,
        input=f"{first.input or ''} {second.input or ''}",
        nodes=(*first.nodes, *nodes),
        edges=(*first.edges, *moved.edges),
    )


def disturbed(graph: Graph, seed: int) -> Graph:
    """A copy in another order of nodes, with a tenth of the nodes unlabelled or gone and a tenth of the edges moved."""
    chance = random.Random(seed)
    nodes: list[Node] = []
    for node in graph.nodes:
        luck = chance.random()
        if luck > 0.05 or len(graph) < 3:
            nodes.append(replace(node, label="?") if luck < 0.1 and node.label else node)
    if graph.flavor != 0:
        chance.shuffle(nodes)
    ids = [node.id for node in nodes]
    part = graph.subgraph(ids)
    edges = [replace(edge, target=chance.choice(ids)) if chance.random() < 0.1 else edge for edge in part.edges]
    return replace(part, nodes=tuple(nodes), edges=tuple(edges))


def row(cells: tuple[object, ...]) -> str:
    return f"{cells[0]!s:<16}" + "".join(f"{cell!s:>12}" for cell in cells[1:])


if __name__ == "__main__":
    main()
