"""The encoders that need no PyTorch: the BERT family on subwords, and ``characters``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perin.inference.arithmetic import Arithmetic, Value
from perin.inference.eager import softmax
from perin.inference.layers import Floats
from perin.inference.parts import (
    Attention,
    CharacterEmbedding,
    Context,
    FeedForward,
    Parameters,
    Residual,
    apply_all,
)
from perin.network.encoders import first_position
from perin.network.inputs import InputBatch, Sequences
from perin.network.settings import NetworkSettings


class CharactersEncoder:
    """See :class:`perin.network.encoders.encoder.ScratchEncoder`."""

    def __init__(self, parameters: Parameters, settings: NetworkSettings) -> None:
        self.embedding = CharacterEmbedding(parameters.of("embedding"))
        self.layers = []
        for number in range(settings.scratch_layers):
            own = parameters.of(f"layers.{number}")
            attention = Attention(own.of("attention.sublayer"), settings.scratch_heads, rotary=True)
            feedforward = FeedForward(own.of("feedforward.sublayer"), "gelu")
            self.layers.append((Residual(own.of("attention"), attention), Residual(own.of("feedforward"), feedforward)))
        self.norm = parameters.norm("norm")
        self.width = settings.scratch_width

    def __call__(self, arithmetic: Arithmetic, batch: InputBatch) -> Value:
        """The contextual vectors of the tokens [tokens, D]."""
        assert batch.forms is not None
        context = Context(batch.tokens.lengths)
        out = arithmetic.new(batch.tokens.rows, self.width)
        with arithmetic.scratch():
            x = self.embedding(arithmetic, *batch.forms)
            residuals = ((residual, context) for layer in self.layers for residual in layer)
            other = arithmetic.new(batch.tokens.rows, self.width)
            return arithmetic.norm(self.norm, apply_all(arithmetic, residuals, x, other), out)


class SubwordEncoder:
    """See :class:`perin.network.encoders.encoder.SubwordEncoder` and :class:`perin.network.encoders.encoder.Bert`."""

    def __init__(self, parameters: Parameters, config: Mapping[str, Any]) -> None:
        self.width = int(config["hidden_size"])
        epsilon = float(config.get("layer_norm_eps", 1e-12))
        body = parameters.of("body")
        self.embeddings = Embeddings(body.of("embeddings"), first_position(config), epsilon)
        heads, activation = int(config["num_attention_heads"]), str(config.get("hidden_act", "gelu"))
        self.layers = [
            BertLayer(body.of(f"layers.{number}"), heads, activation, epsilon)
            for number in range(int(config["num_hidden_layers"]))
        ]
        self.weights = softmax(parameters.array("mixture.scores"))
        self.bare = parameters.array("pooling.bare")
        self.norm = parameters.norm("pooling.norm")

    def __call__(self, arithmetic: Arithmetic, batch: InputBatch) -> Value:
        """The contextual vectors of the tokens [tokens, D]."""
        subwords = batch.subwords
        assert subwords is not None
        out = arithmetic.new(batch.tokens.rows, self.width)
        with arithmetic.scratch():
            states = self.states(arithmetic, subwords.ids, subwords.windows)
            mixed = arithmetic.mix(states, self.weights, self.bare)
            pooled = arithmetic.pool(mixed, subwords.rows, subwords.tokens, batch.tokens.rows)
            return arithmetic.norm(self.norm, pooled, out)

    def states(self, arithmetic: Arithmetic, ids: NDArray[np.int64], windows: Sequences) -> list[Value]:
        """The output of each layer [rows, D] for packed subwords ``ids`` [rows]."""
        embedded = arithmetic.given(self.embeddings(ids, windows.places))
        states = [arithmetic.norm(self.embeddings.norm, embedded)]
        for layer in self.layers:
            states.append(layer(arithmetic, states[-1], Context(windows.lengths), len(ids)))
        return states[1:]


class Embeddings:
    """The sums of word, position and type embeddings, to be normalised.

    Words may be kept in eight bits, each row with a scale of its own.
    """

    def __init__(self, parameters: Parameters, first: int, epsilon: float) -> None:
        self.words = parameters.stored("words.weight")
        self.scales = parameters.scales("words.weight")
        self.places = parameters.array("positions.weight")[first:] + parameters.array("types.weight")[0]
        self.norm = parameters.norm("norm", epsilon)

    def __call__(self, ids: NDArray[np.int64], places: NDArray[np.int64]) -> Floats:
        """[rows, D] of some subwords at some places of their windows."""
        words = self.words[ids].astype(np.float32)
        if self.scales is not None:
            words *= self.scales[ids, None]
        words += self.places[places]
        result: Floats = words
        return result


class BertLayer:
    """Self-attention and feed-forward, each followed by residual connection and layer norm."""

    def __init__(self, parameters: Parameters, heads: int, activation: str, epsilon: float) -> None:
        self.attention = Attention(parameters.of("attention"), heads)
        self.attention_norm = parameters.norm("attention_norm", epsilon)
        self.feedforward = FeedForward(parameters.of("feedforward"), activation)
        self.norm = parameters.norm("norm", epsilon)

    def __call__(self, arithmetic: Arithmetic, x: Value, context: Context, rows: int) -> Value:
        """``x`` [rows, D]."""
        out = arithmetic.new(rows, len(self.norm.weight))
        with arithmetic.scratch():
            x = arithmetic.norm(self.attention_norm, self.attention(arithmetic, x, context, added=x))
            return arithmetic.norm(self.norm, self.feedforward(arithmetic, x, context, added=x), out)
