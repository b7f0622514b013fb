"""Changes of decoded graphs that make them obey what choosing roles can't see: entities and names, relation nodes."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from itertools import product
from typing import Any, Protocol

from perin.contract import Sentence, Token
from perin.frameworks.steps import FLAG, TopsAreRootBoxes, flagged, relations
from perin.graphs.constraints import Constraint, matches
from perin.graphs.framework_rules import (
    BOUND_NOUNS,
    COORDINATION,
    LINKED_NAMES,
    NAMED_ENTITIES,
    STRING_ARGUMENTS,
    UNIQUE_RELATIONS,
    UNNAMED,
    WHOLE_RELATIONS,
)
from perin.graphs.graph import Edge, Graph, Node

_UNNAMED = re.compile(UNNAMED)
_COORDINATION = re.compile(COORDINATION)
_ARGUMENT = re.compile(r"(?i:arg)\d")
_OF_ENTITIES = re.compile(r"(?i:arg)\d|op\d+|poss|beneficiary|accompanier|destination|source|location")
_PART = re.compile(r"op\d+")
_NUMBER = re.compile(r"[-+0-9].*")
_ENTITY = "person"
_ROLES = ("ARG0", "ARG1", "ARG2", "mod")
_LINKS = frozenset(
    ("of", "called", "named", "known", "as", "is", "was", "are", "were", "be", "such", "like", "or", "and")
)
"""Words between a noun and its name, beside marks."""
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
    - What a common noun is called stands next to it, or a mark or a word such as *called* links the two (but for 3 of
      7,552 gold names).  In *Anna gave Peter a book*, Peter is somebody else, in the predicate's first free role.
    """

    rules: tuple[Constraint, ...] = (STRING_ARGUMENTS, NAMED_ENTITIES)
    last: bool = False

    def mend(self, graph: Graph, sentence: Sentence) -> Graph:
        """The graph with its entities; nodes are added at the end."""
        proper = {token.form.lower(): token.form for token in sentence.tokens if _proper(token)}
        if not _may_have_names(graph, proper):
            return graph
        draft = _Draft(graph)
        for node in graph.nodes:
            if flagged(node):
                for edge in graph.incoming(node.id):
                    if _is_argument(edge.label) and not _NUMBER.fullmatch(node.label or ""):
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
            else:
                for edge in graph.outgoing(node.id):
                    if edge.label == "name" and _is_name_of_another(graph, edge, sentence):
                        draft.part_name(edge)
        return _cased(draft.graph(), {token.form.lower(): token.form for token in sentence.tokens} | proper)


SUBJECTS = {
    **dict.fromkeys(("me", "my", "mine", "myself"), "i"),
    **dict.fromkeys(("us", "our", "ours", "ourselves"), "we"),
    **dict.fromkeys(("your", "yours", "yourself", "yourselves"), "you"),
    **dict.fromkeys(("him", "his", "himself"), "he"),
    **dict.fromkeys(("her", "hers", "herself"), "she"),
    **dict.fromkeys(("its", "itself"), "it"),
    **dict.fromkeys(("them", "their", "theirs", "themselves"), "they"),
}
"""What AMR calls the person behind any form of a pronoun; of 2,620 pronouns in gold, two are in another form."""


@dataclass(frozen=True)
class SubjectPronouns:
    """Writes pronouns in the form that they have as subjects: ``she`` for *her*."""

    rules: tuple[Constraint, ...] = ()
    last: bool = False

    def mend(self, graph: Graph, sentence: Sentence) -> Graph:
        """The graph with other labels for some pronouns."""
        if not any(node.label in SUBJECTS for node in graph.nodes):
            return graph
        nodes = tuple(
            replace(node, label=SUBJECTS[node.label]) if node.label in SUBJECTS and not flagged(node) else node
            for node in graph.nodes
        )
        return replace(graph, nodes=nodes)


@dataclass(frozen=True)
class LinkedNames:
    """Takes the link (``wiki``) from nodes that have no name."""

    rules: tuple[Constraint, ...] = (LINKED_NAMES,)
    last: bool = True

    def mend(self, graph: Graph, sentence: Sentence) -> Graph:
        """The graph without links (``wiki``) of nodes that have no name."""
        linked = {node.id for node in graph.nodes for pair in node.properties if pair.name == "wiki"}
        if not linked:
            return graph
        gone = linked - {edge.source for edge in graph.edges if edge.label == "name"}
        nodes = (_unlinked(node) if node.id in gone else node for node in graph.nodes)
        return replace(graph, nodes=tuple(nodes)) if gone else graph


def _unlinked(node: Node) -> Node:
    return replace(node, properties=tuple(pair for pair in node.properties if pair.name != "wiki"))


@dataclass(frozen=True)
class BoundNouns:
    """Gives each noun of EDS that no quantifier binds one of its own: what ``quantifiers`` lists, else ``default``."""

    quantifiers: Mapping[str, str] = field(default_factory=dict)
    default: str = "udef_q"
    rules: tuple[Constraint, ...] = (BOUND_NOUNS,)
    last: bool = True

    def mend(self, graph: Graph, sentence: Sentence) -> Graph:
        """The graph with a quantifier for each noun; nodes are added at the end."""
        bound = {edge.target for edge in graph.edges if edge.label == "BV"}
        loose = [node for node in graph.nodes if node.id not in bound and _is_noun(node.label or "")]
        if not loose:
            return graph
        free = max(node.id for node in graph.nodes) + 1
        nodes, edges = list(graph.nodes), list(graph.edges)
        for id, noun in enumerate(loose, start=free):
            label = self.quantifiers.get(noun.label or "", self.default)
            nodes.append(Node(id, label, anchors=noun.anchors, extra=_only(noun.extra, "top_probability")))
            edges.append(Edge(id, noun.id, "BV", extra=_only(noun.extra)))
        return replace(graph, nodes=tuple(nodes), edges=tuple(edges))


def _only(extra: Mapping[str, Any] | None, *names: str) -> Mapping[str, Any] | None:
    """How probable a node is that a new node or edge belongs to."""
    names = ("probability", "label_probability", *names)
    return None if extra is None else {name: extra[name] for name in names if name in extra}


@lru_cache(maxsize=20_000)
def _is_noun(label: str) -> bool:
    return matches(BOUND_NOUNS.nodes, label)


@dataclass(frozen=True)
class WholeRelations:
    """Leaves out relations that are nodes (DRG) unless they lie between two nodes and their source has no such other.

    Most relations are edges when roles are chosen; some can't be and are nodes to the network.  What then hangs on
    nothing else goes with them.
    """

    rules: tuple[Constraint, ...] = (WHOLE_RELATIONS,)
    last: bool = True

    def mend(self, graph: Graph, sentence: Sentence) -> Graph:
        """The graph without surplus relations; those that were edges, which come last, stay."""
        while surplus := _surplus_relations(graph):
            graph = TopsAreRootBoxes().decode(_largest_part(_without_nodes(graph, surplus)))
        return graph


def _surplus_relations(graph: Graph) -> set[int]:
    sources: dict[int, list[int]] = defaultdict(list)
    targets: dict[int, list[int]] = defaultdict(list)
    for edge in graph.edges:
        if not edge.label:
            sources[edge.target].append(edge.source)
            targets[edge.source].append(edge.target)
    roles: set[tuple[int, str | None]] = set()
    surplus: set[int] = set()
    for node in reversed(relations(graph)):
        if len(sources[node.id]) != 1 or len(targets[node.id]) != 1:
            surplus.add(node.id)
        elif node.label in UNIQUE_RELATIONS:
            role = sources[node.id][0], node.label
            if role in roles:
                surplus.add(node.id)
            roles.add(role)
    return surplus


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
        nodes, edges = tuple(self._nodes.values()), tuple(self._edges)
        if nodes == self._graph.nodes and edges == self._graph.edges:
            return self._graph
        return replace(self._graph, nodes=nodes, edges=edges)

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

    def part_name(self, edge: Edge) -> None:
        """``give-01 :ARG1 (book :name n)`` as ``give-01 :ARG1 book :ARG2 (person :name n)``, if a role is free.

        A role is also free if whoever has it has another one of the same predicate: nobody gives himself a book.
        """
        for other in self._edges:
            if other.target == edge.source and _is_argument(other.label):
                roles = {each.label: each for each in self._edges if each.source == other.source}
                role = next((role for role in _ROLES[:3] if role not in roles or _doubled(roles, role)), None)
                if role is not None:
                    entity = self._add(_ENTITY, self._nodes[edge.target].extra)
                    self._edges[self._edges.index(edge)] = replace(edge, source=entity)
                    if role in roles:
                        self._edges.remove(roles[role])
                    self._edges.append(Edge(other.source, entity, role, extra=edge.extra))
                    return

    def insert_entity(self, edge: Edge) -> None:
        """``go-01 :name (name …)`` as ``go-01 :ARG0 (person :name (name …))``."""
        taken = {other.label for other in self._edges if other.source == edge.source}
        entity = self._add(_ENTITY, self._nodes[edge.target].extra)
        self._edges[self._edges.index(edge)] = replace(edge, source=entity)
        roles = _MEMBERS if _COORDINATION.fullmatch(self._nodes[edge.source].label or "") else _ROLES
        role = next((role for role in roles if role not in taken), roles[-1])
        self._edges.append(Edge(edge.source, entity, role, extra=edge.extra))


def _doubled(roles: Mapping[str | None, Edge], role: str) -> bool:
    """Whether the node in this role has an earlier one, too."""
    return any(
        roles[earlier].target == roles[role].target for earlier in _ROLES[: _ROLES.index(role)] if earlier in roles
    )


def _is_name_of_another(graph: Graph, edge: Edge, sentence: Sentence) -> bool:
    """Whether a name belongs to another word than the common noun that has it: nothing in the text links the two."""
    noun = (graph.node(edge.source).label or "").lower()
    names = {(graph.node(part.target).label or "").lower() for part in graph.outgoing(edge.target)}
    tokens = sentence.tokens
    own = [at for at, token in enumerate(tokens) if token.lemma.lower() == noun and token.form.islower()]
    parts = [at for at, token in enumerate(tokens) if token.form.lower() in names]
    if not own or not parts or not all(tokens[at].form.istitle() and tokens[at].form.isalpha() for at in parts):
        return False
    first, last = min((sorted(ends) for ends in product(own, parts)), key=lambda ends: ends[1] - ends[0])
    between = [token.form for token in tokens[first + 1 : last]]
    return bool(between) and all(form.isalnum() and form.lower() not in _LINKS for form in between)


def _proper(token: Token) -> bool:
    return token.lemma == token.form and token.form.istitle() and len(token.form) > 1


def _may_have_names(graph: Graph, proper: Mapping[str, str]) -> bool:
    """Whether something is a name, has one, or should have one; most graphs have nothing of the kind."""
    strings = set()
    for node in graph.nodes:
        if node.properties and flagged(node):
            strings.add(node.id)
        elif node.label == "name" or (node.label or "").lower() in proper:
            return True
    return any(edge.label == "name" or (edge.target in strings and _is_argument(edge.label)) for edge in graph.edges)


@cache
def _is_argument(label: str | None) -> bool:
    return _ARGUMENT.fullmatch(label or "") is not None


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
    if not names:
        return graph
    parts = {edge.target for edge in graph.edges if edge.source in names and _PART.fullmatch(edge.label or "")}
    written = {
        node.id: form
        for node in graph.nodes
        if node.id in parts
        and flagged(node)
        and (form := forms.get((node.label or "").lower(), node.label)) != node.label
    }
    if not written:
        return graph
    nodes = (replace(node, label=written[node.id]) if node.id in written else node for node in graph.nodes)
    return replace(graph, nodes=tuple(nodes))
