"""Beginning with the weights of another model: to train on, or to teach it another treebank."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from perin.network.heads import owner_name
from perin.parsing.model import Model


@torch.no_grad()
def take_weights(model: Model, source: Model) -> list[str]:
    """Copy into ``model`` all weights of ``source`` that mean the same there; returns the names of those left as new.

    Weights mean the same if they have the same place and size and, in a head, the same classes.  Of label heads with
    different rules the common rules are taken, and of different numbers of queries the first ones; their names are
    returned nevertheless, for a part of them is new.
    """
    theirs = source.network.state_dict()
    known, wanted = _classes(source), _classes(model)
    left = []
    for name, weight in model.network.state_dict().items():
        head = ".".join(name.split(".")[:3])
        if name in theirs and theirs[name].shape == weight.shape and known.get(head) == wanted.get(head):
            weight.copy_(theirs[name])
            continue
        left.append(name)
        if name in theirs and name.startswith("queries."):
            rows = torch.arange(min(len(weight), len(theirs[name])))
            _take(weight, theirs[name], rows, rows)
        elif head in known and name.startswith(f"{head}.output.") and head.startswith("heads.labels."):
            _take(weight, theirs[name], *_common(wanted[head], known[head]))
    return left


def _take(weight: Tensor, source: Tensor, rows: Tensor, source_rows: Tensor) -> None:
    if weight.shape[1:] == source.shape[1:]:
        weight[rows] = source[source_rows]


def _common(rules: Any, source: Any) -> tuple[Tensor, Tensor]:
    """The numbers of the common rules, and of null, here and there."""
    if rules.space != source.space:
        return torch.tensor([0]), torch.tensor([0])
    numbers = {rule: number for number, rule in enumerate(source, start=1)}
    pairs = [(number, numbers[rule]) for number, rule in enumerate(rules, start=1) if rule in numbers]
    here, there = torch.tensor([(0, 0), *pairs]).unbind(1)
    return here, there


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
