"""UMR: the MRP metric, Smatch, and what UMR has beyond a graph: alignments and triples between sentences.

    smatch      exact Smatch, by a correspondence of its own
    alignment   words that corresponding nodes are aligned to
    coref, …    triples of the document level, each end the node that corresponds, or a constant such as ``author``

Alignments and triples are compared over the correspondence of the MRP metric.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from perin.graphs.codecs.umr import own_fields
from perin.graphs.codecs.umr.reader import VARIABLE, read_head
from perin.graphs.graph import Graph
from perin.scoring.items import TYPES
from perin.scoring.metrics.metric import Comparison, Metric, Tally
from perin.scoring.metrics.mrp import MRP
from perin.scoring.metrics.smatch import SMATCH

LEVELS = ("coref", "temporal", "modal")


def _compare(gold: Graph, system: Graph, seconds: float) -> Comparison:
    graphs, triples = MRP.compare(gold, system, seconds), SMATCH.compare(gold, system, seconds)
    first, second = (
        {(node, word) for node, words in _words(graph, gold).items() for word in words} for graph in (gold, system)
    )
    image = dict(graphs.pairs)
    common = sum((image.get(node), word) in second for node, word in first)
    tallies = graphs.tallies | {
        "smatch": triples.tallies["all"],
        "alignment": Tally(len(first), len(second), common),
        **dict.fromkeys(LEVELS, Tally()),
    }
    return replace(
        graphs,
        tallies=tallies,
        objective=graphs.objective + triples.objective,
        bound=graphs.bound + triples.bound,
        rough=graphs.rough or triples.rough,
    )


def _words(graph: Graph, gold: Graph) -> dict[int, set[int]]:
    """By node the words of the gold sentence that it is aligned to; none where the texts differ."""
    if not graph.input or graph.input != gold.input:
        return {}
    ranges = read_head(own_fields(gold).get("head", ())).ranges
    return {
        node.id: {
            number
            for number, (start, end) in enumerate(ranges)
            if any(start < anchor.end and anchor.start < end for anchor in node.anchors or ())
        }
        for node in graph.nodes
    }


def _with_documents(pairs: Sequence[tuple[Graph, Graph | None]], found: Sequence[Comparison]) -> list[Comparison]:
    """Comparisons with the triples of their sentences, whose ends may be in any sentence of the document."""
    names: dict[Any, dict[str, str]] = {}
    for (gold, system), compared in zip(pairs, found, strict=True):
        if system is None:
            continue
        own, others = _variables(gold), _variables(system)
        image = {others[theirs]: own[ours] for ours, theirs in compared.pairs if ours in own and theirs in others}
        unmatched = {name: f"{name} of the system" for name in others.values()}
        names.setdefault(own_fields(gold).get("document"), {}).update(unmatched | image)
    result = []
    for (gold, system), compared in zip(pairs, found, strict=True):
        image = names.get(own_fields(gold).get("document"), {})
        tallies = dict(compared.tallies)
        for level in LEVELS:
            ours = set(_triples(gold, level))
            theirs = (
                set()
                if system is None
                else {
                    (image.get(source, source), relation, image.get(target, target))
                    for source, relation, target in _triples(system, level)
                }
            )
            tallies[level] = Tally.of_sets(ours, theirs)
        result.append(replace(compared, tallies=tallies))
    return result


def _variables(graph: Graph) -> dict[int, str]:
    return {node.id: node.extra[VARIABLE] for node in graph.nodes if node.extra and VARIABLE in node.extra}


def _triples(graph: Graph, level: str) -> list[tuple[str, str, str]]:
    levels = own_fields(graph).get("level")
    rows = levels.get(level) if isinstance(levels, Mapping) else None
    return [(row[0], row[1], row[2]) for row in rows or () if isinstance(row, list) and len(row) == 3]


UMR = Metric(
    "umr",
    (*TYPES, "all", "smatch", "alignment", *LEVELS),
    "all",
    _compare,
    over_documents=_with_documents,
    default_for="umr",
)
