"""Speed and memory of training, by the trainer that 'perin train' uses.

python benchmarks/training.py [PART …] [--threads 2] [--steps 120] [--balance hidden|layer]

original   MiniLM on the first 2,000 English EDS sentences at the sizes at which the original was measured: 3 decoder
           layers, feed-forward 1536, 4 queries a token, a mixture of 15, balanced losses, about 16 sentences an update
           (17, fewer of long ones); the encoder is trained from the first step on
small      the same sentences with the recipe small-eds as it is
scaling    small-eds on 1,000, 4,000 and 12,000 sentences: preparation (with an empty cache), and time a sentence
treebanks  all nine treebanks from small recipe to report: at most 300 graphs, one epoch, 50 dev graphs

Every measurement is a process of its own.  The first steps are not counted; CPU seconds are those of all threads.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import multiprocessing
import os
import resource
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

PARTS = ("original", "small", "scaling", "treebanks")
ORIGINAL_WALL, ORIGINAL_CPU, ORIGINAL_MEMORY = 3.8, 2.4, 3500
"""The original: sentences per second on two idle cores, sentences per CPU second, megabytes."""
ORIGINAL_SIZES = (
    "network.encoder=minilm",
    "network.layers=3",
    "network.feedforward=1536",
    "network.mixture=15",
    "treebanks.0.queries=4",
    "learning.sentences=17",
    "learning.accumulation=1",
    "learning.encoder_delay=0",
)
RECIPES = (
    *("small-amr", "small-amr-zho", "small-drg", "small-drg-deu", "small-eds"),
    *("small-ptg", "small-ptg-ces", "small-ucca", "small-ucca-deu"),
)
SKIPPED = 5
"""Steps that are not counted: the first ones ask for memory."""


def main() -> None:
    from machine import describe

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)} (default: all)")
    parser.add_argument("--data", default="../shared/data", help="folder of the treebanks")
    parser.add_argument("--sentences", type=int, default=2000, help="of the parts original and small")
    parser.add_argument("--sizes", type=int, nargs="+", default=[1000, 4000, 12000], help="of the part scaling")
    parser.add_argument("--steps", type=int, default=120, help="optimizer steps of each measurement, or one epoch")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--balance", choices=["hidden", "layer"], default="hidden", help="of the part original")
    arguments = parser.parse_args()
    if unknown := set(arguments.parts) - set(PARTS):
        parser.error(f"unknown part {', '.join(sorted(unknown))}; known are: {', '.join(PARTS)}")
    os.environ["OMP_NUM_THREADS"] = str(arguments.threads)
    parts = {"original": compare_original, "small": compare_small, "scaling": scale, "treebanks": train_all}
    print(describe())
    for part in arguments.parts or PARTS:
        print(f"\n{part}\n")
        parts[part](arguments)


def compare_original(arguments: argparse.Namespace) -> None:
    compare(arguments, "eds-eng", *ORIGINAL_SIZES, f"learning.balance={arguments.balance}")


def compare_small(arguments: argparse.Namespace) -> None:
    compare(arguments, "small-eds")


def compare(arguments: argparse.Namespace, recipe: str, *changes: str) -> None:
    """Print speed and memory beside the original's."""
    changes = (*changes, f"treebanks.0.limit={arguments.sentences}")
    found = alone(steps_of, recipe, (f"data={arguments.data}", *changes), arguments.steps, arguments.threads)
    print(" ".join((recipe, *changes)))
    print(f"prepared in {found['prepared_wall']:.1f} s ({found['prepared_cpu']:.1f} CPU s)")
    print(
        f"{describe_run(found)}, {found['steps']} steps, {found['sentences'] / found['steps']:.1f} sentences an update"
    )
    for what, value, original in (
        ("sentences per second", found["sentences"] / found["wall"], ORIGINAL_WALL),
        ("sentences a CPU second", found["sentences"] / found["cpu"], ORIGINAL_CPU),
        ("peak memory in MB", found["memory"], ORIGINAL_MEMORY),
    ):
        print(f"{what:<24}{value:>9.1f}   original {original:>7.1f}   ratio {value / original:.2f}")


def scale(arguments: argparse.Namespace) -> None:
    """Print what a sentence costs with more and more of them."""
    heads = ("sentences", "tokens", "prepared s", "CPU ms each", "trained", "ms each", "CPU ms each", "peak MB")
    print("".join(f"{head:>13}" for head in heads))
    for size in arguments.sizes:
        changes = (f"data={arguments.data}", f"treebanks.0.limit={size}")
        found = alone(steps_of, "small-eds", changes, arguments.steps, arguments.threads)
        print(
            f"{found['examples']:>13}{found['tokens']:>13.1f}{found['prepared_wall']:>13.1f}"
            f"{1000 * found['prepared_cpu'] / found['examples']:>13.2f}{found['sentences']:>13}"
            f"{1000 * found['wall'] / found['sentences']:>13.2f}{1000 * found['cpu'] / found['sentences']:>13.2f}"
            f"{found['memory']:>13.0f}",
            flush=True,
        )


def train_all(arguments: argparse.Namespace) -> None:
    """Print what became of a short run on each treebank."""
    print(f"{'recipe':<16}{'problems':>10}{'rules':>7}{'F1':>8}{'seconds':>9}{'peak MB':>9}")
    for recipe in RECIPES:
        found = alone(whole_run, recipe, arguments.data, arguments.threads)
        print(
            f"{recipe:<16}{found['problems']:>10}{found['rules']:>7}{100 * found['f1']:>8.2f}"
            f"{found['seconds']:>9.0f}{found['memory']:>9.0f}",
            flush=True,
        )


def describe_run(found: dict[str, Any]) -> str:
    return f"{found['examples']} sentences of {found['tokens']:.1f} tokens and {found['nodes']:.1f} nodes"


def alone(measure: Any, *arguments: Any) -> dict[str, Any]:
    """What a function measures in a process of its own, with an empty cache."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["PERIN_CACHE"] = folder
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
            found: dict[str, Any] = pool.submit(partial(measure, *arguments)).result()
    return found


def steps_of(name: str, changes: tuple[str, ...], steps: int, threads: int) -> dict[str, Any]:
    """Prepare a recipe's data and make some steps of its first epoch."""
    import torch
    from machine import memory

    from perin.learning import load_recipe
    from perin.learning.data import load_corpus
    from perin.learning.run import Trainer
    from perin.learning.run.journal import Console
    from perin.learning.run.optimisation import Processes

    class Enough(Exception):
        pass

    class Stopwatch(Console):
        """Is told of every step; looks at the clocks and ends the run when there were enough."""

        started: tuple[int, float, float] | None = None
        done: tuple[int, float, float] = (0, 0.0, 0.0)
        steps = -SKIPPED

        def show(self, step: int, total: int, text: str) -> None:
            self.steps += 1
            self.done = (trainer.state.progress.sentences, time.perf_counter(), time.process_time())
            if self.steps <= 0:
                self.started = self.done
            if self.steps >= steps:
                raise Enough

    torch.set_num_threads(threads)
    recipe = load_recipe(
        name,
        (
            "treebanks.0.dev=[]",
            "treebanks.0.dev_tokens=[]",
            *changes,
            "learning.epochs=1",
            "learning.checkpoint=1000000",
        ),
    )
    wall, cpu = time.perf_counter(), cpu_seconds()
    corpus = load_corpus(recipe)
    found = {"prepared_wall": time.perf_counter() - wall, "prepared_cpu": cpu_seconds() - cpu}
    watch = Stopwatch()
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(recipe, corpus, Path(folder), Processes("no"), watch)
        with contextlib.suppress(Enough):
            trainer.run()
    assert watch.started is not None
    sentences, wall, cpu = (end - start for start, end in zip(watch.started, watch.done, strict=True))
    count = len(corpus.examples)
    return {
        **found,
        "steps": watch.steps,
        "sentences": int(sentences),
        "wall": wall,
        "cpu": cpu,
        "memory": memory()["peak"],
        "examples": count,
        "tokens": sum(example.input.tokens for example in corpus.examples) / count,
        "nodes": sum(len(example.target) for example in corpus.examples) / count,
    }


def whole_run(name: str, data: str, threads: int) -> dict[str, Any]:
    """A short run from recipe to report."""
    import torch
    from machine import memory

    from perin.learning import load_recipe
    from perin.learning.run import train
    from perin.model.model import Model

    torch.set_num_threads(threads)
    limits = ("treebanks.0.limit=300", "evaluation.limit=50", "learning.epochs=1")
    recipe = load_recipe(name, (f"data={data}", *limits))
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as parent:
        folder = Path(parent) / "run"
        model = Model.load(train(recipe, folder))
        entries = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
        problems = len((folder / "problems.jsonl").read_text().splitlines())
        assert (folder / "report.html").exists()
    (treebank,) = model.treebanks.values()
    return {
        "problems": problems,
        "rules": treebank.sizes.rules,
        "f1": next(entry["mean"] for entry in reversed(entries) if entry["event"] == "evaluation"),
        "seconds": time.perf_counter() - started,
        "memory": memory()["peak"],
    }


def cpu_seconds() -> float:
    """CPU time of this process and of those that it has waited for."""
    uses = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(use.ru_utime + use.ru_stime for use in uses)


if __name__ == "__main__":
    main()
