"""Biaffine scores of pairs: anchors and edges (paper, section "Overall Architecture")."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from perin.network.dropout import Dropout
from perin.network.layout import Layout


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
        s = source_layout.pad(self.dropout(functional.elu(self.source(sources))))
        t = target_layout.pad(self.dropout(functional.elu(self.target(targets))))
        batch, length, inner = s.shape
        pairs = self.pair(s).view(batch, length * self.outputs, inner)
        scores = torch.baddbmm(self.single(s).view(batch, -1, 1), pairs, t.transpose(1, 2))
        return scores.view(batch, length, self.outputs, -1).transpose(2, 3)
