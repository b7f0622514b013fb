"""A trained model for parsing: by NumPy and C where these know its encoder, else by PyTorch."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from perin.errors import MissingDependencyError, ModelError, UsageError
from perin.inference.network import InferenceNetwork
from perin.model.folder import SCALE, ModelFolder, Treebank
from perin.network.encoders.sources import encoder_folder, hub_names, in_family, read_config, weights_path
from perin.network.inputs import InputBatch, Preparation
from perin.network.outputs import Output
from perin.network.settings import CHARACTERS


class Predictor(Protocol):
    """What parsing needs of a model; :class:`perin.model.model.Model` is one, too."""

    @property
    def treebanks(self) -> Mapping[str, Treebank]:
        """By name."""

    @property
    def preparation(self) -> Preparation:
        """Turns words into the network's input."""

    @property
    def bits(self) -> int:
        """What the network computes with: 8 or 32."""

    def predict(self, inputs: InputBatch, treebanks: Sequence[str]) -> dict[str, list[Output]]:
        """The outputs of each treebank for all sentences of a batch."""


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
    def load(cls, read: ModelFolder, bits: int | None = None) -> TrainedModel:
        """The model of a folder; ``bits`` 8 or 32, by default what dev scores say is enough."""
        _check_bits(bits)
        in_eight = bits == 8 or (bits is None and read.notes.get("bits") == 8)
        weights = read_arrays(read.weights) | left_out_arrays(read)
        config = None if read.settings.encoder == CHARACTERS else read_config(read.described)
        network = InferenceNetwork(
            read.source, read.sizes, weights, config, bits=8 if in_eight else 32, rounded=read.rounded_heads
        )
        return cls(read.treebanks, network, Preparation(read.source), read.notes)

    @property
    def bits(self) -> int:
        """What the network computes with: 8 or 32."""
        return self.network.bits

    def predict(self, inputs: InputBatch, treebanks: Sequence[str]) -> dict[str, list[Output]]:
        """The outputs of each treebank for all sentences of a batch."""
        return self.network.predict(inputs, treebanks)


def load_model(folder: Path, *, bits: int | None = None, device: str | None = None) -> Predictor:
    """The model of a folder, ready to parse.

    PyTorch computes it, in 32 bits, on a ``device`` other than the processor and where NumPy does not know the encoder.
    """
    _check_bits(bits)
    read = ModelFolder.read(folder)
    known = read.settings.encoder == CHARACTERS or in_family(read_config(read.described))
    if device in (None, "cpu") and known:
        return TrainedModel.load(read, bits)
    try:
        import torch

        from perin.model.model import Model
    except ImportError:
        reason = f"parsing on {device}" if known else f"the encoder of {folder}, which NumPy can't compute,"
        raise MissingDependencyError("torch", reason, "train") from None
    if bits == 8:
        raise UsageError(f"{folder} is computed by PyTorch here, which takes 32 bits; leave out bits=8")
    model = Model.load(folder)
    try:
        model.network.to(torch.device(device or "cpu"))
    except (RuntimeError, AssertionError) as error:
        raise UsageError(f"there is no device {device} here ({str(error).splitlines()[0]})") from None
    return model


def read_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """The weights in a file as they are stored."""
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    try:
        weights: dict[str, NDArray[Any]] = load_file(path)
    except FileNotFoundError:
        raise ModelError(f"{path} is missing; get the model again") from None
    except (SafetensorError, OSError) as error:
        raise ModelError(f"{path} can't be read ({error}); get the model again") from None
    for name, weight in weights.items():
        if weight.dtype == np.int8 and weights.get(name + SCALE, weight).shape != weight.shape[:1]:
            raise ModelError(f"{path}: the scales of {name} don't fit it; get the model again")
    return weights


def left_out_arrays(read: ModelFolder) -> dict[str, NDArray[Any]]:
    """The weights that the folder leaves to its encoder, which must be those with the checksums."""
    if not read.left_out:
        return {}
    source = read_arrays(weights_path(encoder_folder(read.settings.encoder)))
    found = {}
    for name, checksum in read.left_out.items():
        weight = next((source[other] for other in hub_names(name) if other in source), None)
        if weight is not None and zlib.crc32(np.ascontiguousarray(weight, dtype=np.float16).data) == checksum:
            found[name] = weight
    if missing := sorted(set(read.left_out) - set(found)):
        raise ModelError(
            f"the encoder {read.settings.encoder!r} that is here is not the one that the model was trained with: "
            f"{missing[0]} and {len(missing) - 1} more weights differ; get the encoder again"
        )
    return found


def _check_bits(bits: int | None) -> None:
    if bits not in (None, 8, 32):
        raise UsageError(f"a network can compute with 8 or 32 bits, not with {bits}")
