"""The encoder of a network, whichever its settings name."""

from __future__ import annotations

import contextlib

from torch import Tensor, nn

from perin.network.encoders.bert import Bert
from perin.network.encoders.huggingface import HuggingFaceEncoder
from perin.network.encoders.pooling import LayerMixture, TokenPooling
from perin.network.encoders.scratch import ScratchEncoder
from perin.network.encoders.sources import encoder_folder, in_family, read_config, weights_path
from perin.network.settings import CHARACTERS, NetworkSettings
from perin.network.tensors import InputTensors
from perin.network.unfilled import Unfilled


class SubwordEncoder(nn.Module):
    """A pretrained encoder, the weighted sum of its layers, and tokens as sums of their subwords."""

    def __init__(self, settings: NetworkSettings, pretrained: bool) -> None:
        super().__init__()
        folder = encoder_folder(settings.encoder)
        config = read_config(folder)
        self.body: Bert | HuggingFaceEncoder
        if in_family(config):
            with Unfilled() if pretrained else contextlib.nullcontext():
                self.body = Bert(config, settings.encoder_dropout)
            if pretrained:
                self.body.load(weights_path(folder))
        else:
            self.body = HuggingFaceEncoder(folder, pretrained, settings.encoder_dropout)
        if settings.freeze_embeddings:
            self.body.embeddings.requires_grad_(False)
        self.width = self.body.width
        self.mixture = LayerMixture(self.body.depth, settings.layer_dropout, middle=settings.middle_layers)
        self.pooling = TokenPooling(self.width)

    def forward(self, batch: InputTensors) -> Tensor:
        """The contextual vectors of the tokens [tokens, D]."""
        subwords = batch.subwords
        assert subwords is not None
        states = self.body(subwords.ids, subwords.layout)
        mixed = self.mixture(states, subwords.sentences, batch.tokens.batch)
        result: Tensor = self.pooling(mixed, subwords, batch.tokens.rows)
        return result


def build_encoder(settings: NetworkSettings, *, pretrained: bool) -> SubwordEncoder | ScratchEncoder:
    """The encoder that the settings name; ``pretrained`` false leaves its weights random, for a model to be loaded."""
    if settings.encoder == CHARACTERS:
        return ScratchEncoder(settings)
    return SubwordEncoder(settings, pretrained)
