"""Which graphs are compared: reading of files and pairing of graphs by the rules of the official scorer.

What the official reader ignores with a message is an error in gold, and reported and ignored in a system's file.
"""

from __future__ import annotations

import datetime
import os
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import TypeAlias

from perin.errors import Finding, InputError, Report, Tolerant, strict, wrong_type
from perin.files import each_line, read_lines, source_name
from perin.graphs.codecs import Reader, files
from perin.graphs.graph import Graph
from perin.graphs.validation import structural_findings

Source: TypeAlias = str | os.PathLike[str] | Graph | Iterable[Graph]
"""A file (or folder) of graphs, a graph, or several."""

Key: TypeAlias = tuple[str | None, str | None, str]

_NO_TIME = "has no 'time' of the form YYYY-MM-DD, so official scorers ignore the graph; add the field"


ANCHORED = 4_000_000
"""The nodes of a graph may cover this many characters together: metrics compare sets of characters."""


def read_gold(source: Source, format: str | None = None, *, report: Report) -> list[Graph]:
    """The gold graphs, the last one of each key; a graph that can't be used is an InputError."""
    chosen: dict[Key, Graph] = {}
    for name, line, graph in _located(source, format, report, gold=True):
        if graph.key in chosen:
            message = "there is an earlier gold graph of the same id, framework and language; the last one counts"
            report(Finding(message, name, line, graph.id))
            del chosen[graph.key]
        chosen[graph.key] = graph
    if not chosen:
        place = source_name(source) if isinstance(source, (str, os.PathLike)) else None
        raise InputError("there is no gold graph to score against", source=place)
    return list(chosen.values())


def read_system(source: Source, format: str | None = None, *, report: Report) -> list[Graph]:
    """The graphs of a system, the first one of each key; graphs that can't be used are reported."""
    chosen: dict[Key, Graph] = {}
    for name, line, graph in _located(source, format, report, gold=False):
        if graph.key in chosen:
            message = "there is an earlier graph of the same id, framework and language; the first one counts"
            report(Finding(message, name, line, graph.id))
        else:
            chosen[graph.key] = graph
    return list(chosen.values())


def pair(gold: Iterable[Graph], system: Iterable[Graph], *, report: Report) -> list[tuple[Graph, Graph | None]]:
    """Each gold graph with the system's graph of the same key, or None.

    A system graph without a language that fits no gold graph is taken for English.  System graphs without a
    gold graph do not count.
    """
    partners: dict[Key, Graph | None] = {graph.key: None for graph in gold}
    for graph in system:
        key = graph.key
        if key not in partners and graph.language is None:
            key = "eng", graph.framework, graph.id
        if key not in partners:
            report(Finding(f"gold has no such graph{_described(graph)}; it does not count", graph=graph.id))
        elif partners[key] is not None:
            report(
                Finding("the system has another graph for the same gold graph; the first one counts", graph=graph.id)
            )
        else:
            partners[key] = graph
    pairs = [(graph, partners[graph.key]) for graph in gold]
    for graph, partner in pairs:
        if partner is None:
            report(Finding(f"the system has no such graph{_described(graph)}", graph=graph.id))
        elif not partner.nodes:
            report(Finding(f"the system's graph has no nodes{_described(graph)}", graph=graph.id))
    return pairs


def _located(
    source: Source, format: str | None, report: Report, *, gold: bool
) -> Iterator[tuple[str | None, int | None, Graph]]:
    """The usable graphs with their places."""
    if isinstance(source, (str, os.PathLike)):
        placed = _from_files(source, format, report, gold=gold)
    else:
        placed = ((None, None, graph) for graph in _graphs(source))
    for name, line, graph in placed:
        findings = structural_findings(graph, name, line)
        if (covered := _covered(graph)) > ANCHORED:
            message = f"the nodes cover {covered} characters in all; at most {ANCHORED} can be compared"
            findings.insert(0, Finding(message, name, line, graph.id))
        usable = covered <= ANCHORED and _ends_are_nodes(graph)
        if gold and not usable:
            strict(findings[0])
        for finding in findings:
            report(finding)
        if usable:
            yield name, line, graph
        else:
            report(Finding("the graph is ignored", name, line, graph.id))


def _graphs(source: Graph | Iterable[Graph]) -> Iterator[Graph]:
    if isinstance(source, Graph):
        yield source
        return
    if not isinstance(source, Iterable):
        raise wrong_type("score", "files or graphs", source)
    for graph in source:
        if not isinstance(graph, Graph):
            raise wrong_type("score", "files or graphs", graph)
        yield graph


def _from_files(
    path: str | os.PathLike[str], format: str | None, report: Report, *, gold: bool
) -> Iterator[tuple[str | None, int | None, Graph]]:
    codec, paths = files(path, format)
    for file in paths:
        name = source_name(file)
        if not gold:
            graphs = _whatever_can_be_read(codec.graphs, file, report)
        elif codec.name == "mrp":
            graphs = _no_line_dropped(codec.graphs, file, report)
        else:
            graphs = codec.graphs(read_lines(file), name, _strict_and(report))
        for line, graph in graphs:
            if codec.name != "mrp" or _dated(graph.time):
                yield name, line, graph
            else:
                (strict if gold else report)(Finding(_NO_TIME, name, line, graph.id))


def _whatever_can_be_read(read: Reader, file: str, report: Report) -> Iterator[tuple[int, Graph]]:
    """The graphs of a system's file; a line that is not UTF-8 is reported and counts as a blank one."""
    unreadable: set[int] = set()

    def lines() -> Iterator[str]:
        for number, line in enumerate(each_line(file), start=1):
            if isinstance(line, InputError):
                unreadable.add(number)
                report(Finding(line.message, line.source, line.line))
                yield ""
            else:
                yield line

    def unless_known(finding: Finding) -> None:
        if finding.line not in unreadable:
            report(finding)

    return read(lines(), source_name(file), unless_known)


def _no_line_dropped(read: Reader, file: str, report: Report) -> Iterator[tuple[int, Graph]]:
    """The graphs of gold lines of MRP; faults that leave a graph are reported, a line that gives none is an error."""
    blank: set[int] = set()
    faults = Tolerant()

    def lines() -> Iterator[str]:
        for number, line in enumerate(read_lines(file), start=1):
            if not line.strip():
                blank.add(number)
            yield line

    def hand_on(kept: int | None) -> None:
        for finding in faults.findings:
            if finding.line != kept and finding.line not in blank:
                strict(finding)
            report(finding)
        faults.findings.clear()

    for number, graph in read(lines(), source_name(file), faults):
        hand_on(number)
        yield number, graph
    hand_on(None)


def _strict_and(report: Report) -> Report:
    def both(finding: Finding) -> None:
        strict(finding)
        report(finding)

    return both


def _ends_are_nodes(graph: Graph) -> bool:
    ids = {node.id for node in graph.nodes}
    return ids.issuperset(graph.tops) and all(edge.source in ids and edge.target in ids for edge in graph.edges)


def _covered(graph: Graph) -> int:
    length = len(graph.input or "")
    return sum(max(0, min(end, length) - max(start, 0)) for node in graph.nodes for start, end in node.anchors or ())


@lru_cache
def _dated(time: str | None) -> bool:
    """Whether the official reader understands the time of a graph."""
    for form in ("%Y-%m-%d", "%Y-%m-%d (%H:%M)"):
        try:
            datetime.datetime.strptime(time or "", form)
        except ValueError:
            continue
        return True
    return False


def _described(graph: Graph) -> str:
    known = ", ".join(filter(None, (graph.framework, graph.language)))
    return f" ({known})" if known else ""
