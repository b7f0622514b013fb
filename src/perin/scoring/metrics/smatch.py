"""Smatch, exact: the largest number of triples that two graphs can have in common.

Triples are the labels of nodes, tops, properties, anchors (where there are any), edges and edge attributes.  As in the
package smatch 1.0.4, a top matches a top whatever their labels.  Case and trailing underscores do not count.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace

from perin.graphs.graph import Graph
from perin.scoring.items import EdgeItem, Items, items, matches
from perin.scoring.metrics.metric import Comparison, Metric, Tally
from perin.scoring.metrics.mrp import MRP_MAX_LEVELS


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
    return Comparison({"all": tally}, pairs, solution.objective, solution.bound, rough=solution.rough)


def _compare(gold: Graph, system: Graph, seconds: float) -> Comparison:
    return smatch(triples(gold), triples(system), seconds)


SMATCH = Metric("smatch", ("all",), "all", _compare, flat=True)


# Smatch and the fine-grained scores of AMR (Damonte, Cohen and Satta 2017).
#
# Each is exact Smatch on a part of the graph, or compares bags of labels or values:
#
#     unlabeled       without the labels of edges
#     no_senses       without the senses of predicates (``run-01`` and ``run-02`` are equal)
#     reentrancies    only edges into nodes that several edges enter, and the labels at their ends
#     srl             only edges ARG0, ARG1, … and the labels at their ends
#     concepts        labels
#     named_entities  labels of nodes that have a name
#     negation        labels of nodes that have a polarity
#     wikification    values of ``wiki``


_SENSE = re.compile(r"-\d\d\d?$")
_ROLE = re.compile(r"arg\d+$")


def _unlabeled(content: Items) -> Items:
    edges = tuple({(source, target, None): None for source, target, _ in content.edges})
    return replace(content, edges=edges)


def _no_senses(content: Items) -> Items:
    return replace(content, labels=tuple(label and _SENSE.sub("", label) for label in content.labels))


def _reentrancies(content: Items) -> Items:
    parents = Counter(target for _, target in {edge[:2] for edge in content.edges})
    return _only(content, [edge for edge in content.edges if parents[edge[1]] > 1])


def _srl(content: Items) -> Items:
    return _only(content, [edge for edge in content.edges if _ROLE.match(edge[2] or "")])


def _only(content: Items, edges: list[EdgeItem]) -> Items:
    """These edges, and the labels at their ends."""
    ends = {node for edge in edges for node in edge[:2]}
    none = tuple(frozenset[tuple[str, str]]() for _ in content.ids)
    return Items(
        ids=content.ids,
        tops=frozenset(),
        labels=tuple(label if node in ends else None for node, label in enumerate(content.labels)),
        properties=none,
        anchors=(None,) * len(content.ids),
        edges=tuple(edges),
        attributes=(),
        remote=frozenset(),
    )


def _concepts(content: Items) -> Iterable[str | None]:
    return content.labels


def _named_entities(content: Items) -> Iterable[str | None]:
    return (content.labels[source] for source, _, label in content.edges if label == "name")


def _negation(content: Items) -> Iterable[str | None]:
    return _having(content, "polarity")


def _having(content: Items, name: str) -> list[str | None]:
    return [
        label
        for label, pairs in zip(content.labels, content.properties, strict=True)
        if any(pair[0] == name for pair in pairs)
    ]


def _wikification(content: Items) -> Iterable[str | None]:
    return (value for pairs in content.properties for name, value in pairs if name == "wiki")


GRAPHS: dict[str, Callable[[Items], Items]] = {
    "unlabeled": _unlabeled,
    "no_senses": _no_senses,
    "reentrancies": _reentrancies,
    "srl": _srl,
}
BAGS: dict[str, Callable[[Items], Iterable[str | None]]] = {
    "concepts": _concepts,
    "named_entities": _named_entities,
    "negation": _negation,
    "wikification": _wikification,
}


def _compare_finely(gold: Graph, system: Graph, seconds: float) -> Comparison:
    first, second = triples(gold), triples(system)
    whole = smatch(first, second, seconds)
    parts = {name: smatch(part(first), part(second), seconds) for name, part in GRAPHS.items()}
    tallies = whole.tallies | {name: part.tallies["all"] for name, part in parts.items()}
    for name, bag in BAGS.items():
        counts = [Counter(item for item in bag(side) if item is not None) for side in (first, second)]
        g, s, c = (sum(count.values()) for count in (*counts, counts[0] & counts[1]))
        tallies[name] = Tally(g, s, c)
    searched = (whole, *parts.values())
    return Comparison(
        tallies,
        whole.pairs,
        sum(part.objective for part in searched),
        sum(part.bound for part in searched),
        rough=any(part.rough for part in searched),
    )


SMATCH_FINE = Metric("smatch-fine", ("all", *GRAPHS, *BAGS), "all", _compare_finely, flat=True)
