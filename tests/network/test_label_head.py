from __future__ import annotations

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from perin.network.labels import LabelHead


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
