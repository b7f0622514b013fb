"""Reversible steps from a treebank's graph to one that the network can learn, and back."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple, Protocol

from perin.graphs.graph import Edge, Graph, Node, Property
from perin.graphs.normalisation import normal_edge

# What a step is.


FLAG = Property("perin:flag", True)
"""Marks the nodes that the flag head tells apart; only steps put it on a node and take it off."""


class Step(Protocol):
    """A reversible change of a graph.

    ``decode(encode(graph))`` has the same content as ``graph`` (in the normal form of the MRP metric), and ``decode``
    makes something sound of any graph, since the network may predict what no treebank holds.
    """

    def encode(self, graph: Graph) -> Graph:
        """From a treebank's form towards the network's."""

    def decode(self, graph: Graph) -> Graph:
        """From the network's form back."""


def flagged(node: Node) -> bool:
    """Whether a node bears the flag."""
    return FLAG in node.properties


# Inverse edges: ``ARG0-of`` is turned into ``ARG0`` the other way round, ``mod`` into ``domain``.


@dataclass(frozen=True)
class NormalEdges:
    """Turns inverse edges round and, on the way back, inverts those without which the top would not reach a node.

    ``domain`` says how an inverted ``domain`` is written: AMR has ``mod`` for it, UMR ``domain-of``.
    """

    domain: str = "mod"

    def encode(self, graph: Graph) -> Graph:
        """All edges in their normal direction; edges that then are equal become one."""
        edges: dict[tuple[int, int, str | None], Edge] = {}
        for edge in graph.edges:
            source, target, label = normal_edge(edge)
            edges.setdefault((source, target, label), Edge(source, target, label, edge.attributes))
        return replace(graph, edges=tuple(edges.values()))

    def decode(self, graph: Graph) -> Graph:
        """Every edge keeps its place in the list; inverted ones say in ``normal`` what they were."""
        edges = list(map(_plain_inverse, graph.edges))
        for index in _against_the_arrow(graph):
            if graph.edges[index].label:
                edges[index] = self._inverse(graph.edges[index])
        return replace(graph, edges=tuple(edges))

    def _inverse(self, edge: Edge) -> Edge:
        label = self.domain if edge.label == "domain" else f"{edge.label}-of"
        return replace(edge, source=edge.target, target=edge.source, label=label, normal=edge.label)


def _against_the_arrow(graph: Graph) -> Iterator[int]:
    """The numbers of edges to walk backwards when one walks forward as long as possible, starting from the tops."""
    outgoing: dict[int, list[int]] = {}
    incoming: dict[int, list[int]] = {}
    for index, edge in enumerate(graph.edges):
        outgoing.setdefault(edge.source, []).append(index)
        incoming.setdefault(edge.target, []).append(index)
    reached: set[int] = set()
    forward = list(reversed(graph.tops))
    backward: list[int] = []
    while forward or backward:
        if forward:
            node = forward.pop()
        else:
            index = backward.pop()
            node = graph.edges[index].source
            if node in reached:
                continue
            yield index
        if node not in reached:
            reached.add(node)
            forward += [graph.edges[index].target for index in reversed(outgoing.get(node, ()))]
            backward += reversed(incoming.get(node, ()))


def _plain_inverse(edge: Edge) -> Edge:
    """An edge that is not inverted; an empty ``normal`` says so where its label alone would be misread."""
    if edge.normal is None and not _looks_inverse(edge.label):
        return edge
    misread = normal_edge(edge) != (edge.source, edge.target, edge.label)
    return replace(edge, normal="") if misread else edge


@cache
def _looks_inverse(label: str | None) -> bool:
    return normal_edge(Edge(0, 1, label)) != (0, 1, label)


# Properties as nodes (the paper's section "Graph Representation").


@dataclass(frozen=True)
class PropertiesAsNodes:
    """Turns each property into a flagged node: label = value, anchors of its owner, edge labelled with the name.

    Properties named in ``kept`` stay properties (they get a classifier each).
    """

    kept: frozenset[str] = frozenset()

    def encode(self, graph: Graph) -> Graph:
        """Property nodes follow all others; a value that is no string is written as its text."""
        free = max((node.id for node in graph.nodes), default=-1) + 1
        owners, values, edges = [], [], list(graph.edges)
        for node in graph.nodes:
            kept = tuple(pair for pair in node.properties if pair.name in self.kept)
            owners.append(node if len(kept) == len(node.properties) else replace(node, properties=kept))
            for name, value in dict.fromkeys(node.properties):
                if name not in self.kept:
                    values.append(Node(free, str(value), (FLAG,), node.anchors))
                    edges.append(Edge(node.id, free, name))
                    free += 1
        return replace(graph, nodes=(*owners, *values), edges=tuple(edges))

    def decode(self, graph: Graph) -> Graph:
        """Flagged leaves with one unflagged parent become its properties; other flagged nodes just lose the flag."""
        values = {node.id: node.label for node in graph.nodes if flagged(node)}
        if not values:
            return graph
        inner = {edge.source for edge in graph.edges}
        incoming: dict[int, list[Edge]] = {}
        for edge in graph.edges:
            if edge.target in values and edge.target not in inner:
                incoming.setdefault(edge.target, []).append(edge)
        owned: dict[int, tuple[int, Property]] = {}
        for id, value in values.items():
            edges = incoming.get(id, [])
            owners = {edge.source for edge in edges}
            if len(owners) == 1 and owners.isdisjoint(values):
                owned[id] = edges[0].source, Property(edges[0].label or "", value)
        pairs: dict[int, list[Property]] = {}
        for owner, pair in owned.values():
            if pair not in pairs.setdefault(owner, []):
                pairs[owner].append(pair)
        nodes = [_finished(node, pairs.get(node.id, ())) for node in graph.nodes if node.id not in owned]
        left = tuple([edge for edge in graph.edges if edge.target not in owned])
        return replace(graph, nodes=tuple(nodes), edges=left, tops=_without(graph.tops, owned))


def _finished(node: Node, pairs: list[Property] | tuple[()]) -> Node:
    if not pairs and FLAG not in node.properties:
        return node
    properties = (*[pair for pair in node.properties if pair != FLAG], *pairs)
    return Node(node.id, node.label, properties, node.anchors, node.extra)


def _without(tops: tuple[int, ...], removed: dict[int, tuple[int, Property]]) -> tuple[int, ...]:
    return tuple([top for top in tops if top not in removed])


# Quoted constants: ``"speaker"`` becomes a flagged node ``speaker``.


@dataclass(frozen=True)
class FlaggedConstants:
    """Takes quotes off and flags the node."""

    def encode(self, graph: Graph) -> Graph:
        """Quotes at both ends of a label become the flag."""
        return replace(graph, nodes=tuple(map(_unquoted, graph.nodes)))

    def decode(self, graph: Graph) -> Graph:
        """Flagged nodes get their quotes back, if they have a label at all."""
        return replace(graph, nodes=tuple(map(_quoted, graph.nodes)))


def _unquoted(node: Node) -> Node:
    label = node.label
    if label is None or len(label) < 2 or label[0] != '"' or label[-1] != '"':
        return node
    return replace(node, label=label[1:-1], properties=(*node.properties, FLAG))


def _quoted(node: Node) -> Node:
    if not flagged(node):
        return node
    label = None if node.label is None else f'"{node.label}"'
    properties = tuple([pair for pair in node.properties if pair != FLAG])
    return Node(node.id, label, properties, node.anchors, node.extra)


# Relation nodes of DRG as labelled edges.
#
# A binary relation is a node between two others, ``source -> Agent -> target`` with unlabelled edges.  It becomes one
# edge labelled ``@Agent``.  A relation lies in the box of its source unless an ``in`` edge of its own says otherwise;
# if that is the box of its target (four of five such cases), the pair of nodes also has an edge labelled ``@``.
# Relations that still can't be told from edges stay nodes: those in another box, the same relation twice between two
# nodes, relations of different boxes between two nodes.


RELATION = "@"
"""The first character of a relation's edge label; alone it says: in the box of the target."""

MEMBER = "in"
_ESCAPE = "="
_CONCEPT = re.compile(r'".*"|.+\.[a-z]\.\d+', re.DOTALL)


class _Relation(NamedTuple):
    node: int
    source: int
    target: int
    label: str
    with_target: bool


@dataclass(frozen=True)
class RelationsAsEdges:
    """Folds relation nodes into edges and unfolds them."""

    def encode(self, graph: Graph) -> Graph:
        """Foldable relations leave the nodes; their edges follow all others."""
        folded = list(_foldable(graph))
        gone = {relation.node for relation in folded}
        edges = [
            replace(edge, label=_escaped(edge.label))
            for edge in graph.edges
            if edge.source not in gone and edge.target not in gone
        ]
        edges += [Edge(relation.source, relation.target, RELATION + relation.label) for relation in folded]
        marked = {(relation.source, relation.target): None for relation in folded if relation.with_target}
        edges += [Edge(source, target, RELATION) for source, target in marked]
        return replace(graph, nodes=tuple(node for node in graph.nodes if node.id not in gone), edges=tuple(edges))

    def decode(self, graph: Graph) -> Graph:
        """Unfolded relations follow all other nodes; a lone ``@`` has nothing to mark and goes."""
        marked = {(edge.source, edge.target) for edge in graph.edges if edge.label == RELATION}
        nodes, edges, relations = list(graph.nodes), [], []
        free = max((node.id for node in graph.nodes), default=-1) + 1
        boxes = {target: _only_box(graph, target) for target in {target for _, target in marked}}
        for edge in graph.edges:
            if edge.label is None or not edge.label.startswith(RELATION):
                plain = _plain_relation(edge.label)
                edges.append(edge if plain == edge.label else replace(edge, label=plain))
            elif edge.label != RELATION:
                nodes.append(Node(free, edge.label[len(RELATION) :], extra=edge.extra))
                relations += [Edge(edge.source, free, extra=edge.extra), Edge(free, edge.target, extra=edge.extra)]
                box = boxes[edge.target] if (edge.source, edge.target) in marked else None
                if box is not None:
                    relations.append(Edge(box, free, MEMBER, extra=edge.extra))
                free += 1
        return replace(graph, nodes=tuple(nodes), edges=(*edges, *relations))


def relations(graph: Graph) -> list[Node]:
    """The nodes that stand for relations: those that are neither scope nor concept nor constant."""
    return [node for node in graph.nodes if node.label and not _CONCEPT.fullmatch(node.label)]


def _foldable(graph: Graph) -> Iterator[_Relation]:
    binary = [relation for node in relations(graph) if (relation := _relation(graph, node)) is not None]
    nodes = {relation.node for relation in binary}
    pairs: dict[tuple[int, int], list[_Relation]] = {}
    for relation in binary:
        if relation.source not in nodes and relation.target not in nodes:
            pairs.setdefault((relation.source, relation.target), []).append(relation)
    for between in pairs.values():
        with_target = all(relation.with_target for relation in between)
        labels: set[str] = set()
        for relation in between:
            if relation.with_target == with_target and relation.label not in labels:
                labels.add(relation.label)
                yield relation


def _relation(graph: Graph, node: Node) -> _Relation | None:
    """The relation that a node stands for; None if an edge couldn't carry it."""
    if not node.label or node.properties:
        return None
    incoming, outgoing = graph.incoming(node.id), graph.outgoing(node.id)
    boxes = [edge.source for edge in incoming if edge.label == MEMBER]
    sources = [edge.source for edge in incoming if edge.label is None]
    targets = [edge.target for edge in outgoing if edge.label is None]
    if len(sources) != 1 or len(targets) != 1 or len(boxes) + 1 != len(incoming) or len(outgoing) != 1:
        return None
    if len({node.id, *sources, *targets}) < 3 or (boxes and boxes != [_only_box(graph, targets[0])]):
        return None
    return _Relation(node.id, sources[0], targets[0], node.label, bool(boxes))


def _only_box(graph: Graph, node: int) -> int | None:
    boxes = [edge.source for edge in graph.incoming(node) if edge.label == MEMBER]
    return boxes[0] if len(boxes) == 1 else None


def _escaped(label: str | None) -> str | None:
    return _ESCAPE + label if label and label[0] in (RELATION, _ESCAPE) else label


def _plain_relation(label: str | None) -> str | None:
    return label[len(_ESCAPE) :] if label and label[0] == _ESCAPE else label


# Senses of concepts: ``jít-021`` becomes ``jít`` with a property ``sense``, which a lexicon lists by label.


SENSE = "sense"
_SENSE_CONCEPT = re.compile(r"(.*[^\W\d_])-([0-9]{2,3})", re.DOTALL)


@dataclass(frozen=True)
class SensesAsProperties:
    """Parts labels from their senses and puts them together again."""

    def encode(self, graph: Graph) -> Graph:
        """Labels that end in a number of two or three digits lose it."""
        return replace(graph, nodes=tuple(map(_parted, graph.nodes)))

    def decode(self, graph: Graph) -> Graph:
        """Labels get their senses back."""
        return replace(graph, nodes=tuple(map(_whole, graph.nodes)))


def _parted(node: Node) -> Node:
    match = _SENSE_CONCEPT.fullmatch(node.label or "")
    if match is None:
        return node
    return replace(node, label=match[1], properties=(*node.properties, Property(SENSE, match[2])))


def _whole(node: Node) -> Node:
    sense = node.get(SENSE)
    if sense is None:
        return node
    label = None if node.label is None else f"{node.label}-{sense}"
    properties = tuple([pair for pair in node.properties if pair.name != SENSE])
    return Node(node.id, label, properties, node.anchors, node.extra)


# Units of UCCA: ``leaf`` and ``inner`` labels, anchors of inner nodes, the top.


LEAF = "leaf"
INNER = "inner"


@dataclass(frozen=True)
class LabelledUnits:
    """Labels units by whether they have children and anchors inner ones to all words below them.

    An inner unit can own words beside those of its children.  They are in its encoded anchors too, and come back as the
    words that no unit below it has: ``decode`` takes from a unit the ranges of the units below it.
    """

    def encode(self, graph: Graph) -> Graph:
        """Adds the labels and the anchors from below; forgets the top, which is the root."""
        below = _below(graph)
        own = {node.id: tuple(node.anchors or ()) for node in graph.nodes}
        nodes = []
        for node in graph.nodes:
            ranges = sorted({anchor for id in (node.id, *below[node.id]) for anchor in own[id]})
            label = INNER if graph.outgoing(node.id) else LEAF
            nodes.append(replace(node, label=label, anchors=tuple(ranges) or None))
        return replace(graph, nodes=tuple(nodes), tops=())

    def decode(self, graph: Graph) -> Graph:
        """Takes the labels off, leaves each unit its own words, and makes the primary root the top."""
        below = _below(graph)
        anchors = {node.id: tuple(node.anchors or ()) for node in graph.nodes}
        nodes = []
        for node in graph.nodes:
            own = anchors[node.id]
            if below[node.id]:
                taken = {anchor for id in below[node.id] for anchor in anchors[id]}
                own = tuple([anchor for anchor in own if anchor not in taken])
            nodes.append(Node(node.id, None, node.properties, own or None, node.extra))
        children = {edge.target for edge in graph.edges if not edge.get("remote")}
        tops = tuple([node.id for node in graph.nodes if node.id not in children])
        return replace(graph, nodes=tuple(nodes), tops=tops[:1])


def _below(graph: Graph) -> Mapping[int, set[int]]:
    """Of each node all others below it over primary edges."""
    children: dict[int, list[int]] = {}
    for edge in graph.edges:
        if not edge.get("remote"):
            children.setdefault(edge.source, []).append(edge.target)
    below: dict[int, set[int]] = {}
    for node in graph.nodes:
        reached: set[int] = set()
        stack = list(children.get(node.id, ()))
        while stack:
            if (each := stack.pop()) not in reached:
                reached.add(each)
                stack += children.get(each, ())
        reached.discard(node.id)
        below[node.id] = reached
    return below


# Names for nodes without a label: the scopes of DRG and the technical root of PTG.


@dataclass(frozen=True)
class NamedUnlabelled:
    """Gives unlabelled nodes a label and takes it away again."""

    name: str

    def encode(self, graph: Graph) -> Graph:
        """No node is unlabelled afterwards."""
        nodes = (replace(node, label=self.name) if node.label is None else node for node in graph.nodes)
        return replace(graph, nodes=tuple(nodes))

    def decode(self, graph: Graph) -> Graph:
        """Nodes of that name (in any case) are unlabelled and have no properties."""
        name = self.name.lower()
        nodes = [
            Node(node.id, None, (), node.anchors, node.extra) if node.label and node.label.lower() == name else node
            for node in graph.nodes
        ]
        return replace(graph, nodes=tuple(nodes))


@dataclass(frozen=True)
class TopIsUnlabelled:
    """The unlabelled nodes are the tops, so nobody needs to predict them."""

    def encode(self, graph: Graph) -> Graph:
        """The graph without tops."""
        return replace(graph, tops=())

    def decode(self, graph: Graph) -> Graph:
        """The graph with its unlabelled nodes as tops."""
        return replace(graph, tops=tuple(node.id for node in graph.nodes if node.label is None))


@dataclass(frozen=True)
class TopsAreRootBoxes:
    """The tops are the unlabelled nodes that nothing points to (DRG)."""

    def encode(self, graph: Graph) -> Graph:
        """The graph without tops."""
        return replace(graph, tops=())

    def decode(self, graph: Graph) -> Graph:
        """The graph with its root boxes as tops."""
        return replace(graph, tops=tuple([node.id for node in graph.roots() if node.label is None]))
