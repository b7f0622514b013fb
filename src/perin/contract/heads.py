"""The two sides of the network's heads: what they learn for one sentence, and what they say about one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from perin.contract import Sentence

Bools: TypeAlias = NDArray[np.bool_]
Ints: TypeAlias = NDArray[np.int64]
Scores: TypeAlias = NDArray[np.float32]
"""Probabilities."""


def true_columns(rows: Bools) -> list[list[int]]:
    """The numbers of the columns that are true in each row.

    >>> true_columns(np.array([[True, False, True], [False, False, False]]))
    [[0, 2], []]
    """
    columns: list[list[int]] = [[] for _ in range(len(rows))]
    for row, column in true_cells(rows):
        columns[row].append(column)
    return columns


def true_cells(table: Bools) -> Iterator[tuple[int, int]]:
    """The row and the column of each true cell, row by row.

    >>> list(true_cells(np.array([[True, False, True], [False, True, False]])))
    [(0, 0), (0, 2), (1, 1)]
    """
    rows, columns = table.nonzero()
    return zip(rows.tolist(), columns.tolist(), strict=True)


@dataclass(frozen=True, eq=False)
class Target:
    """The training target of a sentence of T tokens whose encoded graph has N nodes and M connected pairs.

    ``None`` where the framework has no such head.  The order of the nodes means nothing.
    """

    rule_nodes: Ints
    """[E]: the node of each entry of the rule table."""
    rule_tokens: Ints
    """[E]: from a query of this token (-1: of any token) …"""
    rule_ids: Ints
    """[E]: … this rule (1 … R) yields the node's label."""
    mask: Bools
    """[N, T]: the tokens whose queries may be matched with the node; all true for a node without anchors."""
    edges: Ints
    """[M, 2]: source and target of the pairs that have an edge, each pair once."""
    edge_labels: Bools
    """[M, L]: the labels of each pair, at least one."""
    anchors: Bools | None = None
    """[N, T]: target of the anchor head; a row may be empty."""
    edge_attributes: Ints | None = None
    """[M]: the attribute class of each pair, 0 for none."""
    properties: Bools | None = None
    """[N]: the property flag."""
    property_classes: Mapping[str, Ints] = field(default_factory=dict)
    """For each property with a classifier of its own [N]: the class, 0 for none."""
    tops: Bools | None = None
    """[N]: the top flag."""

    def __len__(self) -> int:
        """The number of nodes."""
        return len(self.mask)

    def permuted(self, order: Ints) -> Target:
        """The same target with its nodes in another order: new node i is old node ``order[i]``."""
        place = np.empty_like(order)
        place[order] = np.arange(len(order))

        def rows(array: Bools | None) -> Bools | None:
            return None if array is None else array[order]

        return replace(
            self,
            rule_nodes=place[self.rule_nodes],
            mask=self.mask[order],
            edges=place[self.edges],
            anchors=rows(self.anchors),
            properties=rows(self.properties),
            property_classes={name: classes[order] for name, classes in self.property_classes.items()},
            tops=rows(self.tops),
        )


@dataclass(frozen=True, eq=False)
class Prediction:
    """The output of all heads for a sentence of T tokens, as probabilities; K queries are accepted.

    ``None`` where the framework has no such head.  Query ``q`` belongs to token ``q // queries``.
    """

    sentence: Sentence
    queries: int
    """Q: queries per token."""
    labels: Scores
    """[K, R + 1]: the distribution of each accepted query over the rules; class 0 is null."""
    accepted: Ints
    """[K]: ascending numbers of the queries that become nodes: those that are not likely null; if there are none, the
    one least likely null.  K is 0 only for a sentence without tokens."""
    presence: Scores
    """[K, K]: rows are sources; the diagonal means nothing."""
    edge_labels: Scores
    """[K, K, L]: each in 0 … 1."""
    anchors: Scores | None = None
    """[K, T]: each in 0 … 1."""
    edge_attributes: Scores | None = None
    """[K, K, A]: distributions; class 0 is none."""
    properties: Scores | None = None
    """[K]: probability that the node is a property."""
    property_classes: Mapping[str, Scores] = field(default_factory=dict)
    """For each property with a classifier of its own [K, C]: distributions; class 0 is none."""
    tops: Scores | None = None
    """[K]: a distribution over the nodes."""

    def __len__(self) -> int:
        """The number of accepted queries."""
        return len(self.accepted)

    @property
    def tokens(self) -> Ints:
        """[K]: the token of each accepted query."""
        return self.accepted // self.queries
