from __future__ import annotations

import torch
from torch.nn.functional import elu

from perin.network.biaffine import Biaffine
from perin.network.layout import Layout


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
