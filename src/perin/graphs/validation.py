"""Well-formedness: what every graph must satisfy, and what each framework demands on top of that."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from perin.errors import Finding, Severity
from perin.graphs.framework_rules import broken
from perin.graphs.graph import Graph

T = TypeVar("T", bound=Hashable)


@dataclass(frozen=True)
class Demands:
    """What a framework demands of its graphs.

    ``flavors``: 0 bilexical, 1 anchored, 2 unanchored.  ``tops``: ``one``, ``boxes`` (all unlabelled nodes that nothing
    points to) or ``any``.  What else the graphs of a framework never do is in :mod:`perin.graphs.framework_rules`.
    """

    flavors: tuple[int, ...]
    tops: str = "one"
    acyclic: bool = False
    primary_tree: bool = False
    covers_words: bool = False
    node_labels: bool = True
    edge_labels: bool = True
    attributes: frozenset[str] | None = None


DEMANDS: dict[str, Demands] = {
    "amr": Demands((2, 1)),
    "drg": Demands((2,), tops="boxes", node_labels=False, edge_labels=False),
    "eds": Demands((1,)),
    "ptg": Demands((1,), node_labels=False, attributes=frozenset(("member", "effective"))),
    "ucca": Demands(
        (1,),
        acyclic=True,
        primary_tree=True,
        covers_words=True,
        node_labels=False,
        attributes=frozenset(("remote", "implicit")),
    ),
    "umr": Demands((1, 2)),
    "dm": Demands((0,), tops="any"),
    "psd": Demands((0,), tops="any"),
    "ud": Demands((0,)),
}
"""By framework; graphs of other frameworks are held only to what holds for all."""


def findings(graph: Graph, source: str | None = None, line: int | None = None) -> Iterator[Finding]:
    """All findings: those of :func:`structural_findings` and those of :func:`framework_findings`."""
    yield from structural_findings(graph, source, line)
    yield from framework_findings(graph, source, line)


def framework_findings(graph: Graph, source: str | None = None, line: int | None = None) -> Iterator[Finding]:
    """What is wrong by the demands of the graph's framework; those on its shape only where its structure is sound."""
    for severity, message in _framework_faults(graph, sound=not structural_findings(graph)):
        yield Finding(message, source, line, graph.id, severity)


def structural_findings(graph: Graph, source: str | None = None, line: int | None = None) -> list[Finding]:
    """What is wrong whatever the framework: ids that occur twice or nowhere, anchors outside the input."""
    messages = []
    ids = {node.id for node in graph.nodes}
    if len(ids) < len(graph.nodes):
        messages.append(f"node id {_first_duplicate([node.id for node in graph.nodes])} occurs twice")
    for top in graph.tops:
        if top not in ids:
            messages.append(f"top {top} is no node")
    for edge in graph.edges:
        if edge.source not in ids or edge.target not in ids:
            missing = edge.target if edge.source in ids else edge.source
            messages.append(f"edge {edge.source} -> {edge.target} ({edge.label}): {missing} is no node")
    length = None if graph.input is None else len(graph.input)
    for node in graph.nodes:
        if node.anchors:
            for start, end in node.anchors:
                if start < 0 or end < start:
                    messages.append(f"node {node.id}: anchor {start}:{end} is no range")
                elif length is not None and end > length:
                    messages.append(f"node {node.id}: anchor {start}:{end} ends after the input ({length} characters)")
    return [Finding(message, source, line, graph.id) for message in messages]


def _framework_faults(graph: Graph, *, sound: bool) -> Iterator[tuple[Severity, str]]:
    if not graph.nodes:
        yield "error", "the graph has no nodes"
        return
    if len(set(graph.tops)) < len(graph.tops):
        yield "error", f"top {_first_duplicate(graph.tops)} is listed twice"
    triples = [(edge.source, edge.target, edge.label) for edge in graph.edges]
    if len(set(triples)) < len(triples):
        source, target, label = _first_duplicate(triples)
        yield "error", f"edge {source} -> {target} ({label}) occurs twice"
    for node in graph.nodes:
        pairs = [(pair.name, pair.value) for pair in node.properties]
        if len(set(pairs)) < len(pairs):
            yield "error", f"node {node.id}: property {_first_duplicate(pairs)[0]} occurs twice with the same value"
    if graph.framework is None:
        yield "error", "no framework is given"
        return
    demands = DEMANDS.get(graph.framework)
    if demands is None:
        yield "note", f"framework {graph.framework!r} is not known; only general demands were checked"
        return
    yield from _local_faults(graph, demands)
    if sound:
        yield from _top_faults(graph, demands)
        yield from dict.fromkeys(("note" if rule.rate else "error", message) for rule, message in broken(graph))
        yield from _shape_faults(graph, demands)


def _local_faults(graph: Graph, demands: Demands) -> Iterator[tuple[Severity, str]]:
    if graph.flavor is not None and graph.flavor not in demands.flavors:
        yield "error", f"flavor {graph.flavor}, but {graph.framework} is of flavor {demands.flavors[0]}"
    if demands.node_labels:
        for node in graph.nodes:
            if node.label is None:
                yield "error", f"node {node.id} has no label"
    for edge in graph.edges:
        if demands.edge_labels and edge.label is None:
            yield "error", f"edge {edge.source} -> {edge.target} has no label"
        if demands.attributes is not None:
            for name, _ in edge.attributes:
                if name not in demands.attributes:
                    yield "error", f"edge {edge.source} -> {edge.target}: unknown attribute {name!r}"


def _top_faults(graph: Graph, demands: Demands) -> Iterator[tuple[Severity, str]]:
    if demands.tops == "one" and len(graph.tops) != 1:
        yield "error", f"{len(graph.tops)} tops, but {graph.framework} has exactly one"
    if demands.tops == "boxes":
        boxes = {node.id for node in graph.roots() if node.label is None}
        if boxes != set(graph.tops):
            yield "error", f"tops are {sorted(graph.tops)}, but the boxes that nothing points to are {sorted(boxes)}"


def _shape_faults(graph: Graph, demands: Demands) -> Iterator[tuple[Severity, str]]:
    if demands.acyclic and (cycle := _on_cycle(graph)) is not None:
        yield "error", f"node {cycle} lies on a cycle"
    if demands.primary_tree:
        for node in graph.nodes:
            parents = {edge.source for edge in graph.incoming(node.id) if not edge.get("remote")}
            if len(parents) > 1:
                yield "error", f"node {node.id} has {len(parents)} primary parents"
            elif not parents and node.id not in graph.tops:
                yield "error", f"node {node.id} has no primary parent and is no top"
    if demands.covers_words and graph.input and (loose := _loose_text(graph, graph.input)):
        yield "note", f"no node is anchored to {loose[0]!r}" + (f" and {len(loose) - 1} more" if loose[1:] else "")


def _loose_text(graph: Graph, text: str) -> list[str]:
    """The stretches of text, spaces apart, that no node is anchored to."""
    loose = list(text)
    for node in graph.nodes:
        for start, end in node.anchors or ():
            loose[start:end] = " " * (end - start)
    return "".join(loose).split()


def _on_cycle(graph: Graph) -> int | None:
    """A node on a cycle, or None: what is left after sources have been removed again and again."""
    indegree = {node.id: len(graph.incoming(node.id)) for node in graph.nodes}
    free = [id for id, degree in indegree.items() if not degree]
    while free:
        id = free.pop()
        del indegree[id]
        for edge in graph.outgoing(id):
            indegree[edge.target] -= 1
            if not indegree[edge.target]:
                free.append(edge.target)
    # What is left can also hang below a cycle: walk backwards until a node repeats.
    if not indegree:
        return None
    seen: set[int] = set()
    id = next(iter(indegree))
    while id not in seen:
        seen.add(id)
        id = next(edge.source for edge in graph.incoming(id) if edge.source in indegree)
    return id


def _first_duplicate(items: Iterable[T]) -> T:
    seen: set[T] = set()
    for item in items:
        if item in seen:
            return item
        seen.add(item)
    raise ValueError("no duplicate")
