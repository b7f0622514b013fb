import pytest
import torch
from torch import nn

from perin.network.attention import FeedForward
from perin.network.eightbit import EightBitFeedForward, EightBitLinear, supported, to_eight_bits
from perin.network.kernels import OwnKernel


@pytest.mark.skipif(not supported(), reason="there is no kernel for this processor")
def test_all_linear_layers_of_a_module_are_replaced():
    module = nn.ModuleDict({"one": nn.Linear(4, 4), "two": nn.Sequential(nn.Linear(4, 4), nn.ReLU())})
    to_eight_bits(module)
    assert not [part for part in module.modules() if isinstance(part, nn.Linear)]
    assert isinstance(module["two"][0], EightBitLinear)
    assert isinstance(module["two"][1], nn.ReLU)


@pytest.mark.skipif(not OwnKernel.supported(), reason="the package's C code was not compiled or can't run here")
class TestFeedForward:
    @pytest.mark.parametrize("activation", [nn.ReLU(inplace=True), nn.GELU()])
    @pytest.mark.parametrize(("rows", "width", "inner"), [(1, 8, 16), (33, 384, 1536), (70, 24, 20), (0, 8, 8)])
    @torch.no_grad()
    def test_is_what_its_layers_compute(self, activation, rows, width, inner):
        torch.manual_seed(0)
        layers = FeedForward(width, inner, activation)
        x = 3 * torch.randn(rows, width)
        expected = EightBitLinear(layers[2], OwnKernel)(activation(EightBitLinear(layers[0], OwnKernel)(x)))
        found = EightBitFeedForward(layers)(x)
        assert found.shape == (rows, width)
        torch.testing.assert_close(found, expected, rtol=1e-4, atol=2e-2 / inner**0.5)
        assert torch.equal(EightBitFeedForward(layers)(x[:1]), found[:1])

    @torch.no_grad()
    def test_gelu_is_exact_enough(self):
        layers = FeedForward(1, 1, nn.GELU())
        layers[0].weight.fill_(1.0)
        layers[2].weight.fill_(1.0)
        layers[0].bias.zero_()
        layers[2].bias.zero_()
        x = torch.cat((torch.linspace(-15, 15, 3001), torch.tensor([0.0, -0.0, 1e-8, -90.0, 90.0])))[:, None]
        right = nn.functional.gelu(x.double())
        # One input has no error of rounding but that of its scale, and so does one output of the first layer.
        assert ((EightBitFeedForward(layers)(x) - right).abs() <= 1e-6 * x.abs() + 1e-9).all()

    def test_takes_the_place_of_layers_with_a_known_activation(self):
        module = nn.ModuleDict(
            {
                "relu": FeedForward(4, 4, nn.ReLU()),
                "gelu": FeedForward(4, 4, nn.GELU()),
                "tanh": FeedForward(4, 4, nn.GELU(approximate="tanh")),
            }
        )
        to_eight_bits(module, OwnKernel)
        assert isinstance(module["relu"], EightBitFeedForward)
        assert isinstance(module["gelu"], EightBitFeedForward)
        assert isinstance(module["tanh"][0], EightBitLinear)
