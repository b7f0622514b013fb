"""The weights of a network in a file, with or without those that a pretrained encoder has already.

A weight is stored in floats, or rounded: its name then stands for whole numbers of eight bits [rows, columns], and the
name with ``.scale`` for the 32-bit floats [rows] that these are multiplied with.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

import torch
from torch import Tensor, nn

from perin.errors import ModelError
from perin.model.folder import SCALE
from perin.network.eightbit import keep_rounding
from perin.network.encoders.encoder import build_encoder
from perin.network.network import Network
from perin.network.settings import NetworkSettings

_ENCODER = "encoder."
"""What the names of the encoder's weights begin with in a network."""


WORDS = "encoder.body.embeddings.words.weight"
"""The word embeddings of a pretrained encoder of the BERT family."""
TABLE = ".table"
"""What the names of tables of character n-grams end in."""

Rounded: TypeAlias = tuple[Tensor, Tensor]
"""Whole numbers [rows, …] and the scales of the rows [rows]."""


def write_weights(
    weights: Mapping[str, Tensor], path: Path, *, half: bool, rounded: Mapping[str, Rounded] | None = None
) -> None:
    """Write weights, in 16-bit floats if ``half``; those that are ``rounded`` as these numbers and scales instead."""
    from safetensors.torch import save_file

    rounded = rounded or {}
    stored = {name: _stored(weight, half) for name, weight in weights.items() if name not in rounded}
    for name, (numbers, scales) in rounded.items():
        stored |= {name: numbers.contiguous(), name + SCALE: scales.contiguous()}
    save_file(stored, path)


def rounded_rows(table: Tensor) -> Rounded:
    """Embeddings [rows, D] as whole numbers of eight bits, each row with a scale that makes its greatest value 127.

    >>> rounded_rows(torch.tensor([[0.5, -1.0], [0.0, 2.54]]))
    (tensor([[  64, -127],
            [   0,  127]], dtype=torch.int8), tensor([0.0079, 0.0200]))
    """
    table = table.detach().float()
    scales = (table.abs().amax(-1) / 127).clamp_min(torch.finfo(torch.float32).tiny)
    return (table / scales[:, None]).round().to(torch.int8), scales


def read_weights(path: Path) -> tuple[dict[str, Tensor], dict[str, Rounded]]:
    """The weights in a file, in single precision, and those that are rounded once more, as they are stored."""
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        weights = load_file(path)
    except FileNotFoundError:
        raise ModelError(f"{path} is missing; get the model again") from None
    except (SafetensorError, OSError) as error:
        raise ModelError(f"{path} can't be read ({error}); get the model again") from None
    rounded = {
        name: (weight, weights[name + SCALE])
        for name, weight in weights.items()
        if weight.dtype == torch.int8 and name + SCALE in weights
    }
    for name, (numbers, scales) in rounded.items():
        if scales.shape != numbers.shape[:1]:
            raise ModelError(f"{path}: the scales of {name} don't fit it; get the model again")
    floats = {
        name: weight.to(torch.float32, copy=True)
        for name, weight in weights.items()
        if name not in rounded and name.removesuffix(SCALE) not in rounded
    }
    floats |= {name: numbers.float().mul_(scales.float()[:, None]) for name, (numbers, scales) in rounded.items()}
    return floats, rounded


def keep_rounded(network: Network, rounded: Mapping[str, Rounded]) -> None:
    """Let a network that is to compute with 8 bits do so with the numbers that are stored."""
    for name, module in network.named_modules():
        if isinstance(module, nn.Linear) and f"{name}.weight" in rounded:
            keep_rounding(module, *rounded[f"{name}.weight"])


def frozen_weights(network: Network) -> dict[str, int]:
    """The names of those weights of a pretrained encoder that training leaves alone, with their checksums."""
    frozen = {name: weight for name, weight in network.named_parameters() if not weight.requires_grad}
    return {name: _checksum(weight) for name, weight in sorted(frozen.items()) if name.startswith(_ENCODER)}


def encoder_weights(settings: NetworkSettings, checksums: Mapping[str, int]) -> dict[str, Tensor]:
    """Some weights of the pretrained encoder that the settings name, which must be those with the checksums."""
    if not checksums:
        return {}
    pretrained = build_encoder(settings, pretrained=True).state_dict()
    weights = {name: pretrained.get(name.removeprefix(_ENCODER)) for name in checksums}
    found = {
        name: weight for name, weight in weights.items() if weight is not None and _checksum(weight) == checksums[name]
    }
    if missing := sorted(set(checksums) - set(found)):
        raise ModelError(
            f"the encoder {settings.encoder!r} that is here is not the one that the model was trained with: "
            f"{missing[0]} and {len(missing) - 1} more weights differ; get the encoder again"
        )
    return found


def assign_weights(network: Network, weights: Mapping[str, Tensor], path: Path) -> None:
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


def _checksum(weight: Tensor) -> int:
    """The same for weights in single and, once rounded, in half precision."""
    return zlib.crc32(weight.detach().cpu().half().contiguous().numpy().data)
