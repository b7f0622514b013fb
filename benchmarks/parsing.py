"""Where the speed of parsing comes from: sentences per second in several ways, one after the other on the same machine.

python benchmarks/parsing.py [MODEL] [--framework eds] [--data ../shared/data] [--sentences 300] [--repeats 3]

The first way is that of research code: one sentence at a time, all cores for its matrix products, 32 bits, all queries.
The others are `perin bench` with and without 8 bits and C code.  Of the repeats the median is printed, and the
range.
"""

from __future__ import annotations

import argparse
import itertools
import os
import statistics
import tempfile
import time
import unittest.mock
from collections.abc import Callable
from pathlib import Path

from machine import describe

from perin.graphs.codecs import dump, load
from perin.graphs.graph import Graph
from perin.model import model_folder
from perin.parsing.benchmark import measure
from perin.parsing.parser import Parser
from perin.parsing.streaming import parse_batch
from perin.text.tokenizer import tokenize


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="?", default="eng", help="folder of a model, or the name of one in the box")
    parser.add_argument("--framework", default="eds")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="folder of the treebanks")
    parser.add_argument("--sentences", type=int, default=300, help="of the framework's dev file, the first ones")
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    folder = model_folder(arguments.model)
    whole = Parser.load(folder, bits=32)
    (name,) = whole.chosen(arguments.framework)
    graphs = list(itertools.islice(load(arguments.data / name / "dev.mrp.gz"), arguments.sentences))
    print(describe())
    with tempfile.TemporaryDirectory() as place:
        file = str(Path(place) / "sentences.mrp")
        dump(graphs, file)

        def bench(bits: int, *, native: bool = False) -> Callable[[], float]:
            def speed() -> float:
                with unittest.mock.patch.dict(os.environ, {} if native else {"PERIN_NATIVE": "0"}):
                    return measure(folder, file, arguments.framework, bits=bits).sentences_per_second

            return speed

        ways = {
            "one at a time, 32 bits": lambda: one_at_a_time(whole, name, graphs),
            "batches in threads, 32 bits": bench(32),
            "  with 8 bits": bench(8),
            "  with 8 bits and C code": bench(8, native=True),
        }
        found: dict[str, list[float]] = {way: [] for way in ways}
        for _ in range(arguments.repeats):
            for way, speed in ways.items():
                found[way].append(speed())
    first = statistics.median(next(iter(found.values())))
    print(f"\n{'':<32}{'sentences/s':>12}{'range':>16}{'ratio':>8}")
    for way, speeds in found.items():
        middle = statistics.median(speeds)
        print(f"{way:<32}{middle:>12.1f}{f'{min(speeds):.1f}-{max(speeds):.1f}':>16}{middle / first:>8.1f}")


def one_at_a_time(parser: Parser, treebank: str, graphs: list[Graph]) -> float:
    """Sentences a second, from text to graph, without C code."""
    language = parser.treebanks[treebank].vocabulary.language
    before = time.perf_counter()
    with unittest.mock.patch("perin.inference.tape.library", return_value=None):
        for graph in graphs:
            parse_batch(parser.model, [tokenize(graph.input or "", language)], [treebank], probabilities=False)
    return len(graphs) / (time.perf_counter() - before)


if __name__ == "__main__":
    main()
