"""Reports of scores: how sure they are, tables for people, in percent, JSON for programs, and differences of graphs."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TextIO

from perin.errors import UsageError, one_line
from perin.files import write_text
from perin.graphs.graph import Graph
from perin.scoring.items import TYPES, Items, items
from perin.scoring.result import TRACKS, Block, GraphScore, Result, Tally

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


# How sure a score is: bootstrap intervals over graphs, and the paired comparison of two systems.  Graphs are drawn with
# replacement from those that were scored; random numbers are always the same.


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
    counts = np.stack([_tally_counts(block, key) for key in keys])
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
    one, two = (_tally_counts(block, block.metric.main) for block in (first, second))
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


def _tally_counts(block: Block, key: str) -> NDArray[np.float64]:
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


Row = Sequence[str]


def overview(result: Result, confidence: Mapping[str, Interval] | None = None) -> str:
    """All numbers of one system; with several frameworks or languages also F1 of each, and the means."""
    total = result.total
    parts = [_headline(total), _counts(total, confidence)]
    if len(result.blocks) > 1:
        parts.append(_blocks(result))
    return "\n\n".join(parts)


def by_graph(result: Result, name: str = "graph") -> str:
    """F1 of each graph, one per line; ``name`` is the heading of their ids."""
    keys = result.metric.keys
    rows = [(name, "framework", "language", *keys, "proven optimal")]
    for graph in result.graphs:
        tallies = graph.comparison.tallies
        numbers = [_f1_if_any(tallies[key]) for key in keys]
        rows.append(
            (graph.id, graph.framework or "", graph.language or "", *numbers, "yes" if graph.comparison.exact else "NO")
        )
    return _aligned(rows, left=3)


def by_framework(systems: Mapping[str, Result]) -> str:
    """The quoted F1 of each system by framework and language, a table for each track with the mean over it."""
    tables = []
    for track in TRACKS:
        names = list(
            dict.fromkeys(block.name for result in systems.values() for block in result.blocks if block.track == track)
        )
        if not names:
            continue
        rows: list[Row] = [(track, *names, "mean")]
        for system, result in systems.items():
            scores = {block.name: block.f1 for block in result.blocks}
            mean = result.macro(track)[result.metric.main]["f"]
            rows.append((system, *(_percent(scores[name]) for name in names), _percent(mean)))
        tables.append(_aligned(rows))
    return "\n\n".join(tables)


def by_type(systems: Mapping[str, Result]) -> str:
    """F1 of each system by item type, means over all frameworks and languages."""
    keys = next(iter(systems.values())).metric.keys
    rows: list[Row] = [("macro F1", *keys)]
    for system, result in systems.items():
        macro, total = result.macro(), result.total.tallies
        rows.append((system, *(_percent(macro[key]["f"]) if total[key].g or total[key].s else "" for key in keys)))
    return _aligned(rows)


def contrasts(first: str, others: Mapping[str, Contrast]) -> str:
    """How other systems differ from the first."""
    rows: list[Row] = [(f"against {first}", "F1 more", "from", "to", "p")]
    for system, each in others.items():
        numbers = (each.difference, each.interval.low, each.interval.high)
        rows.append((system, *(f"{100 * number:+.2f}" for number in numbers), f"{each.p:.4f}"))
    return _aligned(rows)


def as_json(results: Mapping[str, Result], *, per_graph: bool, confidence: float | None) -> dict[str, Any]:
    """The numbers of one system, or of several compared with the first."""
    data = {}
    for name, result in results.items():
        data[name] = result.as_json(per_graph=per_graph)
        if confidence is not None:
            found = intervals(result.total, confidence)
            bounds = {key: [interval.low, interval.high] for key, interval in found.items()}
            data[name]["confidence"] = {"percent": confidence, **bounds}
    if len(data) == 1:
        return data.popitem()[1]
    whole: dict[str, Any] = {"systems": data}
    if confidence is not None:
        whole["contrasts"] = {
            name: {"difference": each.difference, "interval": [each.interval.low, each.interval.high], "p": each.p}
            for name, each in contrasts_to_first(results, confidence).items()
        }
    return whole


def _headline(block: Block) -> str:
    parts = [f"{block.metric.name}: {len(block.graphs)} graphs", f"{block.missing} missing"]
    if block.metric.searches:
        parts.append(f"{block.exact} proven optimal")
    return ", ".join([*parts, f"{block.seconds:.1f} s"])


def _counts(block: Block, confidence: Mapping[str, Interval] | None) -> str:
    rows: list[Row] = [("", "gold", "system", "match", "P", "R", "F1", *(("F1 from", "to") if confidence else ()))]
    for key, tally in block.tallies.items():
        shown = [tally.precision, tally.recall, tally.f1]
        if confidence:
            shown += [confidence[key].low, confidence[key].high]
        numbers = [_percent(number) if tally.g or tally.s else "" for number in shown]
        rows.append((key, str(tally.g), str(tally.s), str(tally.c), *numbers))
    return _aligned(rows)


def _blocks(result: Result) -> str:
    keys = result.metric.keys
    rows: list[Row] = [("F1", "graphs", *keys)]
    for block in result.blocks:
        rows.append((block.name, str(len(block.graphs)), *map(_f1_if_any, block.tallies.values())))
    tracks = [track for track in TRACKS if any(block.track == track for block in result.blocks)]
    for name, track in [*((f"mean {track}", track) for track in tracks if len(tracks) > 1), ("mean of all", None)]:
        rows.append((name, "", *(_percent(result.macro(track)[key]["f"]) for key in keys)))
    rows.append(("micro total", str(len(result.graphs)), *map(_f1_if_any, result.total.tallies.values())))
    return _aligned(rows)


def _f1_if_any(tally: Tally) -> str:
    """F1, or nothing where neither side has such items: 0.00 would look like a failure."""
    return _percent(tally.f1) if tally.g or tally.s else ""


def _percent(number: float) -> str:
    return f"{100 * number:.2f}"


def _aligned(rows: Sequence[Row], left: int = 1) -> str:
    """Columns of equal width; the first ones stand left, numbers right.  Control characters of ids become visible."""
    rows = [[one_line(cell) for cell in row] for row in rows]
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = [
            cell.ljust(width) if number < left else cell.rjust(width)
            for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


# What is wrong in a system's graphs: missing and surplus items, as JSON or as drawings.


def write_differences(
    path: str | os.PathLike[str], pairs: Iterable[tuple[Graph, Graph | None]], scores: Iterable[GraphScore]
) -> None:
    """Write the differences of graphs that were scored: drawn if the name of the file ends in .html, else as JSON."""
    compared = zip(pairs, scores, strict=True)
    with write_text(path) as stream:
        if os.fspath(path).removesuffix(".gz").endswith((".html", ".htm")):
            _draw(compared, stream)
        else:
            _list(compared, stream)


def differing_items(gold: Graph, system: Graph, pairs: Sequence[tuple[int, int]]) -> dict[str, dict[str, list[Any]]]:
    """By type, the gold items that the system lacks (``missing``) and its items that gold lacks (``surplus``).

    Items name the nodes of their own side by id; only types that differ are listed.
    """
    first, second = items(gold), items(system)
    image = dict(pairs)
    inverse = {j: i for i, j in pairs}
    theirs, ours = _by_type(second), _by_type(first)
    found: dict[str, dict[str, list[Any]]] = {}
    for kind in TYPES:
        missing = [shown for item, shown in ours[kind].items() if _renamed(item, image) not in theirs[kind]]
        surplus = [shown for item, shown in theirs[kind].items() if _renamed(item, inverse) not in ours[kind]]
        if missing or surplus:
            found[kind] = {"missing": missing, "surplus": surplus}
    return found


def _list(compared: Iterable[tuple[tuple[Graph, Graph | None], GraphScore]], stream: TextIO) -> None:
    """A JSON array, one graph per line."""
    separator = "[\n"
    for (gold, system), score in compared:
        entry = {
            "id": gold.id,
            "framework": gold.framework,
            "language": gold.language,
            "correspondence": score.comparison.pairs,
            **differing_items(gold, system or _nothing(gold), score.comparison.pairs),
        }
        stream.write(separator + json.dumps(entry, ensure_ascii=False))
        separator = ",\n"
    stream.write("\n]\n" if separator.startswith(",") else "[]\n")


def _draw(compared: Iterable[tuple[tuple[Graph, Graph | None], GraphScore]], stream: TextIO) -> None:
    """A page of those graphs that differ, gold and system in one drawing."""
    from perin.graphs.drawing import Sketch, diff_sketch, write_html

    def sketches() -> Iterator[Sketch]:
        for (gold, system), score in compared:
            other = system or _nothing(gold)
            if differing_items(gold, other, score.comparison.pairs):
                f1 = score.comparison.tallies["all"].f1
                yield diff_sketch(gold, other, score.comparison.pairs, f1=f1)

    write_html(sketches(), stream, title="Differences")


def _nothing(gold: Graph) -> Graph:
    return replace(gold, tops=(), nodes=(), edges=())


def _by_type(content: Items) -> dict[str, dict[tuple[Any, ...], Any]]:
    """The items of each type: how they are compared (node ids first) and how they are shown."""
    ids = content.ids
    found: dict[str, list[tuple[tuple[int, ...], tuple[Any, ...]]]] = {
        "tops": [((ids[top],), ()) for top in sorted(content.tops)],
        "labels": [((id,), (label,)) for id, label in zip(ids, content.labels, strict=True) if label is not None],
        "properties": [
            ((id,), pair) for id, pairs in zip(ids, content.properties, strict=True) for pair in sorted(pairs)
        ],
        "anchors": [
            ((id,), (anchors,)) for id, anchors in zip(ids, content.anchors, strict=True) if anchors is not None
        ],
        "edges": [((ids[source], ids[target]), (label,)) for source, target, label in content.edges],
        "attributes": [((ids[source], ids[target]), tuple(rest)) for source, target, *rest in content.attributes],
    }
    return {kind: {(nodes, rest): [*nodes, *map(_shown, rest)] for nodes, rest in each} for kind, each in found.items()}


def _renamed(item: tuple[Any, ...], image: Mapping[int, int]) -> tuple[Any, ...]:
    nodes, rest = item
    return tuple(image.get(node) for node in nodes), rest


def _shown(part: Any) -> Any:
    """Anchors as ranges of characters, everything else as it is."""
    if not isinstance(part, frozenset):
        return part
    ranges: list[list[int]] = []
    for position in sorted(part):
        if ranges and ranges[-1][1] == position:
            ranges[-1][1] += 1
        else:
            ranges.append([position, position + 1])
    return ranges
