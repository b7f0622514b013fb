from __future__ import annotations

import json

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from perin.learning.objective.balance import Balance, GradNorm


def settled(rule, losses, norms, steps=4000):
    """The mean weights after many updates with the same losses and norms."""
    seen = []
    for step in range(steps):
        rule.update(losses, norms)
        if step >= steps - 200:
            seen.append([rule.weights[task] for task in rule.tasks])
    return np.mean(seen, axis=0)


@pytest.mark.parametrize("ratio", [0.25, 1.0, 4.0])
def test_equal_norms_where_losses_fall_alike(ratio):
    # Known answer: w1 g1 = w2 g2 and w1 + w2 = 2.
    rule = GradNorm(["a", "b"], rate=2e-3)
    weights = settled(rule, {"a": 1.0, "b": 3.0}, {"a": 1.0, "b": ratio})
    np.testing.assert_allclose(weights, [2 * ratio / (1 + ratio), 2 / (1 + ratio)], rtol=0.02)


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.5])
def test_slower_task_gets_the_larger_gradient(alpha):
    # Task a has stayed where it was, task b has fallen to a half: r = 1 and 1/2, relative to their mean 4/3 and 2/3.
    # Norms are wanted in the proportion 2^alpha, and mean(G) = (G_a + G_b) / 2 must agree with that: for two tasks
    # the sum of |G_k - wanted_k| is 0 at no point unless alpha is 0, and least where G_a is what is wanted.
    rule = GradNorm(["a", "b"], alpha=alpha, rate=2e-3, baseline=1)
    rule.update({"a": 1.0, "b": 1.0}, {"a": 1.0, "b": 1.0})
    weights = settled(rule, {"a": 1.0, "b": 0.5}, {"a": 1.0, "b": 1.0})
    share = weights[0] / weights.sum()
    assert share == pytest.approx(0.5) if alpha == 0 else share > 0.55


def test_two_task_problem_with_a_known_answer():
    """f_k(x) = c_k (x_k)^2 on shared x: gradient norms are 2 c_k |x_k|, so w_k is proportional to 1 / (c_k |x_k|)."""
    scales = torch.tensor([1.0, 10.0])
    x = torch.tensor([0.7, -0.7], requires_grad=True)
    balance = Balance("hidden", GradNorm(["small", "large"], alpha=0.0, rate=5e-3))
    for _ in range(2000):
        tapped = {name: balance.tap(name, x) for name in ("small", "large")}
        losses = {name: scales[k] * tapped[name][k] ** 2 for k, name in enumerate(tapped)}
        balance.weigh(losses).backward()
        balance.update(*balance.measured())
    weights = balance.weights
    assert weights["small"] / weights["large"] == pytest.approx(10, rel=0.05)
    assert weights["small"] + weights["large"] == pytest.approx(2)


@given(
    st.lists(st.tuples(*[st.floats(0, 1e6)] * 4), min_size=1, max_size=60),
    st.floats(0, 3),
    st.floats(1e-4, 2.0),
)
@settings(max_examples=60, deadline=None)
def test_weights_stay_positive_with_a_mean_of_one(measurements, alpha, rate):
    # Nothing kept the original's weights positive.
    rule = GradNorm(["a", "b"], alpha=alpha, rate=rate)
    for loss_a, loss_b, norm_a, norm_b in measurements:
        rule.update({"a": loss_a, "b": loss_b}, {"a": norm_a, "b": norm_b})
        weights = np.array(list(rule.weights.values()))
        assert np.isfinite(weights).all()
        assert (weights > 0).all()
        assert weights.mean() == pytest.approx(1)


def test_absent_task_and_broken_numbers_change_nothing():
    rule = GradNorm(["a", "b", "c"])
    before = rule.weights
    rule.update({"a": 1.0}, {"a": 2.0})
    rule.update({"a": 1.0, "b": float("nan")}, {"a": 2.0, "b": 1.0})
    rule.update({"a": 1.0, "b": 1.0}, {"a": 2.0, "b": float("inf")})
    rule.update({"a": 1.0, "b": 1.0}, {"a": 2.0, "b": 0.0})
    assert rule.weights == before
    rule.update({"a": 1.0, "b": 1.0}, {"a": 2.0, "b": 1.0})
    assert rule.weights["a"] < 1 < rule.weights["b"]
    assert rule.weights["c"] == pytest.approx(1, abs=1e-3)


def test_initial_value_is_the_mean_of_the_first_updates():
    rule = GradNorm(["a", "b"], baseline=2)
    for loss in (1.0, 3.0, 50.0):
        rule.update({"a": loss, "b": loss}, {"a": 1.0, "b": 1.0})
    assert rule.initial.tolist() == [2.0, 2.0]


def test_state_survives_json():
    one, other = GradNorm(["a", "b"]), GradNorm(["a", "b"])
    for _ in range(5):
        one.update({"a": 1.0, "b": 2.0}, {"a": 3.0, "b": 1.0})
    other.load_state_dict(json.loads(json.dumps(one.state_dict())))
    for rule in (one, other):
        rule.update({"a": 2.0, "b": 1.0}, {"a": 1.0, "b": 3.0})
    assert one.weights == other.weights
    with pytest.raises(ValueError, match="saved balance"):
        GradNorm(["a", "c"]).load_state_dict(one.state_dict())


def heads_and_losses(balance, h, heads):
    outputs = {name: head(balance.tap(name, h)) for name, head in heads.items()}
    return {name: output.pow(2).mean() for name, output in outputs.items()}


def test_taps_measure_what_separate_differentiation_gives():
    torch.manual_seed(0)
    heads = nn.ModuleDict({"a": nn.Linear(4, 3), "b": nn.Linear(4, 2)})
    trunk = nn.Linear(5, 4)
    h = trunk(torch.randn(7, 5))
    balance = Balance("hidden", GradNorm(["a", "b"], rate=0.5))
    balance.rule.update({"a": 1.0, "b": 1.0}, {"a": 1.0, "b": 5.0})
    weights = balance.weights
    losses = heads_and_losses(balance, h, heads)
    expected = {name: torch.autograd.grad(loss, h, retain_graph=True)[0].norm().item() for name, loss in losses.items()}
    balance.measured()
    total = balance.weigh(losses)
    assert total.item() == pytest.approx(sum(weights[name] * losses[name].item() for name in losses))
    total.backward()
    found, norms = balance.measured()
    assert norms == pytest.approx(expected, rel=1e-5)
    assert found == pytest.approx({name: loss.item() for name, loss in losses.items()})


@pytest.mark.parametrize("kind", ["hidden", "layer", "equal"])
def test_weights_scale_the_gradient_of_the_trunk_once(kind):
    # In the original the heads' inputs were scaled, too, so that the trunk had the squares of the weights.
    torch.manual_seed(0)
    heads = nn.ModuleDict({"a": nn.Linear(4, 3), "b": nn.Linear(4, 2)})
    h = torch.randn(7, 4, requires_grad=True)
    balance = Balance(kind, GradNorm(["a", "b"], rate=0.5), [h] if kind == "layer" else [])
    balance.update({"a": 1.0, "b": 1.0}, {"a": 1.0, "b": 5.0})
    weights = balance.weights
    assert (weights["a"] > 1.2) == (kind != "equal")
    alone = {name: torch.autograd.grad(head(h).pow(2).mean(), h)[0] for name, head in heads.items()}
    balance.weigh(heads_and_losses(balance, h, heads)).backward()
    torch.testing.assert_close(h.grad, sum(weights[name] * alone[name] for name in alone))


def test_both_forms_agree_where_the_layer_is_a_linear_map():
    """With one row and h = W x, the gradient for W is g x', whose norm is |g| |x|: the same proportions."""
    torch.manual_seed(0)
    heads = nn.ModuleDict({"a": nn.Linear(4, 3), "b": nn.Linear(4, 2)})
    layer = nn.Linear(5, 4, bias=False)
    x = torch.randn(1, 5)
    norms = {}
    for kind in ("hidden", "layer"):
        balance = Balance(kind, GradNorm(["a", "b"]), layer.parameters())
        balance.weigh(heads_and_losses(balance, layer(x), heads)).backward()
        norms[kind] = balance.measured()[1]
    ratio = norms["layer"]["a"] / norms["hidden"]["a"]
    assert ratio == pytest.approx(x.norm().item(), rel=1e-5)
    assert norms["layer"]["b"] / norms["hidden"]["b"] == pytest.approx(ratio, rel=1e-5)


def test_equal_weights_stay_equal():
    balance = Balance("equal", GradNorm(["a", "b"]))
    x = torch.ones(2, requires_grad=True)
    for _ in range(3):
        balance.weigh({"a": balance.tap("a", x).sum(), "b": 9 * balance.tap("b", x).sum()}).backward()
        balance.update(*balance.measured())
    assert balance.weights == {"a": 1.0, "b": 1.0}


def test_batches_between_updates_are_averaged():
    balance = Balance("hidden", GradNorm(["a"]))
    for value in (1.0, 3.0):
        x = torch.full((1,), value, requires_grad=True)
        balance.weigh({"a": balance.tap("a", x).pow(2).sum()}).backward()
    losses, norms = balance.measured()
    assert losses == {"a": 5.0}
    assert norms == {"a": 4.0}
    assert balance.measured() == ({}, {})
