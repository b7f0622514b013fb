"""None"""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from perin.errors import UsageError
from perin.network.inputs import bags, grams
from perin.network.layers import (
    Attention,
    CharacterEmbedding,
    Dropout,
    Layout,
    attended_padded,
    dropout,
    dropped,
    pick,
    rotated,
    spread,
    visible,
)

lengths_of_sequences = st.lists(st.integers(0, 5), min_size=1, max_size=5)


@given(lengths_of_sequences)
@settings(deadline=None)
def test_padded_and_packed_are_inverse(lengths):
    layout = Layout(lengths)
    packed = torch.randn(sum(lengths), 3)
    padded = layout.pad(packed)
    assert padded.shape == (len(lengths), max(1, *lengths), 3)
    start = 0
    for number, length in enumerate(lengths):
        assert torch.equal(padded[number, :length], packed[start : start + length])
        assert not padded[number, length:].any()
        start += length
    assert torch.equal(layout.pack(padded), packed)
    assert torch.equal(layout.mask.sum(1), torch.tensor(lengths))


@given(lengths_of_sequences, st.data())
@settings(deadline=None)
def test_rows_of_chosen_sequences(lengths, data):
    chosen = data.draw(st.lists(st.integers(0, len(lengths) - 1), unique=True))
    layout = Layout(lengths)
    expected = [row for number in chosen for row in np.flatnonzero(layout.sequences == number)]
    assert layout.rows_of(np.array(chosen, dtype=np.int64)).tolist() == expected


def test_repeated_rows_follow_one_another():
    layout = Layout([2, 0, 1]).repeated(3)
    assert layout.lengths.tolist() == [6, 0, 3]
    assert layout.sequences.tolist() == [0] * 6 + [2] * 3


def test_gradients_of_padding_and_picking_are_those_of_indexing():
    layout = Layout([2, 3, 0])
    packed = torch.randn(5, 2, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(layout.pad, packed)
    padded = torch.randn(3, 3, 2, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(layout.pack, padded)
    places = torch.tensor([4, 0, 2])
    assert torch.autograd.gradcheck(lambda rows: pick(rows, places), packed)
    assert torch.autograd.gradcheck(lambda rows: spread(rows, torch.tensor([3, 1, 0, 2, 6]), 8), packed)


def test_no_rows_at_all():
    layout = Layout([0, 0])
    assert layout.pad(torch.zeros(0, 4)).shape == (2, 1, 4)
    assert layout.pack(torch.zeros(2, 1, 4)).shape == (0, 4)


def naive(attention, x, memory):
    """One sequence by the textbook."""
    heads, width = attention.heads, x.shape[1]
    size = width // heads
    keys, values = attention.memory(memory).chunk(2, dim=-1)
    parts = []
    for head in range(heads):
        own = slice(head * size, (head + 1) * size)
        weights = (attention.query(x)[:, own] @ keys[:, own].T / math.sqrt(size)).softmax(-1)
        parts.append(weights @ values[:, own])
    return attention.output(torch.cat(parts, dim=-1))


@pytest.mark.parametrize("masked", [True, False])
def test_half_precision_computes_the_same_attention(masked):
    torch.manual_seed(0)
    query, key, value = (torch.randn(2, 3, length, 8).bfloat16() for length in (5, 4, 4))
    mask = torch.tensor([[True, True, False, True], [True, True, True, True]])[:, None, None, :] if masked else None
    wanted = torch.nn.functional.scaled_dot_product_attention(query.float(), key.float(), value.float(), mask)
    found = attended_padded(query, key, value, mask)
    assert found.dtype == torch.bfloat16
    torch.testing.assert_close(found.float(), wanted, atol=0.02, rtol=0.02)


@pytest.mark.parametrize("small", [0, 10**6])
@pytest.mark.parametrize("gradients", [True, False])
@pytest.mark.parametrize("lengths", [[3, 3], [1, 4, 2], [2, 0, 3]])
def test_each_sequence_attends_as_if_alone(lengths, gradients, small, monkeypatch):
    monkeypatch.setattr("perin.network.layers.SMALL", small)
    torch.manual_seed(0)
    attention = Attention(8, 2, dropout=0.5).eval().requires_grad_(gradients)
    torch.set_grad_enabled(gradients)
    try:
        check_attention(attention, lengths)
    finally:
        torch.set_grad_enabled(True)


def check_attention(attention, lengths):
    layout, memory_layout = Layout(lengths), Layout([length + 1 for length in lengths])
    x, memory = torch.randn(layout.rows, 8), torch.randn(memory_layout.rows, 8)
    result = attention(x, layout, memory, memory_layout)
    expected = [
        naive(attention, own, other)
        for own, other in zip(x.split(lengths), memory.split([length + 1 for length in lengths]), strict=True)
    ]
    torch.testing.assert_close(result, torch.cat(expected), rtol=1e-4, atol=1e-5)
    expected = [naive(attention, own, own) for own in x.split(lengths) if len(own)]
    torch.testing.assert_close(attention(x, layout), torch.cat(expected), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("lengths", [[1, 1], [1, 3], [0, 2]])
def test_dropout_leaves_every_query_something_to_see(lengths):
    torch.manual_seed(0)
    attention = Attention(8, 2, dropout=0.99)
    layout = Layout(lengths)
    x = torch.randn(layout.rows, 8, requires_grad=True)
    for _ in range(20):
        result = attention(x, layout)
        assert torch.isfinite(result).all()
        result.sum().backward()
    assert torch.isfinite(x.grad).all()


def test_dropped_share_of_keys():
    torch.manual_seed(0)
    mask = visible(Layout([50, 40]), 60, rate=0.25)
    assert mask.shape == (2, 1, 60, 50)
    assert not mask[1, :, :, 40:].any()
    assert mask[0].float().mean().item() == pytest.approx(0.75, abs=0.03)
    assert mask[1, :, :, :40].float().mean().item() == pytest.approx(0.75, abs=0.03)
    assert visible(Layout([5, 5]), 3, rate=0.0) is None


def test_rotation_depends_on_distance_only():
    torch.manual_seed(0)
    query, key = torch.randn(6), torch.randn(6)
    products = rotated(query.expand(1, 1, 9, 6)) @ rotated(key.expand(1, 1, 9, 6)).transpose(2, 3)
    for distance in range(-8, 9):
        diagonal = products[0, 0].diagonal(distance)
        torch.testing.assert_close(diagonal, diagonal[:1].expand_as(diagonal), rtol=1e-4, atol=1e-5)
    assert products[0, 0, 0].std() > 0.01


def test_width_must_fit_the_heads():
    with pytest.raises(UsageError, match="divided among 3"):
        Attention(8, 3, 0.0)


@pytest.mark.parametrize("rotary", [True, False])
@pytest.mark.parametrize("width", [8, 32])
def test_without_gradients_a_sequence_is_the_same_in_any_batch(width, rotary):
    torch.manual_seed(0)
    attention = Attention(width, 2, dropout=0.5, rotary=rotary).eval()
    lengths = [4, 1, 7]
    x = torch.randn(sum(lengths), width)
    padded = attention(x, Layout(lengths))
    with torch.inference_mode():
        together = attention(x, Layout(lengths))
        alone = [attention(own, Layout([len(own)])) for own in x.split(lengths)]
    torch.testing.assert_close(together, torch.cat(alone), rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(together, padded.detach(), rtol=1e-5, atol=1e-6)
    with torch.inference_mode():
        assert attention(torch.zeros(0, width), Layout([])).shape == (0, width)


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


def test_hashes_are_the_same_in_every_process():
    assert grams("Ab", 1000).tolist() == [361, 714, 907, 681, 158, 6, 885, 729, 444, 843, 580]


def test_similar_words_share_rows():
    one, other, foreign = set(grams("walking", 10**6)), set(grams("walked", 10**6)), set(grams("囲碁", 10**6))
    assert len(one & other) > 10
    assert len(one & foreign) <= 2
    assert set(grams("Walking", 10**6)) - one
    assert set(grams("Walking", 10**6)) & one


def test_very_long_words_and_odd_characters_are_harmless():
    assert len(grams("x" * 10_000, 100)) < 300
    assert len(grams("\ud800\x00", 100)) > 0


def test_vector_is_the_mean_of_the_rows():
    torch.manual_seed(0)
    embedding = CharacterEmbedding(50, 4, 6)
    rows, starts = bags(["to", "be", ""], 50)
    result = embedding(torch.from_numpy(rows), torch.from_numpy(starts))
    for word, vector in zip(["to", "be", ""], result, strict=True):
        mean = embedding.table[torch.from_numpy(grams(word, 50))].mean(0)
        torch.testing.assert_close(vector, embedding.norm(embedding.linear(mean)))


def test_no_words():
    rows, starts = bags([], 50)
    assert CharacterEmbedding(50, 4, 6)(torch.from_numpy(rows), torch.from_numpy(starts)).shape == (0, 6)
