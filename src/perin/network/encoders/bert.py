"""Encoders of the BERT family (BERT, MiniLM, RoBERTa, XLM-R) on packed subwords.

The same function as in Hugging Face's ``transformers``, whose weights it takes, but nothing is computed for padding,
dropout is cheap on a CPU, and the large library is not imported.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from perin.errors import ModelError
from perin.network.encoders.sources import EMBEDDINGS, first_position
from perin.network.layers import Attention, Dropout, FeedForward, added
from perin.network.layout import Layout

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
