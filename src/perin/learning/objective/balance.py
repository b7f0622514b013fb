"""Weights of the losses (paper, section "Balanced Loss Weights").

GradNorm keeps the norms of the weighted losses' gradients in proportion to how slowly each loss falls.  What differs is
where the gradients are compared:

* at the hidden states h that all heads share.  The one backward pass of the weighted sum goes through there anyway, so
  that the comparison costs a norm for each loss;
* at the weights of the last decoder layer, as in the paper: a backward pass for each loss.

Weights are softmaxes of what is learned, times their number: always positive, with a mean of 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

Floats: TypeAlias = NDArray[np.float64]
Kind: TypeAlias = Literal["hidden", "layer", "equal"]


class GradNorm:
    """The update rule of the weights, given losses and gradient norms; knows nothing of networks.

    The weights follow the gradient of the sum over tasks of |G_k - mean(G) (r_k / mean(r))^alpha|, where
    G_k = w_k |grad l_k| and r_k is the loss relative to its initial value, by Adam.  The initial value is the mean over
    the first ``baseline`` updates.
    """

    def __init__(self, tasks: Sequence[str], *, alpha: float = 1.5, rate: float = 1e-3, baseline: int = 20) -> None:
        self.tasks = tuple(tasks)
        self.alpha = alpha
        self.rate = rate
        self.baseline = baseline
        self.scores: Floats = np.zeros(len(self.tasks))
        self.moments: Floats = np.zeros((2, len(self.tasks)))
        self.initial: Floats = np.zeros(len(self.tasks))
        self.seen: Floats = np.zeros(len(self.tasks))
        self.steps = 0

    @property
    def weights(self) -> dict[str, float]:
        """The weight of each task."""
        return dict(zip(self.tasks, self._weights().tolist(), strict=True))

    def update(self, losses: Mapping[str, float], norms: Mapping[str, float]) -> None:
        """Move the weights, given the losses and the norms of the gradients of the *unweighted* losses.

        A task that is missing or whose gradient is 0 or not finite is left out of this update.
        """
        loss = np.array([losses.get(task, np.nan) for task in self.tasks])
        norm = np.array([norms.get(task, np.nan) for task in self.tasks])
        active = np.isfinite(loss) & np.isfinite(norm) & (norm > 0)
        early = active & (self.seen < self.baseline)
        self.seen[early] += 1
        self.initial[early] += (loss[early] - self.initial[early]) / self.seen[early]
        if active.sum() < 2:
            return
        gradient = np.zeros(len(self.tasks))
        gradient[active] = self._gradient(loss[active], norm[active], active)
        self._adam(gradient)

    def _gradient(self, loss: Floats, norm: Floats, active: NDArray[np.bool_]) -> Floats:
        """The gradient with respect to the active scores; the wanted norms count as constants."""
        weights = self._weights()[active]
        weighted = weights * norm
        rates = loss / np.maximum(self.initial[active], 1e-8)
        wanted = weighted.mean() * (rates / max(rates.mean(), 1e-8)) ** self.alpha
        by_weight = np.sign(weighted - wanted) * norm
        result: Floats = weights * (by_weight - (by_weight * weights).sum() / weights.sum())
        return result

    def _adam(self, gradient: Floats, beta1: float = 0.9, beta2: float = 0.98) -> None:
        self.steps += 1
        self.moments[0] += (1 - beta1) * (gradient - self.moments[0])
        self.moments[1] += (1 - beta2) * (gradient**2 - self.moments[1])
        mean = self.moments[0] / (1 - beta1**self.steps)
        spread = np.sqrt(self.moments[1] / (1 - beta2**self.steps))
        self.scores -= self.rate * mean / np.maximum(spread, 1e-12)
        self.scores -= self.scores.mean()

    def _weights(self) -> Floats:
        powers = np.exp(self.scores - self.scores.max())
        result: Floats = len(powers) * powers / powers.sum()
        return result

    def state_dict(self) -> dict[str, Any]:
        """All that changes, as plain numbers and lists."""
        arrays = {name: getattr(self, name).tolist() for name in ("scores", "moments", "initial", "seen")}
        return {"tasks": list(self.tasks), "steps": self.steps, **arrays}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """The inverse of :meth:`state_dict`."""
        if tuple(state["tasks"]) != self.tasks:
            raise ValueError(f"the saved balance is of {state['tasks']}, not of {list(self.tasks)}")
        self.steps = int(state["steps"])
        for name in ("scores", "moments", "initial", "seen"):
            setattr(self, name, np.array(state[name], dtype=np.float64))


class Balance:
    """The weights of one treebank's losses, and the measurement of their gradients during a training step.

    In a step: :meth:`tap` what each head reads, :meth:`weigh` the losses, call ``backward`` on the result (of all
    treebanks together), then :meth:`update` by what was :meth:`measured`.  ``shared`` are the weights at which the
    kind "layer" compares.
    """

    def __init__(self, kind: Kind, rule: GradNorm, shared: Iterable[nn.Parameter] = ()) -> None:
        self.kind = kind
        self.rule = rule
        self.shared = list(shared)
        self._norms: dict[str, list[Tensor]] = {}
        self._losses: dict[str, list[Tensor]] = {}

    @property
    def weights(self) -> dict[str, float]:
        """The weight of each task, as in the next call of :meth:`weigh`."""
        return dict.fromkeys(self.rule.tasks, 1.0) if self.kind == "equal" else self.rule.weights

    def tap(self, task: str, x: Tensor) -> Tensor:
        """``x`` for the head of a task; the norm of the gradient that comes back is measured on the way."""
        if self.kind != "hidden" or not x.requires_grad:
            return x
        alias = x.view_as(x)
        alias.register_hook(self._measurer(task))  # type: ignore[no-untyped-call]
        return alias

    def weigh(self, means: Mapping[str, Tensor]) -> Tensor:
        """The weighted sum of the losses, to be differentiated once."""
        weights = self.weights
        if self.kind == "layer":
            for task, loss in means.items():
                self._norms.setdefault(task, []).append(_layer_norm(loss, self.shared))
        for task, loss in means.items():
            self._losses.setdefault(task, []).append(loss.detach())
        return torch.stack([weights[task] * loss for task, loss in means.items()]).sum()

    def measured(self) -> tuple[dict[str, float], dict[str, float]]:
        """Losses and norms of the unweighted losses' gradients since the last call, averaged over the batches."""
        losses = {task: float(torch.stack(values).mean()) for task, values in self._losses.items()}
        norms = {task: float(torch.stack(values).mean()) for task, values in self._norms.items()}
        if self.kind == "hidden":
            norms = {task: norm / self.weights[task] for task, norm in norms.items()}
        self._losses, self._norms = {}, {}
        return losses, norms

    def update(self, losses: Mapping[str, float], norms: Mapping[str, float]) -> None:
        """Move the weights by what :meth:`measured` says."""
        if self.kind != "equal":
            self.rule.update(losses, norms)

    def _measurer(self, task: str) -> Callable[[Tensor], None]:
        def measure(gradient: Tensor) -> None:
            self._norms.setdefault(task, []).append(gradient.norm())

        return measure


def _layer_norm(loss: Tensor, parameters: Sequence[nn.Parameter]) -> Tensor:
    if not loss.requires_grad:
        return torch.zeros(())
    gradients = torch.autograd.grad(loss, parameters, retain_graph=True, allow_unused=True)
    norms = [gradient.norm() for gradient in gradients if gradient is not None]
    return torch.stack(norms).norm() if norms else torch.zeros(())
