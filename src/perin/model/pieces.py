"""The pieces of a multilingual encoder's vocabulary that a model needs for its languages."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

import regex

from perin.files import read_lines
from perin.network.encoders.pruning import characters_of, is_common, pieces_of
from perin.text.dictionary import word_forms
from perin.text.languages import SCRIPTS

RARE = 2
"""A piece that is in no text must be in so many forms of the dictionary."""


def needed_pieces(folder: Path, languages: Iterable[str], data: Path) -> set[int]:
    """The numbers of those pieces that the encoder in a folder needs for some languages.

    These are all pieces of the texts that the folder ``data`` has in each language, those of the forms in its
    dictionary but for the rarest, and all single characters of its scripts, digits, punctuation marks and symbols, so
    that a word of which nothing is known still has pieces.
    """
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
