from __future__ import annotations

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from perin.network.encoders.pooling import LayerMixture, TokenPooling
from perin.network.layout import Layout
from perin.network.tensors import SubwordTensors


def pieces(rows, tokens, pairs):
    first, second = zip(*pairs, strict=True)
    return SubwordTensors(
        torch.zeros(rows, dtype=torch.long),
        Layout([rows]),
        torch.zeros(rows, dtype=torch.long),
        torch.tensor(first),
        torch.tensor(second),
    )


@given(st.lists(st.lists(st.booleans(), min_size=3, max_size=3), min_size=1, max_size=6))
@settings(max_examples=40, deadline=None)
def test_weights_are_distributions_whichever_layers_are_left_out(left_out):
    # In the original a sentence could lose all its layers, which made everything undefined.
    mixture = LayerMixture(3, rate=0.5)
    with torch.no_grad():
        mixture.scores.copy_(torch.tensor([0.3, -1.0, 2.0]))
    weights = mixture.weights(torch.tensor(left_out))
    torch.testing.assert_close(weights.sum(-1), torch.ones(len(left_out)))
    for row, gone in zip(weights, left_out, strict=True):
        expected = mixture.scores.detach().exp() * torch.tensor([all(gone) or not one for one in gone])
        torch.testing.assert_close(row.detach(), expected / expected.sum())


def test_sum_of_layers_outside_training():
    mixture = LayerMixture(2, rate=0.5).eval()
    with torch.no_grad():
        mixture.scores.copy_(torch.tensor([0.0, 1.0]))
    states = [torch.randn(4, 3), torch.randn(4, 3)]
    weights = torch.tensor([0.0, 1.0]).softmax(-1)
    expected = weights[0] * states[0] + weights[1] * states[1]
    torch.testing.assert_close(mixture(states, torch.zeros(4, dtype=torch.long), 1), expected)


def test_layers_are_left_out_of_whole_sentences():
    torch.manual_seed(0)
    mixture = LayerMixture(3, rate=0.4)
    states = [torch.full((60, 1), float(10**layer)) for layer in range(3)]
    sentences = torch.arange(60) // 3
    mixed = mixture(states, sentences, 20).detach().view(20, 3)
    assert (mixed == mixed[:, :1]).all()
    assert len(mixed[:, 0].unique()) > 3
    assert torch.isfinite(mixed).all()


def test_subwords_are_summed_and_then_normalised():
    torch.manual_seed(0)
    pooling = TokenPooling(6)
    subwords = torch.randn(5, 6)
    batch = pieces(5, 3, [(1, 0), (2, 1), (3, 1), (3, 2)])
    expected = pooling.norm(torch.stack((subwords[1], subwords[2] + subwords[3], subwords[3])))
    torch.testing.assert_close(pooling(subwords, batch, 3), expected)


def test_sum_and_mean_are_the_same_after_normalisation():
    """The paper's footnote, which holds only in this order."""
    torch.manual_seed(0)
    pooling = TokenPooling(6)
    subwords = torch.randn(4, 6)
    batch = pieces(4, 1, [(row, 0) for row in range(4)])
    torch.testing.assert_close(pooling(subwords, batch, 1)[0], pooling.norm(subwords.mean(0)), rtol=1e-3, atol=1e-3)


def test_token_without_subwords_has_a_learned_vector():
    torch.manual_seed(0)
    pooling = TokenPooling(6)
    batch = pieces(2, 2, [(0, 0), (1, 0), (2, 1)])
    vectors = pooling(torch.randn(2, 6), batch, 2)
    torch.testing.assert_close(vectors[1], pooling.norm(pooling.bare))
    vectors[1, 0].backward()
    assert pooling.bare.grad.abs().sum() > 0


def test_a_mixture_can_start_at_the_middle_layers():
    even = LayerMixture(12, rate=0.0).scores.softmax(-1)
    middle = LayerMixture(12, rate=0.0, middle=True).scores.softmax(-1)
    torch.testing.assert_close(even, torch.full((12,), 1 / 12))
    torch.testing.assert_close(middle, middle.flip(0))
    assert middle.argmax() in (5, 6)
    assert middle[-1] < middle[5] / 30
