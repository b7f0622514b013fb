"""The network: one encoder and one decoder for all treebanks, queries and heads for each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from perin.errors import UsageError
from perin.network.encoders.encoder import build_encoder
from perin.network.heads import Heads, TreebankHeads
from perin.network.inputs import InputBatch
from perin.network.layers import Attention, CharacterEmbedding, FeedForward, Residual, dropped
from perin.network.layout import InputTensors, Layout, pick
from perin.network.settings import NetworkSettings
from perin.network.sizes import HeadSizes


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


@dataclass(frozen=True, eq=False)
class Encoding:
    """The encoded tokens of some sentences."""

    contextual: Tensor
    """e [tokens, D]: what queries are made from."""
    tokens: Tensor
    """[tokens, D]: what the decoder and the anchor head look at: e after word dropout, with character embeddings."""
    layout: Layout

    def of(self, sentences: NDArray[np.int64] | None) -> Encoding:
        """The encoding of some of the sentences, or of all."""
        if sentences is None or np.array_equal(sentences, np.arange(self.layout.batch)):
            return self
        rows = torch.from_numpy(self.layout.rows_of(sentences)).to(self.contextual.device)
        layout = Layout(self.layout.lengths[sentences], self.layout.device)
        return Encoding(pick(self.contextual, rows), pick(self.tokens, rows), layout)


@dataclass(frozen=True, eq=False)
class Hidden:
    """The decoded queries of some sentences for one treebank."""

    queries: Tensor
    """h [queries, D]"""
    query_layout: Layout
    tokens: Tensor
    """[tokens, D], as in :class:`Encoding`."""
    token_layout: Layout
    earlier: tuple[Tensor, ...] = ()
    """Each [queries, D]: the same after the decoder's earlier layers, if they were asked for."""

    def float(self) -> Hidden:
        """The same in 32 bits, whatever precision the network ran in."""
        earlier = tuple(state.float() for state in self.earlier)
        return replace(self, queries=self.queries.float(), tokens=self.tokens.float(), earlier=earlier)

    def after_each_layer(self) -> list[Hidden]:
        """What each of the earlier layers says, as if it were the last."""
        return [replace(self, queries=state, earlier=()) for state in self.earlier]


class Network(nn.Module):
    """Encoder, decoder, and for each treebank its queries and heads.

    ``pretrained`` false leaves a pretrained encoder's weights random, for a saved model to be loaded into.
    """

    def __init__(
        self, settings: NetworkSettings, treebanks: Mapping[str, HeadSizes], *, pretrained: bool = True
    ) -> None:
        super().__init__()
        if bad := [name for name in treebanks if not name or "." in name]:
            raise UsageError(f"{bad[0]!r} can't be the name of a treebank: it must not be empty or contain a dot")
        self.settings = settings
        self.treebanks = dict(treebanks)
        self.encoder = build_encoder(settings, pretrained=pretrained)
        source = self.encoder.width
        self.width = width = settings.width or source
        self.resize = nn.Identity() if width == source else nn.Linear(source, width)
        self.characters = nn.ModuleDict()
        if settings.character_embeddings:
            for kind in ("forms", "lemmas"):
                self.characters[kind] = CharacterEmbedding(settings.buckets, settings.gram_width, width)
        self.queries = nn.ModuleDict({name: Queries(width, width, sizes.queries) for name, sizes in treebanks.items()})
        self.decoder = Decoder(
            width,
            settings.layers,
            settings.heads,
            settings.feedforward or 4 * width,
            settings.dropout,
            settings.attention_dropout,
        )
        self.heads = Heads(settings, width, treebanks)

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return next(self.parameters()).device

    def encode(self, batch: InputBatch) -> Encoding:
        """One pass of the encoder, which can serve several treebanks."""
        inputs = InputTensors.of(batch, self.device)
        contextual = self.resize(self.encoder(inputs))
        tokens = contextual
        if self.training and self.settings.word_dropout:
            hidden = dropped((len(tokens), 1), self.settings.word_dropout, tokens.device)
            tokens = tokens.masked_fill(hidden, 0.0)
        if self.characters:
            assert inputs.forms is not None
            assert inputs.lemmas is not None
            tokens = tokens + self.characters["forms"](*inputs.forms) + self.characters["lemmas"](*inputs.lemmas)
        return Encoding(contextual, tokens, inputs.tokens)

    def decode(self, encoding: Encoding, treebank: str, *, every_layer: bool = False) -> Hidden:
        """The hidden states of a treebank's queries; with ``every_layer`` also those after the earlier layers."""
        layout = encoding.layout.repeated(self.treebanks[treebank].queries)
        inputs = self.queries[treebank](encoding.contextual), layout, encoding.tokens, encoding.layout
        *earlier, h = self.decoder.states(*inputs) if every_layer else (self.decoder(*inputs),)
        return Hidden(h, layout, encoding.tokens, encoding.layout, tuple(earlier))

    def forward(
        self,
        batch: InputBatch,
        sentences: Mapping[str, NDArray[np.int64] | None] | None = None,
        *,
        every_layer: bool = False,
    ) -> dict[str, Hidden]:
        """The hidden states of each treebank that is asked for, of some sentences of the batch or (None) of all.

        Without ``sentences``: of all sentences for all treebanks.
        """
        encoding = self.encode(batch)
        wanted = sentences if sentences is not None else dict.fromkeys(self.treebanks)
        return {
            treebank: self.decode(encoding.of(chosen), treebank, every_layer=every_layer)
            for treebank, chosen in wanted.items()
        }

    def heads_of(self, treebank: str) -> TreebankHeads:
        """The heads of a treebank."""
        return self.heads.of(treebank, self.treebanks[treebank])
