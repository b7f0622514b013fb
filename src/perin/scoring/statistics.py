"""How sure a score is: bootstrap intervals over graphs, and the paired comparison of two systems.

Graphs are drawn with replacement from those that were scored; random numbers are always the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from perin.errors import UsageError
from perin.scoring.result import Block, Result

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SAMPLES = 10_000
_CHUNK = 500
_SEED = 20


@dataclass(frozen=True, slots=True)
class Interval:
    """Where a number lies with some confidence."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Contrast:
    """Two systems on the same graphs: F1 of the second minus F1 of the first.

    ``p`` is the probability of so large a difference, either way, between systems whose outputs can be exchanged.
    """

    difference: float
    interval: Interval
    p: float


def check_confidence(confidence: float) -> None:
    """Refuse a confidence that is no percentage between 0 and 100."""
    if not 0 < confidence < 100:
        raise UsageError(f"a confidence must lie between 0 and 100 percent, not at {confidence:g}")


def intervals(block: Block, confidence: float = 95.0) -> dict[str, Interval]:
    """For each key of the metric, where F1 lies with this confidence, in percent."""
    import numpy as np

    keys = block.metric.keys
    counts = np.stack([_counts(block, key) for key in keys])
    samples = np.concatenate(
        [_f1(np.einsum("bn,knt->kbt", drawn, counts)) for drawn in _drawn(len(block.graphs))], axis=1
    )
    return {key: _interval(sampled, confidence) for key, sampled in zip(keys, samples, strict=True)}


def contrast(first: Block, second: Block, confidence: float = 95.0) -> Contrast:
    """Compare two systems by the F1 that their metric is quoted by."""
    import numpy as np

    if [(graph.id, graph.framework, graph.language) for graph in first.graphs] != [
        (graph.id, graph.framework, graph.language) for graph in second.graphs
    ]:
        raise UsageError("two systems can only be compared on the same gold graphs")
    one, two = (_counts(block, block.metric.main) for block in (first, second))
    differences = np.concatenate([_f1(drawn @ two) - _f1(drawn @ one) for drawn in _drawn(len(one))])
    observed = second.f1 - first.f1
    random = np.random.default_rng(_SEED)
    extreme = 0
    for _ in range(0, SAMPLES, _CHUNK):
        swapped = random.integers(0, 2, (_CHUNK, len(one))).astype(np.float64)
        shift = swapped @ (two - one)
        change = _f1(two.sum(0) - shift) - _f1(one.sum(0) + shift)
        extreme += int((np.abs(change) >= abs(observed) - 1e-12).sum())
    return Contrast(observed, _interval(differences, confidence), (extreme + 1) / (SAMPLES + 1))


def contrasts_to_first(results: Mapping[str, Result], confidence: float) -> dict[str, Contrast]:
    """Every system after the first compared with the first."""
    (_, first), *others = results.items()
    return {name: contrast(first.total, other.total, confidence) for name, other in others}


def _counts(block: Block, key: str) -> NDArray[np.float64]:
    """``[graphs, 3]``: gold, system, matching items."""
    import numpy as np

    tallies = (graph.comparison.tallies[key] for graph in block.graphs)
    return np.array([(tally.g, tally.s, tally.c) for tally in tallies], dtype=np.float64).reshape(-1, 3)


def _f1(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    import numpy as np

    items = counts[..., 0] + counts[..., 1]
    return np.divide(2 * counts[..., 2], items, out=np.zeros_like(items), where=items > 0)


def _drawn(count: int) -> Iterator[NDArray[np.float64]]:
    """``[samples, graphs]``: how often each graph was drawn, some samples at a time."""
    import numpy as np

    random = np.random.default_rng(_SEED)
    for _ in range(0, SAMPLES, _CHUNK):
        yield random.multinomial(count, np.full(count, 1 / count), _CHUNK).astype(np.float64)


def _interval(samples: NDArray[np.float64], confidence: float) -> Interval:
    import numpy as np

    check_confidence(confidence)
    tail = (100 - confidence) / 2
    low, high = np.percentile(samples, (tail, 100 - tail))
    return Interval(float(low), float(high))
