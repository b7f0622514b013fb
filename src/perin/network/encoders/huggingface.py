"""Pretrained encoders of other families, by Hugging Face's ``transformers``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from torch import Tensor, nn

from perin.errors import MissingDependencyError, ModelError
from perin.network.dropout import Dropout
from perin.network.layout import Layout


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
        except (OSError, ValueError) as error:
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
