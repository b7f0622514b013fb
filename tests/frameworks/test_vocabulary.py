from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from perin.contract import Sentence, Token
from perin.errors import InputError
from perin.frameworks.encoding import attribute_class
from perin.frameworks.vocabulary import Vocabulary
from perin.graphs.graph import Edge, Graph, Node, Property

MEMBER, EFFECTIVE = Property("member", True), Property("effective", True)


def test_as_json_and_back(sample: Any) -> None:
    words = replace(sample.vocabulary, glossary={"hund": "dog"})
    assert Vocabulary.from_json(json.loads(json.dumps(words.to_json()))) == words


@pytest.mark.parametrize("data", [None, [], {}, {"framework": "amr"}, 3])
def test_other_json_is_refused(data: Any) -> None:
    with pytest.raises(InputError, match="no vocabulary"):
        Vocabulary.from_json(data)


def test_the_order_of_the_treebank_does_not_matter(sample: Any, learn: Callable[..., Vocabulary]) -> None:
    graph: Graph = sample.graph
    words = learn(sample.framework, graph)
    nodes, edges = list(graph.nodes), list(graph.edges)
    random.Random(1).shuffle(nodes)
    random.Random(2).shuffle(edges)
    shuffled = learn(sample.framework, replace(graph, nodes=tuple(nodes), edges=tuple(edges)))
    assert replace(shuffled, rules=words.rules) == words


def test_edges_of_one_pair_with_different_attributes(samples: dict[str, Any], learn: Callable[..., Vocabulary]) -> None:
    assert attribute_class([Edge(0, 1, "A"), Edge(0, 1, "B", (Property("remote", False),))]) == ()
    assert attribute_class([Edge(0, 1, "A", (MEMBER, EFFECTIVE)), Edge(0, 1, "B", (EFFECTIVE, MEMBER))]) == (
        (None, (EFFECTIVE, MEMBER)),
    )
    mixed = [Edge(0, 1, "B", (EFFECTIVE,)), Edge(0, 1, "C"), Edge(0, 1, "A", (MEMBER,))]
    assert attribute_class(mixed) == (("A", (MEMBER,)), ("B", (EFFECTIVE,)))
    words = learn(
        samples["ptg"].framework, Graph("1", "ptg", nodes=(Node(0), Node(1, "a")), edges=tuple(mixed), tops=(0,))
    )
    assert Vocabulary.from_json(json.loads(json.dumps(words.to_json()))) == words


def test_lemmas_are_translated(sample: Any) -> None:
    sentence = Sentence("Hunde bellen", (Token("Hunde", "hund", 0, 5), Token("bellen", "bellen", 6, 12)))
    words = replace(sample.vocabulary, glossary={"hund": "dog"})
    assert [token.lemma for token in words.translated(sentence).tokens] == ["dog", "bellen"]
    assert sample.vocabulary.translated(sentence) is sentence
