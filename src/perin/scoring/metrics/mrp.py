"""The MRP metric: the official one, and the same without the peculiarities of the official search.

``mrp`` counts the matching items of a correspondence that maximises the official tool's internal count, which differs
from the reported one (an unlabelled node matches an unlabelled node, an edge attribute ignores the label of its edge, a
loop matches any arc of its label at the node) and restricts UCCA and bilexical graphs by the order of nodes.
``mrp-max`` maximises the reported count itself, over all correspondences.  Ties go to more tops, then labels,
properties, anchors, attributes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from perin.graphs.graph import Graph
from perin.scoring.items import TYPES, items, matches
from perin.scoring.metrics.metric import Comparison, Metric, Tally

BILEXICAL = frozenset(("dm", "psd", "pas", "ccd"))

_REPORTED = dict.fromkeys((*TYPES, "edge loops", "attribute loops"), 1)
_OFFICIAL = dict.fromkeys(("tops", "labels", "unlabelled", "properties", "anchors", "edges", "links", "loop arcs"), 1)
_REPORTED_LESS_OFFICIAL = {
    name: _REPORTED.get(name, 0) - _OFFICIAL.get(name, 0) for name in sorted(_REPORTED.keys() ^ _OFFICIAL.keys())
}
_TIES: tuple[Mapping[str, int], ...] = tuple(
    {"attributes": 1, "attribute loops": 1} if name == "attributes" else {name: 1} for name in TYPES if name != "edges"
)

MRP_LEVELS = (_OFFICIAL, _REPORTED_LESS_OFFICIAL, *_TIES)
"""What is maximised: the official count, then its difference to the reported one, then each type in turn."""
MRP_MAX_LEVELS = (_REPORTED, *_TIES)


def keeps_order(gold: Graph) -> bool:
    """Whether the official metric keeps the order of nodes: bilexical graphs, flavor 0."""
    return gold.flavor == 0 or gold.framework in BILEXICAL


def restricts_dominance(gold: Graph, system: Graph) -> bool:
    """Whether the official metric wants what is below a node to stay below it: UCCA."""
    return gold.framework == system.framework == "ucca" and bool(gold.input) and bool(system.input)


def _compare(gold: Graph, system: Graph, seconds: float) -> Comparison:
    return _compared(gold, system, MRP_LEVELS, seconds, keeps_order(gold), restricts_dominance(gold, system))


def _compare_max(gold: Graph, system: Graph, seconds: float) -> Comparison:
    return _compared(gold, system, MRP_MAX_LEVELS, seconds, False, False)


def _compared(
    gold: Graph, system: Graph, levels: Sequence[Mapping[str, int]], seconds: float, monotone: bool, ucca: bool
) -> Comparison:
    from perin.scoring.solver.solve import best_correspondence

    first, second = items(gold), items(system)
    solution = best_correspondence(first, second, levels, seconds, monotone=monotone, ucca=ucca)
    g, s, c = first.counts, second.counts, matches(first, second, solution.pairs)
    tallies = {name: Tally(g[name], s[name], c[name]) for name in TYPES}
    tallies["all"] = sum(tallies.values(), Tally())
    pairs = first.id_pairs(second, solution.pairs)
    return Comparison(tallies, pairs, solution.objective, solution.bound, solution.settled, solution.rough)


MRP = Metric("mrp", (*TYPES, "all"), "all", _compare)
MRP_MAX = Metric("mrp-max", (*TYPES, "all"), "all", _compare_max)
