"""Sieves: trained after the network, to tell what it says of a query before the decoder has looked at it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from perin.learning.corpus import Split
from perin.learning.evaluation import evaluate
from perin.network.inputs import SentenceInput
from perin.network.sieve import Sieve
from perin.parsing.batches import BUDGET, MOST, cost, cut
from perin.parsing.model import Model

MOST_SENTENCES = 6000
"""Sentences of a treebank that a sieve learns from."""
CUTS = (-2.0, -2.5, -3.0, -3.5, -4.0, -5.0, -6.0)
"""Scores, as logarithms of odds, above which a query may pass: the first that costs little on dev is taken."""
TOLERATED = 0.1
"""Points of F1 that a sieve may cost on dev."""

_EPOCHS = 6
_TOKENS = 256
"""In a batch."""
_RATE = 2e-3


@dataclass(frozen=True)
class Trial:
    """What a sieve lets pass at a cut, as a share of all queries, and F1 with it."""

    passed: float
    f1: float


@dataclass(frozen=True)
class Choice:
    """F1 without a sieve, what was tried, and which of it was taken (None: nothing, so there is no sieve)."""

    without: float
    trials: dict[float, Trial]
    cut: float | None

    def __str__(self) -> str:
        if self.cut is None:
            return "no sieve, every one costs too much F1 on dev"
        trial = self.trials[self.cut]
        dev = f"dev {100 * trial.f1:.2f}, {100 * self.without:.2f} without"
        return f"a sieve lets {100 * trial.passed:.0f} % of the queries pass; {dev}"


def add_sieves(
    model: Model, inputs: Mapping[str, Sequence[SentenceInput]], dev: Mapping[str, Split], *, budget: float
) -> dict[str, Choice]:
    """Give each treebank that has dev data a sieve, if one is found that costs little F1 there.

    ``inputs`` are training sentences of each treebank; their graphs are not needed, for a sieve learns what the network
    says.
    """
    model.network.eval()
    return {name: _chosen(model, name, inputs[name], split, budget) for name, split in dev.items() if split.graphs}


def _chosen(model: Model, name: str, inputs: Sequence[SentenceInput], dev: Split, budget: float) -> Choice:
    def f1() -> float:
        return evaluate(model, {name: dev}, budget=budget).scores[name]["all"]

    if name in model.network.sieves:
        del model.network.sieves[name]
    without, trials = f1(), {}
    every = max(1, -(-len(inputs) // MOST_SENTENCES))
    tokens, nodes = _examples(model, name, inputs[::every])
    sieve = model.network.add_sieve(name)
    _fit(sieve, tokens, nodes)
    bias = sieve.output.bias.detach().clone()
    for cut_off in CUTS:
        sieve.output.bias.data = bias - cut_off
        with torch.inference_mode():
            passed = float((sieve(tokens) > 0).float().mean())
        trials[cut_off] = Trial(passed, f1())
        if 100 * (without - trials[cut_off].f1) <= TOLERATED:
            return Choice(without, trials, cut_off)
    del model.network.sieves[name]
    return Choice(without, trials, None)


@torch.inference_mode()
def _examples(model: Model, name: str, inputs: Sequence[SentenceInput]) -> tuple[Tensor, Tensor]:
    """Contextual embeddings of tokens [T, D], and which of their queries the network makes nodes [T, Q]."""
    network, sizes = model.network, model.network.treebanks[name]
    heads = network.heads_of(name)
    costs = [cost(sentence.tokens) for sentence in inputs]
    tokens, nodes = [], []
    for batch in cut(sorted(range(len(inputs)), key=costs.__getitem__), costs, budget=BUDGET, most=MOST):
        encoding = network.encode(model.preparation.collate([inputs[index] for index in batch]))
        null = heads.label_probabilities(network.decode(encoding, name).queries)[:, 0]
        tokens.append(encoding.contextual)
        nodes.append((null < sizes.null_limit).view(-1, sizes.queries))
    return torch.cat(tokens).clone(), torch.cat(nodes).float().clone()


def _fit(sieve: Sieve, tokens: Tensor, nodes: Tensor) -> None:
    """Train a sieve; the same examples give the same sieve."""
    generator = torch.Generator().manual_seed(0)
    for layer in (sieve.inner, sieve.output):
        bound = layer.in_features**-0.5
        torch.nn.init.uniform_(layer.weight, -bound, bound, generator=generator)
        torch.nn.init.zeros_(layer.bias)
    optimizer = torch.optim.Adam(sieve.parameters(), _RATE)
    orders = torch.cat([torch.randperm(len(tokens), generator=generator) for _ in range(_EPOCHS)])
    batches = torch.split(orders, _TOKENS)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 - step / len(batches))
    with torch.enable_grad():
        for rows in batches:
            optimizer.zero_grad()
            loss = functional.binary_cross_entropy_with_logits(sieve(tokens[rows]), nodes[rows])
            torch.autograd.backward(loss)
            optimizer.step()
            schedule.step()
