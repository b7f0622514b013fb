"""What the cards of the models in the box say: frameworks, languages, scores, sizes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from perin.model.sources import BOX, bundled, treebank_names

_ALL, _CEILING = "all", "ceiling"


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
    """A model in the box; ``size`` is that of its folder in bytes."""

    name: str
    treebanks: tuple[TreebankCard, ...]
    size: int


def cards(box: Path = BOX) -> list[ModelCard]:
    """The cards of the models in the box, by name."""
    return [read_card(box / name) for name in bundled(box)]


def read_card(folder: Path) -> ModelCard:
    """What the files of a model's folder say of it."""
    card = folder / "README.md"
    scores = dict(_scores(card.read_text(encoding="utf-8"))) if card.is_file() else {}
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    treebanks = (scores.get(name, TreebankCard(name, {})) for name in treebank_names(folder))
    return ModelCard(folder.name, tuple(treebanks), size)


def _scores(card: str) -> Iterator[tuple[str, TreebankCard]]:
    """The rows of the table under the heading Scores."""
    section = card.partition("\n## Scores\n")[2].partition("\n## ")[0]
    rows = [re.split(r"\s*\|\s*", line.strip().strip("|").strip()) for line in section.splitlines() if "|" in line]
    for row in rows[2:]:
        found = {kind: float(cell) for kind, cell in zip(rows[0], row, strict=False) if re.fullmatch(r"\d+\.\d+", cell)}
        ceiling = found.pop(_CEILING, None)
        yield row[0], TreebankCard(row[0], found, ceiling)
