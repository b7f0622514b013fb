"""The optimizer: groups, rates, bad gradients, moving average, and a state that can be continued from."""

import math
from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from perin.learning import LearningSettings
from perin.learning.run.optimisation import DELAY_SHARE, WARMUP_SHARE, MovingAverage, Optimisation, Schedule, fitted


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(3, 3)


class Toy(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.encoder = Encoder()
        self.head = nn.Linear(3, 1)

    def forward(self, x):
        return self.head(self.encoder.body(x))


SETTINGS = LearningSettings(encoder_delay=2, warmup=4, encoder_rate=0.01, rate=0.1, schedule="constant")


def steps(network, optimisation, first, last):
    for step in range(first, last):
        torch.manual_seed(step)
        network(torch.randn(8, 3)).square().mean().backward()
        optimisation.step(step)


def test_the_encoder_is_frozen_for_its_delay():
    network = Toy()
    before = network.encoder.body.weight.clone(), network.head.weight.clone()
    optimisation = Optimisation(network, SETTINGS, steps=100)
    assert optimisation.rates(0) == (0.0, pytest.approx(0.025))
    assert optimisation.rates(50) == (pytest.approx(0.01), pytest.approx(0.1))
    steps(network, optimisation, 0, 2)
    assert torch.equal(network.encoder.body.weight, before[0])
    assert not torch.equal(network.head.weight, before[1])
    steps(network, optimisation, 2, 4)
    assert not torch.equal(network.encoder.body.weight, before[0])


def test_biases_are_not_decayed():
    optimisation = Optimisation(Toy(), SETTINGS, steps=100)
    for group in optimisation.optimizer.param_groups:
        assert all((weight.ndim > 1) == (group["weight_decay"] > 0) for weight in group["params"])


def test_the_pretrained_encoder_has_a_decay_of_its_own():
    network = Toy()
    settings = replace(SETTINGS, encoder_decay=0.25, decay=0.5)
    groups = Optimisation(network, settings, steps=100).optimizer.param_groups
    found = {id(weight): group["weight_decay"] for group in groups for weight in group["params"]}
    body, head = network.encoder.body, network.head
    assert found == {id(body.weight): 0.25, id(body.bias): 0.0, id(head.weight): 0.5, id(head.bias): 0.0}


def test_the_second_momentum_is_that_of_the_settings():
    groups = Optimisation(Toy(), replace(SETTINGS, beta2=0.75), steps=100).optimizer.param_groups
    assert [group["betas"] for group in groups] == [(0.9, 0.75)] * 4


@pytest.mark.parametrize("clip", [0.0, 0.01, 1000.0])
def test_gradients_are_clipped_to_the_norm_of_the_settings(clip):
    """After one step the first moments are a tenth of the gradients."""
    network = Toy()
    optimisation = Optimisation(network, replace(SETTINGS, clip=clip), steps=100)
    network(torch.ones(8, 3)).square().mean().backward()
    norm = optimisation.step(0)
    moments = [optimisation.optimizer.state[weight]["exp_avg"] for weight in network.parameters()]
    applied = 10 * float(torch.cat([moment.flatten() for moment in moments]).norm())
    assert norm > 0.1
    assert applied == pytest.approx(min(norm, clip or norm), rel=1e-4)


def test_gradients_that_are_not_finite_change_nothing():
    network = Toy()
    optimisation = Optimisation(network, SETTINGS, steps=100)
    steps(network, optimisation, 0, 3)
    before = [weight.clone() for weight in network.parameters()]
    (network(torch.randn(8, 3)).mean() * float("nan")).backward()
    optimisation.step(3)
    assert all(torch.equal(a, b) for a, b in zip(before, network.parameters(), strict=True))
    assert all(weight.grad is None for weight in network.parameters())


def test_continuing_from_a_state_is_as_if_never_stopped():
    whole, parts = Toy(), Toy()
    optimisation = Optimisation(whole, SETTINGS, steps=20)
    steps(whole, optimisation, 0, 20)
    first = Optimisation(parts, SETTINGS, steps=20)
    steps(parts, first, 0, 7)
    second = Optimisation(parts, SETTINGS, steps=20)
    second.load_state({key: value.clone() for key, value in first.state().items()})
    steps(parts, second, 7, 20)
    assert all(torch.equal(a, b) for a, b in zip(whole.parameters(), parts.parameters(), strict=True))


def test_moving_average_by_hand():
    weight = nn.Parameter(torch.tensor([0.0]))
    average = MovingAverage([weight], decay=0.5)
    expected = 0.0
    for step in range(5):
        with torch.no_grad():
            weight.fill_(float(step))
        average.update(step)
        decay = min(0.5, (1 + step) / (10 + step))
        expected = decay * expected + (1 - decay) * step
    with average.applied():
        assert weight.item() == pytest.approx(expected)
    assert weight.item() == 4.0


def test_no_average_leaves_the_weights_alone():
    weight = nn.Parameter(torch.tensor([3.0]))
    average = MovingAverage([weight], decay=0.0)
    average.update(0)
    with average.applied():
        assert weight.item() == 3.0


# Learning rates: frozen, rising, falling, and never all warm-up.

DECAYS = st.sampled_from(["inverse-sqrt", "linear", "cosine", "constant"])


def test_paper_schedule_by_hand():
    schedule = Schedule(total=100_000, delay=2000, warmup=6000)
    assert schedule(1999) == 0.0
    assert schedule(4999) == pytest.approx(0.5)
    assert schedule(7999) == pytest.approx(1.0)
    assert schedule(2000 + 24_000 - 1) == pytest.approx(math.sqrt(6000 / 24_000))


@given(st.integers(1, 5000), st.integers(0, 3000), st.integers(0, 9000), DECAYS)
def test_between_zero_and_one_and_falling_after_the_warmup(total, delay, warmup, decay):
    schedule = fitted(total, delay, warmup, decay)
    factors = [schedule(step) for step in range(total)]
    assert all(0.0 <= factor <= 1.0 for factor in factors)
    assert schedule.delay <= DELAY_SHARE * total
    assert schedule.warmup <= WARMUP_SHARE * total
    start = schedule.delay + schedule.warmup
    assert all(a >= b for a, b in zip(factors[start:], factors[start + 1 :], strict=False))
    assert max(factors) > 0.9


@pytest.mark.parametrize("decay", ["linear", "cosine"])
def test_ends_near_zero_or_at_the_floor(decay):
    assert Schedule(1000, 0, 100, decay)(999) < 0.01
    assert Schedule(1000, 0, 100, decay, floor=0.2)(999) == 0.2
