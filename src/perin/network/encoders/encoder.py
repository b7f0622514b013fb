"""The encoder that a network's settings name: a pretrained one, or our own that needs no download."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from perin.errors import MissingDependencyError, ModelError
from perin.network.encoders import (
    EMBEDDINGS,
    encoder_folder,
    first_position,
    in_family,
    read_config,
    weights_path,
)
from perin.network.layers import (
    Attention,
    CharacterEmbedding,
    Dropout,
    FeedForward,
    InputTensors,
    Layout,
    Residual,
    SubwordTensors,
    Unfilled,
    added,
    dropped,
)
from perin.network.settings import CHARACTERS, NetworkSettings

# Encoders of the BERT family (BERT, MiniLM, RoBERTa, XLM-R) on packed subwords.  The same function as in Hugging Face's
# ``transformers``, whose weights it takes, but nothing is computed for padding, dropout is cheap on a CPU, and the
# large library is not imported.


_ACTIVATIONS: dict[str, Callable[[], nn.Module]] = {
    "gelu": nn.GELU,
    "relu": nn.ReLU,
    "gelu_new": lambda: nn.GELU(approximate="tanh"),
}


class Bert(nn.Module):
    """A post-norm Transformer encoder with learned positions."""

    def __init__(self, config: Mapping[str, Any], dropout: float | None) -> None:
        super().__init__()
        self.width = int(config["hidden_size"])
        self.depth = int(config["num_hidden_layers"])
        self.first = first_position(config)
        plain = config.get("hidden_dropout_prob", 0.1) if dropout is None else dropout
        attention = config.get("attention_probs_dropout_prob", 0.1) if dropout is None else dropout
        epsilon = float(config.get("layer_norm_eps", 1e-12))
        self.embeddings = BertEmbeddings(config, epsilon)
        self.dropout = Dropout(plain)
        self.layers = nn.ModuleList(BertLayer(config, plain, attention, epsilon) for _ in range(self.depth))

    def forward(self, ids: Tensor, layout: Layout) -> list[Tensor]:
        """``ids`` [rows] of packed windows to the output of each layer [rows, D]."""
        positions = layout.cells_on_device % layout.longest + self.first
        x = self.dropout(self.embeddings(ids, positions))
        states = []
        for layer in self.layers:
            x = layer(x, layout)
            states.append(x)
        return states

    def load(self, path: Path) -> None:
        """Take the weights of a Hugging Face model of the family."""
        import safetensors.torch

        try:
            weights = safetensors.torch.load_file(path)
        except safetensors.SafetensorError as error:
            raise ModelError(f"{path} can't be read ({error}); get the encoder again") from None
        renamed = renamed_weights(weights, self.depth)
        if mismatch := sorted(set(self.state_dict()) - set(renamed)):
            raise ModelError(f"{path} lacks the weights {mismatch[0]} and {len(mismatch) - 1} more")
        self.load_state_dict(renamed, assign=True)


class BertEmbeddings(nn.Module):
    """The sum of word, position and type embeddings, normalised."""

    def __init__(self, config: Mapping[str, Any], epsilon: float) -> None:
        super().__init__()
        width = int(config["hidden_size"])
        self.words = nn.Embedding(config["vocab_size"], width)
        self.positions = nn.Embedding(config["max_position_embeddings"], width)
        self.types = nn.Embedding(config.get("type_vocab_size", 1), width)
        self.norm = nn.LayerNorm(width, eps=epsilon)

    def forward(self, ids: Tensor, positions: Tensor) -> Tensor:
        """``ids`` [rows] and ``positions`` [rows] to [rows, D]; all subwords are of the first type."""
        result: Tensor = self.norm(self.words(ids) + self.positions(positions) + self.types.weight[0])
        return result


class BertLayer(nn.Module):
    """Self-attention and feed-forward, each followed by residual connection and layer norm."""

    def __init__(self, config: Mapping[str, Any], dropout: float, attention_dropout: float, epsilon: float) -> None:
        super().__init__()
        width = int(config["hidden_size"])
        self.attention = Attention(width, config["num_attention_heads"], attention_dropout)
        self.attention_norm = nn.LayerNorm(width, eps=epsilon)
        activation = _ACTIVATIONS[config.get("hidden_act", "gelu")]()
        self.feedforward = FeedForward(width, config["intermediate_size"], activation)
        self.norm = nn.LayerNorm(width, eps=epsilon)
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor, layout: Layout) -> Tensor:
        """``x`` [rows, D]."""
        x = self.attention_norm(added(x, self.dropout(self.attention(x, layout))))
        result: Tensor = self.norm(added(x, self.dropout(self.feedforward(x))))
        return result


def renamed_weights(weights: Mapping[str, Tensor], depth: int) -> dict[str, Tensor]:
    """The weights of a Hugging Face model of the family under the names that :class:`Bert` has for them."""
    words = "embeddings.word_embeddings.weight"
    prefix = next((name.removesuffix(words) for name in weights if name.endswith(words)), "")
    modern = {
        name.replace("LayerNorm.gamma", "LayerNorm.weight").replace("LayerNorm.beta", "LayerNorm.bias"): weight
        for name, weight in weights.items()
    }
    renamed: dict[str, Tensor] = {}

    def take(ours: str, *theirs: str) -> None:
        for kind in ("weight", "bias"):
            found = [modern[f"{prefix}{name}.{kind}"] for name in theirs if f"{prefix}{name}.{kind}" in modern]
            if len(found) == len(theirs):
                renamed[f"{ours}.{kind}"] = torch.cat(found).float()

    for ours, theirs in EMBEDDINGS.items():
        take(f"embeddings.{ours}", f"embeddings.{theirs}")
    for number in range(depth):
        for ours, parts in _LAYER.items():
            take(f"layers.{number}.{ours}", *(f"encoder.layer.{number}.{part}" for part in parts))
    return renamed


_LAYER = {
    "attention.query": ("attention.self.query",),
    "attention.memory": ("attention.self.key", "attention.self.value"),
    "attention.output": ("attention.output.dense",),
    "attention_norm": ("attention.output.LayerNorm",),
    "feedforward.0": ("intermediate.dense",),
    "feedforward.2": ("output.dense",),
    "norm": ("output.LayerNorm",),
}
"""Names of a layer's parts here and there; key and value are one matrix here."""


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
