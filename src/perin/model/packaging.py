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
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import regex

from perin.errors import UsageError
from perin.files import read_lines
from perin.model import NAMESPACE, installed, treebank_names
from perin.model.folder import (
    CARD,
    ENCODER,
    SCALE,
    TABLE,
    WEIGHTS,
    WORDS,
    ModelFolder,
    Weights,
    keep_treebanks,
    quantize_rows,
    read_weights,
    write_arrays,
    write_description,
)
from perin.model.trained import has_known_encoder, inference_network
from perin.network.encoders import (
    can_be_pruned,
    characters_of,
    copy_description,
    encoder_title,
    is_common,
    pieces_of,
    read_config,
    write_pruned,
)
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


# Model cards: written for a model that is shipped, read for the list of models.

_ALL, _CEILING = "all", "ceiling"

SOURCES = {
    "amr-eng": (
        "The Little Prince v3.0, a part of Bio AMR, chat, questions (QALD); forums, web logs and news from UMR 3.0",
        "public data by its source, no licence file; chat and questions Apache-2.0, UMR CC BY-SA 4.0",
    ),
    "amr-zho": ("Chinese AMR of The Little Prince (CAMR v0.1)", "no licence stated"),
    "drg-deu": (
        "Parallel Meaning Bank 4.0.0, German, gold; automatic analyses of 5.1",
        "MIT repository (RikVN/DRS_parsing); 5.1 without a licence file",
    ),
    "drg-eng": ("Parallel Meaning Bank 2.2.0 and 4.0.0 (dev: 3.0.0), gold", "MIT repository (RikVN/DRS_parsing)"),
    "eds-eng": (
        "English Resource Grammar (2025) treebanks, gold: Wikipedia, Tanaka, brochures, dialogue, e-mail, fiction",
        "MIT (delph-in/erg); rights in the texts not restated",
    ),
    "ptg-ces": ("samples of the Prague Dependency Treebank, gold", "CC BY-NC-SA: for non-commercial use only"),
    "ptg-eng": (
        "automatic analyses of CzEng, so that scores measure imitation of that analyser",
        "CC BY-NC-SA: for non-commercial use only",
    ),
    "umr-ces": (
        "UMR 3.0, converted by its makers from the Prague Dependency Treebank (PDT-C 2.0)",
        "CC BY-NC-SA 4.0: for non-commercial use only",
    ),
    "umr-eng": ("UMR 3.0 English: converted AMR and dialogue", "CC BY-SA 4.0"),
    "ucca-deu": ("Twenty Thousand Leagues and The Little Prince in German, gold", "CC BY-SA 3.0"),
    "ucca-eng": ("English Web Treebank reviews and Wikipedia, gold", "CC BY-SA 3.0"),
}
"""What each treebank is, and the licence that its source states."""

LIMITS = """\
- It has learned the kinds of text that are named above; on others it is worse.
- It parses one sentence at a time and knows nothing of the one before.
- A sentence of more than {longest} tokens is an error unless the limit is raised.
- Probabilities are those of single decisions; a graph can be wrong although each of them is high."""


@dataclass(frozen=True)
class TreebankCard:
    """What a model's card says of one of its treebanks, such as ``eds-eng``; F1 in percent, on dev."""

    name: str
    f1: Mapping[str, float]
    """By type of item; ``all`` is the MRP score.  Empty if the card has no scores."""
    ceiling: float | None = None
    """The score of a faultless network with the same rules."""

    @property
    def framework(self) -> str:
        """The framework."""
        return self.name.partition("-")[0]

    @property
    def language(self) -> str:
        """The ISO 639-3 code of the language."""
        return self.name.partition("-")[2]

    @property
    def weakest(self) -> str | None:
        """The type of items with the lowest F1."""
        types = {kind: score for kind, score in self.f1.items() if kind != _ALL}
        return min(types, key=types.__getitem__) if types else None


@dataclass(frozen=True)
class ModelCard:
    """A model that can be loaded by its name; ``size`` is that of its folder in bytes."""

    name: str
    treebanks: tuple[TreebankCard, ...]
    size: int


def cards() -> list[ModelCard]:
    """The cards of the models that are installed, by name."""
    return [read_card(folder, name) for name, folder in installed().items()]


def read_card(folder: Path, name: str | None = None) -> ModelCard:
    """What the files of a model's folder say of it."""
    card = folder / CARD
    scores = dict(_scores(card.read_text(encoding="utf-8"))) if card.is_file() else {}
    treebanks = (scores.get(each, TreebankCard(each, {})) for each in treebank_names(folder))
    return ModelCard(name or folder.name, tuple(treebanks), folder_size(folder))


def folder_size(folder: Path) -> int:
    """The size of all files of a folder in bytes."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _scores(card: str) -> Iterator[tuple[str, TreebankCard]]:
    """The rows of the table under the heading Scores."""
    section = card.partition("\n## Scores\n")[2].partition("\n## ")[0]
    rows = [re.split(r"\s*\|\s*", line.strip().strip("|").strip()) for line in section.splitlines() if "|" in line]
    for row in rows[2:]:
        found = {kind: float(cell) for kind, cell in zip(rows[0], row, strict=False) if re.fullmatch(r"\d+\.\d+", cell)}
        ceiling = found.pop(_CEILING, None)
        yield row[0], TreebankCard(row[0], found, ceiling)


def write_card(
    folder: Path,
    name: str,
    *,
    parameters: int,
    note: str = "",
    scores: str = "",
    speed: str = "",
    calibration: str = "",
    longest: int,
    printed: str,
) -> str:
    """Write the card of a model's folder; tables that are empty are left out.  Returns its text."""
    read = ModelFolder.read(folder)
    sections = [
        f"# {name}",
        note,
        f"Parses text to {', '.join(read.treebanks)} in one pass of the encoder `{read.settings.encoder}`. "
        f"{parameters / 1e6:.1f} million parameters, {folder_size(folder) / 1e6:.1f} MB, computes with "
        f"{read.quantization.bits} bits." + _kept_pieces(folder / ENCODER),
        "## Training data\n\n" + markdown_table(("treebank", "what it is", "licence"), _sources(read)),
        scores and f"## Scores\n\n{scores}",
        calibration and f"## Calibration\n\n{calibration}",
        speed and f"## Speed\n\n{speed}",
        "## Limits\n\n" + LIMITS.format(longest=longest),
        f"Printed by {printed}.",
    ]
    text = "\n\n".join(filter(None, sections)) + "\n"
    (folder / CARD).write_text(text, encoding="utf-8")
    return text


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _kept_pieces(encoder: Path) -> str:
    """What a card says of an encoder's vocabulary."""
    if not encoder.is_dir() or not can_be_pruned(encoder):
        return ""
    count = read_config(encoder)["vocab_size"]
    return f" Of the encoder's vocabulary it has the {count:,} pieces that its languages need."


def _sources(read: ModelFolder) -> list[tuple[str, str, str]]:
    return [(name, *SOURCES.get(name, ("not described", "not known"))) for name in read.treebanks]
