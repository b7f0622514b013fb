"""The weights in a model's folder, as arrays.

A weight is stored in floats, or quantized: its name then stands for eight-bit integers [rows, columns], and the name
with ``.scale`` for the 32-bit floats [rows] that these are multiplied by.
"""

from __future__ import annotations

import zlib
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from perin.errors import ModelError
from perin.model.folder import ModelFolder, Treebank
from perin.network.encoders import encoder_folder, hub_names, weights_path
from perin.network.settings import owner_name

SCALE = ".scale"
"""What follows the name of a weight in that of its scales."""
WORDS = "encoder.body.embeddings.words.weight"
"""The word embeddings of a pretrained encoder of the BERT family."""
TABLE = ".table"
"""What the names of tables of character n-grams end in."""

Weights: TypeAlias = dict[str, NDArray[Any]]


def read_weights(read: ModelFolder, *, offline: bool = False) -> Weights:
    """All weights of a model as they are stored, including those that its folder leaves to the encoder.

    With ``offline`` that encoder is not looked for on the hub.
    """
    return read_arrays(read.weights) | _left_out(read, offline)


def read_arrays(path: Path) -> Weights:
    """The weights in a file as they are stored; none is infinite or not a number."""
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    try:
        weights: Weights = load_file(path)
    except FileNotFoundError:
        raise ModelError(f"{path} is missing; get the model again") from None
    except (SafetensorError, OSError, KeyError) as error:
        raise ModelError(f"{path} can't be read ({error}); get the model again") from None
    for name, weight in weights.items():
        if weight.dtype == np.int8 and weights.get(name + SCALE, weight).shape != weight.shape[:1]:
            raise ModelError(f"{path}: the scales of {name} don't fit it; get the model again")
        if weight.dtype.kind == "f" and not np.isfinite(weight).all():
            raise ModelError(f"{path}: {name} contains values that are not finite numbers; get the model again")
    return weights


def write_arrays(weights: Mapping[str, NDArray[Any]], path: Path) -> None:
    """Write weights as they are."""
    from safetensors.numpy import save_file

    save_file({name: np.ascontiguousarray(weight) for name, weight in weights.items()}, path)


def dequantize(weights: Mapping[str, NDArray[Any]]) -> Weights:
    """The same weights in 32-bit floats, without scales."""
    quantized = {name for name, weight in weights.items() if weight.dtype == np.int8 and name + SCALE in weights}
    scales = {name + SCALE for name in quantized}
    return {
        name: weight.astype(np.float32) * weights[name + SCALE].astype(np.float32)[:, None]
        if name in quantized
        else weight.astype(np.float32)
        for name, weight in weights.items()
        if name not in scales
    }


def quantize_rows(table: NDArray[Any]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Embeddings [rows, D] as eight-bit integers, each row with a scale that makes its greatest value 127.

    >>> quantize_rows(np.array([[0.5, -1.0], [0.0, 2.54]]))
    (array([[  64, -127],
           [   0,  127]], dtype=int8), array([0.00787402, 0.02      ], dtype=float32))
    """
    table = table.astype(np.float32)
    scales = np.maximum(np.abs(table).max(-1) / np.float32(127), np.finfo(np.float32).tiny)
    return np.rint(table / scales[:, None]).astype(np.int8), scales


def keep_treebanks(weights: Weights, treebanks: Mapping[str, Treebank], unwanted: Collection[str]) -> Weights:
    """The weights without the queries and heads that only ``unwanted`` ones among the treebanks use."""
    own: set[str] = set()
    others: set[str] = set()
    for name, treebank in treebanks.items():
        sizes = treebank.sizes
        prefixes = {f"queries.{name}.", *(f"heads.{kind}.{owner_name(name, sizes, kind)}." for kind in sizes.kinds)}
        (others if name in unwanted else own).update(prefixes)
    surplus = tuple(others - own)
    return {name: weight for name, weight in weights.items() if not name.startswith(surplus)}


def _left_out(read: ModelFolder, offline: bool) -> Weights:
    """The weights that the folder leaves to its encoder, which must be those with the checksums."""
    if not read.left_out:
        return {}
    source = read_arrays(weights_path(encoder_folder(read.settings.encoder, offline=offline)))
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
