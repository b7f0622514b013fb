"""Time and memory of a training step by part: MiniLM on English EDS with the original's sizes.

python benchmarks/step.py [--sentences 512] [--batch 16] [--threads 2] [--steps 20] [--balance hidden|layer|equal]
                          [--precision no|bf16]

The sizes are those at which the original was measured: 3 decoder layers, feed-forward 1536, 4 queries a token, a
mixture of 15 softmaxes.  Sentences of like length make a batch, and batches come in random order.  Times are means
over the steps after a warm-up; where other processes compete, CPU time says more than wall time.  Memory is what a part
adds to that of the process, and the highest point meanwhile, in the first step, of a batch of median length; gradients
and the optimizer's moments are made in it.
"""

from __future__ import annotations

import argparse
import random
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from machine import describe, forget_peak, memory

from perin.learning import load_recipe
from perin.learning import objective as step_module
from perin.learning.data import Corpus, load_corpus
from perin.learning.data.batches import Batch, Example, collate
from perin.learning.objective import Objective, make_balances, training_step
from perin.learning.objective.balance import Balance
from perin.learning.run.start import count_frequencies
from perin.model.model import Model
from perin.network.heads import TreebankHeads
from perin.network.network import Network

PARTS: dict[str, list[tuple[Any, str]]] = {
    "batch": [],
    "encoder": [(Network, "encode")],
    "decoder": [(Network, "decode")],
    "heads": [(TreebankHeads, kind) for kind in ("labels", "anchors", "presence", "edge_labels", "properties", "tops")],
    "matching": [(step_module, "match")],
    "tie-breaking": [(step_module, "break_ties")],
    "losses": [(step_module, "losses")],
    "balance": [(Balance, "weigh"), (Balance, "measured"), (Balance, "update")],
    "backward": [],
    "optimizer": [],
}
"""The functions that make up each part; the others are measured where they are called."""


class Clock:
    """Adds up wall and CPU seconds by part; the time of a part inside another counts for the inner one only."""

    def __init__(self) -> None:
        self.wall: dict[str, float] = defaultdict(float)
        self.cpu: dict[str, float] = defaultdict(float)
        self.kept: dict[str, float] = defaultdict(float)
        self.peak: dict[str, float] = defaultdict(float)
        self.weighs = False
        self._inner = [[0.0, 0.0]]

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Measure the block as (a piece of) a part."""
        before = memory() if self.weighs else {}
        if self.weighs:
            forget_peak()
        wall, cpu = time.perf_counter(), time.process_time()
        self._inner.append([0.0, 0.0])
        yield
        spent = [time.perf_counter() - wall, time.process_time() - cpu]
        inner = self._inner.pop()
        self.wall[name] += spent[0] - inner[0]
        self.cpu[name] += spent[1] - inner[1]
        self._inner[-1] = [total + own for total, own in zip(self._inner[-1], spent, strict=True)]
        if self.weighs:
            after = memory()
            self.kept[name] += after["now"] - before["now"]
            self.peak[name] = max(self.peak[name], after["peak"])

    def timed(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, measured as a piece of a part."""

        def measured(*arguments: Any, **options: Any) -> Any:
            with self.part(name):
                return function(*arguments, **options)

        return measured


def main() -> None:
    arguments = parse()
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(1)
    print(describe())
    recipe = load_recipe(
        "eds-eng",
        [
            f"data={arguments.data}",
            "network.encoder=minilm",
            "network.feedforward=1536",
            f"treebanks.0.limit={arguments.sentences}",
            "treebanks.0.dev=[]",
            "treebanks.0.dev_tokens=[]",
        ],
    )
    corpus = load_corpus(recipe)
    model = Model.new(recipe.network, corpus.treebanks)
    treebank = corpus.treebanks[0]
    targets = [example.target for example in corpus.examples]
    model.network.heads_of(treebank.name).initialise(count_frequencies(targets, treebank.sizes))
    nodes, tokens = (sum(target.mask.shape[axis] for target in targets) / len(targets) for axis in (0, 1))
    print(f"{len(targets)} sentences of {tokens:.1f} tokens and {nodes:.1f} nodes, {treebank.sizes.rules} rules")
    clock = Clock()
    instrument(clock)
    run(model, corpus, arguments, clock)
    report(clock, arguments)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="../shared/data", help="folder of the treebanks")
    parser.add_argument("--sentences", type=int, default=512)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--balance", choices=["hidden", "layer", "equal"], default="hidden")
    parser.add_argument("--precision", choices=["no", "bf16"], default="no")
    return parser.parse_args()


def instrument(clock: Clock) -> None:
    """Measure the parts of :func:`training_step`, the norms that are taken during the backward pass among them."""
    for name, functions in PARTS.items():
        for owner, attribute in functions:
            setattr(owner, attribute, clock.timed(name, getattr(owner, attribute)))
    plain = Balance._measurer
    setattr(Balance, "_measurer", lambda self, task: clock.timed("balance", plain(self, task)))  # noqa: B010


def run(model: Model, corpus: Corpus, arguments: argparse.Namespace, clock: Clock) -> None:
    network = model.network.train()
    examples = sorted(corpus.examples, key=lambda example: example.input.tokens)
    groups = [examples[start : start + arguments.batch] for start in range(0, len(examples), arguments.batch)]
    middle = groups[len(groups) // 2]
    random.Random(1).shuffle(groups)
    balances = make_balances(network, arguments.balance)
    weights = [weight for weight in network.parameters() if weight.requires_grad]
    optimizer = torch.optim.AdamW(weights, lr=1e-4, fused=True)
    queries = {name: sizes.queries for name, sizes in network.treebanks.items()}

    def one(group: list[Example]) -> None:
        with clock.part("batch"):
            batch: Batch = collate(group, model.preparation, queries)
        with torch.autocast("cpu", torch.bfloat16, enabled=arguments.precision == "bf16"):
            training_step(
                network, batch, Objective(), balances, backward=clock.timed("backward", torch.autograd.backward)
            )
        with clock.part("optimizer"):
            optimizer.step()
            optimizer.zero_grad()

    clock.weighs = True
    one(middle)
    clock.weighs = False
    for number in range(3 + arguments.steps):
        if number == 3:
            clock.wall.clear()
            clock.cpu.clear()
        one(groups[number % len(groups)])


def report(clock: Clock, arguments: argparse.Namespace) -> None:
    wall, cpu = sum(clock.wall.values()), sum(clock.cpu.values())
    print(f"\n{'part':<14}{'wall ms':>10}{'CPU ms':>10}{'share of CPU':>14}{'kept MB':>10}{'peak MB':>10}")
    for name in PARTS:
        print(
            f"{name:<14}{1000 * clock.wall[name] / arguments.steps:>10.1f}"
            f"{1000 * clock.cpu[name] / arguments.steps:>10.1f}{100 * clock.cpu[name] / cpu:>13.1f}%"
            f"{clock.kept[name]:>10.0f}{clock.peak[name]:>10.0f}"
        )
    print(f"{'step':<14}{1000 * wall / arguments.steps:>10.1f}{1000 * cpu / arguments.steps:>10.1f}")
    rates = [arguments.batch * arguments.steps / seconds for seconds in (wall, cpu)]
    print(f"\n{rates[0]:.1f} sentences per second, {rates[1]:.1f} per CPU second")
    ours = sum(clock.cpu[name] for name in ("matching", "tie-breaking", "balance"))
    print(f"matching, tie-breaking and balance: {100 * ours / cpu:.1f} % of a step (the original: 36 %)")


if __name__ == "__main__":
    main()
