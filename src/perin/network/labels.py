"""The label head: a mixture of softmaxes over the relative rules (paper, section "Prediction of Relative Rules")."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from perin.network.dropout import Dropout

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
            plain: Tensor = self.output(h).log_softmax(-1)
            return plain
        gates = self.prior(h).sigmoid()
        prior = gates / gates.sum(-1, keepdim=True)
        latent = self.latent(h).tanh().view(len(h), self.components, h.shape[1])
        mixed = torch.bmm(prior[:, None], self.output(latent).softmax(-1)).squeeze(1)
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

    def nodes(self, h: Tensor, limit: float) -> tuple[Tensor, Tensor]:
        """Which queries are null by less than ``limit`` [queries], and their :meth:`probabilities` [nodes, R + 1]."""
        probabilities = self.probabilities(h)
        accepted = probabilities[:, 0] < limit
        return accepted, probabilities[accepted]
