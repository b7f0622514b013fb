"""Throughput and memory of `perin parse-corpus`, and what a billion sentences would take.

python benchmarks/corpus.py [--sentences 2000] [--shards 20] [--repeats 1] [--engines local ray]

Texts of a treebank, over and over, are parsed by one process, by as many as there are cores, and by a Ray cluster of
this machine, in turn.  Sentences a second are counted while all processes are at work, without the loading of models.
CPU time, loading included, is that of the local processes: unlike the rates it hardly depends on what else the machine
is doing, so that core hours are computed from it.  Peak memory is that of the largest process so far.
"""

from __future__ import annotations

import argparse
import itertools
import os
import resource
import statistics
import tempfile
import time
from pathlib import Path

from machine import describe

import perin
from perin.bulk.corpus import Progress
from perin.bulk.processes import Bad
from perin.bulk.shards import Mark
from perin.graphs.codecs.registry import load

MACHINES = (1, 10, 100)
CORES = 64


class Clock(Progress):
    """When each shard was done."""

    def __init__(self) -> None:
        self.shards: list[tuple[float, int]] = []

    def shard(self, result: Mark | Bad) -> None:
        if isinstance(result, Bad):
            raise SystemExit(result.reason)
        self.shards.append((time.perf_counter(), result.parsed))

    def rate(self, workers: int) -> float:
        """Sentences a second while all processes were at work."""
        steady = self.shards[workers - 1 : len(self.shards) - workers + 1]
        return sum(count for _, count in steady[1:]) / (steady[-1][0] - steady[0][0])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sentences", type=int, default=2000)
    parser.add_argument("--shards", type=int, default=20)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--model", default="eng")
    parser.add_argument("--framework", default="eds")
    parser.add_argument("--engines", nargs="+", default=["local", "ray"])
    parser.add_argument("--data", type=Path, default=Path("../shared/data/eds-eng/dev.mrp.gz"))
    arguments = parser.parse_args()
    cores = len(os.sched_getaffinity(0))
    ways = [("local", 1), *((engine, cores) for engine in arguments.engines)]
    rates: dict[tuple[str, int], list[float]] = {way: [] for way in ways}
    costs: list[float] = []
    print(describe())
    print(f"load of the machine before: {os.getloadavg()[0]:.1f}")
    print(f"\n{'engine':<8}{'workers':>8}{'a second':>10}{'seconds':>9}{'CPU ms':>8}{'peak MB':>9}")
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "corpus.txt"
        lines = list(itertools.islice(itertools.cycle(texts(arguments.data)), arguments.sentences))
        source.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        for repeat, (engine, workers) in itertools.product(range(arguments.repeats), ways):
            clock, begun, before = Clock(), time.perf_counter(), cpu_seconds()
            perin.parse_corpus(
                source,
                Path(folder) / f"{engine}-{workers}-{repeat}",
                model=arguments.model,
                framework=arguments.framework,
                shards=arguments.shards,
                workers=workers,
                engine=engine,
                progress=clock,
            )
            seconds = time.perf_counter() - begun
            cpu = (cpu_seconds() - before) / arguments.sentences
            if engine == "local":
                costs.append(cpu)
            peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
            rates[engine, workers].append(clock.rate(workers))
            print(
                f"{engine:<8}{workers:>8}{clock.rate(workers):>10.1f}{seconds:>9.1f}{1000 * cpu:>8.1f}{peak:>9.0f}",
                flush=True,
            )
    report({way: statistics.median(found) for way, found in rates.items()}, statistics.median(costs))


def texts(path: Path) -> list[str]:
    return [" ".join((graph.input or "").split()) for graph in load(path)]


def cpu_seconds() -> float:
    """Of the processes that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def report(rates: dict[tuple[str, int], float], cost: float) -> None:
    """Ratios, and machines and hours for a billion sentences."""
    base = rates["local", 1]
    print()
    for (engine, workers), rate in rates.items():
        print(f"{engine} with {workers}: {rate / base:.2f} times one process; {rate / workers:.1f} a second and core")
    print(f"\na billion sentences: {1e9 * cost / 3600:.0f} core hours")
    for machines in MACHINES:
        hours = 1e9 * cost / (CORES * machines) / 3600
        print(f"{machines:>5} machines of {CORES} cores: {hours:.1f} hours")


if __name__ == "__main__":
    main()
