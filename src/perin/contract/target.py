"""What the network learns for one sentence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from perin.contract.arrays import Bools, Ints


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
    """Of each property with a classifier of its own [N]: the class, 0 for none."""
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
