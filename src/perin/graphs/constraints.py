"""What the graphs of a framework never, or next to never, do: a few kinds of rules, written down as data.

The same rules serve twice: the validator says where a graph breaks them, and decoding chooses the most probable graph
that obeys them (:mod:`perin.frameworks.decoding.repair`).  Both look at a graph as a :class:`View`: nodes with labels,
and roles between them.  There a property is a role that leads to a constant, and a constant's label has quotes; an
unlabelled node has the label ``""``; an inverse edge is turned round; and a relation that is a node between two others
(DRG) is one role, ``@Agent``.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import combinations, pairwise
from typing import NamedTuple, TypeAlias

from perin.graphs.graph import Anchor, Graph
from perin.graphs.normalisation import normal_edge

RELATION = "@"
"""The first character of a role that is a node of its own in the treebank's graph."""

ANY = ".*"


class Role(NamedTuple):
    """A labelled link between two nodes of a view, by their places."""

    source: int
    target: int
    label: str


@dataclass(frozen=True)
class View:
    """A graph as rules see it."""

    labels: tuple[str, ...]
    roles: tuple[Role, ...]
    ids: tuple[int, ...]
    """The id of each node in the graph; for a constant that of its owner."""
    anchors: tuple[tuple[Anchor, ...] | None, ...] = ()
    """Of each node; constants have none."""
    parts: int = 1
    """How many parts the graph falls into."""


@dataclass(frozen=True)
class Rule:
    """``rate`` is the share of cases in which gold graphs break the rule: 0 for none, and then breaking it is an error.

    Cases are the roles or nodes that the rule is about.
    """

    rate: float = 0.0


@dataclass(frozen=True)
class Roles(Rule):
    """Roles of these labels lead from nodes of some labels to nodes of some labels (regular expressions).

    With ``of``, this holds only for roles that leave nodes of these labels.
    """

    labels: str = ANY
    source: str = ANY
    target: str = ANY
    of: str = ANY

    def cases(self, view: View) -> int:
        """How many roles there are that could break the rule."""
        return sum(self._concerns(view, role) for role in view.roles)

    def _concerns(self, view: View, role: Role) -> bool:
        return matches(self.labels, role.label) and matches(self.of, view.labels[role.source])

    def violations(self, view: View) -> Iterator[str]:
        """Each role whose source or target is of the wrong kind."""
        for role in view.roles:
            if self._concerns(view, role):
                source, target, label = role
                if not matches(self.source, view.labels[source]):
                    yield f"node {view.ids[source]} ({view.labels[source]}) can't have {label}"
                elif not matches(self.target, view.labels[target]):
                    yield f"{label} of node {view.ids[source]} can't be {view.labels[target] or 'unlabelled'}"


@dataclass(frozen=True)
class Unique(Rule):
    """A node has at most one role of each of these labels; ``incoming``: at most one leads to it."""

    labels: str = ANY
    incoming: bool = False

    def cases(self, view: View) -> int:
        """How many nodes and labels could break the rule."""
        return len(self._counts(view))

    def _counts(self, view: View) -> Counter[tuple[int, str]]:
        found = (role for role in view.roles if matches(self.labels, role.label))
        return Counter((role.target if self.incoming else role.source, role.label) for role in found)

    def violations(self, view: View) -> Iterator[str]:
        """Each node and label that occurs several times."""
        for (node, label), count in self._counts(view).items():
            if count > 1:
                side = "is" if self.incoming else "has"
                yield f"node {view.ids[node]} ({view.labels[node]}) {side} {label} {count} times"


@dataclass(frozen=True)
class Needs(Rule):
    """Nodes of some labels have a role of these labels; ``incoming``: one leads to them."""

    nodes: str = ANY
    labels: str = ANY
    incoming: bool = False

    def cases(self, view: View) -> int:
        """How many nodes could break the rule."""
        return sum(matches(self.nodes, label) for label in view.labels)

    def violations(self, view: View) -> Iterator[str]:
        """Each node that lacks it."""
        found = (role for role in view.roles if matches(self.labels, role.label))
        served = {role.target if self.incoming else role.source for role in found}
        for node, label in enumerate(view.labels):
            if node not in served and matches(self.nodes, label):
                lack = "is nobody's" if self.incoming else "has no"
                yield f"node {view.ids[node]} ({label}) {lack} {readable(self.labels)}"


@dataclass(frozen=True)
class Apart(Rule):
    """No node has roles of both kinds of labels."""

    first: str = ANY
    second: str = ANY

    def cases(self, view: View) -> int:
        """How many nodes have a role of either kind."""
        return len(self._own(view))

    def _own(self, view: View) -> dict[int, dict[bool, str]]:
        own: dict[int, dict[bool, str]] = defaultdict(dict)
        for source, _, label in view.roles:
            if matches(self.first, label):
                own[source][True] = label
            if matches(self.second, label):
                own[source][False] = label
        return own

    def violations(self, view: View) -> Iterator[str]:
        """Each node that has both."""
        for node, labels in self._own(view).items():
            if len(labels) > 1:
                yield f"node {view.ids[node]} ({view.labels[node]}) has both {labels[True]} and {labels[False]}"


@dataclass(frozen=True)
class Disjoint(Rule):
    """No two nodes are anchored to the same text."""

    def cases(self, view: View) -> int:
        """How many ranges there are."""
        return sum(len(own or ()) for own in view.anchors)

    def violations(self, view: View) -> Iterator[str]:
        """Each range that overlaps with the one before it."""
        ranges = sorted((*anchor, id) for id, own in zip(view.ids, view.anchors, strict=False) for anchor in own or ())
        for (_, end, first), (start, _, second) in pairwise(ranges):
            if start < end:
                yield f"nodes {first} and {second} are both anchored to character {start}"


@dataclass(frozen=True)
class Anchored(Rule):
    """Nodes that have a parent and no children are anchored."""

    def cases(self, view: View) -> int:
        """How many leaves there are."""
        return len(self._leaves(view))

    def _leaves(self, view: View) -> list[int]:
        inner, children = {role.source for role in view.roles}, {role.target for role in view.roles}
        return sorted(children - inner)

    def violations(self, view: View) -> Iterator[str]:
        """Each leaf without an anchor."""
        for node in self._leaves(view):
            if node < len(view.anchors) and not view.anchors[node]:
                yield f"node {view.ids[node]} is a leaf without an anchor"


@dataclass(frozen=True)
class NoTwins(Rule):
    """No two nodes are readings of the same words: same anchors, and the same label up to its sense.

    ``nodes``: the labels that this holds for, a regular expression whose first group is the label without its sense.
    Nodes of frameworks without anchors can't be seen to be twins; decoding knows the token that each comes from.
    """

    nodes: str = "(.*)"

    def stem(self, label: str) -> str | None:
        """A label without its sense; None where the rule does not hold for it."""
        found = _compiled(self.nodes).fullmatch(label)
        return None if found is None else found[1]

    def cases(self, view: View) -> int:
        """How many anchored nodes of these labels there are."""
        pairs = zip(view.labels, view.anchors, strict=False)
        return sum(bool(own) and bool(self.stem(label)) for label, own in pairs)

    def violations(self, view: View) -> Iterator[str]:
        """Each pair of twins."""
        groups: dict[tuple[str, tuple[Anchor, ...]], list[int]] = defaultdict(list)
        for label, id, own in zip(view.labels, view.ids, view.anchors, strict=False):
            stem = self.stem(label) if own else None
            if stem and own:
                groups[stem, own].append(id)
        for (stem, _), ids in groups.items():
            for first, second in combinations(ids, 2):
                yield f"nodes {first} and {second} both are {stem} of the same words"


@dataclass(frozen=True)
class Connected(Rule):
    """The graph is in one piece."""

    def cases(self, view: View) -> int:
        """How many nodes could be a part of their own."""
        return len(view.anchors)

    def violations(self, view: View) -> Iterator[str]:
        """One for each part but the first."""
        for _ in range(1, view.parts):
            yield f"the graph falls into {view.parts} parts"


Constraint: TypeAlias = Connected | Roles | Unique | Needs | Apart | Disjoint | Anchored | NoTwins


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.DOTALL)


def matches(pattern: str, label: str) -> bool:
    """Whether a regular expression matches all of a label."""
    return pattern == ANY or _compiled(pattern).fullmatch(label) is not None


def readable(pattern: str) -> str:
    r"""A pattern of labels in words.

    >>> readable(r"op\d+|name")
    'opN or name'
    """
    return re.sub(r"\\d[+*]?", "N", pattern).replace("|", " or ")


def except_for(pattern: str) -> str:
    """A regular expression for all labels that another one does not match.

    >>> matches(except_for("a|b"), "a"), matches(except_for("a|b"), "ab")
    (False, True)
    """
    return f"(?!(?:{pattern})\\Z).*"


def constant(value: object) -> str:
    """The label of a constant in a view."""
    return f'"{value}"'


def view(graph: Graph, relation: str | None = None) -> View:
    """A graph as rules see it; nodes whose label ``relation`` matches are roles if they link two nodes."""
    places = {node.id: place for place, node in enumerate(graph.nodes)}
    labels = [node.label or "" for node in graph.nodes]
    roles = [
        Role(places[source], places[target], label or "") for source, target, label in map(normal_edge, graph.edges)
    ]
    ids = [node.id for node in graph.nodes]
    anchors: list[tuple[Anchor, ...] | None] = [node.anchors for node in graph.nodes]
    if relation is not None:
        roles = _folded(labels, roles, relation)
    for place, node in enumerate(graph.nodes):
        for name, value in node.properties:
            roles.append(Role(place, len(labels), name))
            labels.append(constant(value))
            ids.append(node.id)
    return View(tuple(labels), tuple(roles), tuple(ids), tuple(anchors), len(graph.components()))


def _folded(labels: list[str], roles: list[Role], relation: str) -> list[Role]:
    incoming: dict[int, list[Role]] = defaultdict(list)
    outgoing: dict[int, list[Role]] = defaultdict(list)
    for role in roles:
        if not role.label:
            outgoing[role.source].append(role)
            incoming[role.target].append(role)
    folded = {
        node
        for node, label in enumerate(labels)
        if label and matches(relation, label) and len(incoming[node]) == len(outgoing[node]) == 1
    }
    kept = [role for role in roles if role.label or not {role.source, role.target} & folded]
    ends = [(incoming[node][0].source, outgoing[node][0].target, RELATION + labels[node]) for node in sorted(folded)]
    return [*kept, *(Role(*end) for end in ends)]
