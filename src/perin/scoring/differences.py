"""What is wrong in a system's graphs: missing and surplus items, as JSON or as drawings."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TextIO

from perin.files import write_text
from perin.graphs.graph import Graph
from perin.scoring.items import TYPES, Items, items
from perin.scoring.result import GraphScore


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
    """A JSON array, one graph a line."""
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
