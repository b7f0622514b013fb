"""A model as it is shipped: a folder that needs nothing from elsewhere and is as small as it can be.

``perin package`` makes it from the folder that a training run leaves.  It keeps the treebanks that are wanted, stores
tables of embeddings in eight bits and, if the network computes with eight bits, the very integers that it computes
with; everything else becomes 16-bit floats.  A multilingual encoder keeps only the pieces of its vocabulary that the
model's languages need.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import zipfile
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import regex

from perin.errors import UsageError
from perin.files import read_lines
from perin.model.folder import CARD, ENCODER, WEIGHTS, ModelFolder, write_description
from perin.model.sources import NAMESPACE
from perin.model.trained import has_known_encoder, inference_network
from perin.model.weights import (
    SCALE,
    TABLE,
    WORDS,
    Weights,
    keep_treebanks,
    quantize_rows,
    read_weights,
    write_arrays,
)
from perin.network.encoders.sources import copy_description, encoder_title
from perin.network.encoders.subwords import can_be_pruned, characters_of, is_common, pieces_of, write_pruned
from perin.network.settings import CHARACTERS
from perin.text.dictionary import word_forms
from perin.text.languages import SCRIPTS

RARE = 2
"""A piece that is in no text must be in so many forms of the dictionary."""


def write_package(source: ModelFolder, target: Path, pieces: Collection[int] | None = None) -> None:
    """Write a model as it is shipped into an existing, empty folder.

    ``source`` says which treebanks are kept and what the model computes with.  ``pieces`` of the encoder's vocabulary
    are kept, by default all.
    """
    whole = ModelFolder.read(source.path)
    weights = keep_treebanks(read_weights(whole), whole.treebanks, set(whole.treebanks) - set(source.treebanks))
    weights = quantize_weights(source, weights)
    settings = source.settings
    if settings.encoder != CHARACTERS:
        copy_description(source.described, target / ENCODER)
        settings = replace(settings, encoder=encoder_title(settings.encoder))
        if pieces is not None:
            rows = write_pruned(source.described, target / ENCODER, pieces)
            weights |= {name: weights[name][rows] for name in (WORDS, WORDS + SCALE) if name in weights}
    write_arrays(weights, target / WEIGHTS)
    write_description(target, settings, source.treebanks, source.quantization, source.notes)


def quantize_weights(source: ModelFolder, weights: Weights) -> Weights:
    """The weights in the form in which they are shipped."""
    layers = {}
    if source.quantization.bits == 8:
        if not has_known_encoder(source):
            raise UsageError(f"the encoder of {source.path} is computed by PyTorch, in 32 bits; give --bits 32")
        layers = inference_network(source, weights, source.quantization).quantized
    stored: Weights = {}
    for name, weight in weights.items():
        if name in layers:
            stored |= {name: layers[name].weight, name + SCALE: layers[name].scales}
        elif weight.dtype != np.int8 and (name == WORDS or name.endswith(TABLE)):
            numbers, scales = quantize_rows(weight)
            stored |= {name: numbers, name + SCALE: scales}
        elif weight.dtype == np.int8 and not (name == WORDS or name.endswith(TABLE)):
            stored[name] = (weight.astype(np.float32) * weights[name + SCALE][:, None]).astype(np.float16)
        elif weight.dtype == np.int8:
            stored |= {name: weight, name + SCALE: weights[name + SCALE]}
        elif name.endswith(SCALE) and name.removesuffix(SCALE) in weights:
            continue  # goes with its weight
        else:
            stored[name] = weight.astype(np.float16) if weight.dtype == np.float32 else weight
    return stored


# The pieces of a multilingual vocabulary that a model needs.


def needed_pieces(source: ModelFolder, data: Path | None) -> set[int] | None:
    """The pieces of its encoder's vocabulary that a model's languages need; None where all are kept.

    These are all pieces of the texts that the folder ``data`` has in each language, those of the forms in its
    dictionary except the rarest, and all single characters of its scripts, digits, punctuation marks and symbols, so
    that a word of which nothing is known still has pieces.
    """
    folder = source.described
    if data is None or source.settings.encoder == CHARACTERS or not can_be_pruned(folder):
        return None
    spoken = {treebank.vocabulary.language for treebank in source.treebanks.values()}
    return pieces_for(folder, filter(None, spoken), data)


def pieces_for(folder: Path, languages: Iterable[str], data: Path) -> set[int]:
    """The pieces that the encoder in a folder needs for some languages; see :func:`needed_pieces`."""
    languages = sorted(set(languages))
    needed: set[int] = set()
    for language in languages:
        needed |= set(pieces_of(folder, texts_in(data, language)))
        forms = pieces_of(folder, word_forms(language))
        needed |= {piece for piece, count in forms.items() if count >= RARE}
    scripts = sorted({script for language in languages for script in SCRIPTS[language]})
    written = regex.compile("|".join(rf"\p{{Script={script}}}" for script in (*scripts, "Inherited")))
    return needed | characters_of(folder, lambda each: is_common(each) or written.match(each) is not None)


def texts_in(data: Path, language: str) -> Iterator[str]:
    """The texts of all treebanks of a language in a folder: MRP, UMR, and lines of SBN with id and text before them."""
    for path in sorted(data.glob(f"*-{language}/*")):
        name = path.name.removesuffix(".gz")
        if name.endswith(".mrp"):
            for line in read_lines(path):
                if text := json.loads(line).get("input"):
                    yield text
        elif name.endswith(".umr"):
            for line in read_lines(path):
                if line.startswith("Words:"):
                    yield " ".join(line.removeprefix("Words:").split())
        elif name.endswith(".sbn-lines"):
            for number, line in enumerate(read_lines(path)):
                if number % 4 == 1:
                    yield line


# A model as a Python package.


def write_wheel(folder: Path, place: Path, version: str) -> Path:
    """Write a wheel that installs the model of a folder, under the folder's name, where ``perin.load`` finds it.

    Contents and compression are the same each time.  Returns the wheel's path.
    """
    name = folder.name
    if not re.fullmatch(r"[A-Za-z0-9]+(_[A-Za-z0-9]+)*", name):
        raise UsageError(f"{name!r} can't be the name of a package; call the folder by letters, digits and underscores")
    if not re.fullmatch(r"\d+(\.\d+)*", version):
        raise UsageError(f"{version!r} is not a version; give numbers with dots, such as 1.0")
    described = f"perin_{name}-{version}.dist-info"
    treebanks = ", ".join(ModelFolder.read(folder).treebanks)
    card = folder / CARD
    metadata = (
        f"Metadata-Version: 2.1\nName: perin-{name.replace('_', '-')}\nVersion: {version}\n"
        f"Summary: A model of PERIN for {treebanks}\nRequires-Dist: perin\nDescription-Content-Type: text/markdown\n\n"
        + (card.read_text(encoding="utf-8") if card.is_file() else "")
    )
    files: dict[str, bytes | Path] = {
        f"{NAMESPACE}/{name}/{path.relative_to(folder).as_posix()}": path
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
    files[f"{described}/METADATA"] = metadata.encode()
    files[f"{described}/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: perin\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    wheel = place / f"perin_{name}-{version}-py3-none-any.whl"
    record = []
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for inside, content in files.items():
            data = content if isinstance(content, bytes) else content.read_bytes()
            archive.writestr(_entry(inside), data)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record.append(f"{inside},sha256={digest},{len(data)}\n")
        archive.writestr(_entry(f"{described}/RECORD"), "".join(record) + f"{described}/RECORD,,\n")
    return wheel


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o644 << 16
    return entry
