from __future__ import annotations

import torch
from torch import nn

from perin.network.unfilled import Unfilled


def test_no_random_numbers_are_drawn():
    before = torch.get_rng_state()
    with Unfilled():
        layers = nn.ModuleList([nn.Embedding(3, 4), nn.Linear(4, 5), nn.LayerNorm(5)])
        layers.register_parameter("own", nn.Parameter(torch.randn(7)))
    assert torch.equal(torch.get_rng_state(), before)
    filled = {name: torch.ones(weight.shape) for name, weight in layers.state_dict().items()}
    layers.load_state_dict(filled, assign=True)
    assert torch.equal(layers[1](layers[0](torch.tensor([2]))), torch.full((1, 5), 5.0))
    assert layers.own.shape == (7,)


def test_outside_everything_is_as_ever():
    with Unfilled():
        pass
    torch.manual_seed(0)
    assert nn.Linear(2, 3).weight.abs().sum() > 0
    assert torch.randn(3).abs().sum() > 0
