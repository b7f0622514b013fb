"""Whatever the network says, the decoded graph is valid and always the same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perin.contract import Sentence, Token
from perin.frameworks.vocabulary import Signatures
from perin.graphs import dumps, findings, loads
from perin.graphs.graph import Graph, Node
from perin.graphs.normalisation import isomorphic
from perin.labels.rules import AbsoluteRule
from perin.labels.ruleset import RuleSet


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


RULED: dict[str, tuple[str, str]] = {
    "amr": (
        "name person and date-entity want-01 want-02 stay-01 boy Tom - 5 imperative",
        "ARG0 ARG1 ARG2 op1 op2 name polarity mode mod quant year month",
    ),
    "amr-zho": ("name person and 要-01 要-02 - 5", "arg0 arg1 arg2 op1 op2 name mod quant"),
    "drg": (
        "<SCOPE> person.n.01 person.n.02 see.v.01 time.n.08 now tom speaker Of Agent Name",
        "in NEGATION PRESUPPOSITION @ @Agent @Of @Name @Theme @EQU None",
    ),
    "eds": (
        "proper_q _the_q quant named card pron compound unknown poss neg _bark_v_1 _bark_v_2 _dog_n_1 sg past + 1 Tom",
        "ARG ARG1 ARG2 BV L-INDEX CARG NUM TENSE SF PERS MOOD PROG",
    ),
    "ptg": ("<TOP> Petr Petr přijít #Gen #Neg a", "PRED ACT PAT coref.text CONJ RSTR"),
    "ucca": ("leaf inner", "P S A D H L U C"),
    "umr": (
        "name person and publish publish want boy Tom - 5",
        "ARG0 ARG1 op1 op2 name quant mod wiki refer-number aspect quote",
    ),
    "umr-ces": ("and přijít Petr person name -", "ARG0 ARG1 op1 op2 name mod refer-number aspect"),
}
"""Labels of nodes and of edges that the rules of each framework speak of."""


@pytest.fixture(scope="session")
def ruled(samples: dict[str, Any]) -> dict[str, Any]:
    """Vocabularies of these labels, with signatures."""
    found = {}
    for name, (labels, edges) in RULED.items():
        known = samples[name]
        rules = RuleSet(known.vocabulary.rules.space, [AbsoluteRule(label) for label in dict.fromkeys(labels.split())])
        edge_labels = tuple(None if label == "None" else label for label in edges.split())
        signatures = Signatures({"person": ("op1", "aspect"), "*_v": ("NUM",), "*.n.": ("@Agent",)}, {"NUM": ("sg",)})
        found[name] = replace(known.vocabulary, rules=rules, edge_labels=edge_labels, signatures=signatures)
    return found


@pytest.mark.parametrize("name", RULED)
@given(
    st.integers(1, 10),
    st.integers(1, 4),
    st.sampled_from([0.0, 0.3, 1.0, 3.0, 30.0]),
    st.sampled_from([1.0, 0.3, 0.03]),
    st.integers(0, 2**32 - 1),
)
@settings(max_examples=60, deadline=None)
def test_no_scores_make_a_graph_break_a_rule(
    samples: dict[str, Any],
    ruled: dict[str, Any],
    random_prediction: Callable[..., Any],
    name: str,
    length: int,
    queries: int,
    sharpness: float,
    density: float,
    seed: int,
) -> None:
    form, words = samples[name].framework, ruled[name]
    prediction = random_prediction(np.random.default_rng(seed), form, words, _sentence(length), queries, sharpness)
    prediction = replace(prediction, presence=prediction.presence * np.float32(density))
    if name.endswith("ces") or name.endswith("zho"):
        prediction = replace(prediction, sentence=replace(prediction.sentence, language=name[-3:]))
    graph = form.decode(prediction, words)
    assert _errors(graph) == []
    assert len(graph.nodes) > 0


def test_units_share_out_all_words(samples: dict[str, Any], random_prediction: Callable[..., Any]) -> None:
    form, words = samples["ucca"].framework, samples["ucca"].vocabulary
    for seed in range(40):
        prediction = random_prediction(np.random.default_rng(seed), form, words, _sentence(9), 2, 3.0)
        graph = form.decode(prediction, words)
        covered = {position for node in graph.nodes for anchor in node.anchors or () for position in range(*anchor)}
        assert covered == {
            position for token in prediction.sentence.tokens for position in range(token.start, token.end)
        }


def test_exactly_one_node_is_the_root(samples: dict[str, Any], random_prediction: Callable[..., Any]) -> None:
    form, words = samples["ptg"].framework, samples["ptg"].vocabulary
    for seed in range(40):
        prediction = random_prediction(np.random.default_rng(seed), form, words, _sentence(seed % 6 + 1), 2, 3.0)
        graph = form.decode(prediction, words)
        (root,) = [node.id for node in graph.nodes if node.label is None]
        assert graph.tops == (root,)
        assert not graph.incoming(root)


def test_eds_nodes_have_one_anchor(samples: dict[str, Any], random_prediction: Callable[..., Any]) -> None:
    form, words = samples["eds"].framework, samples["eds"].vocabulary
    prediction = random_prediction(np.random.default_rng(1), form, words, _sentence(9), 3, 3.0)
    assert {len(node.anchors or ()) for node in form.decode(prediction, words).nodes} == {1}


def test_amr_can_be_written_as_penman(samples: dict[str, Any], random_prediction: Callable[..., Any]) -> None:
    form, words = samples["amr"].framework, samples["amr"].vocabulary
    for seed in range(40):
        prediction = random_prediction(np.random.default_rng(seed), form, words, _sentence(seed % 9 + 1), 2, 3.0)
        graph = form.decode(prediction, words)
        (read,) = loads(dumps(graph, "amr"), "amr")
        assert isomorphic(read, graph, normalised=True)


@pytest.mark.parametrize("seed", range(5))
def test_probabilities_of_nodes_and_edges(sample: Any, random_prediction: Callable[..., Any], seed: int) -> None:
    form, words = sample.framework, sample.vocabulary
    prediction = random_prediction(np.random.default_rng(seed), form, words, _sentence(5), 2, 2.0)
    graph = form.decode(prediction, words, probabilities=True)
    for part in (*graph.nodes, *graph.edges):
        assert part.extra is not None
        assert 0 <= part.extra["probability"] <= 1
        assert 0 <= part.extra["label_probability"] <= 1
        assert ("top_probability" in part.extra) == (form.has_tops and isinstance(part, Node))
    bare = replace(
        graph,
        nodes=tuple(replace(node, extra=None) for node in graph.nodes),
        edges=tuple(replace(edge, extra=None) for edge in graph.edges),
    )
    assert bare == form.decode(prediction, words)


def _yields(words: Any, number: int, node: Node) -> bool:
    """Whether a rule yields a node's label from the tokens that the node is anchored to."""
    (anchor,) = node.anchors or ()
    tokens = [token for token in _sentence(6).tokens if anchor.start <= token.start and token.end <= anchor.end]
    forms, lemmas = (tuple(getattr(token, name) for token in tokens) for name in ("form", "lemma"))
    return words.rules.apply(number, forms, lemmas) == node.label


def test_probabilities_are_those_of_the_heads(samples: dict[str, Any], random_prediction: Callable[..., Any]) -> None:
    """In EDS without rules a node's id is the place of its query, and each pair of nodes has one label."""
    form, words = samples["eds"].framework, samples["eds"].vocabulary
    prediction = random_prediction(np.random.default_rng(0), form, words, _sentence(6), 2, 2.0)
    graph = form.decode(prediction, words, probabilities=True, constraints=False)
    assert len(graph.edges) > 3
    for node in graph.nodes:
        assert node.extra is not None
        assert node.extra["probability"] == pytest.approx(1 - prediction.labels[node.id, 0], abs=6e-5)
        assert node.extra["top_probability"] == pytest.approx(prediction.tops[node.id], abs=6e-5)
        yielding = [number for number in range(1, len(words.rules) + 1) if _yields(words, number, node)]
        joint = prediction.labels[node.id, yielding].sum()
        assert node.extra["probability"] * node.extra["label_probability"] == pytest.approx(joint, abs=2e-4)
    for edge in graph.edges:
        assert edge.extra is not None
        label = words.edge_labels.index(edge.label)
        assert edge.extra["probability"] == pytest.approx(prediction.presence[edge.source, edge.target], abs=6e-5)
        score = prediction.edge_labels[edge.source, edge.target, label]
        assert edge.extra["label_probability"] == pytest.approx(score, abs=6e-5)
