"""The weights of a network in a file, with or without those that a pretrained encoder has already."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path

import torch
from torch import Tensor

from perin.errors import ModelError
from perin.network.encoders.encoder import build_encoder
from perin.network.network import Network
from perin.network.settings import NetworkSettings

_ENCODER = "encoder."
"""What the names of the encoder's weights begin with in a network."""


def write_weights(network: Network, path: Path, *, half: bool, left_out: Iterable[str] = ()) -> None:
    """Write the weights but for those left out, in 16-bit floats if ``half``."""
    from safetensors.torch import save_file

    left_out = set(left_out)
    weights = network.state_dict()
    save_file({name: _stored(weight, half) for name, weight in weights.items() if name not in left_out}, path)


def read_weights(path: Path) -> dict[str, Tensor]:
    """The weights in a file, in single precision."""
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        weights = load_file(path)
    except FileNotFoundError:
        raise ModelError(f"{path} is missing; get the model again") from None
    except (SafetensorError, OSError) as error:
        raise ModelError(f"{path} can't be read ({error}); get the model again") from None
    return {name: weight.to(torch.float32, copy=True) for name, weight in weights.items()}


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
