"""From sentences to graphs: batches of like cost through the network, then each sentence through its framework."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from perin.frameworks.prediction import Prediction
from perin.graphs.graph import Graph
from perin.network.inputs import Words
from perin.network.predict import Output, predict
from perin.parsing.batches import cost, cut
from perin.parsing.model import Model
from perin.text.sentence import Sentence

BUDGET = 4000.0
"""Cost of a batch; see :mod:`perin.parsing.batches`."""
MOST = 64
"""Sentences in a batch."""


def words_of(sentence: Sentence) -> Words:
    """A sentence as the network takes it."""
    tokens = sentence.tokens
    return Words(
        sentence.text,
        [(token.start, token.end) for token in tokens],
        [token.form for token in tokens],
        [token.lemma for token in tokens],
    )


def predictions(
    model: Model, sentences: Sequence[Sentence], treebanks: Sequence[str], *, budget: float = BUDGET, most: int = MOST
) -> Iterator[tuple[int, dict[str, Prediction]]]:
    """The number of each sentence and what the network says about it for each treebank, in order of cost.

    The model's network must be in evaluation mode.
    """
    costs = [cost(len(sentence)) for sentence in sentences]
    order = sorted(range(len(sentences)), key=costs.__getitem__)
    for batch in cut(order, costs, budget=budget, most=most):
        prepared = model.preparation([words_of(sentences[index]) for index in batch])
        outputs = predict(model.network, model.preparation.collate(prepared), treebanks)
        for place, index in enumerate(batch):
            yield (
                index,
                {name: _prediction(model, sentences[index], name, outputs[name][place]) for name in treebanks},
            )


def graphs_of(model: Model, sentences: Sequence[Sentence], treebank: str) -> list[Graph]:
    """The graph of each sentence, in the order of the sentences."""
    known = model.treebanks[treebank]
    graphs: dict[int, Graph] = {}
    for index, predicted in predictions(model, sentences, [treebank]):
        graphs[index] = known.framework.decode(predicted[treebank], known.vocabulary)
    return [graphs[index] for index in range(len(sentences))]


def _prediction(model: Model, sentence: Sentence, treebank: str, output: Output) -> Prediction:
    return Prediction(
        sentence,
        model.treebanks[treebank].queries,
        output.labels,
        output.accepted,
        output.presence,
        output.edge_labels,
        output.anchors,
        output.edge_attributes,
        output.properties,
        output.property_classes,
        output.tops,
    )
