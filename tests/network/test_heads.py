from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn.functional import elu

from perin.errors import UsageError
from perin.network.heads import Biaffine, Heads, LabelHead
from perin.network.layers import Layout
from perin.network.settings import SHARED_EDGES, Frequencies, HeadSizes, NetworkSettings


def test_scores_are_s_w_t_plus_linear_terms():
    torch.manual_seed(0)
    head = Biaffine(source=5, target=4, inner=3, outputs=2, dropout=0.5).eval()
    with torch.no_grad():
        for parameter in head.parameters():
            parameter.normal_()
    source_layout, target_layout = Layout([2, 1]), Layout([1, 3])
    sources, targets = torch.randn(3, 5), torch.randn(4, 4)
    scores = head(sources, source_layout, targets, target_layout)
    assert scores.shape == (2, 2, 3, 2)
    s, t = elu(head.source(sources)), elu(head.target(targets))
    for batch, i, j, row, column in [(0, 0, 0, 0, 0), (0, 1, 0, 1, 0), (1, 0, 0, 2, 1), (1, 0, 2, 2, 3)]:
        for output in range(2):
            part = slice(3 * output, 3 * output + 3)
            w, v = head.pair.weight[part], head.pair.bias[part]
            u, b = head.single.weight[output], head.single.bias[output]
            expected = (w @ s[row]) @ t[column] + v @ t[column] + u @ s[row] + b
            torch.testing.assert_close(scores[batch, i, j, output], expected, rtol=1e-4, atol=1e-5)


def test_scores_of_some_pairs_are_those_of_all_and_so_are_their_gradients():
    torch.manual_seed(0)
    head = Biaffine(source=5, target=5, inner=3, outputs=2, dropout=0.0)
    with torch.no_grad():
        for parameter in head.parameters():
            parameter.normal_()
    layout, rows = Layout([2, 3]), torch.randn(5, 5)
    cells = np.array([1, 3, 9, 14, 16])  # of [2, 3, 3]; the first sentence has no row 2
    some, every = head.pairs(rows, layout).at(cells), head(rows, layout, rows, layout).flatten(0, 2)[cells]
    torch.testing.assert_close(some, every)
    torch.testing.assert_close(head.pairs(rows, layout).all(), head(rows, layout, rows, layout))
    weights = torch.randn(len(cells), 2)
    gradients = [torch.autograd.grad((scores * weights).sum(), tuple(head.parameters())) for scores in (some, every)]
    for one, other in zip(*gradients, strict=True):
        torch.testing.assert_close(one, other)
    assert head.pairs(rows, layout).at(np.zeros(0, dtype=np.int64)).shape == (0, 2)


def test_first_scores_are_the_bias_and_learn_all_the_same():
    torch.manual_seed(0)
    head = Biaffine(4, 4, 3, 2, dropout=0.0)
    with torch.no_grad():
        head.single.bias.copy_(torch.tensor([1.0, -2.0]))
    layout = Layout([3])
    x = torch.randn(3, 4)
    scores = head(x, layout, x, layout)
    torch.testing.assert_close(scores, torch.tensor([1.0, -2.0]).expand(1, 3, 3, 2))
    (scores * torch.randn(1, 3, 3, 2)).sum().backward()
    assert head.pair.weight.grad.abs().sum() > 0


@given(st.integers(1, 6), st.integers(2, 9), st.floats(0.01, 100))
@settings(max_examples=40, deadline=None)
def test_probabilities_sum_to_one(components, classes, scale):
    torch.manual_seed(0)
    head = LabelHead(5, classes, components, dropout=0.5).eval()
    h = torch.randn(7, 5) * scale
    log_probabilities = head(h)
    assert log_probabilities.shape == (7, classes)
    torch.testing.assert_close(log_probabilities.exp().sum(-1), torch.ones(7), rtol=1e-4, atol=1e-5)
    with torch.inference_mode():
        torch.testing.assert_close(head.probabilities(h), log_probabilities.exp(), rtol=1e-4, atol=1e-6)


def test_mixture_is_the_paper_s_formula():
    torch.manual_seed(0)
    head = LabelHead(4, 6, 3, dropout=0.5).eval().double()
    h = torch.randn(5, 4, dtype=torch.float64)
    gates = torch.sigmoid(h @ head.prior.weight.T + head.prior.bias)
    expected = torch.zeros(5, 6, dtype=torch.float64)
    for k in range(3):
        part = slice(4 * k, 4 * k + 4)
        x = torch.tanh(h @ head.latent.weight[part].T + head.latent.bias[part])
        softmax = torch.softmax(x @ head.output.weight.T + head.output.bias, -1)
        expected += (gates[:, k] / gates.sum(-1))[:, None] * softmax
    torch.testing.assert_close(head(h).exp(), expected)


def test_one_component_is_a_plain_softmax():
    torch.manual_seed(0)
    head = LabelHead(4, 6, 1, dropout=0.5).eval()
    h = torch.randn(5, 4)
    torch.testing.assert_close(head(h), torch.log_softmax(head.output(h), -1))
    assert {name for name, _ in head.named_parameters()} == {"output.weight", "output.bias"}


def test_hopeless_class_has_a_finite_loss_and_gradient():
    torch.manual_seed(0)
    head = LabelHead(4, 3, 2, dropout=0.0)
    with torch.no_grad():
        head.output.bias.copy_(torch.tensor([0.0, 500.0, -500.0]))
    h = torch.randn(2, 4, requires_grad=True)
    loss = -head(h)[:, 2].sum()
    loss.backward()
    assert torch.isfinite(loss)
    assert torch.isfinite(h.grad).all()


@given(st.integers(1, 3), st.integers(0, 20), st.floats(0.01, 1))
@settings(max_examples=20, deadline=None)
def test_nodes_are_the_queries_that_are_not_likely_null(components, queries, limit):
    torch.manual_seed(queries)
    head = LabelHead(4, 3, components, dropout=0.5).eval()
    h = torch.randn(queries, 4) * 5
    with torch.inference_mode():
        accepted, labels = head.nodes(h, limit)
        expected = head.probabilities(h)
    assert accepted.tolist() == [row[0].item() < limit for row in expected]
    torch.testing.assert_close(labels, expected[accepted])


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


def test_each_of_the_other_heads_has_its_own_dropout():
    rates = {"label_dropout": 0.125, "property_dropout": 0.25, "top_dropout": 0.375}
    heads = Heads(replace(SETTINGS, **rates), 8, {"t": FULL}).of("t", FULL).heads
    assert heads["labels"].dropout.p == 0.125
    assert heads["properties"][0].p == heads["property_classes"][0].p == 0.25
    assert heads["tops"][0].p == 0.375
