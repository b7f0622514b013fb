"""Queries and the decoder that refines them.

Paper, sections "Overall Architecture" and "Permutation-equivariant Model".
"""

from __future__ import annotations

from torch import Tensor, nn

from perin.network.attention import Attention, FeedForward, Residual
from perin.network.layout import Layout


class Queries(nn.Module):
    """q_{i,t} = tanh(W_t e_i + b_t): Q queries for each token."""

    def __init__(self, source: int, width: int, queries: int) -> None:
        super().__init__()
        self.width = width
        self.linear = nn.Linear(source, queries * width)

    def forward(self, tokens: Tensor) -> Tensor:
        """``tokens`` [T, source] to [T * Q, width]; query q belongs to token q // Q."""
        queries: Tensor = self.linear(tokens).view(-1, self.width)
        return queries.tanh()


class Decoder(nn.Module):
    """A pre-norm Transformer over the queries of a sentence with cross-attention to its tokens.

    There are no positions: permuted queries give equally permuted results.
    """

    def __init__(
        self, width: int, layers: int, heads: int, feedforward: int, dropout: float, attention_dropout: float
    ) -> None:
        super().__init__()
        self.layers = nn.ModuleList(
            DecoderLayer(width, heads, feedforward, dropout, attention_dropout) for _ in range(layers)
        )
        self.norm = nn.LayerNorm(width)

    def forward(self, queries: Tensor, layout: Layout, tokens: Tensor, token_layout: Layout) -> Tensor:
        """``queries`` [query rows, D] and ``tokens`` [token rows, D] to hidden states h [query rows, D]."""
        for layer in self.layers:
            queries = layer(queries, layout, tokens, token_layout)
        result: Tensor = self.norm(queries)
        return result

    def states(self, queries: Tensor, layout: Layout, tokens: Tensor, token_layout: Layout) -> list[Tensor]:
        """What would be the hidden states if each layer in turn were the last; those of :meth:`forward` come last."""
        states = []
        for layer in self.layers:
            queries = layer(queries, layout, tokens, token_layout)
            states.append(self.norm(queries))
        return states


class DecoderLayer(nn.Module):
    """Self-attention over the queries, cross-attention to the tokens, feed-forward."""

    def __init__(self, width: int, heads: int, feedforward: int, dropout: float, attention_dropout: float) -> None:
        super().__init__()
        self.self_attention = Residual(width, dropout, Attention(width, heads, attention_dropout))
        self.cross_attention = Residual(width, dropout, Attention(width, heads, attention_dropout))
        self.feedforward = Residual(width, dropout, FeedForward(width, feedforward, nn.ReLU(inplace=True)))

    def forward(self, queries: Tensor, layout: Layout, tokens: Tensor, token_layout: Layout) -> Tensor:
        """One layer of :class:`Decoder`."""
        queries = self.self_attention(queries, layout)
        queries = self.cross_attention(queries, layout, tokens, token_layout)
        result: Tensor = self.feedforward(queries)
        return result
