"""Subwords of a sentence, the tokens that each belongs to, windows over long inputs, parts of vocabularies.

A subword belongs to every token with which it shares a character: the tokenizer's character offsets say so, whatever
its marks for word beginnings.  Nothing is cut: what exceeds the encoder's limit goes into overlapping windows.

Most parameters of a small multilingual encoder are the embeddings of pieces that a given language never has.  A Unigram
tokenizer takes the most probable pieces of a text, each with a score of its own: a text whose pieces are all kept has
the same pieces as before, and where one is not kept the text falls into smaller ones.
"""

from __future__ import annotations

import itertools
import json
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from perin.errors import MissingDependencyError, ModelError
from perin.network.encoders import read_config

if TYPE_CHECKING:
    from tokenizers import Tokenizer


Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Window:
    """``start:end`` of the subwords go into a window, of which ``first:last`` are read from it."""

    start: int
    end: int
    first: int
    last: int


class SubwordTokenizer:
    """The tokenizer of an encoder; ``limit`` is the encoder's longest input with its special symbols."""

    def __init__(self, folder: Path, limit: int) -> None:
        self.tokenizer = load_tokenizer(folder)
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()
        special = self.tokenizer.encode("")
        sample = self.tokenizer.encode("a")
        before = next((i for i, mark in enumerate(sample.special_tokens_mask) if not mark), 0)
        self.before: list[int] = special.ids[:before]
        self.after: list[int] = special.ids[before:]
        self.room = limit - len(special.ids)

    def __call__(
        self, texts: Sequence[str], spans: Sequence[Sequence[tuple[int, int]]]
    ) -> list[tuple[Ints, Ints, Ints]]:
        """The subword ids [S] of each sentence, and pairs of a subword and a token that belong together, as two arrays.

        ``spans`` are the character ranges of each sentence's tokens, in order and without overlap.
        """
        # Not encode_batch, whose threads would not live on after a fork.
        encodings = [self.tokenizer.encode(text, add_special_tokens=False) for text in texts]
        results = []
        for encoding, tokens in zip(encodings, spans, strict=True):
            offsets = np.asarray(encoding.offsets, dtype=np.int64).reshape(-1, 2)
            ids = np.asarray(encoding.ids, dtype=np.int64)
            results.append((ids, *overlaps(offsets, np.asarray(tokens, dtype=np.int64).reshape(-1, 2))))
        return results

    def count(self, text: str) -> int:
        """How many subwords a text has, special symbols apart."""
        return len(self.tokenizer.encode(text, add_special_tokens=False).ids)

    def windows(self, count: int) -> list[Window]:
        """The windows over ``count`` subwords."""
        return windows(count, self.room)


def overlaps(subwords: Ints, tokens: Ints) -> tuple[Ints, Ints]:
    """Pairs of a subword and a token whose character ranges overlap, ordered by token and then by subword.

    ``subwords`` [S, 2]; ``tokens`` [T, 2], in order and without overlap.

    >>> overlaps(np.array([[0, 3], [3, 5], [6, 8]]), np.array([[0, 2], [2, 5], [5, 6]]))
    (array([0, 0, 1]), array([0, 1, 1]))
    """
    first = np.searchsorted(tokens[:, 1], subwords[:, 0], side="right")
    last = np.searchsorted(tokens[:, 0], subwords[:, 1], side="left")
    counts = np.where(subwords[:, 1] > subwords[:, 0], np.maximum(last - first, 0), 0)
    chosen = np.repeat(np.arange(len(subwords)), counts)
    within = np.arange(len(chosen)) - np.repeat(np.cumsum(counts) - counts, counts)
    owners = first[chosen] + within
    order = np.argsort(owners, kind="stable")
    return chosen[order], owners[order]


def windows(count: int, room: int) -> list[Window]:
    """Windows of at most ``room`` subwords with about half of it in common; each subword is read from where it has
    the most context.

    >>> windows(5, 8)
    [Window(start=0, end=5, first=0, last=5)]
    >>> [(w.start, w.end, w.first, w.last) for w in windows(11, 8)]
    [(0, 8, 0, 5), (3, 11, 5, 11)]
    """
    if count <= room:
        return [Window(0, count, 0, count)]
    number = 1 + -(-(count - room) // max(1, room // 2))
    starts = [round(index * (count - room) / (number - 1)) for index in range(number)]
    borders = [0, *((left + room + right) // 2 for left, right in itertools.pairwise(starts)), count]
    return [
        Window(start, start + room, first, last)
        for start, (first, last) in zip(starts, itertools.pairwise(borders), strict=True)
    ]


def load_tokenizer(folder: Path) -> Tokenizer:
    """The fast tokenizer in an encoder's folder."""
    from tokenizers import Tokenizer

    path = folder / "tokenizer.json"
    if path.is_file():
        try:
            tokenizer: Tokenizer = Tokenizer.from_file(str(path))
        except Exception as error:  # noqa: BLE001  (the library raises nothing more precise)
            raise ModelError(f"{path} can't be read ({error}); get the encoder again") from None
        return tokenizer
    try:
        from transformers import AutoTokenizer
    except ImportError:
        purpose = f"the tokenizer of {folder}, which has no tokenizer.json,"
        raise MissingDependencyError("transformers", purpose) from None
    try:
        found: Any = AutoTokenizer.from_pretrained(folder, trust_remote_code=False)
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise ModelError(f"the tokenizer in {folder} can't be loaded ({error}); code of its own is never run") from None
    backend = getattr(found, "backend_tokenizer", None)
    if backend is None:
        raise ModelError(f"the tokenizer in {folder} gives no character offsets; choose an encoder with a fast one")
    fast: Tokenizer = backend
    return fast


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
