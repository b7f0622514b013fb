"""How fast and how exact scoring is, on one core, in CPU time.

    python benchmarks/scoring.py ../shared [--budget 10] [--graphs 30]

Four tables: the fixtures (light, medium, heavy noise), with the recorded CPU time and F1 of the official scorer, mtool,
whose search was capped there (how many times faster is counted over the graphs that take us less than a second);
fixtures of medium noise against mtool at its default limit, as far as that was measured; dev sets against themselves;
and growth with the number of nodes: median ms for graphs of the treebanks against a copy with a tenth of its nodes and
edges changed.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import statistics
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib.metadata import version
from itertools import islice
from pathlib import Path

from machine import describe

from perin.graphs import Anchor, Graph, Node, Tolerant, load
from perin.scoring import Pair, prepare, score_pair
from perin.scoring.metrics import METRICS
from perin.scoring.reading import pair, read_gold, read_system
from perin.scoring.result import Block, GraphScore, Result

STRENGTHS = ("light", "medium", "heavy")
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
    print(", ".join(f"{package} {version(package)}" for package in ("scipy", "highspy")), end="\n\n", flush=True)
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
    columns = ("median ms", "mean ms", "longest ms", "mtool, mean ms", "times faster", "F1", "F1 of mtool, capped")
    heading(("set", "graphs", "exact", "ties settled", *columns))
    sums, ours_in_all, theirs_in_all = Counter[str](), 0.0, 0.0
    means: dict[str, float] = {}
    for name in sorted({path.name.rpartition("-")[0] for path in folder.iterdir()}):
        counts = Counter[str]()
        cells: list[list[str]] = [[] for _ in columns]
        for strength in STRENGTHS:
            block, seconds, official, expected = fixture(folder / f"{name}-{strength}", budget)
            means[f"{name}-{strength}"] = statistics.mean(seconds)
            counts.update(graphs=len(seconds), exact=block.exact, settled=block.settled)
            quick = [(ours, theirs) for ours, theirs in zip(seconds, official, strict=True) if ours < 1]
            ours, theirs = (sum(side) for side in zip(*quick, strict=True))
            ours_in_all, theirs_in_all = ours_in_all + ours, theirs_in_all + theirs
            times = (statistics.median(seconds), statistics.mean(seconds), max(seconds), statistics.mean(official))
            found = [f"{1000 * number:.{digits}f}" for number, digits in zip(times, (1, 1, 0, 0), strict=True)]
            found += [f"{theirs / ours:.0f}", f"{100 * block.f1:.2f}", f"{100 * expected:.2f}"]
            for column, cell in zip(cells, found, strict=True):
                column.append(cell)
        sums.update(counts)
        row((name, *counts.values(), *(", ".join(column) for column in cells)))
    row(("all", sums["graphs"], sums["exact"], sums["settled"], *[""] * len(columns)))
    ratio = theirs_in_all / ours_in_all
    print(f"\ngraphs under 1 s: {ours_in_all:.1f} s, mtool {theirs_in_all:.1f} s: {ratio:.0f} times faster\n")
    heading(("set", "mean ms", "mtool, ms", "times faster"))
    for name, theirs in DEFAULT_LIMIT.items():
        row((name, f"{1000 * means[name]:.1f}", f"{1000 * theirs:.0f}", f"{theirs / means[name]:.0f}"))


def fixture(path: Path, budget: float) -> tuple[Block, list[float], list[float], float]:
    """Our counts, our CPU seconds for each graph, those of the official scorer, and its F1."""
    quiet = Tolerant()
    pairs = pair(
        read_gold(path / "gold.mrp", report=quiet), read_system(path / "system.mrp", report=quiet), report=quiet
    )
    expected = json.loads((path / "expected.json").read_text())
    scores, seconds = timed(pairs, budget)
    block = Result(METRICS["mrp"], scores).total
    return block, seconds, [graph["cpu"] for graph in expected["graphs"]], expected["all"]["f"]


def themselves(data: Path, budget: float) -> None:
    print()
    heading(("gold against itself", "graphs", "median ms", "mean ms", "mrp-max, median ms"))
    for path in sorted(data.glob("*/dev.mrp.gz")):
        graphs = list(islice(load(path), 300))
        pairs: list[Pair] = [(graph, graph) for graph in graphs]
        seconds, other = timed(pairs, budget)[1], timed(pairs, budget, "mrp-max")[1]
        numbers = (statistics.median(seconds), statistics.mean(seconds), statistics.median(other))
        row((path.parent.name, len(graphs), *(f"{1000 * number:.2f}" for number in numbers)))


def growth(data: Path, budget: float, count: int) -> None:
    print()
    heading(("nodes", *SIZES, "proven", "growth"))
    for path in sorted(data.glob("*/train.mrp.gz")):
        medians = []
        proven = total = 0
        for size in SIZES:
            golds = islice(of_size(path, size), count)
            pairs: list[Pair] = [(gold, disturbed(gold, number)) for number, gold in enumerate(golds)]
            scores, seconds = timed(pairs, budget)
            medians.append(statistics.median(seconds))
            proven += sum(score.comparison.exact for score in scores)
            total += len(pairs)
        power = math.log(medians[-1] / medians[0]) / math.log(SIZES[-1] / SIZES[0])
        times = (f"{1000 * median:.1f}" for median in medians)
        row((path.parent.name, *times, f"{proven}/{total}", f"n^{power:.1f}"))


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


def heading(cells: Sequence[object]) -> None:
    row(cells)
    print("|---" * len(cells) + "|")


def row(cells: Sequence[object]) -> None:
    print("| " + " | ".join(str(cell) for cell in cells) + " |", flush=True)


if __name__ == "__main__":
    main()
