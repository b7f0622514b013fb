"""Graphs do not depend on which other sentences are parsed with theirs, nor on the order."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace

import numpy as np
import pytest

from perin.graphs.codecs import load
from perin.model import installed
from perin.parsing.parser import Parser
from perin.parsing.streaming import parse_batch, predictions
from perin.text import tokenize

SENTENCES = 1000
CLOSE = 1e-4
"""A decision whose scores are closer than this may go either way."""
DATE = "2026-01-31"


@pytest.fixture(scope="module")
def sentences(shared):
    graphs = itertools.chain(*(load(shared / "data" / name / "dev.mrp.gz") for name in ("eds-eng", "drg-eng")))
    chosen = itertools.islice(graphs, SENTENCES)
    return [tokenize(graph.input, "eng", str(number)) for number, graph in enumerate(chosen)]


def english_models():
    return [name for name, folder in installed().items() if any(folder.glob("vocabularies/*-eng.json"))]


@pytest.fixture(params=["random", *english_models()])
def subject(request, model):
    """A random model, whose decisions are closer than those of a trained one, and all that are in the box."""
    return Parser(model) if request.param == "random" else Parser.load(request.param)


def margins(labels):
    """How far the two best of each row are apart."""
    best = np.sort(labels, axis=-1)[..., -2:]
    return best[..., 1] - best[..., 0]


def is_close(prediction):
    """Whether some decision about a sentence is so close that rounding may turn it.

    Which queries are nodes, their labels, anchors, edges and tops; edge labels and attributes of any pair.
    """
    size = len(prediction)
    off = ~np.eye(size, dtype=bool)
    halves = [prediction.presence[off], prediction.anchors, prediction.properties]
    rivals = [prediction.labels, prediction.edge_labels[off], prediction.tops, *prediction.property_classes.values()]
    if prediction.edge_attributes is not None:
        rivals.append(prediction.edge_attributes[off])
    close_halves = any(array is not None and (np.abs(array - 0.5) < CLOSE).any() for array in halves)
    enough = [array for array in rivals if array is not None and array.size and array.shape[-1] > 1]
    return close_halves or any((margins(array) < CLOSE).any() for array in enough)


@pytest.mark.slow
def test_a_thousand_sentences_in_any_batches_and_order(subject, sentences):
    names = subject.chosen("all", "eng")
    together = {
        parsed.sentence.id: parsed.graphs
        for parsed in subject.stream(sentences, "all", "eng", probabilities=False, time=DATE)
    }
    assert len(together) == len(sentences) == SENTENCES
    shuffled = random.Random(0).sample(sentences, len(sentences))
    differing = set()
    for most in (1, 7):
        results = list(subject.stream(shuffled, "all", "eng", probabilities=False, time=DATE, max_batch_size=most))
        assert [parsed.sentence.id for parsed in results] == [sentence.id for sentence in shuffled]
        differing |= {parsed.sentence.id for parsed in results if parsed.graphs != together[parsed.sentence.id]}
    close = 0
    chosen = [sentence for sentence in sentences if sentence.id in differing]
    for _, found in predictions(subject.model, chosen, names):
        assert any(map(is_close, found.values()))
        close += 1
    print(f"{close} of {len(sentences)} sentences have a decision within {CLOSE} and came out differently")
    assert close <= 0.02 * len(sentences)


def test_a_sentence_alone_and_among_others(model, texts):
    sentences = [tokenize(text, "eng", str(number)) for number, text in enumerate(texts)]
    names = list(model.treebanks)
    together = parse_batch(model, sentences, names, probabilities=False)
    for sentence, parsed in zip(sentences, together, strict=True):
        assert parse_batch(model, [sentence], names, probabilities=False) == [replace(parsed, sentence=sentence)]
