"""From a simplified graph to the arrays of a target, and between anchors (ranges of characters) and tokens."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from perin.contract import Sentence
from perin.contract.heads import Bools, Ints, Scores, true_columns
from perin.frameworks.steps import FLAG, flagged
from perin.frameworks.vocabulary import AttributeClass, Vocabulary, class_name
from perin.graphs.graph import Anchor, Edge, Graph, Node, Property
from perin.graphs.normalisation import normal_attributes, trimmed_runs
from perin.labels.rules import LabelItem, fold
from perin.labels.ruleset import ANY_TOKEN, RuleSet

_SMALLEST = 1e-9


@dataclass(frozen=True)
class Anchoring:
    """How a framework anchors its nodes.

    ``required``: every node has an anchor.  ``continuous``: in one piece.  ``trimmed``: punctuation at the ends of a
    piece does not count, as in the MRP metric, and neighbouring tokens are written as one range; otherwise each token
    has a range of its own.
    """

    required: bool = False
    continuous: bool = False
    trimmed: bool = False

    def tokens(self, anchors: Sequence[Iterable[Anchor] | None], sentence: Sentence) -> Bools:
        """[N, T]: the tokens that overlap with the anchors of each node."""
        starts = [token.start for token in sentence.tokens]
        ends = [token.end for token in sentence.tokens]
        found = np.zeros((len(anchors), len(starts)), dtype=np.bool_)
        for row, pieces in zip(found, anchors, strict=True):
            if pieces and self.trimmed:
                _mark(row, trimmed_runs(pieces, sentence.text), starts, ends)
            if pieces and not row.any():
                _mark(row, pieces, starts, ends)
        return found

    def choose(self, scores: Scores) -> Bools:
        """[K, T]: the most probable tokens of each node that the framework allows; ``scores``: [K, T]."""
        if not scores.size:
            return np.zeros(scores.shape, dtype=np.bool_)
        if self.continuous:
            return _best_pieces(scores)
        chosen: Bools = scores >= 0.5
        if self.required:
            chosen[np.arange(len(chosen)), scores.argmax(axis=1)] = True
        return chosen

    def ranges(self, tokens: Bools, sentence: Sentence) -> list[tuple[Anchor, ...]]:
        """The anchors of each node; ``tokens``: [N, T]."""
        whole = [Anchor(token.start, token.end) for token in sentence.tokens]
        if self.trimmed:
            return [_joined(own, whole) for own in true_columns(tokens)]
        return [tuple([whole[index] for index in own]) for own in true_columns(tokens)]


def _joined(tokens: Sequence[int], ranges: Sequence[Anchor]) -> tuple[Anchor, ...]:
    """The ranges of tokens, neighbouring ones as one."""
    if tokens and tokens[-1] - tokens[0] < len(tokens):
        return (Anchor(ranges[tokens[0]].start, ranges[tokens[-1]].end),)
    pieces: list[Anchor] = []
    last = -2
    for index in tokens:
        if index == last + 1:
            pieces[-1] = Anchor(pieces[-1].start, ranges[index].end)
        else:
            pieces.append(ranges[index])
        last = index
    return tuple(pieces)


def _mark(row: Bools, ranges: Iterable[tuple[int, int]], starts: list[int], ends: list[int]) -> None:
    for start, end in ranges:
        if start < end:
            row[bisect_right(ends, start) : bisect_left(starts, end)] = True


def _best_pieces(scores: Scores) -> Bools:
    """[K, T]: for each row, the piece of one or more neighbouring tokens with the greatest product of odds.

    The odds of a piece are a difference of two prefix sums of log odds, so its best start for each end is where the
    prefix before it is lowest; the first of equally good pieces is taken.
    """
    clipped = np.minimum(np.maximum(scores, _SMALLEST, dtype=np.float64), 1 - _SMALLEST)
    sums = np.cumsum(np.log(clipped) - np.log1p(-clipped), axis=1)
    before = np.concatenate([np.zeros((len(sums), 1)), sums[:, :-1]], axis=1)
    lowest = np.minimum.accumulate(before, axis=1)
    rows = np.arange(len(sums))
    end = (sums - lowest).argmax(axis=1)
    start = (before == lowest[rows, end][:, None]).argmax(axis=1)
    positions = np.arange(scores.shape[1])
    pieces: Bools = (positions >= start[:, None]) & (positions <= end[:, None])
    return pieces


def label_items(graph: Graph, sentence: Sentence, anchors: Bools | None) -> list[LabelItem]:
    """The label of each node and the tokens that its rules see: its own, or all where nodes have no anchors."""
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
    """The edges between each two different nodes."""
    pairs: dict[tuple[int, int], list[Edge]] = {}
    for edge in graph.edges:
        if edge.source != edge.target:
            pairs.setdefault((edge.source, edge.target), []).append(edge)
    return pairs


def attribute_class(between: Sequence[Edge]) -> AttributeClass:
    """The attributes of the edges of a pair as one class; values that repeat the default do not count.

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
    """The class of each node, [N], for each property with a classifier."""
    found = {}
    for name, numbers in vocabulary.class_numbers.items():
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
