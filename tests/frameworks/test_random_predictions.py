"""Whatever the network says, the decoded graph is valid and always the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from perin.graphs import dumps, findings, loads
from perin.graphs.graph import Graph
from perin.text.sentence import Sentence, Token


def _sentence(length: int) -> Sentence:
    words = [f"w{index}" if index % 3 else "," for index in range(length)]
    text, tokens = "", []
    for word in words:
        tokens.append(Token(word, word, len(text), len(text) + len(word)))
        text += word if len(tokens) % 4 == 0 else f"{word} "
    return Sentence(text, tuple(tokens), "7", "eng")


def _errors(graph: Graph) -> list[str]:
    return [str(finding) for finding in findings(graph) if finding.severity == "error"]


@given(st.integers(0, 12), st.integers(1, 4), st.sampled_from([0.0, 0.3, 3.0, 30.0]), st.integers(0, 2**32 - 1))
@settings(max_examples=150, deadline=None)
def test_random_scores_give_valid_graphs(
    sample: Any, random_prediction: Callable[..., Any], length: int, queries: int, sharpness: float, seed: int
) -> None:
    form, words = sample.framework, sample.vocabulary
    prediction = random_prediction(np.random.default_rng(seed), form, words, _sentence(length), queries, sharpness)
    graph = form.decode(prediction, words)
    assert _errors(graph) == []
    assert graph.input == prediction.sentence.text
    assert form.decode(prediction, words) == graph
    assert loads(dumps(graph)) == [graph]
