"""Smatch, exact: the largest number of triples that two graphs can have in common.

Triples are the labels of nodes, tops, properties, anchors (where there are any), edges and edge attributes.  As in the
package smatch 1.0.4, a top matches a top whatever their labels.  Case and trailing underscores do not count.
"""

from __future__ import annotations

from dataclasses import replace

from perin.graphs.graph import Graph
from perin.scoring.items import Items, items
from perin.scoring.metrics.metric import Comparison, Metric
from perin.scoring.metrics.mrp import MRP_MAX_LEVELS, matches
from perin.scoring.tally import Tally


def triples(graph: Graph) -> Items:
    """The items of a graph as Smatch compares them."""
    content = items(graph)
    return replace(
        content,
        labels=tuple(None if label is None else label.rstrip("_") for label in content.labels),
        properties=tuple(
            frozenset((name.rstrip("_"), value.rstrip("_")) for name, value in pairs) for pairs in content.properties
        ),
        edges=tuple({(source, target, label and label.rstrip("_")): None for source, target, label in content.edges}),
        attributes=tuple(
            {
                (source, target, None, name.rstrip("_"), value.rstrip("_")): None
                for source, target, _, name, value in content.attributes
            }
        ),
    )


def smatch(gold: Items, system: Items, seconds: float) -> Comparison:
    """The best correspondence of two sets of triples, and how many they have in common."""
    from perin.scoring.solver.solve import best_correspondence

    solution = best_correspondence(gold, system, MRP_MAX_LEVELS[:1], seconds)
    common = sum(matches(gold, system, solution.pairs).values())
    tally = Tally(sum(gold.counts.values()), sum(system.counts.values()), common)
    pairs = gold.id_pairs(system, solution.pairs)
    return Comparison({"all": tally}, pairs, solution.objective, solution.bound)


def _compare(gold: Graph, system: Graph, seconds: float) -> Comparison:
    return smatch(triples(gold), triples(system), seconds)


SMATCH = Metric("smatch", ("all",), "all", _compare, flat=True)
