"""Throughput and memory of `perin parse-corpus`, and what a billion sentences would take.

    python benchmarks/corpus.py [--sentences 2000] [--shards 20] [--repeats 1] [--engines local ray] [--short]
    python benchmarks/corpus.py --memory 100000

Texts of a treebank (with --short, eight short sentences), over and over, are parsed by one process, by as many as there
are cores, and by a Ray cluster of this machine, in turn.  Sentences a second are counted while all processes are at
work, without the loading of models.  Where other work goes on, these say little; the processor time of a sentence says
more, for it hardly depends on who else is there.  So the gain of several processes is given both ways: by the clock,
and as it would be on free cores, by processor time.  Memory is that of a worker after its first and its last shard.

With --memory, one worker parses so many short sentences in 100 shards, and its memory is printed at ten points.  No two
of these sentences are the same, so that a cache without a limit would show.
"""

from __future__ import annotations

import argparse
import itertools
import os
import statistics
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from machine import describe, memory

import perin
from perin.bulk import Progress
from perin.bulk.shards import FailedShard, Mark
from perin.graphs.codecs import load
from serving import SENTENCES

MACHINES = (1, 10, 100)
CORES = 64
POINTS = 10
NUMBERED = (
    "The {} dogs want to sleep.",
    "Prices fell by {} dollars on Monday.",
    "Anna{} gave the old man a book.",
    "The company opened store{} in Prague.",
)
"""Short sentences with a place for a number, which makes the words of each sentence new."""


class Clock(Progress):
    """When each shard was done."""

    def __init__(self) -> None:
        self.shards: list[tuple[float, int]] = []

    def shard(self, result: Mark | FailedShard) -> None:
        if isinstance(result, FailedShard):
            raise SystemExit(result.reason)
        self.shards.append((time.perf_counter(), result.parsed))

    def rate(self, workers: int) -> float:
        """Sentences a second while all processes were at work."""
        steady = self.shards[workers - 1 : len(self.shards) - workers + 1]
        return sum(count for _, count in steady[1:]) / (steady[-1][0] - steady[0][0])


@dataclass(frozen=True)
class Measured:
    """Loads a parser that notes, after each shard, the processor time it took and the memory of its process."""

    model: str
    notes: str

    def __call__(self) -> Any:
        return _Measured(perin.load(self.model, threads=1), Path(self.notes))


class _Measured:
    def __init__(self, parser: perin.Parser, notes: Path) -> None:
        self.parser, self.notes = parser, notes
        self.language = parser.language

    def stream(self, *given: Any, **options: Any) -> Iterator[Any]:
        before = time.process_time()
        yield from self.parser.stream(*given, **options)
        with open(self.notes / str(os.getpid()), "a") as file:
            print(time.process_time() - before, memory()["now"], file=file)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sentences", type=int, default=2000)
    parser.add_argument("--shards", type=int, default=20)
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--memory", type=int, metavar="SENTENCES")
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--model", default="eng")
    parser.add_argument("--framework", default="eds")
    parser.add_argument("--engines", nargs="+", default=["local", "ray"])
    parser.add_argument("--data", type=Path, default=Path("../shared/data/eds-eng/dev.mrp.gz"))
    arguments = parser.parse_args()
    print(describe())
    print(f"load of the machine before: {os.getloadavg()[0]:.1f}\n")
    if arguments.memory:
        memory_over(arguments.memory, arguments.model, arguments.framework)
    else:
        throughput(arguments)


def memory_over(sentences: int, model: str, framework: str) -> None:
    """Print the memory of one worker after each tenth of so many short sentences."""
    with tempfile.TemporaryDirectory() as folder:
        source, output = Path(folder) / "corpus.txt", Path(folder) / "out"
        write(source, (NUMBERED[number % len(NUMBERED)].format(number) for number in range(sentences)))
        notes = Path(folder) / "notes"
        notes.mkdir()
        shards = min(100, sentences)
        summary = perin.parse_corpus(
            source, output, model=Measured(model, str(notes)), framework=framework, shards=shards, workers=1
        )
        [[*worker]] = noted(notes)
        print("sentences   MB   CPU ms a sentence since the last line")
        for begin, end in itertools.pairwise(shards * point // POINTS for point in range(POINTS + 1)):
            seconds = sum(cost for cost, _ in worker[begin:end])
            done = sentences * end // shards
            print(f"{done:>9,}{worker[end - 1][1]:>5.0f}{1000 * seconds / (sentences * (end - begin) / shards):>10.2f}")
        print(*summary.lines(), sep="\n")


def throughput(arguments: argparse.Namespace) -> None:
    """Print the speed of each engine, and machines and hours for a billion sentences."""
    cores = len(os.sched_getaffinity(0))
    ways = [("local", 1), *((engine, cores) for engine in arguments.engines)]
    rates: dict[tuple[str, int], list[float]] = {way: [] for way in ways}
    costs: dict[tuple[str, int], list[float]] = {way: [] for way in ways}
    print(f"{'engine':<8}{'workers':>8}{'a second':>10}{'seconds':>9}{'CPU ms':>8}{'MB first':>10}{'MB last':>9}")
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "corpus.txt"
        lines = itertools.cycle(SENTENCES if arguments.short else texts(arguments.data))
        write(source, itertools.islice(lines, arguments.sentences))
        for repeat, way in itertools.product(range(arguments.repeats), ways):
            engine, workers = way
            output, clock, begun = Path(folder) / f"{engine}-{workers}-{repeat}", Clock(), time.perf_counter()
            notes = output.with_suffix(".notes")
            notes.mkdir()
            perin.parse_corpus(
                source,
                output,
                model=Measured(arguments.model, str(notes)),
                framework=arguments.framework,
                shards=arguments.shards,
                workers=workers,
                engine=engine,
                progress=clock,
            )
            seconds = time.perf_counter() - begun
            cost, first, last = read(notes, arguments.sentences)
            rates[way].append(clock.rate(workers))
            costs[way].append(cost)
            print(
                f"{engine:<8}{workers:>8}{clock.rate(workers):>10.1f}{seconds:>9.1f}{1000 * cost:>8.2f}"
                f"{first:>10.0f}{last:>9.0f}",
                flush=True,
            )
    report(*({way: statistics.median(found) for way, found in values.items()} for values in (rates, costs)))


def read(notes: Path, sentences: int) -> tuple[float, float, float]:
    """Processor time of a sentence, and the memory of the largest process after its first and its last shard."""
    of_workers = noted(notes)
    cost = sum(seconds for worker in of_workers for seconds, _ in worker) / sentences
    return cost, max(worker[0][1] for worker in of_workers), max(worker[-1][1] for worker in of_workers)


def noted(notes: Path) -> list[list[tuple[float, float]]]:
    """Processor time and memory after each shard, by worker."""
    lines = (path.read_text().splitlines() for path in notes.iterdir())
    return [[(float(cost), float(size)) for cost, size in map(str.split, worker)] for worker in lines]


def write(path: Path, lines: Iterable[str]) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in lines)


def texts(path: Path) -> list[str]:
    return [" ".join((graph.input or "").split()) for graph in load(path)]


def report(rates: dict[tuple[str, int], float], costs: dict[tuple[str, int], float]) -> None:
    """Ratios, and machines and hours for a billion sentences."""
    one = "local", 1
    print()
    for (engine, workers), rate in rates.items():
        free = workers * costs[one] / costs[engine, workers]
        print(f"{engine} with {workers}: {rate / rates[one]:.2f} times one process; by processor time {free:.2f}")
    print(f"\nhours for a billion sentences, on machines of {CORES} cores\n")
    print(f"{'engine':<8}{'workers':>8}{'by':>16}{'core hours':>12}", *(f"{machines:>7}" for machines in MACHINES))
    for (engine, workers), rate in rates.items():
        for name, cost in (("clock", workers / rate), ("processor time", costs[engine, workers])):
            hours = 1e9 * cost / 3600
            spread = (f"{hours / CORES / machines:>7.1f}" for machines in MACHINES)
            print(f"{engine:<8}{workers:>8}{name:>16}{hours:>12,.0f}", *spread)


if __name__ == "__main__":
    main()
