"""The metrics: each compares one gold graph with one system graph and counts.

The MRP metric, Smatch with its fine-grained scores, and UMR's search for corresponding nodes.  EDM, SDP and UCCA's need
no search, because the text that a node covers identifies it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from perin.graphs.codecs.umr import own_fields
from perin.graphs.codecs.umr.reader import VARIABLE, read_head
from perin.graphs.graph import Graph
from perin.graphs.normalisation import normal_anchors, trimmed_runs
from perin.scoring.items import TYPES, EdgeItem, Items, items, matches
from perin.scoring.result import Comparison, Metric, Tally

# The MRP metric: the official one, and the same without the peculiarities of the official search. ``mrp`` counts the
# matching items of a correspondence that maximises the official tool's internal count, which differs from the reported
# one (an unlabelled node matches an unlabelled node, an edge attribute ignores the label of its edge, a loop matches
# any arc of its label at the node) and restricts UCCA and bilexical graphs by the order of nodes. ``mrp-max`` maximises
# the reported count itself, over all correspondences. Ties go to more tops, then labels, properties, anchors,
# attributes.


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


def _compare_mrp(gold: Graph, system: Graph, seconds: float) -> Comparison:
    return _compared(gold, system, MRP_LEVELS, seconds, keeps_order(gold), restricts_dominance(gold, system))


def _compare_mrp_max(gold: Graph, system: Graph, seconds: float) -> Comparison:
    return _compared(gold, system, MRP_MAX_LEVELS, seconds, False, False)


def _compared(
    gold: Graph, system: Graph, levels: Sequence[Mapping[str, int]], seconds: float, monotone: bool, ucca: bool
) -> Comparison:
    from perin.scoring.solver import best_correspondence

    first, second = items(gold), items(system)
    solution = best_correspondence(first, second, levels, seconds, monotone=monotone, ucca=ucca)
    g, s, c = first.counts, second.counts, matches(first, second, solution.pairs)
    tallies = {name: Tally(g[name], s[name], c[name]) for name in TYPES}
    tallies["all"] = sum(tallies.values(), Tally())
    pairs = first.id_pairs(second, solution.pairs)
    return Comparison(tallies, pairs, solution.objective, solution.bound, solution.settled, solution.rough)


MRP = Metric("mrp", (*TYPES, "all"), "all", _compare_mrp)
MRP_MAX = Metric("mrp-max", (*TYPES, "all"), "all", _compare_mrp_max)


# Smatch, exact: the largest number of triples that two graphs can have in common. Triples are the labels of nodes,
# tops, properties, anchors (where there are any), edges and edge attributes. As in the package smatch 1.0.4, a top
# matches a top whatever their labels. Case and trailing underscores do not count.


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
    from perin.scoring.solver import best_correspondence

    solution = best_correspondence(gold, system, MRP_MAX_LEVELS[:1], seconds)
    common = sum(matches(gold, system, solution.pairs).values())
    tally = Tally(sum(gold.counts.values()), sum(system.counts.values()), common)
    pairs = gold.id_pairs(system, solution.pairs)
    return Comparison({"all": tally}, pairs, solution.objective, solution.bound, rough=solution.rough)


def _compare_smatch(gold: Graph, system: Graph, seconds: float) -> Comparison:
    return smatch(triples(gold), triples(system), seconds)


SMATCH = Metric("smatch", ("all",), "all", _compare_smatch, flat=True)


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


# UMR: the MRP metric, Smatch, and what UMR has beyond a graph: alignments and triples between sentences.
#
#     smatch      exact Smatch, by a correspondence of its own
#     alignment   words that corresponding nodes are aligned to
#     coref, …    triples of the document level, each end the node that corresponds, or a constant such as ``author``
#
# Alignments and triples are compared over the correspondence of the MRP metric.


LEVELS = ("coref", "temporal", "modal")


def _compare_umr(gold: Graph, system: Graph, seconds: float) -> Comparison:
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
    """The words of the gold sentence that each node is aligned to; none where the texts differ."""
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
            ours = set(_document_triples(gold, level))
            theirs = (
                set()
                if system is None
                else {
                    (image.get(source, source), relation, image.get(target, target))
                    for source, relation, target in _document_triples(system, level)
                }
            )
            tallies[level] = Tally.of_sets(ours, theirs)
        result.append(replace(compared, tallies=tallies))
    return result


def _variables(graph: Graph) -> dict[int, str]:
    return {node.id: node.extra[VARIABLE] for node in graph.nodes if node.extra and VARIABLE in node.extra}


def _document_triples(graph: Graph, level: str) -> list[tuple[str, str, str]]:
    levels = own_fields(graph).get("level")
    rows = levels.get(level) if isinstance(levels, Mapping) else None
    return [(row[0], row[1], row[2]) for row in rows or () if isinstance(row, list) and len(row) == 3]


UMR = Metric(
    "umr",
    (*TYPES, "all", "smatch", "alignment", *LEVELS),
    "all",
    _compare_umr,
    over_documents=_with_documents,
    default_for="umr",
)


# What identifies a node in the metrics that need no search: the text that it covers.


Spans: TypeAlias = tuple[tuple[int, int], ...] | None


def spans(graph: Graph) -> list[Spans]:
    """The ranges of characters of each node, trimmed where the input is known; None for a node without anchors."""
    text = graph.input
    return [
        tuple(trimmed_runs(node.anchors, text)) or None
        if text and node.anchors
        else _ranges(normal_anchors(node.anchors, None))
        for node in graph.nodes
    ]


def identities(gold: Graph, system: Graph) -> tuple[list[Hashable], list[Hashable]]:
    """The sets of characters of the nodes of both graphs; their ranges unless both graphs have an input."""
    if gold.input and system.input:
        first, second = (
            [normal_anchors(node.anchors, graph.input) for node in graph.nodes] for graph in (gold, system)
        )
        return list(first), list(second)
    return list(spans(gold)), list(spans(system))


def _ranges(anchors: Hashable) -> Spans:
    return anchors if isinstance(anchors, tuple) else None


# Elementary dependency match for EDS: what is predicated of which stretch of text.


EDM_KEYS = ("names", "arguments", "tops", "properties")


def _elements(graph: Graph, ids: list[Hashable]) -> dict[str, set[Hashable]]:
    content = items(graph)
    return {
        "names": {(id, label) for id, label in zip(ids, content.labels, strict=True) if label is not None},
        "arguments": {(ids[source], ids[target], label) for source, target, label in content.edges},
        "tops": {ids[top] for top in content.tops},
        "properties": {(id, pair) for id, pairs in zip(ids, content.properties, strict=True) for pair in pairs},
    }


def _compare_edm(gold: Graph, system: Graph, seconds: float) -> Comparison:
    first, second = (_elements(*side) for side in zip((gold, system), identities(gold, system), strict=True))
    tallies = {key: Tally.of_sets(first[key], second[key]) for key in EDM_KEYS}
    tallies["all"] = sum(tallies.values(), Tally())
    return Comparison(tallies)


EDM = Metric("edm", (*EDM_KEYS, "all"), "all", _compare_edm, searches=False)


# The SDP metric of bilexical graphs: dependencies between words, and virtual ones to the tops.


_TOP = -1


def _dependencies(graph: Graph) -> set[tuple[object, object, str | None]]:
    ids, content = spans(graph), items(graph)
    found: set[tuple[object, object, str | None]] = {
        (ids[source], ids[target], label) for source, target, label in content.edges
    }
    return found | {(_TOP, ids[top], None) for top in content.tops}


def _compare_sdp(gold: Graph, system: Graph, seconds: float) -> Comparison:
    first, second = _dependencies(gold), _dependencies(system)
    unlabeled = [{dependency[:2] for dependency in side} for side in (first, second)]
    return Comparison({"labeled": Tally.of_sets(first, second), "unlabeled": Tally.of_sets(*unlabeled)})


SDP = Metric("sdp", ("labeled", "unlabeled"), "labeled", _compare_sdp, searches=False)


# The UCCA metric: edges between units, which are identified by the text below them; primary and remote apart.


UCCA_KEYS = ("labeled.primary", "labeled.remote", "unlabeled.primary", "unlabeled.remote")


def _yields(content: Items, numbers: dict[Hashable, int]) -> list[int]:
    """The characters of each node and of all nodes below it over primary edges: a bit each, numbered as they come."""
    found = [0] * len(content.ids)
    for node, anchors in enumerate(content.anchors):
        for character in anchors or ():
            found[node] |= 1 << numbers.setdefault(character, len(numbers))
    edges = [edge for edge in content.edges if edge not in content.remote]
    depth = _depths(len(found), edges)
    edges.sort(key=lambda edge: -depth[edge[0]])
    grown = True
    while grown:  # once, unless there are cycles
        grown = False
        for source, target, _ in edges:
            both = found[source] | found[target]
            if both != found[source]:
                found[source] = both
                grown = True
    return found


def _depths(count: int, edges: Iterable[EdgeItem]) -> list[int]:
    """The length of the longest path to each node; nodes on cycles and below them are taken as they come."""
    children: dict[int, list[int]] = {}
    open_parents = [0] * count
    for source, target, _ in edges:
        children.setdefault(source, []).append(target)
        open_parents[target] += 1
    depth = [0] * count
    waiting = [node for node in range(count) if not open_parents[node]]
    while waiting:
        node = waiting.pop()
        for child in children.get(node, ()):
            depth[child] = max(depth[child], depth[node] + 1)
            open_parents[child] -= 1
            if not open_parents[child]:
                waiting.append(child)
    return depth


def _units(graph: Graph, numbers: dict[Hashable, int]) -> dict[str, set[Hashable]]:
    content = items(graph)
    ids = _yields(content, numbers)
    found: dict[str, set[Hashable]] = {key: set() for key in UCCA_KEYS}
    for edge in content.edges:
        kind = "remote" if edge in content.remote else "primary"
        ends = ids[edge[0]], ids[edge[1]]
        found[f"labeled.{kind}"].add((*ends, edge[2]))
        found[f"unlabeled.{kind}"].add(ends)
    return found


def _compare_ucca(gold: Graph, system: Graph, seconds: float) -> Comparison:
    numbers: dict[Hashable, int] = {}
    first, second = _units(gold, numbers), _units(system, numbers)
    return Comparison({key: Tally.of_sets(first[key], second[key]) for key in UCCA_KEYS})


UCCA = Metric("ucca", UCCA_KEYS, "labeled.primary", _compare_ucca, searches=False)


METRICS: dict[str, Metric] = {
    metric.name: metric for metric in (MRP, MRP_MAX, SMATCH, SMATCH_FINE, EDM, UCCA, SDP, UMR)
}
