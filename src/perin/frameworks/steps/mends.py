"""Changes of decoded graphs that make them obey what choosing roles can't see: entities and names, relation nodes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

from perin.contract.sentence import Sentence, Token
from perin.frameworks.steps import FLAG, flagged
from perin.graphs.constraints import Constraint
from perin.graphs.framework_rules import COORDINATION, NAMED_ENTITIES, STRING_ARGUMENTS, UNIQUE_RELATIONS, UNNAMED
from perin.graphs.graph import Edge, Graph, Node

_UNNAMED = re.compile(UNNAMED)
_COORDINATION = re.compile(COORDINATION)
_ARGUMENT = re.compile(r"(?i:arg)\d")
_OF_ENTITIES = re.compile(r"(?i:arg)\d|op\d+|poss|beneficiary|accompanier|destination|source|location")
_PART = re.compile(r"op\d+")
_NUMBER = re.compile(r"[-+0-9].*")
_ENTITY = "person"
_ROLES = ("ARG0", "ARG1", "ARG2", "mod")
_MEMBERS = tuple(f"op{number}" for number in range(1, 20))


class Mend(Protocol):
    """A change of a decoded graph after which it obeys some rules."""

    @property
    def rules(self) -> tuple[Constraint, ...]:
        """The choice of roles leaves these to the change."""

    @property
    def last(self) -> bool:
        """Whether the change comes after the steps back to the treebank's form, not before them."""

    def mend(self, graph: Graph, sentence: Sentence) -> Graph:
        """The graph as it should be."""


@dataclass(frozen=True)
class EntityNames:
    """Gives names to entities and entities to names.

    - The parts of a name are written as the sentence writes them: ``"Prague"``, not ``"prague"``.
    - A string that is an argument of a predicate becomes ``person :name (name :op1 …)``, and so does a childless node
      whose label is a proper noun of the sentence.
    - A predicate, a coordination or a date has no name: between the two comes a person, in the first role that is free.
    - The parts of a name are strings: ``op1 (p / paris)`` becomes ``op1 "Paris"`` where the node is nothing else.
    """

    rules: tuple[Constraint, ...] = (STRING_ARGUMENTS, NAMED_ENTITIES)
    last: bool = False

    def mend(self, graph: Graph, sentence: Sentence) -> Graph:
        """The graph with its entities; nodes are added at the end."""
        proper = {token.form.lower(): token.form for token in sentence.tokens if _proper(token)}
        draft = _Draft(graph)
        for node in graph.nodes:
            if flagged(node):
                for edge in graph.incoming(node.id):
                    if _ARGUMENT.fullmatch(edge.label or "") and not _NUMBER.fullmatch(node.label or ""):
                        draft.name_constant(edge)
            elif (node.label or "").lower() in proper and _is_entity(graph, node):
                draft.name_node(node)
            elif node.label == "name":
                for edge in graph.outgoing(node.id):
                    if _PART.fullmatch(edge.label or "") and not flagged(graph.node(edge.target)):
                        draft.quote_part(edge)
            elif _UNNAMED.fullmatch(node.label or ""):
                for edge in graph.outgoing(node.id):
                    if edge.label == "name" and not _shared(graph, edge.target):
                        draft.insert_entity(edge)
        return _cased(draft.graph(), {token.form.lower(): token.form for token in sentence.tokens} | proper)


@dataclass(frozen=True)
class UniqueRelations:
    """Leaves out relations that are nodes (DRG) where their source has the same relation already.

    Most relations are edges when roles are chosen; some can't be and are nodes to the network.  What then hangs on
    nothing else goes with them.
    """

    rules: tuple[Constraint, ...] = ()
    last: bool = True

    def mend(self, graph: Graph, sentence: Sentence) -> Graph:
        """The graph without surplus relations; those that were edges, which come last, stay."""
        relations = [node for node in graph.nodes if node.label in UNIQUE_RELATIONS]
        roles: set[tuple[int, str | None]] = set()
        surplus: set[int] = set()
        for node in reversed(relations):
            source = _source_of_relation(graph, node)
            if source is not None:
                if (source, node.label) in roles:
                    surplus.add(node.id)
                roles.add((source, node.label))
        return _largest_part(_without_nodes(graph, surplus)) if surplus else graph


def _source_of_relation(graph: Graph, node: Node) -> int | None:
    """The source of a relation that lies between two nodes; None if it does not."""
    sources = [edge.source for edge in graph.incoming(node.id) if not edge.label]
    targets = [edge.target for edge in graph.outgoing(node.id) if not edge.label]
    return sources[0] if len(sources) == len(targets) == 1 else None


def _without_nodes(graph: Graph, gone: set[int]) -> Graph:
    return replace(
        graph,
        nodes=tuple(node for node in graph.nodes if node.id not in gone),
        edges=tuple(edge for edge in graph.edges if not {edge.source, edge.target} & gone),
        tops=tuple(top for top in graph.tops if top not in gone),
    )


def _largest_part(graph: Graph) -> Graph:
    """The part with the most nodes, among those that have a top if any has."""
    parts = graph.components()
    if len(parts) < 2:
        return graph
    tops = set(graph.tops)
    best = max(parts, key=lambda part: (bool(part & tops), len(part)))
    return _without_nodes(graph, {node.id for node in graph.nodes} - best)


class _Draft:
    """Nodes and edges of a graph that are being changed."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._nodes = {node.id: node for node in graph.nodes}
        self._edges = list(graph.edges)
        self._free = max(self._nodes, default=-1) + 1

    def graph(self) -> Graph:
        return replace(self._graph, nodes=tuple(self._nodes.values()), edges=tuple(self._edges))

    def _add(self, label: str, extra: Mapping[str, Any] | None, flag: bool = False) -> int:
        self._nodes[self._free] = Node(self._free, label, (FLAG,) if flag else (), extra=extra)
        self._free += 1
        return self._free - 1

    def name_constant(self, edge: Edge) -> None:
        """``ARG0 "john"`` as ``ARG0 (person :name (name :op1 "john"))``; a string of two roles keeps the other."""
        string = self._nodes[edge.target]
        entity, name = self._add(_ENTITY, string.extra), self._add("name", string.extra)
        self._edges[self._edges.index(edge)] = replace(edge, target=entity)
        shared = any(other.target == string.id for other in self._edges)
        part = self._add(string.label or "", string.extra, flag=True) if shared else string.id
        self._edges += [Edge(entity, name, "name", extra=edge.extra), Edge(name, part, "op1", extra=edge.extra)]

    def name_node(self, node: Node) -> None:
        """``(m / mary)`` as ``(p / person :name (name :op1 "mary"))``."""
        extra = next((edge.extra for edge in self._edges if edge.target == node.id), None)
        self._nodes[node.id] = replace(node, label=_ENTITY)
        name, constant = self._add("name", node.extra), self._add(node.label or "", node.extra, flag=True)
        self._edges += [Edge(node.id, name, "name", extra=extra), Edge(name, constant, "op1", extra=extra)]

    def quote_part(self, edge: Edge) -> None:
        """``name :op1 (p / paris)`` as ``name :op1 "paris"``, unless the node links the name to others."""
        part = self._nodes[edge.target]
        others = [other for other in self._edges if part.id in (other.source, other.target) and other is not edge]
        if any(edge.source in (other.source, other.target) for other in others):
            quoted = self._add(part.label or "", part.extra, flag=True)
            self._edges[self._edges.index(edge)] = replace(edge, target=quoted)
        elif not others and part.id not in self._graph.tops:
            self._nodes[part.id] = replace(part, properties=(*part.properties, FLAG))

    def insert_entity(self, edge: Edge) -> None:
        """``go-01 :name (name …)`` as ``go-01 :ARG0 (person :name (name …))``."""
        taken = {other.label for other in self._edges if other.source == edge.source}
        entity = self._add(_ENTITY, self._nodes[edge.target].extra)
        self._edges[self._edges.index(edge)] = replace(edge, source=entity)
        roles = _MEMBERS if _COORDINATION.fullmatch(self._nodes[edge.source].label or "") else _ROLES
        role = next((role for role in roles if role not in taken), roles[-1])
        self._edges.append(Edge(edge.source, entity, role, extra=edge.extra))


def _proper(token: Token) -> bool:
    return token.form.istitle() and len(token.form) > 1 and token.lemma == token.form


def _shared(graph: Graph, node: int) -> bool:
    """Whether a node is a string of several roles, which must stay those of one owner."""
    return flagged(graph.node(node)) and len(graph.incoming(node)) > 1


def _is_entity(graph: Graph, node: Node) -> bool:
    """Whether a node stands where entities stand and has nothing of its own."""
    incoming = graph.incoming(node.id)
    roles: Iterable[str] = [edge.label or "" for edge in incoming]
    parts = any(graph.node(edge.source).label in ("name", "date-entity") for edge in incoming)
    return not graph.outgoing(node.id) and bool(roles) and not parts and all(map(_OF_ENTITIES.fullmatch, roles))


def _cased(graph: Graph, forms: Mapping[str, str]) -> Graph:
    """The graph with the parts of its names as the sentence writes them."""
    names = {node.id for node in graph.nodes if node.label == "name"}
    parts = {edge.target for edge in graph.edges if edge.source in names and _PART.fullmatch(edge.label or "")}
    nodes = (
        replace(node, label=forms.get((node.label or "").lower(), node.label))
        if node.id in parts and flagged(node)
        else node
        for node in graph.nodes
    )
    return replace(graph, nodes=tuple(nodes))
