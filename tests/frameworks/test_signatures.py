"""Which properties a kind of label can have."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from perin.frameworks import learn_signatures
from perin.frameworks.eds import EDS
from perin.frameworks.ptg import PTG
from perin.frameworks.roundtrip import assign_queries, oracle_prediction
from perin.frameworks.vocabulary import Signatures, Vocabulary, count_signatures
from perin.graphs.graph import Edge, Graph, Node, Property

LEXICAL = EDS.lexical_labels


def _treebank(count: int) -> list[Graph]:
    """Verbs with a tense, nouns with a number, and ``compound``, which has neither; each verb and noun once."""
    graphs = []
    for number in range(count):
        nodes = (
            Node(0, f"_verb{number}_v_1", (Property("TENSE", "past" if number % 2 else "pres"),)),
            Node(1, f"_noun{number}_n_of", (Property("NUM", "sg"),)),
            Node(2, "compound"),
            Node(3, f"rare{number}", (Property("CARG", str(number)),)),
        )
        edges = (Edge(0, 1, "ARG1"), Edge(2, 1, "ARG1"), Edge(2, 3, "ARG2"))
        graphs.append(Graph(str(number), "eds", "eng", 1, nodes=nodes, edges=edges, tops=(0,)))
    return graphs


def test_what_is_expected_and_never_there_is_barred() -> None:
    found = count_signatures(map(EDS.simplified, _treebank(60)), LEXICAL)
    assert found.bars("_sleep_v_1", LEXICAL) == ("CARG", "NUM")
    assert found.bars("_dog_n_1", LEXICAL) == ("CARG", "TENSE")
    assert found.bars("Compound", LEXICAL) == ("CARG", "NUM", "TENSE")
    assert found.bars("never-seen", LEXICAL) == ("NUM", "TENSE")
    assert found.values == {"NUM": ("sg",), "TENSE": ("past", "pres")}


def test_a_label_like_the_mark_of_rare_labels_does_no_harm() -> None:
    odd = Graph("odd", "eds", "eng", 1, nodes=(Node(0, "*"),), tops=(0,))
    found = count_signatures(map(EDS.simplified, [odd, *_treebank(60)]), LEXICAL)
    assert found == count_signatures(map(EDS.simplified, _treebank(60)), LEXICAL)


def test_few_graphs_say_nothing() -> None:
    found = count_signatures(map(EDS.simplified, _treebank(10)), LEXICAL)
    assert found.values == {}
    assert not any(found.barred.values())
    assert Signatures().bars("compound", LEXICAL) == ()


def test_a_kind_that_was_never_seen_is_free() -> None:
    found = count_signatures(map(EDS.simplified, _treebank(60)), LEXICAL)
    assert found.bars("_and_c", LEXICAL) == ()


def test_an_old_vocabulary_gets_signatures(samples: dict[str, Any]) -> None:
    vocabulary = samples["eds"].vocabulary
    old = {key: value for key, value in vocabulary.to_json().items() if key != "signatures"}
    plain = Vocabulary.from_json(json.loads(json.dumps(old)))
    assert plain.signatures == Signatures()
    learned = learn_signatures(_treebank(60), plain)
    assert learned.signatures.bars("compound", LEXICAL) == ("CARG", "NUM", "TENSE")
    assert replace(learned, signatures=Signatures()) == plain
    assert Vocabulary.from_json(json.loads(json.dumps(learned.to_json()))) == learned


def _perfect(sample: Any) -> Any:
    target = sample.framework.encode(sample.graph, sample.sentence, sample.vocabulary)
    return oracle_prediction(
        sample.framework, target, sample.sentence, sample.vocabulary, 8, assign_queries(target, 8).places
    )


def test_decoding_keeps_to_signatures(samples: dict[str, Any]) -> None:
    """A property of the wrong kind goes to an owner that can have it, a value that nobody has goes away."""
    sample = samples["eds"]
    prediction = _perfect(sample)
    verb = replace(sample.vocabulary, signatures=Signatures({"*_v": ("TENSE",)}))
    free = sample.framework.decode(prediction, verb, constraints=False)
    assert [node.get("TENSE") for node in free.nodes if node.label == "_bark_v_1"] == ["past"]
    graph = sample.framework.decode(prediction, verb)
    assert [node.get("TENSE") for node in graph.nodes if node.label == "_bark_v_1"] == [None]
    values = replace(sample.vocabulary, signatures=Signatures(values={"TENSE": ("pres",), "NUM": ("sg",)}))
    graph = sample.framework.decode(prediction, values)
    assert [node.get("TENSE") for node in graph.nodes if node.label == "_bark_v_1"] == [None]
    assert [node.get("NUM") for node in graph.nodes if node.label == "named"] == ["sg"]


def test_classifiers_keep_to_signatures(samples: dict[str, Any]) -> None:
    sample = samples["ptg"]
    words = replace(sample.vocabulary, signatures=Signatures({"petr": ("sempos",)}))
    free = PTG.decode(_perfect(sample), words, constraints=False)
    graph = PTG.decode(_perfect(sample), words)
    for found, value in ((free, "n.denot"), (graph, None)):
        assert [node.get("sempos") for node in found.nodes if node.label == "Petr"] == [value]
    assert [node.get("sempos") for node in graph.nodes if node.label == "Pavel"] == ["n.denot"]
