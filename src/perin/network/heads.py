"""The heads of all treebanks, each used by one treebank or shared by several of a family."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from perin.errors import UsageError
from perin.network.layers import Dropout, Layout
from perin.network.settings import KINDS, Frequencies, HeadSizes, NetworkSettings, owner_name


def exact(x: Tensor) -> Tensor:
    """What a product of mixed precision gave, in 32 bits; all else as it is."""
    return x.float() if x.dtype in (torch.bfloat16, torch.float16) else x


class Biaffine(nn.Module):
    """A score, or several, for each pair of a source and a target of one sentence.

    score = s' W t + u' s + v' t + b, with s and t small hidden layers over the two vectors.  W, u and v start at 0, so
    the first scores are b.
    """

    def __init__(self, source: int, target: int, inner: int, outputs: int, dropout: float) -> None:
        super().__init__()
        self.outputs = outputs
        self.source = nn.Linear(source, inner)
        self.target = nn.Linear(target, inner)
        self.dropout = Dropout(dropout)
        self.pair = nn.Linear(inner, outputs * inner)
        self.single = nn.Linear(inner, outputs)
        for parameter in (*self.pair.parameters(), *self.single.parameters()):
            nn.init.zeros_(parameter)

    def forward(self, sources: Tensor, source_layout: Layout, targets: Tensor, target_layout: Layout) -> Tensor:
        """``sources`` [source rows, D] and ``targets`` [target rows, D'] to [B, S, T, outputs]."""
        return self._of_all(self._source(sources), source_layout, self._target(targets), target_layout)

    def pairs(self, rows: Tensor, layout: Layout) -> Pairs:
        """The scores of the pairs of ``rows`` [rows, D] of one sentence, to be computed when they are asked for."""
        return BiaffinePairs(self, self._source(rows), self._target(rows), layout)

    def _source(self, rows: Tensor) -> Tensor:
        small: Tensor = self.dropout(functional.elu(self.source(rows)))
        return small

    def _target(self, rows: Tensor) -> Tensor:
        small: Tensor = self.dropout(functional.elu(self.target(rows)))
        return small

    def _of_all(self, sources: Tensor, source_layout: Layout, targets: Tensor, target_layout: Layout) -> Tensor:
        """All scores [B, S, T, outputs] of the small vectors ``sources`` and ``targets``."""
        s, t = source_layout.pad(sources), target_layout.pad(targets)
        batch, length, inner = s.shape
        pairs = self.pair(s).view(batch, length * self.outputs, inner)
        scores = torch.baddbmm(self.single(s).view(batch, -1, 1), pairs, t.transpose(1, 2))
        return scores.view(batch, length, self.outputs, -1).transpose(2, 3)

    def _of_each(self, sources: Tensor, targets: Tensor) -> Tensor:
        """The scores [E, outputs] of each small vector of ``sources`` with that of ``targets`` in the same row."""
        pairs = self.pair(sources).view(len(sources), self.outputs, self.source.out_features)
        return exact(torch.bmm(pairs, targets[:, :, None].to(pairs)).squeeze(2)) + exact(self.single(sources))


class Pairs(Protocol):
    """Scores of the pairs of the rows of each sentence: of all of them, or only of those that are asked for."""

    def all(self) -> Tensor:
        """[B, S, S, outputs]: rows are sources."""
        ...

    def at(self, cells: NDArray[np.int64]) -> Tensor:
        """[E, outputs]: of the pairs at these places of a flattened [B, S, S]."""
        ...


@dataclass(frozen=True, eq=False)
class GivenPairs:
    """Scores that are there already, [B, S, S, outputs]."""

    scores: Tensor

    def all(self) -> Tensor:
        """[B, S, S, outputs]"""
        return self.scores

    def at(self, cells: NDArray[np.int64]) -> Tensor:
        """[E, outputs]"""
        return self.scores.flatten(0, 2)[torch.from_numpy(cells).to(self.scores.device)]


@dataclass(frozen=True, eq=False)
class BiaffinePairs:
    """Scores of a :class:`Biaffine` head, given its small vectors of sources and targets [rows, inner].

    Training needs the labels of edges only, one pair in some thirty, and a treebank can have a hundred labels.
    """

    head: Biaffine
    sources: Tensor
    targets: Tensor
    layout: Layout

    def all(self) -> Tensor:
        """[B, S, S, outputs]"""
        return self.head._of_all(self.sources, self.layout, self.targets, self.layout)

    def at(self, cells: NDArray[np.int64]) -> Tensor:
        """[E, outputs]"""
        longest = self.layout.longest
        rows = np.zeros(self.layout.batch * longest, dtype=np.int64)
        rows[self.layout.cells] = np.arange(len(self.layout.cells))
        sources, places = np.divmod(cells, longest)
        targets = sources // longest * longest + places
        chosen = torch.from_numpy(rows[np.stack((sources, targets))]).to(self.sources.device)
        return self.head._of_each(self.sources.index_select(0, chosen[0]), self.targets.index_select(0, chosen[1]))


TINIEST = 1e-30
"""Probabilities below this are taken for it, so that their logarithms are finite."""


class LabelHead(nn.Module):
    """P(r | h) = sum over k of pi_k softmax(x_k W + b), where x_k = tanh(W_k h + b_k).

    One component is a plain softmax over h itself.
    """

    def __init__(self, width: int, classes: int, components: int, dropout: float) -> None:
        super().__init__()
        self.components = components
        self.dropout = Dropout(dropout)
        self.output = nn.Linear(width, classes)
        if components > 1:
            self.prior = nn.Linear(width, components)
            self.latent = nn.Linear(width, components * width)

    def forward(self, h: Tensor) -> Tensor:
        """``h`` [queries, D] to log-probabilities [queries, R + 1]."""
        h = self.dropout(h)
        if self.components == 1:
            plain: Tensor = exact(self.output(h)).log_softmax(-1)
            return plain
        gates = exact(self.prior(h)).sigmoid()
        prior = gates / gates.sum(-1, keepdim=True)
        latent = self.latent(h).tanh().view(len(h), self.components, h.shape[1])
        components = exact(self.output(latent)).softmax(-1)
        with torch.autocast(h.device.type, enabled=False):
            mixed = torch.bmm(prior[:, None], components).squeeze(1)
        return mixed.clamp_min(TINIEST).log()

    def probabilities(self, h: Tensor) -> Tensor:
        """What :meth:`forward` gives the logarithm of, for inference: holds one component at a time."""
        if self.components == 1:
            plain: Tensor = self.output(h).softmax(-1)
            return plain
        gates = self.prior(h).sigmoid()
        prior = gates / gates.sum(-1, keepdim=True)
        latent = self.latent(h).tanh().chunk(self.components, dim=-1)
        mixed: Tensor = self.output(latent[0]).softmax(-1).mul_(prior[:, :1])
        for number in range(1, self.components):
            mixed.addcmul_(self.output(latent[number]).softmax(-1), prior[:, number : number + 1])
        return mixed

    def nodes(self, h: Tensor, null_threshold: float) -> tuple[Tensor, Tensor]:
        """Which queries [queries] are less likely null than that, and their :meth:`probabilities` [nodes, R + 1]."""
        probabilities = self.probabilities(h)
        accepted = probabilities[:, 0] < null_threshold
        return accepted, probabilities[accepted]


class Heads(nn.ModuleDict):
    """All heads by kind, and of a kind by the treebank or family that uses them."""

    def __init__(self, settings: NetworkSettings, width: int, treebanks: Mapping[str, HeadSizes]) -> None:
        groups = {kind: nn.ModuleDict() for kind in KINDS}
        owners: dict[tuple[str, str], str] = {}
        for treebank, sizes in treebanks.items():
            for kind in sizes.kinds:
                key = owner_name(treebank, sizes, kind)
                first = owners.setdefault((kind, key), treebank)
                if first == treebank:
                    groups[kind][key] = _head(kind, settings, width, sizes)
                elif treebanks[first].outputs(kind) != sizes.outputs(kind):
                    raise UsageError(
                        f"{first} and {treebank} share their {kind.replace('_', ' ')} but differ in them; "
                        "learn one vocabulary from both, or don't share"
                    )
        super().__init__(groups)

    def of(self, treebank: str, sizes: HeadSizes) -> TreebankHeads:
        """The heads of one treebank."""
        names = {kind: owner_name(treebank, sizes, kind) for kind in sizes.kinds}
        return TreebankHeads({kind: self.get_submodule(f"{kind}.{name}") for kind, name in names.items()}, sizes)


class TreebankHeads:
    """The heads of one treebank; holds no weights of its own.

    N below is the longest row of nodes in the batch; what lies beyond a sentence's nodes means nothing.
    """

    def __init__(self, heads: Mapping[str, Any], sizes: HeadSizes) -> None:
        self.heads = heads
        self.sizes = sizes

    def labels(self, h: Tensor) -> Tensor:
        """[queries, D] to log-probabilities of null and the rules [queries, R + 1]."""
        result: Tensor = self.heads["labels"](h)
        return result

    def label_probabilities(self, h: Tensor) -> Tensor:
        """[queries, D] to probabilities of null and the rules [queries, R + 1], for inference."""
        result: Tensor = self.heads["labels"].probabilities(h)
        return result

    def nodes(self, h: Tensor) -> tuple[Tensor, Tensor]:
        """Which queries become nodes [queries], and the label probabilities of those [nodes, R + 1]."""
        result: tuple[Tensor, Tensor] = self.heads["labels"].nodes(h, self.sizes.null_threshold)
        return result

    def anchors(self, h: Tensor, layout: Layout, tokens: Tensor, token_layout: Layout) -> Tensor:
        """Logits [B, N, T] that a query is anchored to a token."""
        result: Tensor = self.heads["anchors"](h, layout, tokens, token_layout).squeeze(-1)
        return result

    def presence(self, h: Tensor, layout: Layout) -> Tensor:
        """Logits [B, N, N] of an edge; rows are sources."""
        result: Tensor = self.heads["presence"](h, layout, h, layout).squeeze(-1)
        return result

    def edge_labels(self, h: Tensor, layout: Layout) -> Tensor:
        """Logits [B, N, N, L]."""
        result: Tensor = self.heads["edge_labels"](h, layout, h, layout)
        return result

    def edge_label_pairs(self, h: Tensor, layout: Layout) -> Pairs:
        """:meth:`edge_labels`, when they are asked for."""
        result: Pairs = self.heads["edge_labels"].pairs(h, layout)
        return result

    def edge_attribute_pairs(self, h: Tensor, layout: Layout) -> Pairs:
        """:meth:`edge_attributes`, when they are asked for."""
        result: Pairs = self.heads["edge_attributes"].pairs(h, layout)
        return result

    def edge_attributes(self, h: Tensor, layout: Layout) -> Tensor:
        """Logits [B, N, N, A]."""
        result: Tensor = self.heads["edge_attributes"](h, layout, h, layout)
        return result

    def properties(self, h: Tensor) -> Tensor:
        """[nodes, D] to logits [nodes]."""
        result: Tensor = self.heads["properties"](h).squeeze(-1)
        return result

    def property_classes(self, h: Tensor) -> dict[str, Tensor]:
        """[nodes, D] to logits [nodes, C] of each property."""
        logits = self.heads["property_classes"](h).split([count for _, count in self.sizes.property_classes], dim=-1)
        return {name: part for (name, _), part in zip(self.sizes.property_classes, logits, strict=True)}

    def tops(self, h: Tensor) -> Tensor:
        """[nodes, D] to scores [nodes], to be normalised over the nodes of a sentence."""
        result: Tensor = self.heads["tops"](h).squeeze(-1)
        return result

    @torch.no_grad()
    def initialise(self, frequencies: Frequencies) -> None:
        """Start the biases from how often each output is right, so that training need not learn that first."""
        sizes, heads = self.sizes, self.heads
        heads["labels"].output.bias.copy_(_log(frequencies.labels))
        heads["presence"].single.bias.fill_(_logit(frequencies.presence))
        if sizes.multi_label:
            heads["edge_labels"].single.bias.copy_(_log(frequencies.edge_labels) - _log(1 - frequencies.edge_labels))
        else:
            heads["edge_labels"].single.bias.copy_(_log(frequencies.edge_labels))
        if sizes.anchors:
            heads["anchors"].single.bias.fill_(_logit(frequencies.anchors))
        if sizes.edge_attributes:
            heads["edge_attributes"].single.bias.copy_(_log(frequencies.edge_attributes))
        if sizes.properties:
            heads["properties"][1].bias.fill_(_logit(frequencies.properties))
        if sizes.property_classes:
            parts = [_log(frequencies.property_classes[name]) for name, _ in sizes.property_classes]
            heads["property_classes"][1].bias.copy_(torch.cat(parts))


def _head(kind: str, settings: NetworkSettings, width: int, sizes: HeadSizes) -> nn.Module:
    if kind == "labels":
        return LabelHead(width, sizes.rules + 1, settings.mixture, settings.label_dropout)
    if kind == "properties":
        return nn.Sequential(Dropout(settings.property_dropout), nn.Linear(width, 1))
    if kind == "property_classes":
        classes = sum(count for _, count in sizes.property_classes)
        return nn.Sequential(Dropout(settings.property_dropout), nn.Linear(width, classes))
    if kind == "tops":
        return nn.Sequential(Dropout(settings.top_dropout), nn.Linear(width, 1, bias=False))
    inner, outputs, dropout = {
        "anchors": (settings.anchor_width, 1, settings.anchor_dropout),
        "presence": (settings.presence_width, 1, settings.edge_dropout),
        "edge_labels": (settings.edge_label_width, sizes.edge_labels, settings.edge_dropout),
        "edge_attributes": (settings.attribute_width, sizes.edge_attributes, settings.edge_dropout),
    }[kind]
    return Biaffine(width, width, inner, outputs, dropout)


def _log(shares: NDArray[np.float64]) -> Tensor:
    return torch.from_numpy(np.log(np.clip(shares, 1e-6, None))).float()


def _logit(share: float) -> float:
    share = min(max(share, 1e-6), 1 - 1e-6)
    return float(np.log(share) - np.log1p(-share))
