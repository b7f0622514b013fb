"""A model: a network with the treebanks it was trained on, and the folder that it is kept in.

    config.json              what the network is made of, its treebanks, the version of this format
    weights.safetensors      the weights, in half or single precision or in eight bits
    vocabularies/NAME.json   rules and classes of each treebank
    encoder/                 configuration and tokenizer of a pretrained encoder
    README.md                the model card

Word embeddings that training left as they were may be left out; they are then taken from the encoder.  A model that is
stored with ``rounded`` has all that it needs in its folder.
No file of a model is code: nothing is ever unpickled.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from torch import Tensor, nn

import perin
from perin.errors import InputError, ModelError, UsageError
from perin.frameworks.framework import Framework
from perin.frameworks.registry import framework
from perin.frameworks.vocabulary import Vocabulary
from perin.model.weights import (
    TABLE,
    WORDS,
    Rounded,
    assign_weights,
    encoder_weights,
    frozen_weights,
    keep_rounded,
    read_weights,
    rounded_rows,
    write_weights,
)
from perin.network.eightbit import EightBitLinear, linear_layers, rounding, supported, to_eight_bits
from perin.network.encoders.pruning import write_pruned
from perin.network.encoders.sources import copy_description, encoder_folder, encoder_title
from perin.network.inputs import Preparation
from perin.network.network import Network
from perin.network.settings import CHARACTERS, NetworkSettings
from perin.network.sizes import NULL_LIMIT, HeadSizes
from perin.network.unfilled import Unfilled

WEIGHTS = "weights.safetensors"

FORMAT = 2
"""The version of the folder's form; raised when older code can't read what newer code writes."""


@dataclass(frozen=True)
class Treebank:
    """What a model knows of a treebank: its framework, its vocabulary, and which heads it shares with its family."""

    vocabulary: Vocabulary
    queries: int
    family: str = ""
    shared: tuple[str, ...] = ()
    null_limit: float = NULL_LIMIT
    """A query becomes a node if its probability of null is below this; chosen on dev."""

    @property
    def name(self) -> str:
        """Such as ``eds-eng``."""
        return "-".join(filter(None, (self.vocabulary.framework, self.vocabulary.language)))

    @property
    def framework(self) -> Framework:
        """The framework, in the variant of the language."""
        return framework(self.vocabulary.framework, self.vocabulary.language)

    @property
    def sizes(self) -> HeadSizes:
        """The sizes of the treebank's heads."""
        form, words = self.framework, self.vocabulary
        return HeadSizes(
            queries=self.queries,
            rules=len(words.rules),
            edge_labels=len(words.edge_labels),
            multi_label=form.multilabel,
            anchors=form.anchoring is not None,
            edge_attributes=len(words.edge_attributes) + 1 if words.edge_attributes else 0,
            properties=form.has_flag,
            property_classes=tuple((name, len(values) + 1) for name, values in words.property_classes.items()),
            tops=form.has_tops,
            null_limit=self.null_limit,
            family=self.family,
            shared=frozenset(self.shared),
        )


@dataclass
class Model:
    """A network and its treebanks, by name."""

    settings: NetworkSettings
    treebanks: dict[str, Treebank]
    network: Network
    preparation: Preparation
    notes: dict[str, Any] = field(default_factory=dict)
    """What else is worth keeping in ``config.json``, such as dev scores; ``bits`` is 8 if dev scores say that this is
    enough for parsing, and ``rounded_heads`` names the treebanks for whose heads it is enough as well."""
    described: Path | None = None
    """Where configuration and tokenizer of the encoder are, if not where the settings say."""

    @classmethod
    def new(cls, settings: NetworkSettings, treebanks: Iterable[Treebank]) -> Model:
        """An untrained model; a pretrained encoder has its weights."""
        by_name = {treebank.name: treebank for treebank in treebanks}
        sizes = {name: treebank.sizes for name, treebank in by_name.items()}
        return cls(settings, by_name, Network(settings, sizes), Preparation(settings))

    def only(self, names: Collection[str]) -> Model:
        """The model with some of its treebanks, whose graphs stay as they are; both share their weights."""
        if unknown := sorted(set(names) - set(self.treebanks)):
            raise UsageError(f"the model has {', '.join(self.treebanks)}; {unknown[0]} is none of them")
        treebanks = {name: treebank for name, treebank in self.treebanks.items() if name in names}
        if not treebanks:
            raise UsageError("a model needs a treebank at least")
        settings = self.settings
        if self.described is not None and settings.encoder != CHARACTERS:
            settings = replace(settings, encoder=str(self.described))
        with Unfilled():
            network = Network(settings, {name: each.sizes for name, each in treebanks.items()}, pretrained=False)
        weights = self.network.state_dict()
        network.load_state_dict({name: weights[name] for name in network.state_dict()}, assign=True)
        return replace(self, treebanks=treebanks, network=network.eval())

    def limit_null(self, name: str, limit: float) -> None:
        """Make the queries of a treebank nodes whose probability of null is below a limit."""
        self.treebanks[name] = replace(self.treebanks[name], null_limit=limit)
        self.network.treebanks[name] = self.treebanks[name].sizes

    @property
    def bits(self) -> int:
        """What the network computes with: 8 or 32."""
        return 8 if any(isinstance(module, EightBitLinear) for module in self.network.modules()) else 32

    def round_weights(self, bits: int | None = None) -> None:
        """Make the network compute with 8 bits instead of 32, if these are asked for or (None) if :attr:`notes` say so.

        Heads do so only where :attr:`notes` say so.  The network can't be trained or saved after that.
        """
        if bits not in (None, 8, 32):
            raise UsageError(f"a network can compute with 8 or 32 bits, not with {bits}")
        if bits == 8 and not supported():
            raise UsageError("there are no products of 8 bits for this processor; choose 32 bits")
        if bits == 8 or (bits is None and self.notes.get("bits") == 8 and supported()):
            for part in self._parts_in_eight_bits():
                to_eight_bits(part)

    def _parts_in_eight_bits(self) -> list[nn.Module]:
        """The parts of the network that compute with 8 bits if any does."""
        network, noted = self.network, self.notes.get("rounded_heads")
        named = [name for name in noted if name in self.treebanks] if isinstance(noted, list) else []
        heads = (network.heads_of(name).heads for name in named)
        return [network.encoder, network.queries, network.decoder, *(head for each in heads for head in each.values())]

    def save(
        self,
        folder: Path,
        *,
        half: bool = True,
        without_frozen: bool = False,
        rounded: bool = False,
        pieces: Collection[int] | None = None,
        card: str = "",
    ) -> None:
        """Write the model into an existing, empty folder.

        ``half``: 16-bit floats.  ``without_frozen`` leaves out what training does not change and the encoder has: the
        model is smaller, and its encoder must be there to load it.  ``rounded`` stores tables of embeddings in eight
        bits and, if the notes say that the network computes with 8 bits, also the numbers with which it does.  Of the
        encoder's vocabulary only ``pieces`` are kept, if they are given.
        """
        left_out = frozen_weights(self.network) if without_frozen else {}
        weights = {name: weight for name, weight in self.network.state_dict().items() if name not in left_out}
        settings = self.settings
        if settings.encoder != CHARACTERS:
            source = self.described or encoder_folder(settings.encoder)
            copy_description(source, folder / "encoder")
            if pieces is not None:
                weights[WORDS] = weights[WORDS][write_pruned(source, folder / "encoder", pieces)]
            if rounded or pieces is not None:
                settings = replace(settings, encoder=encoder_title(settings.encoder))
        write_weights(weights, folder / WEIGHTS, half=half, rounded=self._rounded(weights) if rounded else None)
        (folder / "vocabularies").mkdir()
        for name, treebank in self.treebanks.items():
            _write_json(folder / "vocabularies" / f"{name}.json", treebank.vocabulary.to_json())
        _write_json(folder / "config.json", self._config(settings, left_out))
        if card:
            (folder / "README.md").write_text(card, encoding="utf-8")

    def _rounded(self, weights: Mapping[str, Tensor]) -> dict[str, Rounded]:
        """The weights that are stored in eight bits."""
        tables = (name for name in weights if name == WORDS or name.endswith(TABLE))
        found = {name: rounded_rows(weights[name]) for name in tables}
        if self.notes.get("bits") == 8:
            inside = {id(layer) for part in self._parts_in_eight_bits() for _, layer in linear_layers(part)}
            layers = linear_layers(self.network)
            found |= {f"{name}.weight": rounding(layer) for name, layer in layers if id(layer) in inside}
        return found

    def _config(self, settings: NetworkSettings, left_out: dict[str, int]) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "perin": perin.__version__,
            "network": asdict(settings),
            "treebanks": {
                name: {
                    "queries": treebank.queries,
                    "family": treebank.family,
                    "shared": list(treebank.shared),
                    "null_limit": treebank.null_limit,
                }
                for name, treebank in self.treebanks.items()
            },
            "left_out": left_out,
            "notes": self.notes,
        }

    @classmethod
    def load(cls, folder: Path) -> Model:
        """Read a model folder; :class:`~perin.errors.ModelError` says what is wrong with one that can't be used."""
        config = _read_config(folder)
        settings = _settings(config, folder)
        treebanks = _treebanks(config, folder)
        described = folder / "encoder"
        source = settings if settings.encoder == CHARACTERS else replace(settings, encoder=str(described))
        try:
            with Unfilled():
                network = Network(source, {name: each.sizes for name, each in treebanks.items()}, pretrained=False)
            preparation = Preparation(source)
        except UsageError as error:
            raise ModelError(f"{folder / 'config.json'}: {error}") from None
        path = folder / WEIGHTS
        weights, rounded = read_weights(path)
        assign_weights(network, weights | encoder_weights(settings, _left_out(config, folder)), path)
        keep_rounded(network, rounded)
        return cls(settings, treebanks, network.eval(), preparation, config.get("notes", {}), described)


def _read_config(folder: Path) -> dict[str, Any]:
    path = folder / "config.json"
    if not folder.is_dir():
        raise ModelError(f"there is no model folder {folder}")
    config = _read_json(path)
    version = config.get("format")
    if not isinstance(version, int):
        raise ModelError(f"{path} is no configuration of a PERIN model: it has no 'format'")
    if version > FORMAT:
        raise ModelError(f"{folder} has format {version}, this PERIN reads up to {FORMAT}; run: pip install -U perin")
    return config


def _settings(config: Mapping[str, Any], folder: Path) -> NetworkSettings:
    path = folder / "config.json"
    try:
        settings = NetworkSettings(**config["network"])
    except (KeyError, TypeError) as error:
        raise ModelError(f"{path}: the network's settings can't be used ({error})") from None
    for option in fields(settings):
        value = getattr(settings, option.name)
        kinds = _KINDS[type(option.default)]
        if type(value) not in kinds or not option.metadata["check"](value):
            raise ModelError(f"{path}: {value!r} can't be the network's {option.name}")
    return settings


_KINDS: dict[type, tuple[type, ...]] = {
    str: (str,),
    bool: (bool,),
    int: (int,),
    float: (int, float),
    type(None): (int, float, type(None)),
}
"""What a setting may be whose default is of some type."""


def _treebanks(config: Mapping[str, Any], folder: Path) -> dict[str, Treebank]:
    treebanks = {}
    path = folder / "config.json"
    try:
        for name, entry in config["treebanks"].items():
            path = folder / "vocabularies" / f"{name}.json"
            vocabulary = Vocabulary.from_json(_read_json(path))
            path = folder / "config.json"
            queries, family, shared = entry["queries"], entry["family"], entry["shared"]
            limit = entry.get("null_limit", NULL_LIMIT)
            if type(queries) is not int or queries < 1 or not isinstance(family, str) or not isinstance(shared, list):
                raise ValueError(f"{name}: {entry}")
            if type(limit) is not float or not 0 < limit <= 1:
                raise ValueError(f"{name}: {entry}")
            treebanks[name] = Treebank(vocabulary, queries, family, tuple(shared), limit)
            _ = treebanks[name].sizes
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise ModelError(f"{path}: the treebanks can't be used ({error!r}); get the model again") from None
    except (InputError, UsageError) as error:
        raise ModelError(f"{path}: {error}; get the model again") from None
    if not treebanks:
        raise ModelError(f"{path} names no treebanks; get the model again")
    return treebanks


def _left_out(config: Mapping[str, Any], folder: Path) -> dict[str, int]:
    left_out = config.get("left_out") or {}
    if not isinstance(left_out, dict):
        raise ModelError(f"{folder / 'config.json'}: left_out can't be {left_out!r}; get the model again")
    return left_out


def _read_json(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ModelError(f"{path} is missing; get the model again") from None
    except (ValueError, OSError) as error:
        raise ModelError(f"{path} can't be read ({error}); get the model again") from None
    if not isinstance(data, dict):
        raise ModelError(f"{path} holds no JSON object; get the model again")
    return data


def _write_json(path: Path, data: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(data, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
