from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from perin.errors import UsageError
from perin.network.heads import Heads
from perin.network.layout import Layout
from perin.network.settings import NetworkSettings
from perin.network.sizes import SHARED_EDGES, Frequencies, HeadSizes

FULL = HeadSizes(
    queries=2,
    rules=5,
    edge_labels=3,
    anchors=True,
    edge_attributes=2,
    properties=True,
    property_classes=(("tfa", 3), ("sempos", 2)),
    tops=True,
)
SETTINGS = NetworkSettings(mixture=2, anchor_width=4, presence_width=4, edge_label_width=4, attribute_width=4)


def test_treebanks_of_a_family_share_the_heads_that_they_say():
    english = HeadSizes(3, 9, 4, properties=True, tops=True, family="amr", shared=SHARED_EDGES | {"tops"})
    chinese = replace(english, rules=7, anchors=True)
    heads = Heads(SETTINGS, 8, {"amr-eng": english, "amr-zho": chinese})
    one, other = heads.of("amr-eng", english).heads, heads.of("amr-zho", chinese).heads
    assert set(one) == {"labels", "presence", "edge_labels", "properties", "tops"}
    assert set(other) == set(one) | {"anchors"}
    assert {kind for kind in one if one[kind] is other[kind]} == {"presence", "edge_labels", "tops"}


def test_shared_heads_must_have_the_same_classes():
    english = HeadSizes(3, 9, 4, family="amr", shared=SHARED_EDGES)
    with pytest.raises(UsageError, match="amr-eng and amr-zho share their edge labels but differ"):
        Heads(SETTINGS, 8, {"amr-eng": english, "amr-zho": replace(english, edge_labels=5)})
    Heads(SETTINGS, 8, {"amr-eng": english, "amr-zho": replace(english, edge_labels=5, shared=frozenset())})


def test_unknown_kind_of_head():
    with pytest.raises(ValueError, match="edges"):
        HeadSizes(1, 1, 1, shared=frozenset(["edges"]))


@pytest.mark.parametrize("multi_label", [True, False])
def test_first_predictions_are_the_frequencies(multi_label):
    torch.manual_seed(0)
    sizes = replace(FULL, multi_label=multi_label)
    heads = Heads(SETTINGS, 8, {"t": sizes}).eval().of("t", sizes)
    edge_labels = np.array([0.7, 0.2, 0.1])
    frequencies = Frequencies(
        labels=np.array([0.5, 0.2, 0.1, 0.1, 0.06, 0.04]),
        anchors=0.2,
        presence=0.05,
        edge_labels=edge_labels,
        edge_attributes=np.array([0.9, 0.1]),
        properties=0.3,
        property_classes={"tfa": np.array([0.2, 0.3, 0.5]), "sempos": np.array([0.25, 0.75])},
    )
    heads.initialise(frequencies)
    nothing, layout = torch.zeros(2, 8), Layout([2])
    for linear in (heads.heads["labels"].latent, heads.heads["properties"][1], heads.heads["property_classes"][1]):
        torch.nn.init.zeros_(linear.weight)
    torch.nn.init.zeros_(heads.heads["labels"].latent.bias)

    def check(logits, expected):
        torch.testing.assert_close(logits[..., :], torch.as_tensor(expected).float().expand_as(logits))

    check(heads.labels(nothing).exp(), frequencies.labels)
    check(heads.anchors(nothing, layout, nothing, layout).sigmoid(), 0.2)
    check(heads.presence(nothing, layout).sigmoid(), 0.05)
    scores = heads.edge_labels(nothing, layout)
    check(scores.sigmoid() if multi_label else scores.softmax(-1), edge_labels)
    check(heads.edge_attributes(nothing, layout).softmax(-1), frequencies.edge_attributes)
    check(heads.properties(nothing).sigmoid(), 0.3)
    for name, logits in heads.property_classes(nothing).items():
        check(logits.softmax(-1), frequencies.property_classes[name])
    assert heads.tops(nothing).shape == (2,)


def test_dropouts_of_presence_and_labels_are_those_of_the_settings():
    # The original had the two the wrong way round; here they are one setting.
    heads = Heads(replace(SETTINGS, edge_dropout=0.25, anchor_dropout=0.75), 8, {"t": FULL}).of("t", FULL).heads
    assert heads["presence"].dropout.p == heads["edge_labels"].dropout.p == heads["edge_attributes"].dropout.p == 0.25
    assert heads["anchors"].dropout.p == 0.75
