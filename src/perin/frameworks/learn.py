"""A vocabulary from a treebank."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from perin.contract import Sentence
from perin.frameworks.encoding import attribute_class, class_of, class_properties, edges_by_pair
from perin.frameworks.framework import Framework
from perin.frameworks.registry import framework as find_framework
from perin.frameworks.vocabulary import (
    AttributeClass,
    Lexicon,
    Vocabulary,
    count_signatures,
    lexicon,
    merged,
    read_vallex,
    usual_prefix,
)
from perin.graphs.graph import Graph
from perin.labels.rules import AbsoluteRule, LabelItem, fold
from perin.labels.ruleset import RuleSet
from perin.text.translation import Glossary, learn_glossary, translated

Class = TypeVar("Class", bound=Hashable)


def learn_from_treebank(
    framework: Framework,
    graphs: Sequence[Graph],
    sentences: Sequence[Sentence],
    language: str | None,
    *,
    queries: int | None = None,
    glossary: Mapping[str, str] | None = None,
    vallex: str | os.PathLike[str] | None = None,
    processes: int = 1,
    progress: bool = False,
    cache: str | os.PathLike[str] | None = None,
) -> Vocabulary:
    """The vocabulary of a treebank with the minimal set of rules.

    A framework without anchors gets absolute rules besides, for labels that are needed more often than there are
    ``queries`` of the tokens that yield them.  Where the framework needs one, ``glossary`` replaces lemmas before rules
    see them; it is learned from the treebank if none is given.  ``vallex`` is a valency lexicon (see
    :func:`learn_vocabulary`).  ``processes``, ``progress`` and ``cache`` are those of :func:`perin.labels.learn_rules`.
    """
    from perin.labels.minimal import learn_rules

    if glossary is None or language not in framework.translated:
        glossary = treebank_glossary(framework, graphs, sentences, language)
    items = treebank_items(framework, graphs, sentences, glossary)
    learned = learn_rules(items, framework.space(language), processes=processes, progress=progress, cache=cache)
    vocabulary = learn_vocabulary(framework, graphs, language, learned.rules, glossary=glossary, vallex=vallex)
    return vocabulary if framework.rules.anchored else _with_room(framework, graphs, sentences, vocabulary, queries)


def treebank_items(
    framework: Framework, graphs: Sequence[Graph], sentences: Sequence[Sentence], glossary: Mapping[str, str]
) -> Iterator[LabelItem]:
    """What the rules of a treebank are learned from; the glossary replaces lemmas."""
    for graph, sentence in zip(graphs, sentences, strict=True):
        yield from framework.label_items(graph, translated(sentence, Glossary(glossary)) if glossary else sentence)


def treebank_glossary(
    framework: Framework, graphs: Sequence[Graph], sentences: Sequence[Sentence], language: str | None
) -> Mapping[str, str]:
    """Translations of lemmas from the labels that go with them; empty where the framework needs none."""
    if language not in framework.translated:
        return {}
    return learn_glossary(
        (
            [token.lemma for token in sentence.tokens],
            [item.label for item in framework.label_items(graph, sentence) if item.label != framework.required],
        )
        for graph, sentence in zip(graphs, sentences, strict=True)
    ).entries


def learn_vocabulary(
    framework: Framework,
    graphs: Sequence[Graph],
    language: str | None,
    rules: RuleSet,
    *,
    glossary: Mapping[str, str] | None = None,
    vallex: str | os.PathLike[str] | None = None,
) -> Vocabulary:
    """All classes that occur in a treebank, the most frequent first; ``rules`` come from its label items.

    A ``vallex`` file adds its frames to those that the treebank has of each label, after them.
    """
    simple = [framework.simplified(graph) for graph in graphs]
    lexica = {name: _lexicon(simple, name) for name in framework.lexical}
    if vallex is not None:
        lexica = {name: merged(found, read_vallex(vallex, usual_prefix(found))) for name, found in lexica.items()}
    return Vocabulary(
        framework.name,
        language,
        rules,
        _by_frequency(edge.label for graph in simple for edge in graph.edges),
        _by_frequency(_attribute_classes(simple)) if framework.has_attributes else (),
        _property_classes(simple, lexica) if framework.has_classes else {},
        lexica,
        dict(glossary or {}),
        count_signatures(simple, framework.lexical_labels, framework.lexical),
    )


def learn_signatures(graphs: Iterable[Graph], vocabulary: Vocabulary) -> Vocabulary:
    """A vocabulary with the signatures of these training graphs, for a model that was trained without them."""
    framework = find_framework(vocabulary.framework, vocabulary.language)
    simple = (framework.simplified(graph) for graph in graphs)
    return replace(vocabulary, signatures=count_signatures(simple, framework.lexical_labels, framework.lexical))


def _with_room(
    framework: Framework,
    graphs: Sequence[Graph],
    sentences: Sequence[Sentence],
    vocabulary: Vocabulary,
    queries: int | None,
) -> Vocabulary:
    """The vocabulary with an absolute rule for each label that some node can't get from the query it has to lie on.

    Eight nodes ``level`` may all come from one word ``levels``, which has three queries.
    """
    from perin.frameworks.roundtrip import assign_queries

    labels: dict[str, str] = {}
    for graph, sentence in zip(graphs, sentences, strict=True):
        target = framework.encode(graph, sentence, vocabulary)
        unlabelled = assign_queries(target, queries or framework.queries).unlabelled
        if unlabelled.any():
            items = framework.label_items(graph, sentence)
            labels.update((fold(items[node].label), items[node].label) for node in np.flatnonzero(unlabelled))
    rules = vocabulary.rules
    return replace(vocabulary, rules=RuleSet(rules.space, (*rules, *map(AbsoluteRule, sorted(labels.values())))))


def _by_frequency(items: Iterable[Class]) -> tuple[Class, ...]:
    counts = Counter(items)
    return tuple(sorted(counts, key=lambda item: (-counts[item], str(item))))


def _attribute_classes(graphs: Iterable[Graph]) -> Iterable[AttributeClass]:
    classes = (attribute_class(between) for graph in graphs for between in edges_by_pair(graph).values())
    return (item for item in classes if item)


def _lexicon(graphs: Iterable[Graph], name: str) -> Lexicon:
    uses: dict[str, Counter[str]] = {}
    for graph in graphs:
        for node in graph.nodes:
            value = class_of(node, name, None)
            if value is not None:
                uses.setdefault(fold(node.label or ""), Counter())[value] += 1
    return lexicon(uses)


def _property_classes(graphs: Iterable[Graph], lexica: Mapping[str, Lexicon]) -> dict[str, tuple[str, ...]]:
    values: dict[str, list[str]] = {}
    for graph in graphs:
        for node in graph.nodes:
            for name in {pair.name for pair in class_properties(node)}:
                value = class_of(node, name, lexica.get(name))
                if value is not None:
                    values.setdefault(name, []).append(value)
    return {name: _by_frequency(found) for name, found in sorted(values.items())}
