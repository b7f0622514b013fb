"""A trained model for parsing: by NumPy and C where these know its encoder, else by PyTorch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from numpy.typing import NDArray

from perin.contract.heads import Prediction
from perin.errors import MissingDependencyError, UsageError
from perin.inference import InferenceNetwork
from perin.model.folder import ModelFolder, Quantization, Treebank, read_weights
from perin.network.encoders import in_family, read_config
from perin.network.inputs import InputBatch, Preparation
from perin.network.settings import CHARACTERS


class Predictor(Protocol):
    """What parsing needs of a model; :class:`perin.model.model.Model` is one, too."""

    @property
    def treebanks(self) -> Mapping[str, Treebank]:
        """By name."""

    @property
    def preparation(self) -> Preparation:
        """Turns sentences into the network's input."""

    @property
    def bits(self) -> int:
        """What the network computes with: 8 or 32."""

    def predict(self, inputs: InputBatch, treebanks: Sequence[str]) -> dict[str, list[Prediction]]:
        """What the network says about the sentences of a batch for some treebanks."""


@dataclass(frozen=True)
class TrainedModel:
    """A model whose network is computed in NumPy and C.

    Nothing in it changes: threads may share it, and it can be pickled and used after a fork.
    """

    treebanks: dict[str, Treebank]
    network: InferenceNetwork
    preparation: Preparation
    notes: dict[str, Any]

    @classmethod
    def load(cls, read: ModelFolder, bits: int | None = None, *, offline: bool = False) -> TrainedModel:
        """The model of a folder; ``bits`` 8 or 32, by default what dev scores say is enough."""
        _check_bits(bits)
        quantization = replace(read.quantization, bits=bits or read.quantization.bits)
        return cls.of(replace(read, quantization=quantization), read_weights(read, offline=offline))

    @classmethod
    def of(cls, read: ModelFolder, weights: Mapping[str, NDArray[Any]]) -> TrainedModel:
        """The model that a folder describes, with weights that have been read already (others are ignored)."""
        network = inference_network(read, weights, read.quantization)
        return cls(read.treebanks, network, Preparation(read.source), read.notes)

    def __repr__(self) -> str:
        return f"TrainedModel({', '.join(self.treebanks)}; {self.bits} bits)"

    @property
    def bits(self) -> int:
        """What the network computes with: 8 or 32."""
        return self.network.bits

    def predict(self, inputs: InputBatch, treebanks: Sequence[str]) -> dict[str, list[Prediction]]:
        """What the network says about the sentences of a batch for some treebanks."""
        return self.network.predict(inputs, treebanks)


def inference_network(
    read: ModelFolder, weights: Mapping[str, NDArray[Any]], quantization: Quantization
) -> InferenceNetwork:
    """The network that a folder describes."""
    config = None if read.settings.encoder == CHARACTERS else read_config(read.described)
    return InferenceNetwork(
        read.source, read.sizes, weights, config, bits=quantization.bits, quantized_heads=quantization.heads
    )


def has_known_encoder(read: ModelFolder) -> bool:
    """Whether NumPy and C can compute a model's encoder."""
    return read.settings.encoder == CHARACTERS or in_family(read_config(read.described))


def load_model(folder: Path, *, bits: int | None = None, device: str | None = None, offline: bool = False) -> Predictor:
    """The model of a folder, ready to parse; with ``offline`` nothing that it may lack is looked for on the hub.

    PyTorch computes it, in 32 bits, on a ``device`` other than the processor and where NumPy does not know the encoder.
    """
    _check_bits(bits)
    read = ModelFolder.read(folder)
    known = has_known_encoder(read)
    if device in (None, "cpu") and known:
        return TrainedModel.load(read, bits, offline=offline)
    try:
        import torch

        from perin.model.model import Model
    except ImportError:
        reason = f"parsing on {device}" if known else f"the encoder of {folder}, which NumPy can't compute,"
        raise MissingDependencyError("torch", reason, "train") from None
    if bits == 8:
        raise UsageError(f"{folder} is computed by PyTorch here, which takes 32 bits; leave out bits=8")
    model = Model.load(folder, offline=offline)
    try:
        model.network.to(torch.device(device or "cpu"))
    except (RuntimeError, AssertionError) as error:
        raise UsageError(f"there is no device {device} here ({str(error).splitlines()[0]})") from None
    return model


def _check_bits(bits: int | None) -> None:
    if bits not in (None, 8, 32):
        raise UsageError(f"a network can compute with 8 or 32 bits, not with {bits}")
