"""Beginning with the weights of another model: to train on, or to teach it another treebank."""

from __future__ import annotations

from typing import Any

import torch

from perin.network.heads import owner_name
from perin.parsing.model import Model


@torch.no_grad()
def take_weights(model: Model, source: Model) -> list[str]:
    """Copy into ``model`` all weights of ``source`` that mean the same there; returns the names of those left as new.

    Weights mean the same if they have the same place and size and, in a head, the same classes.
    """
    theirs = source.network.state_dict()
    known, wanted = _classes(source), _classes(model)
    left = []
    for name, weight in model.network.state_dict().items():
        head = ".".join(name.split(".")[:3])
        alike = name in theirs and theirs[name].shape == weight.shape and known.get(head) == wanted.get(head)
        if alike:
            weight.copy_(theirs[name])
        else:
            left.append(name)
    return left


def _classes(model: Model) -> dict[str, Any]:
    """What the outputs of each head stand for, by the start of its weights' names."""
    found = {}
    for name, treebank in model.treebanks.items():
        words, sizes = treebank.vocabulary, treebank.sizes
        for kind, classes in (
            ("labels", words.rules),
            ("edge_labels", words.edge_labels),
            ("edge_attributes", words.edge_attributes),
            ("property_classes", words.property_classes),
        ):
            found[f"heads.{kind}.{owner_name(name, sizes, kind)}"] = classes
    return found
