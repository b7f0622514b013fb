"""Parsing without PyTorch against the network in PyTorch, and C against NumPy: CPU time, start, memory, equal graphs.

    python benchmarks/inference.py [MODEL] [--limit 150] [--bits 8 32] [--against CHECKOUT | --kernels]

Each way runs in a process of its own on one core; several rounds in turn, of which the fastest counts.  Graphs that
differ from those of the C code with as many bits are counted, and all are scored against those of the file.  --against
compares this tree with another one (a clone whose C code is compiled), each with its own model of that name and its
defaults: CPU time from text to graph and of the decoding in it, in turn, with the ratio of the medians.  --kernels
prints where the time of this tree goes: each kind of step of the C code with its operations (a multiplication and an
addition are two), and the parts in Python.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from machine import describe

ROUNDS = 3
WAYS: dict[str, tuple[str, int, str]] = {
    "C code, 8 bits": ("trained", 8, ""),
    "C code, 32 bits": ("trained", 32, ""),
    "C code without VNNI, 8 bits": ("trained", 8, "avx2"),
    "C code, any processor, 8 bits": ("trained", 8, "portable"),
    "NumPy, 8 bits": ("trained", 8, "0"),
    "NumPy, 32 bits": ("trained", 32, "0"),
    "PyTorch, 32 bits": ("torch", 32, ""),
}

CHILD = r"""
import json, sys, time
started = time.process_time(), time.time()
kind, bits, name, framework, file, target = json.loads(sys.argv[1])
from pathlib import Path
from perin.graphs.codecs import dump
from perin.model import model_folder
from perin.parsing.parser import Parser
from perin.parsing.reading import read_sentences
if kind == "trained":
    parser = Parser.load(name, threads=1, bits=bits)
else:
    import torch
    from perin.model.model import Model
    torch.set_num_threads(1)
    parser = Parser(Model.load(model_folder(name)), threads=1)
    parser.parse("word", framework)
loaded = time.process_time(), time.time()
sentences = list(read_sentences(file, "eng"))
before = time.process_time()
graphs = parser.parse(sentences, framework, probabilities=False, time="2026-01-01")
spent = time.process_time() - before
import resource
dump(graphs, target)
memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps([1000 * spent / len(graphs), loaded[0] - started[0], loaded[1] - started[1], memory]))
"""


TWIN = r"""
import json, resource, sys, time
import perin
from perin.frameworks.framework import Framework
name, framework, texts, threads = json.loads(sys.argv[1])
plain, decoding = Framework.decode, [0.0]
def decode(*arguments, **options):
    before = time.thread_time()
    graph = plain(*arguments, **options)
    decoding[0] += time.thread_time() - before
    return graph
Framework.decode = decode
parser = perin.load(name, threads=threads)
def spent():
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)
parser.parse(texts[:8], framework, probabilities=False)
short = min(texts, key=lambda text: abs(len(text.split()) - 9))
before = spent()
for _ in range(20):
    parser.parse(short, framework, probabilities=False)
alone = (spent() - before) / 20
before, began, decoding[0] = spent(), time.perf_counter(), 0.0
graphs = parser.parse(texts, framework, probabilities=False)
clock = time.perf_counter() - began
del parser
count = len(graphs)
print(json.dumps([1000 * each for each in ((spent() - before) / count, alone, clock / count, decoding[0] / count)]))
"""


def against(checkout: Path, name: str, framework: str, texts: list[str], threads: int, rounds: int) -> None:
    """Print what this tree and another one take."""
    trees = {"this tree": Path(__file__).parents[1], "the other": checkout}
    found: dict[str, list[list[float]]] = {tree: [] for tree in trees}
    request = json.dumps([name, framework, texts, threads])
    for _ in range(rounds):
        for tree, root in trees.items():
            environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "OPENBLAS_NUM_THREADS": "1"}
            environment["PYTHONPATH"] = str(root / "src")
            command = [sys.executable, "-c", TWIN, request]
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=environment)
            found[tree].append(json.loads(done.stdout))
    titles = ("CPU ms a sentence", "one short one, CPU ms", "ms by the clock", "decoding, CPU ms")
    print(f"\n{'':<12}" + "".join(f"{title:>24}{'range':>16}" for title in titles))
    middles = []
    for tree, runs in found.items():
        columns = list(zip(*runs, strict=True))
        middles.append([statistics.median(column) for column in columns])
        cells = (f"{statistics.median(each):>24.2f}{f'{min(each):.2f}-{max(each):.2f}':>16}" for each in columns)
        print(f"{tree:<12}" + "".join(cells))
    ratios = (theirs / ours if ours else 0.0 for ours, theirs in zip(*middles, strict=True))
    print(f"{'ratio':<12}" + "".join(f"{ratio:>24.2f}{'':>16}" for ratio in ratios))


def kernels(name: str, framework: str, texts: list[str], rounds: int) -> None:
    """Print the time of each kind of step, run one by one, and of the other parts of parsing."""
    from perin import inference
    from perin.inference.layers import Linear
    from perin.inference.tape import Tape
    from perin.model.batches import BUDGET, MAX_BATCH_SIZE, cost, cut
    from perin.parsing.parser import Parser
    from perin.parsing.streaming import decode
    from perin.text.tokenizer import tokenize

    spent: dict[str, float] = {}
    work: dict[str, float] = {}

    class Timed(Tape):
        """Runs every step by itself."""

        kind, operations = "", 0.0

        def linear(self, layer: Linear, x: Any, *more: Any, **named: Any) -> Any:
            self.kind = f"linear {layer.inputs} -> {layer.outputs}, {layer.bits} bits"
            self.operations = 2.0 * x.rows * layer.inputs * layer.outputs
            return super().linear(layer, x, *more, **named)

        def feedforward(self, first: Linear, second: Linear, activation: str, x: Any, *more: Any, **named: Any) -> Any:
            self.kind = f"feed-forward {first.inputs} -> {first.outputs}, {activation}"
            self.operations = 4.0 * x.rows * first.inputs * first.outputs
            return super().feedforward(first, second, activation, x, *more, **named)

        def attention(self, queries: Any, memories: Any, lengths: Any, memory_lengths: Any, heads: int) -> Any:
            self.kind = f"attention, {heads} heads, 32 bits"
            self.operations = 4.0 * queries.width * float((lengths * memory_lengths).sum())
            return super().attention(queries, memories, lengths, memory_lengths, heads)

        def labels(self, output: Linear, prior: Any, latent: Any, lengths: Any, threshold: float) -> Any:
            self.kind = f"labels {output.inputs} -> {output.outputs}"
            self.operations = 2.0 * latent.rows * latent.width * output.outputs
            return super().labels(output, prior, latent, lengths, threshold)

        def _step(self, name: str, *numbers: int) -> None:
            super()._step(name, *numbers)
            kind, operations = self.kind or name, self.operations
            self.kind, self.operations = "", 0.0
            before = time.process_time()
            self.run()
            spent[kind] = spent.get(kind, 0.0) + time.process_time() - before
            work[kind] = work.get(kind, 0.0) + operations

    setattr(inference, "choose_arithmetic", Timed)  # noqa: B010 -- a name that the module imports
    parser = Parser.load(name, threads=1)
    names = parser.chosen(framework)
    for last in (False, True):
        spent.clear()
        work.clear()
        for _ in range(rounds if last else 1):
            before = time.process_time()
            sentences = [tokenize(text, "eng") for text in texts]
            marks = {"Python: tokens and lemmas": time.process_time() - before}
            costs = [cost(len(sentence)) for sentence in sentences]
            order = sorted(range(len(sentences)), key=costs.__getitem__)
            for batch in cut(order, costs, budget=BUDGET, max_batch_size=MAX_BATCH_SIZE):
                started = time.process_time()
                inputs = parser.model.preparation.batch([sentences[index] for index in batch])
                prepared, in_steps = time.process_time(), sum(spent.values())
                found = parser.model.predict(inputs, names)
                predicted, in_steps = time.process_time(), sum(spent.values()) - in_steps
                decode(parser.model, found)
                decoded = time.process_time()
                parts = (prepared - started, predicted - prepared - in_steps, decoded - predicted)
                titles = ("Python: subwords, n-grams", "Python: around the steps", "Python: graph decoding")
                for title, part in zip(titles, parts, strict=True):
                    marks[title] = marks.get(title, 0.0) + part
            spent.update({title: spent.get(title, 0.0) + part for title, part in marks.items()})
    count = len(texts) * rounds
    print(f"\n{'':<44}{'CPU ms a sentence':>20}{'MOP a sentence':>16}{'GOP/s':>8}")
    for kind, seconds in sorted(spent.items(), key=lambda item: -item[1]):
        done = work.get(kind, 0.0)
        figures = f"{done / count / 1e6:>16.1f}{done / seconds / 1e9:>8.0f}" if done else ""
        print(f"{kind:<44}{1000 * seconds / count:>20.3f}{figures}")
    print(f"{'in all':<44}{1000 * sum(spent.values()) / count:>20.3f}{sum(work.values()) / count / 1e6:>16.1f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="?", default="eng")
    parser.add_argument("--framework", default="eds")
    parser.add_argument("--file", default="../shared/data/eds-eng/dev.mrp.gz")
    parser.add_argument("--limit", type=int, default=150)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--bits", type=int, nargs="+", choices=(8, 32), default=[8, 32], help="only these ways")
    parser.add_argument("--threads", type=int, default=1, help="cores to use in the comparison with another tree")
    parser.add_argument("--against", type=Path, metavar="CHECKOUT", help="compare with another tree of this package")
    parser.add_argument("--kernels", action="store_true", help="where the time goes")
    arguments = parser.parse_args()
    from perin.graphs.codecs import dump, load, loads
    from perin.scoring import score

    print(describe())
    texts = [graph.input or "" for graph in list(load(arguments.file))[: arguments.limit]]
    if arguments.kernels:
        kernels(arguments.model, arguments.framework, texts, arguments.rounds)
        return
    if arguments.against is not None:
        against(arguments.against, arguments.model, arguments.framework, texts, arguments.threads, arguments.rounds)
        return
    with tempfile.TemporaryDirectory() as place:
        file = str(Path(place) / "sentences.mrp")
        gold = list(load(arguments.file))[: arguments.limit]
        dump(gold, file)
        ways = {way: what for way, what in WAYS.items() if what[1] in arguments.bits}
        found: dict[str, list[list[float]]] = {way: [] for way in ways}
        graphs: dict[str, list[str]] = {}
        for _ in range(arguments.rounds):
            for way, (kind, bits, native) in ways.items():
                target = str(Path(place) / "graphs.mrp")
                request = json.dumps([kind, bits, arguments.model, arguments.framework, file, target])
                environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
                if native:
                    environment["PERIN_NATIVE"] = native
                command = [sys.executable, "-c", CHILD, request]
                done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=environment)
                found[way].append(json.loads(done.stdout))
                graphs[way] = Path(target).read_text(encoding="utf-8").splitlines()
    titles = ("start, CPU s", "by the clock", "memory, MB", "other graphs", "F1")
    print(f"\n{'':<30}{'CPU ms a sentence':>18}" + "".join(f"{title:>14}" for title in titles))
    for way, runs in found.items():
        spent, start, clock, memory = (min(run[column] for run in runs) for column in range(4))
        model = "C code, 8 bits" if "8 bits" in way else "C code, 32 bits"
        other = sum(one != two for one, two in zip(graphs[way], graphs[model], strict=True))
        f1 = 100 * score(gold, list(loads("\n".join(graphs[way]), "mrp"))).f1
        print(f"{way:<30}{spent:>18.2f}{start:>14.2f}{clock:>14.2f}{memory:>14.0f}{other:>14}{f1:>14.2f}")


if __name__ == "__main__":
    main()
