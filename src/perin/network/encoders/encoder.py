"""The encoder of a network, whichever its settings name: pretrained, or our own that needs no download."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from perin.errors import MissingDependencyError, ModelError
from perin.network.encoders.bert import Bert
from perin.network.encoders.sources import encoder_folder, in_family, read_config, weights_path
from perin.network.layers import Attention, CharacterEmbedding, Dropout, FeedForward, Residual, Unfilled, dropped
from perin.network.layout import InputTensors, Layout, SubwordTensors
from perin.network.settings import CHARACTERS, NetworkSettings


class LayerMixture(nn.Module):
    """The sum of an encoder's layers, weighted by a learned softmax.

    In training each layer of each sentence is left out with probability ``rate``; a sentence that would lose all of
    them keeps them.  The weights start all alike, or (``middle``) as a bell around the middle layers, in which the last
    has a fortieth of the middle's weight.
    """

    def __init__(self, depth: int, rate: float, *, middle: bool = False) -> None:
        super().__init__()
        distances = (torch.arange(depth) - (depth - 1) / 2) / (depth / 6)
        self.scores = nn.Parameter(-distances.square() / 2 if middle else torch.zeros(depth))
        self.rate = rate

    def forward(self, states: list[Tensor], sentences: Tensor, count: int) -> Tensor:
        """``states``: of each layer [rows, D]; ``sentences`` [rows] of ``count``.  The result is [rows, D]."""
        weights = self.scores.softmax(-1)[None]
        if self.training and self.rate > 0:
            weights = self.weights(dropped((count, len(states)), self.rate, self.scores.device))[sentences]
        mixed = states[0] * weights[:, :1]
        for number, state in enumerate(states[1:], start=1):
            mixed.addcmul_(state, weights[:, number : number + 1])
        return mixed

    def weights(self, left_out: Tensor) -> Tensor:
        """[sentences, layers]: distributions without the layers that are ``left_out`` [sentences, layers]."""
        left_out = left_out & ~left_out.all(-1, keepdim=True)
        return self.scores.expand(left_out.shape).masked_fill(left_out, -torch.inf).softmax(-1)


class TokenPooling(nn.Module):
    """Subword vectors summed to tokens, then normalised.

    A token without subwords (of characters that the tokenizer drops) gets a learned vector.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.bare = nn.Parameter(torch.randn(width) * 0.02)
        self.norm = nn.LayerNorm(width)

    def forward(self, subwords: Tensor, batch: SubwordTensors, tokens: int) -> Tensor:
        """``subwords`` [rows, D] to [tokens, D]."""
        rows = torch.cat((subwords, self.bare[None]))
        pooled = rows.new_zeros(tokens, rows.shape[1]).index_add(0, batch.tokens, rows.index_select(0, batch.rows))
        result: Tensor = self.norm(pooled)
        return result


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


class HuggingFaceEncoder(nn.Module):
    """Any encoder that ``AutoModel`` knows, between packed rows and the padded form that it wants."""

    def __init__(self, folder: Path, pretrained: bool, dropout: float | None) -> None:
        super().__init__()
        try:
            from transformers import AutoConfig, AutoModel
        except ImportError:
            raise MissingDependencyError("transformers", f"the encoder {folder}") from None
        try:
            config = AutoConfig.from_pretrained(folder, trust_remote_code=False)
            if pretrained:
                self.model: Any = AutoModel.from_pretrained(folder, trust_remote_code=False, use_safetensors=True)
            else:
                automatic: Any = AutoModel
                self.model = automatic.from_config(config, trust_remote_code=False)
        except Exception as error:  # noqa: BLE001  (what the library raises for a broken file can be anything)
            raise ModelError(
                f"the encoder {folder} can't be loaded: {error}\n"
                "(an encoder needs its weights as safetensors; pickled ones and code of its own are never run)"
            ) from None
        if not hasattr(config, "hidden_size") or not hasattr(config, "num_hidden_layers"):
            raise ModelError(f"{folder} ({config.model_type}) is no encoder with layers of one width; choose another")
        self.width = int(config.hidden_size)
        self.depth = int(config.num_hidden_layers)
        if getattr(self.model, "pooler", None) is not None:
            self.model.pooler = None
        for module in list(self.model.modules()):
            for name, child in module.named_children():
                if type(child) is nn.Dropout:
                    setattr(module, name, Dropout(child.p if dropout is None else dropout))

    @property
    def embeddings(self) -> nn.Module:
        """The part that turns ids into vectors."""
        embeddings: nn.Module = self.model.get_input_embeddings()
        return embeddings

    def forward(self, ids: Tensor, layout: Layout) -> list[Tensor]:
        """``ids`` [rows] of packed windows to the output of each layer [rows, D]."""
        mask = None if layout.rectangular else layout.mask.long()
        output = self.model(layout.pad(ids), attention_mask=mask, output_hidden_states=True)
        return [layout.pack(state) for state in output.hidden_states[-self.depth :]]


class SubwordEncoder(nn.Module):
    """A pretrained encoder, the weighted sum of its layers, and tokens as sums of their subwords."""

    def __init__(self, settings: NetworkSettings, pretrained: bool) -> None:
        super().__init__()
        folder = encoder_folder(settings.encoder)
        config = read_config(folder)
        self.body: Bert | HuggingFaceEncoder
        if in_family(config):
            with Unfilled() if pretrained else contextlib.nullcontext():
                self.body = Bert(config, settings.encoder_dropout)
            if pretrained:
                self.body.load(weights_path(folder))
        else:
            self.body = HuggingFaceEncoder(folder, pretrained, settings.encoder_dropout)
        if settings.freeze_embeddings:
            self.body.embeddings.requires_grad_(False)
        self.width = self.body.width
        self.mixture = LayerMixture(self.body.depth, settings.layer_dropout, middle=settings.middle_layers)
        self.pooling = TokenPooling(self.width)

    def forward(self, batch: InputTensors) -> Tensor:
        """The contextual vectors of the tokens [tokens, D]."""
        subwords = batch.subwords
        assert subwords is not None
        states = self.body(subwords.ids, subwords.layout)
        mixed = self.mixture(states, subwords.sentences, batch.tokens.batch)
        result: Tensor = self.pooling(mixed, subwords, batch.tokens.rows)
        return result


def build_encoder(settings: NetworkSettings, *, pretrained: bool) -> SubwordEncoder | ScratchEncoder:
    """The encoder that the settings name; ``pretrained`` false leaves its weights random, for a model to be loaded."""
    if settings.encoder == CHARACTERS:
        return ScratchEncoder(settings)
    return SubwordEncoder(settings, pretrained)
