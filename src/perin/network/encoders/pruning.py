"""Encoders with the part of their vocabulary that some languages need.

Most parameters of a small multilingual encoder are the embeddings of pieces that a given language never has.  A Unigram
tokenizer takes the most probable pieces of a text, each with a score of its own: a text whose pieces are all kept has
the same pieces as before, and where one is not kept the text falls into smaller ones.
"""

from __future__ import annotations

import json
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perin.errors import ModelError
from perin.network.encoders.sources import read_config
from perin.network.encoders.subwords import load_tokenizer

_CHUNK = 20_000
_TOKENIZER = "tokenizer.json"
_MARK = "▁"


def can_be_pruned(folder: Path) -> bool:
    """Whether an encoder has a Unigram vocabulary; of others (greedy ones, or merges) no part would do the same."""
    path = folder / _TOKENIZER
    return path.is_file() and _read(path)["model"].get("type") == "Unigram"


def pieces_of(folder: Path, texts: Iterable[str]) -> Counter[int]:
    """How often an encoder's pieces occur in texts."""
    tokenizer = load_tokenizer(folder)
    tokenizer.no_truncation()
    tokenizer.no_padding()
    found: Counter[int] = Counter()
    texts = iter(texts)
    while chunk := list(islice(texts, _CHUNK)):
        for encoding in tokenizer.encode_batch(chunk, add_special_tokens=False):
            found.update(encoding.ids)
    return found


def characters_of(folder: Path, wanted: Callable[[str], bool]) -> set[int]:
    """The numbers of an encoder's pieces that are one wanted character, inside or at the beginning of a word."""
    pieces = [piece for piece, _ in _read(folder / _TOKENIZER)["model"]["vocab"]]
    return {
        number
        for number, piece in enumerate(pieces)
        if piece == _MARK or (len(text := piece.removeprefix(_MARK)) == 1 and wanted(text))
    }


def is_common(character: str) -> bool:
    """Whether a character is a digit, a punctuation mark or a symbol, which all languages have.

    >>> [is_common(each) for each in "7!€ß猫"]
    [True, True, True, False, False]
    """
    return unicodedata.category(character)[0] in "NPSZ"


def write_pruned(source: Path, folder: Path, needed: Collection[int]) -> NDArray[np.int64]:
    """Write configuration and tokenizer of an encoder with the needed pieces and the special ones to a folder.

    Returns the numbers that the pieces had, in the order of their new ones: the rows of the embeddings to keep.
    """
    described = _read(source / _TOKENIZER)
    if described["model"].get("type") != "Unigram":
        raise ModelError(f"the vocabulary of {source} is not of the kind (Unigram) of which a part can be kept")
    vocabulary = described["model"]["vocab"]
    config = read_config(source)
    padding = config.get("pad_token_id")
    special = {token["id"] for token in described.get("added_tokens", ())} | {described["model"]["unk_id"]}
    special |= {number for each in _special_tokens(described) for number in each["ids"]}
    special |= {padding} if isinstance(padding, int) else set()
    kept = sorted({number for number in {*needed, *special} if number < len(vocabulary)})
    numbers = {old: new for new, old in enumerate(kept)}
    described["model"] |= {"vocab": [vocabulary[old] for old in kept], "unk_id": numbers[described["model"]["unk_id"]]}
    described["added_tokens"] = [
        token | {"id": numbers[token["id"]]} for token in described.get("added_tokens", ()) if token["id"] in numbers
    ]
    for each in _special_tokens(described):
        each["ids"] = [numbers[number] for number in each["ids"]]
    config |= {"vocab_size": len(kept)}
    config |= {"pad_token_id": numbers[padding]} if padding in numbers else {}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / _TOKENIZER).write_text(json.dumps(described, ensure_ascii=False), encoding="utf-8")
    (folder / "config.json").write_text(json.dumps(config, indent=1) + "\n", encoding="utf-8")
    return np.array(kept, dtype=np.int64)


def _special_tokens(described: dict[str, Any]) -> list[dict[str, Any]]:
    """What a tokenizer puts around a text."""
    return list(((described.get("post_processor") or {}).get("special_tokens") or {}).values())


def _read(path: Path) -> dict[str, Any]:
    try:
        described: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelError(f"{path} can't be read ({error}); get the encoder again") from None
    return described
