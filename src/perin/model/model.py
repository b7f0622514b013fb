"""A model with its network in PyTorch, to be trained or to be computed where only PyTorch can do it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from perin.contract.heads import Prediction
from perin.errors import ModelError, UsageError
from perin.model.folder import (
    CARD,
    CONFIG,
    ENCODER,
    WEIGHTS,
    ModelFolder,
    Quantization,
    Treebank,
    dequantize,
    read_weights,
    write_description,
)
from perin.network.encoders import copy_description, encoder_folder
from perin.network.inputs import InputBatch, Preparation
from perin.network.layers import Unfilled
from perin.network.network import Network, predict
from perin.network.settings import CHARACTERS, NetworkSettings


@dataclass
class Model:
    """A network and its treebanks, by name."""

    settings: NetworkSettings
    treebanks: dict[str, Treebank]
    network: Network
    preparation: Preparation
    notes: dict[str, Any] = field(default_factory=dict)
    """What else is worth keeping in ``config.json``: recipe, epoch, dev scores."""
    described: Path | None = None
    """Where configuration and tokenizer of the encoder are, if not where the settings say."""
    quantization: Quantization = field(default_factory=Quantization)
    """What parsing is to compute with; PyTorch itself computes in 32 bits."""

    bits = 32

    def __repr__(self) -> str:
        return f"Model({', '.join(self.treebanks)}; encoder {self.settings.encoder})"

    @classmethod
    def new(cls, settings: NetworkSettings, treebanks: Iterable[Treebank]) -> Model:
        """An untrained model; a pretrained encoder has its weights."""
        by_name = {treebank.name: treebank for treebank in treebanks}
        sizes = {name: treebank.sizes for name, treebank in by_name.items()}
        return cls(settings, by_name, Network(settings, sizes), Preparation(settings))

    @classmethod
    def load(cls, folder: Path, *, offline: bool = False) -> Model:
        """Read a model folder; :class:`~perin.errors.ModelError` says what is wrong with one that can't be used.

        With ``offline`` nothing that it may lack is looked for on the hub.
        """
        read = ModelFolder.read(folder)
        try:
            with Unfilled():
                network = Network(read.source, read.sizes, pretrained=False)
            preparation = Preparation(read.source)
        except UsageError as error:
            raise ModelError(f"{folder / CONFIG}: {error}") from None
        except (MemoryError, OverflowError, RuntimeError) as error:
            raise ModelError(f"{folder / CONFIG}: a network of these sizes can't be made ({error})") from None
        weights = {
            name: torch.from_numpy(weight) for name, weight in dequantize(read_weights(read, offline=offline)).items()
        }
        _assign(network, weights, read.weights)
        return cls(
            read.settings, read.treebanks, network.eval(), preparation, read.notes, read.described, read.quantization
        )

    def save(self, folder: Path, *, half: bool = True, card: str = "") -> None:
        """Write the model into an existing, empty folder; ``half``: weights in 16-bit floats."""
        from safetensors.torch import save_file

        if self.settings.encoder != CHARACTERS:
            copy_description(self.described or encoder_folder(self.settings.encoder), folder / ENCODER)
        weights = self.network.state_dict()
        save_file({name: _stored(weight, half) for name, weight in weights.items()}, folder / WEIGHTS)
        write_description(folder, self.settings, self.treebanks, self.quantization, self.notes)
        if card:
            (folder / CARD).write_text(card, encoding="utf-8")

    def set_null_threshold(self, name: str, threshold: float) -> None:
        """Make the queries of a treebank nodes whose probability of null is below a threshold."""
        self.treebanks[name] = replace(self.treebanks[name], null_threshold=threshold)
        self.network.treebanks[name] = self.treebanks[name].sizes

    def predict(self, inputs: InputBatch, treebanks: Sequence[str]) -> dict[str, list[Prediction]]:
        """What the network, which must be in evaluation mode, says about sentences for some treebanks."""
        return predict(self.network, inputs, treebanks)


def _assign(network: Network, weights: Mapping[str, Tensor], path: Path) -> None:
    """Make the weights those of a network; ``path`` is where they are from."""
    own = network.state_dict()
    differing = set(own) ^ set(weights) | {
        name for name in set(own) & set(weights) if own[name].shape != weights[name].shape
    }
    if differing:
        raise ModelError(f"{path} does not fit config.json: {min(differing)} and {len(differing) - 1} more differ")
    network.load_state_dict(weights, strict=False, assign=True)


def _stored(weight: Tensor, half: bool) -> Tensor:
    weight = weight.detach().cpu()
    return (weight.half() if half and weight.is_floating_point() else weight).contiguous()
