"""What encoders and decoder are made of: packed sequences, attention between them, feed-forward, character n-grams.

Dropout here is cheap on a CPU.  PyTorch draws a random float for each element, which on a CPU takes as long as the
matrix product before it.  Here a random byte decides, eight of them drawn at once, so a rate is rounded to the nearest
multiple of 1/256.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional
from torch.overrides import TorchFunctionMode

from perin.errors import UsageError
from perin.lazy import cached_property
from perin.network.inputs import InputBatch, Sequences, SubwordBatch

# Sequences of different lengths in one matrix, without padding, and the network's input in this form.  Everything that
# treats rows alone (linear layers, norms, dropout) works on the packed matrix, where the rows of all sequences follow
# one another; only attention and pairwise products need the padded form.


class Layout(Sequences):
    """Where the rows of B sequences lie: packed as ``[rows, …]`` and padded as ``[B, longest, …]``.

    ``longest`` is at least 1, so that no padded tensor is empty.
    """

    def __init__(self, lengths: Sequence[int] | NDArray[np.int64], device: torch.device | str = "cpu") -> None:
        super().__init__(lengths)
        self.device = torch.device(device)
        self.longest = max(1, int(self.lengths.max(initial=0)))
        self.rectangular = bool((self.lengths == self.longest).all())

    def to(self, device: torch.device | str) -> Layout:
        """The same layout for tensors on another device."""
        return self if torch.device(device) == self.device else Layout(self.lengths, device)

    @cached_property
    def cells(self) -> NDArray[np.int64]:
        """[rows]: the place of each packed row in the padded tensor, flattened to ``[B * longest, …]``."""
        return self.sequences * self.longest + self.places

    @cached_property
    def cells_on_device(self) -> Tensor:
        """:attr:`cells` as a tensor."""
        return torch.from_numpy(self.cells).to(self.device)

    @cached_property
    def mask(self) -> Tensor:
        """[B, longest] bool: true where there is a row."""
        lengths = torch.from_numpy(self.lengths).to(self.device)
        return torch.arange(self.longest, device=self.device) < lengths[:, None]

    def repeated(self, times: int) -> Layout:
        """The layout after each row has been replaced by ``times`` rows."""
        return Layout(self.lengths * times, self.device)

    def pad(self, packed: Tensor) -> Tensor:
        """``[rows, …]`` to ``[B, longest, …]``, zero where there is no row."""
        shape = (self.batch, self.longest, *packed.shape[1:])
        if self.rectangular:
            return packed.view(shape)
        return spread(packed, self.cells_on_device, self.batch * self.longest).view(shape)

    def pack(self, padded: Tensor) -> Tensor:
        """``[B, longest, …]`` to ``[rows, …]``."""
        flat = padded.reshape(self.batch * self.longest, *padded.shape[2:])
        return flat if self.rectangular else pick(flat, self.cells_on_device)


def pick(rows: Tensor, places: Tensor) -> Tensor:
    """``rows[places]`` for places that are all different: its gradient is a copy, not a slow sum."""
    result: Tensor = _Pick.apply(rows, places)  # type: ignore[no-untyped-call]
    return result


def spread(rows: Tensor, places: Tensor, count: int) -> Tensor:
    """A tensor of ``count`` rows, zero but for ``rows`` at ``places``, which are all different."""
    result: Tensor = _Spread.apply(rows, places, count)  # type: ignore[no-untyped-call]
    return result


class _Pick(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, rows: Tensor, places: Tensor) -> Tensor:
        ctx.save_for_backward(places)
        ctx.count = len(rows)
        return rows.index_select(0, places)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        (places,) = ctx.saved_tensors
        return _placed(gradients[0], places, ctx.count), None


class _Spread(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, rows: Tensor, places: Tensor, count: int) -> Tensor:
        ctx.save_for_backward(places)
        return _placed(rows, places, count)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:
        (places,) = ctx.saved_tensors
        return gradients[0].index_select(0, places), None, None


def _placed(rows: Tensor, places: Tensor, count: int) -> Tensor:
    return rows.new_zeros(count, *rows.shape[1:]).index_copy_(0, places, rows)


@dataclass(frozen=True, eq=False)
class SubwordTensors:
    """A :class:`~perin.network.inputs.SubwordBatch` on a device."""

    ids: Tensor
    layout: Layout
    sentences: Tensor
    rows: Tensor
    tokens: Tensor


@dataclass(frozen=True, eq=False)
class InputTensors:
    """An :class:`~perin.network.inputs.InputBatch` on a device."""

    tokens: Layout
    subwords: SubwordTensors | None = None
    forms: tuple[Tensor, Tensor] | None = None
    lemmas: tuple[Tensor, Tensor] | None = None

    @classmethod
    def of(cls, batch: InputBatch, device: torch.device | str = "cpu") -> InputTensors:
        """A batch on a device."""

        def on_device(array: NDArray[np.int64]) -> Tensor:
            return torch.from_numpy(array).to(device)

        def subwords(part: SubwordBatch) -> SubwordTensors:
            layout = Layout(part.windows.lengths, device)
            return SubwordTensors(
                on_device(part.ids), layout, *map(on_device, (part.sentences, part.rows, part.tokens))
            )

        def bags(pair: tuple[NDArray[np.int64], NDArray[np.int64]]) -> tuple[Tensor, Tensor]:
            return on_device(pair[0]), on_device(pair[1])

        return cls(
            Layout(batch.tokens.lengths, device),
            None if batch.subwords is None else subwords(batch.subwords),
            None if batch.forms is None else bags(batch.forms),
            None if batch.lemmas is None else bags(batch.lemmas),
        )


def dropout(x: Tensor, rate: float, training: bool) -> Tensor:
    """Zero each element with probability ``rate`` and scale the others so that the mean is kept."""
    if not training or rate == 0:
        return x
    if x.device.type != "cpu":
        return functional.dropout(x, rate, True)
    result: Tensor = _Drop.apply(x, rate)  # type: ignore[no-untyped-call]
    return result


def dropped(shape: tuple[int, ...], rate: float, device: torch.device) -> Tensor:
    """A boolean tensor of which a share of ``rate``, rounded to 1/256, is true."""
    count = 1
    for size in shape:
        count *= size
    draws = torch.empty((count + 7) // 8, dtype=torch.int64, device=device).random_(-(2**63), None)
    return draws.view(torch.uint8)[:count].view(shape) < _of_256(rate)


class Dropout(nn.Module):
    """:func:`dropout` as a module; takes the place of ``torch.nn.Dropout``, of which it has the attribute ``p``."""

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.p = rate

    def forward(self, x: Tensor) -> Tensor:
        """Drop elements of ``x`` in training."""
        return dropout(x, self.p, self.training)

    def extra_repr(self) -> str:
        """What ``print`` shows."""
        return f"p={self.p}"


class _Drop(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, rate: float) -> Tensor:
        kept = ~dropped(tuple(x.shape), rate, x.device)
        ctx.save_for_backward(kept)
        ctx.scale = 256 / (256 - _of_256(rate))
        return _masked(x, kept, ctx.scale)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        (kept,) = ctx.saved_tensors
        return _masked(gradients[0], kept, ctx.scale), None


def _masked(x: Tensor, kept: Tensor, scale: float) -> Tensor:
    """A product with a mask of floats, several times faster than what PyTorch does with one of booleans."""
    return kept.view(torch.uint8).to(x.dtype).mul_(scale).mul_(x)


def _of_256(rate: float) -> int:
    return min(255, max(1, round(rate * 256)))


SMALL = 512 * 512
"""Pairs of query and key up to which plain products are faster than the fused kernel, which needs less memory."""


class Attention(nn.Module):
    """Attention of the rows of a packed matrix to each other or to those of another, within each sequence.

    Dropout hides a key from a query in all heads at once and lets the other keys share its weight; unlike dropout on
    the attention weights it leaves the fused kernel usable.  ``rotary`` encodes relative positions, of any distance,
    for self-attention.
    """

    def __init__(self, width: int, heads: int, dropout: float, *, rotary: bool = False) -> None:
        super().__init__()
        if width % (2 * heads if rotary else heads):
            raise UsageError(f"a width of {width} can't be divided among {heads} attention heads; choose other sizes")
        self.heads = heads
        self.rate = dropout
        self.rotary = rotary
        self.query = nn.Linear(width, width)
        self.memory = nn.Linear(width, 2 * width)
        self.output = nn.Linear(width, width)

    def forward(
        self, x: Tensor, layout: Layout, memory: Tensor | None = None, memory_layout: Layout | None = None
    ) -> Tensor:
        """``x`` [rows, D] attends to ``memory`` [memory rows, D], or else to itself; the result is [rows, D]."""
        keys = memory_layout or layout
        queries, memories = self.query(x), self.memory(x if memory is None else memory)
        apart = x.device.type == "cpu" and not (self.training or torch.is_grad_enabled())
        attend = self._apart if apart else self._together
        result: Tensor = self.output(attend(queries, layout, memories, keys))
        return result

    def _together(self, queries: Tensor, layout: Layout, memories: Tensor, keys: Layout) -> Tensor:
        """All sequences at once, padded."""
        query, key, value = self._parts(layout.pad(queries), keys.pad(memories))
        query, key = self._placed(query, key)
        mask = visible(keys, layout.longest, self.rate if self.training else 0.0)
        mixed = attended_padded(query, key, value, mask)
        return layout.pack(mixed.transpose(1, 2).flatten(2))

    def _apart(self, queries: Tensor, layout: Layout, memories: Tensor, keys: Layout) -> Tensor:
        """One sequence after the other: on a CPU that is faster, for a sequence's weights stay in the cache.

        Nothing is padded, so a sequence's result does not depend on the others in the batch.
        """
        if not layout.batch:
            return queries
        query, key, value = self._parts(queries, memories)
        parts = ((query, layout), (key, keys), (value, keys))
        sequences = zip(*(torch.split(part, own.lengths.tolist(), dim=1) for part, own in parts), strict=True)
        mixed = [attended(*self._placed(query, key), value) for query, key, value in sequences]
        return torch.cat(mixed, 1).transpose(0, 1).flatten(1)

    def _parts(self, query: Tensor, memory: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """[…, S, D] and [… S', 2 D] to queries, keys and values [… heads, S or S', d]."""
        key, value = memory.chunk(2, dim=-1)
        return self._split(query), self._split(key), self._split(value)

    def _placed(self, query: Tensor, key: Tensor) -> tuple[Tensor, Tensor]:
        """Queries and keys of sequences with their positions, if these count."""
        return (rotated(query), rotated(key)) if self.rotary else (query, key)

    def _split(self, x: Tensor) -> Tensor:
        return x.view(*x.shape[:-1], self.heads, x.shape[-1] // self.heads).transpose(-2, -3)


class FeedForward(nn.Sequential):
    """The position-wise layer of a Transformer."""

    def __init__(self, width: int, inner: int, activation: nn.Module) -> None:
        super().__init__(nn.Linear(width, inner), activation, nn.Linear(inner, width))

    @property
    def linear(self) -> tuple[nn.Linear, nn.Linear]:
        """The layers before and after the activation."""
        first, _, second = self
        assert isinstance(first, nn.Linear)
        assert isinstance(second, nn.Linear)
        return first, second


class Residual(nn.Module):
    """The pre-norm residual connection: ``x + dropout(sublayer(norm(x)))``."""

    def __init__(self, width: int, dropout: float, sublayer: nn.Module) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.sublayer = sublayer
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor, *context: Tensor | Layout) -> Tensor:
        """``context`` is what the sublayer needs besides its normalised input."""
        return added(x, self.dropout(self.sublayer(self.norm(x), *context)))


def added(x: Tensor, change: Tensor) -> Tensor:
    """``x + change``; without gradients in the place of ``change``, for new memory takes longer than the sum."""
    return x + change if torch.is_grad_enabled() else change.add_(x)


def visible(keys: Layout, queries: int, rate: float) -> Tensor | None:
    """Which keys a query may see: None for all, else a boolean mask [B, 1, queries or 1, keys].

    No row of it is all false, not even of an empty sequence, for then the softmax would have no value.
    """
    mask = None if keys.rectangular else keys.mask[:, None, None, :]
    if rate > 0:
        kept = ~dropped((keys.batch, 1, queries, keys.longest), rate, keys.device)
        kept = kept if mask is None else kept & mask
        mask = torch.where(kept.any(-1, keepdim=True), kept, True if mask is None else mask)
    if mask is None or keys.lengths.all():
        return mask
    first = torch.zeros(keys.longest, dtype=torch.bool, device=keys.device)
    first[0] = True
    return torch.where(mask.any(-1, keepdim=True), mask, first)


def attended_padded(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> Tensor:
    """Attention of ``query`` [B, heads, S, d] to the visible ones of ``key`` and ``value`` [B, heads, S', d].

    On a CPU, PyTorch's fused kernel is three to five times as slow in bfloat16 as plain products.
    """
    if query.device.type != "cpu" or query.dtype != torch.bfloat16:
        return functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    weights = torch.matmul(query * query.shape[-1] ** -0.5, key.transpose(-1, -2))
    if mask is not None:
        weights = weights.masked_fill(~mask, -math.inf)
    return torch.matmul(weights.softmax(-1).to(value.dtype), value)


def attended(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Attention within one sequence: ``query`` [heads, S, d] to ``key`` and ``value`` [heads, S', d]."""
    if query.shape[1] * key.shape[1] > SMALL:
        return functional.scaled_dot_product_attention(query[None], key[None], value[None])[0]
    nothing = query.new_zeros(())
    weights = torch.baddbmm(nothing, query, key.transpose(1, 2), beta=0, alpha=query.shape[-1] ** -0.5)
    return torch.bmm(weights.softmax(-1), value)


def rotated(x: Tensor) -> Tensor:
    """``x`` [… heads, S, d] with each pair of features turned by an angle proportional to its position in S.

    The product of a rotated query and a rotated key then depends on their distance, not on where they are.
    """
    half = x.shape[-1] // 2
    speeds = torch.exp(torch.arange(half, device=x.device) * (-math.log(10000.0) / half))
    angles = torch.arange(x.shape[-2], device=x.device)[:, None] * speeds
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    first, second = x[..., :half], x[..., half:]
    return torch.cat((first * cos - second * sin, first * sin + second * cos), dim=-1)


class CharacterEmbedding(nn.Module):
    """The mean of a word's n-gram vectors, mapped to the wanted width and normalised."""

    def __init__(self, buckets: int, gram_width: int, width: int) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.randn(buckets, gram_width) * gram_width**-0.5)
        self.linear = nn.Linear(gram_width, width)
        self.norm = nn.LayerNorm(width)

    def forward(self, rows: Tensor, starts: Tensor) -> Tensor:
        """``rows`` [G] of the table, of which word i has those from ``starts[i]``, to [words, width]."""
        bag = functional.embedding_bag(rows, self.table, starts, mode="mean")
        result: Tensor = self.norm(self.linear(bag))
        return result


# Networks whose weights come from a file: made without the random numbers that nobody would see.


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
