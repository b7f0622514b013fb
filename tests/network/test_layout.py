from __future__ import annotations

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from perin.network.layout import Layout, pick, spread

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
