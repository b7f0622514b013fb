"""Products of eight-bit matrices by PyTorch's kernel, against the same arithmetic in whole numbers."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from perin.network.eightbit import EightBitLinear
from perin.network.kernels import LARGEST_SUM, TorchKernel, rounded

KERNELS = [
    pytest.param(
        kernel, marks=pytest.mark.skipif(not kernel.supported(), reason=f"{kernel.__name__} does not work here")
    )
    for kernel in (TorchKernel,)
]
both = pytest.mark.parametrize("kernel", KERNELS)


def by_whole_numbers(linear, x):
    weights, weight_scales = rounded(linear.weight)
    scales = x.abs().amax(-1, keepdim=True).clamp_min(1e-12)
    inputs = ((x / scales) * 127).round().long()
    result = (inputs @ weights.long().T) * weight_scales.double() * scales.double() / 127
    return result if linear.bias is None else result + linear.bias.double()


def added_in_16_bits(weights):
    """Of each output the largest sum of positive and of negative weights among those added, pair by pair."""
    sums = []
    for output in weights.tolist():
        padded = output + [0] * (-len(output) % 8)
        quads = [
            [padded[start + place] for place in places]
            for start in range(0, len(padded), 8)
            for places in ((0, 1, 4, 5), (2, 3, 6, 7))
        ]
        sums.append(max(max(sum(w for w in quad if w > 0), -sum(w for w in quad if w < 0)) for quad in quads))
    return sums


@both
@given(st.integers(1, 70), st.integers(1, 90), st.integers(1, 70), st.booleans(), st.integers(0, 99))
@settings(max_examples=60, deadline=None)
@torch.no_grad()
def test_results_are_those_of_whole_numbers(kernel, rows, source, target, bias, seed):
    torch.manual_seed(seed)
    linear = nn.Linear(source, target, bias=bias)
    x = torch.randn(rows, source) * 10 ** torch.randn(rows, 1)
    found, right = EightBitLinear(linear, kernel)(x), by_whole_numbers(linear, x)
    scaled = 127 * x / x.abs().amax(1, keepdim=True)
    halves = ((scaled - scaled.floor() - 0.5).abs() < 1e-4).sum(1, keepdim=True)  # may be rounded up or down
    step = x.abs().amax(1, keepdim=True) / 127 * linear.weight.abs().amax(1)
    assert ((found - right).abs() <= (halves + 1e-3) * step + 1e-6 * right.abs() + 1e-7).all()


@given(st.integers(1, 40), st.integers(1, 40), st.integers(0, 99), st.floats(-8, 8))
@settings(max_examples=60, deadline=None)
def test_no_sum_of_four_products_overflows(source, target, seed, exponent):
    torch.manual_seed(seed)
    weights = torch.randn(target, source) ** 3 * 10**exponent
    whole, scales = rounded(weights)
    sums = added_in_16_bits(whole)
    assert max(sums) <= LARGEST_SUM
    assert min(sums) >= LARGEST_SUM - 6  # and the range is used
    assert torch.allclose(whole * scales[:, None], weights, atol=float(scales.max()) * 0.51)


@both
@torch.no_grad()
def test_extreme_values_do_not_overflow(kernel):
    linear = nn.Linear(2000, 3, bias=False)
    linear.weight.copy_(torch.tensor([1.0, -1.0, 0.5])[:, None].expand(3, 2000))
    x = torch.stack((torch.ones(2000), -torch.ones(2000), torch.ones(2000)))
    x[2, ::3] = -1.0
    assert torch.allclose(EightBitLinear(linear, kernel)(x).double(), by_whole_numbers(linear, x))


@both
@torch.no_grad()
def test_a_row_does_not_depend_on_the_others(kernel):
    layer = EightBitLinear(nn.Linear(384, 100), kernel)
    x = torch.randn(50, 384)
    x[7] *= 1000
    together = layer(x)
    assert all(torch.equal(layer(x[number : number + 1])[0], together[number]) for number in range(50))
    assert torch.equal(layer(x.view(5, 10, 384)).view(50, 100), together)
    assert torch.equal(layer(x.T.contiguous().T), together)
    assert layer(x[:0]).shape == (0, 100)


@both
@torch.no_grad()
def test_zeros_stay_zeros(kernel):
    linear = nn.Linear(8, 4, bias=False)
    assert torch.equal(EightBitLinear(linear, kernel)(torch.zeros(2, 8)), torch.zeros(2, 4))
    nn.init.zeros_(linear.weight)
    assert torch.equal(EightBitLinear(linear, kernel)(torch.ones(2, 8)), torch.zeros(2, 4))


def test_other_processors_and_versions_of_pytorch(monkeypatch):
    monkeypatch.setattr(torch.backends.quantized, "engine", "qnnpack", raising=False)
    assert not TorchKernel.supported()
    monkeypatch.setattr(torch.backends.quantized, "engine", "x86", raising=False)
    monkeypatch.delattr(torch, "_make_per_channel_quantized_tensor", raising=False)
    assert not TorchKernel.supported()
