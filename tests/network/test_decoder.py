from __future__ import annotations

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from perin.network.decoder import Decoder, Queries
from perin.network.layout import Layout


def small_decoder():
    torch.manual_seed(0)
    return Decoder(width=8, layers=2, heads=2, feedforward=16, dropout=0.1, attention_dropout=0.1).eval()


@given(st.integers(0, 10**6), st.integers(1, 9), st.integers(1, 4))
@settings(max_examples=40, deadline=None)
def test_permuted_queries_give_permuted_results(seed, queries, tokens):
    decoder = small_decoder()
    generator = torch.Generator().manual_seed(seed)
    q = torch.randn(queries, 8, generator=generator)
    memory = torch.randn(tokens, 8, generator=generator)
    order = torch.randperm(queries, generator=generator)
    plain = decoder(q, Layout([queries]), memory, Layout([tokens]))
    permuted = decoder(q[order], Layout([queries]), memory, Layout([tokens]))
    torch.testing.assert_close(permuted, plain[order], rtol=1e-4, atol=1e-5)


def test_neighbours_in_the_batch_change_nothing():
    decoder = small_decoder()
    lengths = [2, 5, 1]
    layout = Layout(lengths)
    q, memory = torch.randn(layout.rows * 3, 8), torch.randn(layout.rows, 8)
    together = decoder(q, layout.repeated(3), memory, layout)
    parts = zip(q.split([3 * length for length in lengths]), memory.split(lengths), lengths, strict=True)
    alone = [decoder(own, Layout([3 * length]), words, Layout([length])) for own, words, length in parts]
    torch.testing.assert_close(together, torch.cat(alone), rtol=1e-4, atol=1e-5)


def test_query_q_is_made_from_token_q_over_queries():
    torch.manual_seed(0)
    queries = Queries(source=6, width=4, queries=3)
    tokens = torch.randn(5, 6)
    made = queries(tokens)
    assert made.shape == (15, 4)
    for number in range(15):
        part = slice(number % 3 * 4, number % 3 * 4 + 4)
        weight, bias = queries.linear.weight[part], queries.linear.bias[part]
        torch.testing.assert_close(made[number], torch.tanh(weight @ tokens[number // 3] + bias))
