import pytest
from torch import nn

from perin.network.eightbit import EightBitLinear, supported, to_eight_bits


@pytest.mark.skipif(not supported(), reason="there is no kernel for this processor")
def test_all_linear_layers_of_a_module_are_replaced():
    module = nn.ModuleDict({"one": nn.Linear(4, 4), "two": nn.Sequential(nn.Linear(4, 4), nn.ReLU())})
    to_eight_bits(module)
    assert not [part for part in module.modules() if isinstance(part, nn.Linear)]
    assert isinstance(module["two"][0], EightBitLinear)
    assert isinstance(module["two"][1], nn.ReLU)
