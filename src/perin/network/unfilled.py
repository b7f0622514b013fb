"""Networks whose weights come from a file: made without the random numbers that nobody would see."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

_RANDOM = frozenset(("kaiming_uniform_", "normal_", "uniform_"))
"""Functions that fill a tensor."""


class Unfilled(TorchFunctionMode):
    """Inside ``with Unfilled():`` weights are made without values; others must be assigned to them before use."""

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Do nothing instead of drawing random numbers."""
        named = kwargs or {}
        if getattr(func, "__name__", "") in _RANDOM:
            return args[0] if args else named["tensor"]
        return (torch.empty if func is torch.randn else func)(*args, **named)
