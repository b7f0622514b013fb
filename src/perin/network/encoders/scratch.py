"""The encoder that needs no download: character n-grams and a small Transformer, trained from scratch."""

from __future__ import annotations

from torch import Tensor, nn

from perin.network.attention import Attention, FeedForward, Residual
from perin.network.characters import CharacterEmbedding
from perin.network.layout import Layout
from perin.network.settings import NetworkSettings
from perin.network.tensors import InputTensors


class ScratchEncoder(nn.Module):
    """A pre-norm Transformer over the tokens with relative positions, so that no sentence is too long."""

    def __init__(self, settings: NetworkSettings) -> None:
        super().__init__()
        self.width = settings.scratch_width
        self.embedding = CharacterEmbedding(settings.buckets, settings.gram_width, self.width)
        self.layers = nn.ModuleList(
            ScratchLayer(self.width, settings.scratch_heads, settings.dropout, settings.attention_dropout)
            for _ in range(settings.scratch_layers)
        )
        self.norm = nn.LayerNorm(self.width)

    def forward(self, batch: InputTensors) -> Tensor:
        """The contextual vectors of the tokens [tokens, D]."""
        assert batch.forms is not None
        x = self.embedding(*batch.forms)
        for layer in self.layers:
            x = layer(x, batch.tokens)
        result: Tensor = self.norm(x)
        return result


class ScratchLayer(nn.Module):
    """Self-attention with rotary positions, feed-forward."""

    def __init__(self, width: int, heads: int, dropout: float, attention_dropout: float) -> None:
        super().__init__()
        self.attention = Residual(width, dropout, Attention(width, heads, attention_dropout, rotary=True))
        self.feedforward = Residual(width, dropout, FeedForward(width, 4 * width, nn.GELU()))

    def forward(self, x: Tensor, layout: Layout) -> Tensor:
        """``x`` [tokens, D]."""
        result: Tensor = self.feedforward(self.attention(x, layout))
        return result
