"""A model with its network in PyTorch, to be trained or to be computed where only PyTorch can do it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from torch import Tensor, nn

import perin
from perin.errors import ModelError, UsageError
from perin.model.folder import FORMAT, WEIGHTS, ModelFolder, Treebank, write_json
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
from perin.network.inputs import InputBatch, Preparation
from perin.network.network import Network
from perin.network.outputs import Output
from perin.network.predict import predict
from perin.network.settings import CHARACTERS, NetworkSettings
from perin.network.unfilled import Unfilled


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

    def predict(self, inputs: InputBatch, treebanks: Sequence[str]) -> dict[str, list[Output]]:
        """What the network, which must be in evaluation mode, says about sentences for some treebanks."""
        return predict(self.network, inputs, treebanks)

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
            write_json(folder / "vocabularies" / f"{name}.json", treebank.vocabulary.to_json())
        write_json(folder / "config.json", self._config(settings, left_out))
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
        read = ModelFolder.read(folder)
        try:
            with Unfilled():
                network = Network(read.source, read.sizes, pretrained=False)
            preparation = Preparation(read.source)
        except UsageError as error:
            raise ModelError(f"{folder / 'config.json'}: {error}") from None
        weights, rounded = read_weights(read.weights)
        assign_weights(network, weights | encoder_weights(read.settings, read.left_out), read.weights)
        keep_rounded(network, rounded)
        return cls(read.settings, read.treebanks, network.eval(), preparation, read.notes, read.described)
