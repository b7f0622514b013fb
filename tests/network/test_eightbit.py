"""Linear layers in eight bits, against the same arithmetic in whole numbers."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from perin.network.eightbit import LARGEST_WEIGHT, EightBitLinear, supported, to_eight_bits

here = pytest.mark.skipif(not supported(), reason="this processor has no instructions for eight bits")


def by_whole_numbers(linear, x):
    weight_scales = linear.weight.abs().amax(1).clamp_min(1e-12).double() / LARGEST_WEIGHT
    weights = (linear.weight.double() / weight_scales[:, None]).round().long()
    scales = x.abs().amax(1, keepdim=True).clamp_min(1e-12)
    inputs = ((x / scales) * 127).round().long()
    result = (inputs @ weights.T) * weight_scales * scales.double() / 127
    return result if linear.bias is None else result + linear.bias.double()


@here
@given(st.integers(1, 40), st.integers(1, 70), st.integers(1, 70), st.booleans(), st.integers(0, 99))
@settings(max_examples=60, deadline=None)
@torch.no_grad()
def test_results_are_those_of_whole_numbers(rows, source, target, bias, seed):
    torch.manual_seed(seed)
    linear = nn.Linear(source, target, bias=bias)
    x = torch.randn(rows, source) * 10 ** torch.randn(rows, 1)
    found, right = EightBitLinear(linear)(x), by_whole_numbers(linear, x)
    scaled = 127 * x / x.abs().amax(1, keepdim=True)
    halves = ((scaled - scaled.floor() - 0.5).abs() < 1e-4).sum(1, keepdim=True)  # may be rounded up or down
    step = x.abs().amax(1, keepdim=True) / 127 * linear.weight.abs().amax(1)
    assert ((found - right).abs() <= (halves + 1e-3) * step + 1e-6 * right.abs() + 1e-7).all()


@here
@torch.no_grad()
def test_extreme_values_do_not_overflow():
    linear = nn.Linear(2000, 3, bias=False)
    linear.weight.copy_(torch.tensor([1.0, -1.0, 0.5])[:, None].expand(3, 2000))
    x = torch.stack((torch.ones(2000), -torch.ones(2000)))
    assert torch.allclose(EightBitLinear(linear)(x), linear(x))


@here
@torch.no_grad()
def test_a_row_does_not_depend_on_the_others():
    layer = EightBitLinear(nn.Linear(384, 96))
    x = torch.randn(50, 384)
    x[7] *= 1000
    together = layer(x)
    assert all(torch.equal(layer(x[number : number + 1])[0], together[number]) for number in range(50))
    assert torch.equal(layer(x.view(5, 10, 384)).view(50, 96), together)
    assert layer(x[:0]).shape == (0, 96)


@here
@torch.no_grad()
def test_zeros_stay_zeros():
    linear = nn.Linear(8, 4, bias=False)
    assert torch.equal(EightBitLinear(linear)(torch.zeros(2, 8)), torch.zeros(2, 4))
    nn.init.zeros_(linear.weight)
    assert torch.equal(EightBitLinear(linear)(torch.ones(2, 8)), torch.zeros(2, 4))


@here
def test_all_linear_layers_of_a_module_are_replaced():
    module = nn.ModuleDict({"one": nn.Linear(4, 4), "two": nn.Sequential(nn.Linear(4, 4), nn.ReLU())})
    to_eight_bits(module)
    assert not [part for part in module.modules() if isinstance(part, nn.Linear)]
    assert isinstance(module["two"][0], EightBitLinear)
    assert isinstance(module["two"][1], nn.ReLU)


def test_other_processors_and_versions(monkeypatch):
    monkeypatch.setattr(torch.backends.quantized, "engine", "qnnpack", raising=False)
    assert not supported()
    monkeypatch.setattr(torch.backends.quantized, "engine", "x86", raising=False)
    monkeypatch.delattr(torch, "_make_per_channel_quantized_tensor", raising=False)
    assert not supported()
