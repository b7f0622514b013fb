"""A vocabulary from a treebank: minimal rules, glossary, what is read from files."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from perin.contract import Sentence, Token
from perin.errors import InputError
from perin.frameworks import learn_from_treebank
from perin.frameworks.amr import AMR
from perin.frameworks.drg import DRG
from perin.frameworks.roundtrip import round_trip
from perin.frameworks.steps import flagged
from perin.frameworks.treebank import joined, read_treebank
from perin.graphs import dump, loads
from perin.graphs.graph import Edge, Graph, Node
from perin.graphs.normalisation import isomorphic
from perin.labels.rules import AbsoluteRule

WORDS = [("Hund", "dog"), ("Katze", "cat"), ("Pferd", "horse"), ("Vogel", "bird")]


def _german(number: int) -> tuple[Graph, Sentence]:
    (one, first), (other, second) = WORDS[number % 4], WORDS[(number + 1) % 4]
    text = f"{one} sieht {other}"
    nodes = (Node(0), Node(1, f"{first}.n.01"), Node(2, "see.v.01"), Node(3, f"{second}.n.01"), Node(4, "Agent"))
    edges = (Edge(0, 1, "in"), Edge(0, 2, "in"), Edge(0, 3, "in"), Edge(2, 4), Edge(4, 1))
    start = len(one) + 7
    tokens = (
        Token(one, one, 0, len(one)),
        Token("sieht", "sehen", len(one) + 1, start - 1),
        Token(other, other, start, len(text)),
    )
    graph = Graph(str(number), "drg", "deu", 2, input=text, nodes=nodes, edges=edges, tops=(0,))
    return graph, Sentence(text, tokens, str(number), "deu")


def test_german_lemmas_are_translated_before_rules_see_them() -> None:
    graphs, sentences = zip(*map(_german, range(8)), strict=True)
    words = learn_from_treebank(DRG, graphs, sentences, "deu")
    assert words.glossary["Hund"] == "dog"
    plain = learn_from_treebank(DRG, graphs, sentences, "deu", glossary={})
    assert len(words.rules) < len(plain.rules)
    for vocabulary in (words, plain):
        for graph, sentence in zip(graphs, sentences, strict=True):
            assert isomorphic(round_trip(DRG, graph, sentence, vocabulary).graph, graph, normalised=True)


def test_labels_needed_more_often_than_their_words_have_queries() -> None:
    words = ("levels", "apples", "others", "people")
    graphs, sentences = [], []
    for number, word in enumerate(words):
        nodes = tuple(Node(id, word[:-1]) for id in range(5))
        edges = tuple(Edge(0, id, "op") for id in range(1, 5))
        text = f"{word} , ,"
        graphs.append(Graph(str(number), "amr", "eng", 2, input=text, nodes=nodes, edges=edges, tops=(0,)))
        tokens = (Token(word, word, 0, 6), Token(",", ",", 7, 8), Token(",", ",", 9, 10))
        sentences.append(Sentence(text, tokens, str(number), "eng"))
    vocabulary = learn_from_treebank(AMR, graphs, sentences, "eng", queries=5)
    assert len(vocabulary.rules) == 1
    vocabulary = learn_from_treebank(AMR, graphs, sentences, "eng", queries=2)
    assert len(vocabulary.rules) == 5
    back = [round_trip(AMR, graph, sentence, vocabulary, 2) for graph, sentence in zip(graphs, sentences, strict=True)]
    assert all(isomorphic(trip.graph, graph) for trip, graph in zip(back, graphs, strict=True))
    assert [trip.outside for trip in back] == [3] * 4


FIGURE_4 = {
    "a crazy comedy duo, those two": """
        (d / duo :mod (r / crazy) :mod (c / comedy) :domain (p / person :quant 2 :mod (t / that)))""",
    "three sheep": "(s / sheep :quant 3)",
    "wild": "(w / wild :domain (p / person :mod (t / that)))",
}
"""The sentence of the paper's Figure 4, with a graph as its caption describes it, and two others.

Together they need four rules: the word, the number, and two labels that no word yields.
"""


def test_the_figure_of_the_paper_about_amr() -> None:
    graphs, sentences = [], []
    for number, (text, notation) in enumerate(FIGURE_4.items()):
        [graph] = loads(notation, "amr")
        graphs.append(replace(graph, id=str(number), language="eng", input=text))
        tokens = tuple(Token(word[0], word[0], *word.span()) for word in re.finditer(r"\w+|,", text))
        sentences.append(Sentence(text, tokens, str(number), "eng"))
    vocabulary = learn_from_treebank(AMR, graphs, sentences, "eng")
    assert sorted(rule.label for rule in vocabulary.rules if isinstance(rule, AbsoluteRule)) == ["person", "that"]
    assert len(vocabulary.rules) == 4

    graph, sentence = graphs[0], sentences[0]
    simple = AMR.simplified(graph)
    labels = {node.id: node.label for node in simple.nodes}
    assert [node.label for node in simple.nodes if flagged(node)] == ["2"]
    assert sum(edge.label == "mod" for edge in graph.edges) == 3
    assert {(labels[edge.source], edge.label, labels[edge.target]) for edge in simple.edges} == {
        ("crazy", "domain", "duo"),
        ("comedy", "domain", "duo"),
        ("duo", "domain", "person"),
        ("that", "domain", "person"),
        ("person", "quant", "2"),
    }

    allowed = AMR.encode(graph, sentence, vocabulary).mask
    words = [token.form for token in sentence.tokens]
    rows = zip(labels.values(), allowed, strict=True)
    found = {label: [words[token] for token in row.nonzero()[0]] for label, row in rows}
    anchored = {"crazy": ["crazy"], "comedy": ["comedy"], "duo": ["duo"], "2": ["two"]}
    assert found == {**anchored, "person": words, "that": words}  # not anchored: any token will do
    assert isomorphic(round_trip(AMR, graph, sentence, vocabulary).graph, graph, normalised=True)


def test_other_languages_have_no_glossary(sample: Any) -> None:
    words = learn_from_treebank(sample.framework, [sample.graph], [sample.sentence], sample.graph.language)
    assert words.glossary == {}
    back = round_trip(sample.framework, sample.graph, sample.sentence, words)
    assert isomorphic(back.graph, sample.graph, normalised=True)
    assert back.unlabelled == back.dropped == 0


def test_files_of_a_treebank_are_joined(samples: dict[str, Any], tmp_path: Path) -> None:
    for number, name in enumerate(["amr", "amr", "drg"]):
        dump([samples[name].graph], tmp_path / f"{number}.mrp")
    parts = [read_treebank(tmp_path / f"{number}.mrp") for number in range(3)]
    both = joined(parts[:2])
    assert len(both.graphs) == len(both.sentences) == 2
    assert [token.form for token in both.sentences[0].tokens][:2] == ["Happy", "Tom"]
    with pytest.raises(InputError, match="different frameworks"):
        joined(parts)
