"""What the network says about one sentence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from perin.contract.arrays import Ints, Scores
from perin.contract.sentence import Sentence


@dataclass(frozen=True, eq=False)
class Prediction:
    """The output of all heads for a sentence of T tokens, as probabilities; K queries are accepted.

    ``None`` where the framework has no such head.  Query ``q`` belongs to token ``q // queries``.
    """

    sentence: Sentence
    queries: int
    """Q: queries a token."""
    labels: Scores
    """[K, R + 1]: of each accepted query a distribution over the rules; class 0 is null."""
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
    """Of each property with a classifier of its own [K, C]: distributions; class 0 is none."""
    tops: Scores | None = None
    """[K]: a distribution over the nodes."""

    def __len__(self) -> int:
        """The number of accepted queries."""
        return len(self.accepted)

    @property
    def tokens(self) -> Ints:
        """[K]: the token of each accepted query."""
        return self.accepted // self.queries
