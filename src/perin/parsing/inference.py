"""From sentences to graphs: batches of like cost through the network, then each sentence through its framework."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from perin.contract import Sentence
from perin.contract.heads import Prediction
from perin.errors import InputError, PerinError
from perin.graphs.graph import Graph
from perin.model.batches import BUDGET, MAX_BATCH_SIZE, cost, cut
from perin.model.trained import Predictor
from perin.parsing.calibration import calibrate

SURVIVED = (PerinError, ArithmeticError, LookupError, MemoryError, RuntimeError, ValueError)
"""What may go wrong with one sentence, memory that does not suffice included, without stopping the others."""


@dataclass(frozen=True)
class Parsed:
    """What became of a sentence: its graphs, one of each framework that was asked for, or what was wrong with it."""

    sentence: Sentence
    graphs: tuple[Graph, ...] = ()
    error: InputError | None = None


def decode(
    model: Predictor,
    predictions: Mapping[str, Sequence[Prediction]],
    *,
    probabilities: bool = False,
    alternatives: int = 0,
    constraints: bool = True,
) -> list[tuple[Graph, ...]]:
    """The graphs of each sentence, in the order of the treebanks, from the predictions for each treebank."""

    def graph(name: str, prediction: Prediction) -> Graph:
        treebank = model.treebanks[name]
        found = treebank.framework.decode(
            prediction,
            treebank.vocabulary,
            probabilities=probabilities,
            alternatives=alternatives,
            constraints=constraints,
        )
        return calibrate(found, treebank.temperatures) if probabilities else found

    graphs = ([graph(name, each) for each in of_treebank] for name, of_treebank in predictions.items())
    return list(zip(*graphs, strict=True))


def parse_batch(
    model: Predictor,
    sentences: Sequence[Sentence],
    treebanks: Sequence[str],
    *,
    probabilities: bool,
    alternatives: int = 0,
    constraints: bool = True,
) -> list[Parsed]:
    """What becomes of each sentence; one that fails does not harm the others."""
    try:
        found = model.predict(model.preparation.batch(sentences), treebanks)
        graphs = decode(model, found, probabilities=probabilities, alternatives=alternatives, constraints=constraints)
        return [Parsed(*pair) for pair in zip(sentences, graphs, strict=True)]
    except SURVIVED as error:
        if len(sentences) == 1:
            reason = str(error) if isinstance(error, PerinError) else f"{type(error).__name__}: {error}"
            failure = InputError(f"can't be parsed ({reason})", graph=sentences[0].id)
            return [Parsed(sentences[0], error=failure)]
    return [
        parsed
        for sentence in sentences
        for parsed in parse_batch(
            model,
            [sentence],
            treebanks,
            probabilities=probabilities,
            alternatives=alternatives,
            constraints=constraints,
        )
    ]


def predictions(
    model: Predictor,
    sentences: Sequence[Sentence],
    treebanks: Sequence[str],
    *,
    budget: float = BUDGET,
    max_batch_size: int = MAX_BATCH_SIZE,
) -> Iterator[tuple[int, dict[str, Prediction]]]:
    """The number of each sentence and what the network says about it for each treebank, in order of cost.

    A network in PyTorch must be in evaluation mode.
    """
    costs = [cost(len(sentence)) for sentence in sentences]
    order = sorted(range(len(sentences)), key=costs.__getitem__)
    for batch in cut(order, costs, budget=budget, max_batch_size=max_batch_size):
        chosen = [sentences[index] for index in batch]
        found = model.predict(model.preparation.batch(chosen), treebanks)
        for place, index in enumerate(batch):
            yield index, {name: of_treebank[place] for name, of_treebank in found.items()}


def graphs_of(model: Predictor, sentences: Sequence[Sentence], treebank: str) -> list[Graph]:
    """The graph of each sentence, in the order of the sentences."""
    known = model.treebanks[treebank]
    graphs: dict[int, Graph] = {}
    for index, found in predictions(model, sentences, [treebank]):
        graphs[index] = known.framework.decode(found[treebank], known.vocabulary)
    return [graphs[index] for index in range(len(sentences))]
