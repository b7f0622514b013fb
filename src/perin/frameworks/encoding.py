"""From a simplified graph to the arrays of a target."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from perin.contract.heads import Bools, Ints, true_columns
from perin.contract.sentence import Sentence
from perin.frameworks.steps import FLAG, flagged
from perin.frameworks.vocabulary import AttributeClass, Vocabulary, class_name
from perin.graphs.graph import Edge, Graph, Node, Property
from perin.graphs.normalisation import normal_attributes
from perin.labels.rules import LabelItem, fold
from perin.labels.ruleset import ANY_TOKEN, RuleSet


def label_items(graph: Graph, sentence: Sentence, anchors: Bools | None) -> list[LabelItem]:
    """Of each node its label and the tokens that its rules see: its own, or all where nodes have no anchors."""
    forms = tuple([token.form for token in sentence.tokens])
    lemmas = tuple([token.lemma for token in sentence.tokens])
    if anchors is None:
        return [LabelItem(node.label or "", forms, lemmas, flagged(node)) for node in graph.nodes]
    items = []
    for node, own in zip(graph.nodes, true_columns(anchors), strict=True):
        own_forms, own_lemmas = tuple([forms[token] for token in own]), tuple([lemmas[token] for token in own])
        items.append(LabelItem(node.label or "", own_forms, own_lemmas, flagged(node)))
    return items


def rule_table(items: Sequence[LabelItem], rules: RuleSet) -> tuple[Ints, Ints, Ints]:
    """The nodes, tokens and rules of all (node, token, rule) that yield a node's label; each [E]."""
    rows = [(node, *encoding) for node, item in enumerate(items) for encoding in rules.encodings(item)]
    table = np.array(rows, dtype=np.int64).reshape(-1, 3)
    return table[:, 0].copy(), table[:, 1].copy(), table[:, 2].copy()


def mask(anchors: Bools | None, nodes: Ints, tokens: Ints, shape: tuple[int, int]) -> Bools:
    """[N, T]: the anchors, or artificial ones (where a relative rule yields the label); all tokens if it has none."""
    allowed = np.zeros(shape, dtype=np.bool_) if anchors is None else anchors.copy()
    if anchors is None:
        relative = tokens != ANY_TOKEN
        allowed[nodes[relative], tokens[relative]] = True
    allowed[~allowed.any(axis=1)] = True
    return allowed


def edge_arrays(graph: Graph, vocabulary: Vocabulary) -> tuple[Ints, Bools, Ints]:
    """The connected pairs [M, 2], their labels [M, L] and attribute classes [M]; loops are left out."""
    index = {node.id: position for position, node in enumerate(graph.nodes)}
    pairs = edges_by_pair(graph)
    numbers = {label: number for number, label in enumerate(vocabulary.edge_labels)}
    classes = {item: number for number, item in enumerate(vocabulary.edge_attributes, start=1)}
    edges = np.array([(index[source], index[target]) for source, target in pairs], dtype=np.int64).reshape(-1, 2)
    labels = np.zeros((len(pairs), len(numbers)), dtype=np.bool_)
    attributes = np.zeros(len(pairs), dtype=np.int64)
    for row, between in enumerate(pairs.values()):
        labels[row, [numbers[edge.label] for edge in between if edge.label in numbers]] = True
        attributes[row] = classes.get(attribute_class(between), 0)
    return edges, labels, attributes


def edges_by_pair(graph: Graph) -> Mapping[tuple[int, int], list[Edge]]:
    """The edges between each two nodes that are not one."""
    pairs: dict[tuple[int, int], list[Edge]] = {}
    for edge in graph.edges:
        if edge.source != edge.target:
            pairs.setdefault((edge.source, edge.target), []).append(edge)
    return pairs


def attribute_class(between: Sequence[Edge]) -> AttributeClass:
    """The attributes of the edges of a pair as one class; values that say the default do not count.

    >>> attribute_class([Edge(0, 1, "A", (Property("remote", True),))])
    ((None, (Property(name='remote', value=True),)),)
    """
    sets = {edge.label: _sorted(edge.attributes) for edge in between}
    if len(set(sets.values())) == 1:
        common = next(iter(sets.values()))
        return ((None, common),) if common else ()
    return tuple(sorted(((label or "", pairs) for label, pairs in sets.items() if pairs), key=str))


def _sorted(attributes: Iterable[Property]) -> tuple[Property, ...]:
    return tuple(sorted({pair for pair in attributes if normal_attributes((pair,))}, key=str))


def flags(graph: Graph) -> Bools:
    """[N]: the flagged nodes."""
    return np.array([flagged(node) for node in graph.nodes], dtype=np.bool_)


def tops(graph: Graph) -> Bools:
    """[N]: the tops."""
    return np.array([node.id in graph.tops for node in graph.nodes], dtype=np.bool_)


def property_classes(graph: Graph, vocabulary: Vocabulary) -> dict[str, Ints]:
    """Of each property with a classifier: the class of each node, [N]."""
    found = {}
    for name, classes in vocabulary.property_classes.items():
        numbers = {value: number for number, value in enumerate(classes, start=1)}
        values = (class_of(node, name, vocabulary.lexica.get(name)) for node in graph.nodes)
        found[name] = np.array([numbers.get(value, 0) if value else 0 for value in values], dtype=np.int64)
    return found


def class_of(node: Node, name: str, lexicon: Mapping[str, tuple[str, ...]] | None) -> str | None:
    """The name of the class of a node's property; None if it has no such property."""
    value = next((str(value) for key, value in node.properties if key == name), None)
    if value is None or lexicon is None:
        return value
    return class_name(value, lexicon.get(fold(node.label or ""), ()))


def class_properties(node: Node) -> list[Property]:
    """The properties that the steps left on a node."""
    return [pair for pair in node.properties if pair != FLAG]
