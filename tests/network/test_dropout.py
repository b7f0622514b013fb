from __future__ import annotations

import pytest
import torch

from perin.network.dropout import Dropout, dropout, dropped


@pytest.mark.parametrize("rate", [0.1, 0.5, 0.9])
def test_rate_and_mean_are_kept(rate):
    torch.manual_seed(0)
    result = dropout(torch.ones(400, 403), rate, training=True)
    assert (result == 0).float().mean().item() == pytest.approx(rate, abs=0.01)
    assert result.mean().item() == pytest.approx(1, abs=0.02)
    assert len(result.unique()) == 2


def test_gradient_passes_where_the_value_does():
    torch.manual_seed(0)
    x = torch.randn(30, 7, requires_grad=True)
    result = dropout(x, 0.4, training=True)
    result.sum().backward()
    assert x.grad is not None
    torch.testing.assert_close(x.grad, (result / x).detach())


def test_nothing_happens_outside_training_or_at_rate_zero():
    x = torch.randn(3, 4)
    assert dropout(x, 0.5, training=False) is x
    assert dropout(x, 0.0, training=True) is x
    assert Dropout(0.5).eval()(x) is x


def test_seed_decides_and_elements_are_independent():
    def draw(seed):
        torch.manual_seed(seed)
        return dropped((50, 41), 0.5, torch.device("cpu"))

    assert torch.equal(draw(1), draw(1))
    assert not torch.equal(draw(1), draw(2))
    signs = draw(3).float() * 2 - 1
    assert abs((signs[:, 1:] * signs[:, :-1]).mean().item()) < 0.1


def test_small_rates_are_not_rounded_to_nothing():
    torch.manual_seed(0)
    assert 0 < dropped((100, 1000), 0.001, torch.device("cpu")).float().mean() < 0.01
