from __future__ import annotations

import torch

from perin.network.characters import CharacterEmbedding
from perin.network.grams import bags, grams


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
