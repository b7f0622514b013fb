"""Model cards: written for a model that is shipped, read for the list of models."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from perin.model.folder import CARD, ENCODER, ModelFolder
from perin.model.sources import installed, treebank_names
from perin.network.encoders.sources import read_config
from perin.network.encoders.subwords import can_be_pruned

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
