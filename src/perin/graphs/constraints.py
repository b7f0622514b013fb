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
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from functools import cache
from itertools import combinations, pairwise
from typing import NamedTuple, TypeAlias

from perin.graphs.graph import Anchor, Graph
from perin.graphs.normalisation import normal_edge

RELATION = "@"
"""The first character of a role that is a node of its own in the treebank's graph."""

ANY = ".*"
_NO_MARKS: frozenset[str] = frozenset()


class Role(NamedTuple):
    """A labelled link between two nodes of a view, by their places."""

    source: int
    target: int
    label: str
    marks: frozenset[str] = frozenset()
    """The names of the edge's attributes that are true."""


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
    tops: frozenset[int] = frozenset()
    """The places of the tops."""


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
                source, target, label, _ = role
                if not matches(self.source, view.labels[source]):
                    yield f"node {view.ids[source]} ({view.labels[source]}) can't have {label}"
                elif not matches(self.target, view.labels[target]):
                    yield f"{label} of node {view.ids[source]} can't be {view.labels[target] or 'unlabelled'}"


@dataclass(frozen=True)
class Unique(Rule):
    """A node has at most one role of each of these labels; ``incoming``: at most one leads to it.

    ``unmarked``: roles that have attributes do not count (the members of a coordination all have its role).
    """

    labels: str = ANY
    incoming: bool = False
    unmarked: bool = False

    def cases(self, view: View) -> int:
        """How many nodes and labels could break the rule."""
        return len(self._counts(view))

    def _counts(self, view: View) -> Counter[tuple[int, str]]:
        roles = (role for role in view.roles if not (self.unmarked and role.marks))
        found = (role for role in roles if matches(self.labels, role.label))
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
class OneWay(Rule):
    """Roles link two nodes in one direction only."""

    def cases(self, view: View) -> int:
        """How many pairs of nodes are linked."""
        return len({frozenset(role[:2]) for role in view.roles})

    def violations(self, view: View) -> Iterator[str]:
        """Each pair that is linked both ways."""
        links = {role[:2] for role in view.roles}
        for source, target in sorted(links):
            if source < target and (target, source) in links:
                yield f"nodes {view.ids[source]} and {view.ids[target]} have roles of each other"


@dataclass(frozen=True)
class OneRole(Rule):
    """Two nodes are linked by one role only."""

    def cases(self, view: View) -> int:
        """How many pairs of nodes are linked."""
        return len(self._links(view))

    def _links(self, view: View) -> dict[tuple[int, int], list[str]]:
        links: dict[tuple[int, int], list[str]] = defaultdict(list)
        for source, target, label, _ in view.roles:
            links[source, target].append(label)
        return links

    def violations(self, view: View) -> Iterator[str]:
        """Each pair with several roles."""
        for (source, target), labels in self._links(view).items():
            if len(labels) > 1:
                yield f"node {view.ids[target]} is both {' and '.join(labels)} of node {view.ids[source]}"


@dataclass(frozen=True)
class Families(Rule):
    """The roles that leave a node are of one family; those that no pattern matches, or with attributes, go with all."""

    families: tuple[str, ...] = ()

    def cases(self, view: View) -> int:
        """How many nodes have a role of some family."""
        return len(self._own(view))

    def _own(self, view: View) -> dict[int, dict[int, str]]:
        own: dict[int, dict[int, str]] = defaultdict(dict)
        for source, _, label, marks in view.roles:
            for number, pattern in enumerate(self.families):
                if not marks and matches(pattern, label):
                    own[source].setdefault(number, label)
        return own

    def violations(self, view: View) -> Iterator[str]:
        """Each node with roles of several families."""
        for node, labels in self._own(view).items():
            if len(labels) > 1:
                yield f"node {view.ids[node]} ({view.labels[node]}) has {' and '.join(labels.values())} side by side"


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
        for source, _, label, _ in view.roles:
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
class Implies(Rule):
    """A node that has a role of some labels also has one of others."""

    labels: str = ANY
    others: str = ANY

    def cases(self, view: View) -> int:
        """How many nodes have such a role."""
        return len(self._sources(view, self.labels))

    def _sources(self, view: View, labels: str) -> set[int]:
        return {role.source for role in view.roles if matches(labels, role.label)}

    def violations(self, view: View) -> Iterator[str]:
        """Each node that lacks the others."""
        for node in sorted(self._sources(view, self.labels) - self._sources(view, self.others)):
            place = f"node {view.ids[node]} ({view.labels[node]})"
            yield f"{place} has {readable(self.labels)}, but no {readable(self.others)}"


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


@dataclass(frozen=True)
class Tree(Rule):
    """Roles form a tree below the top, apart from those with a label of ``beside`` or with the attribute ``mark``."""

    beside: str = ""
    mark: str = ""

    def roles(self, view: View) -> Iterator[Role]:
        """The roles of the tree."""
        return (role for role in view.roles if self.mark not in role.marks and not matches(self.beside, role.label))

    def cases(self, view: View) -> int:
        """How many nodes there are."""
        return len(view.anchors)

    def violations(self, view: View) -> Iterator[str]:
        """Each node that has no parent and is no top, or several, or lies below itself."""
        parents: dict[int, list[int]] = defaultdict(list)
        for role in self.roles(view):
            if role.target < len(view.anchors):
                parents[role.target].append(role.source)
        for node in range(len(view.anchors)):
            count = len(parents[node])
            if count != (node not in view.tops):
                yield f"node {view.ids[node]} ({view.labels[node]}) has {count or 'no'} parent{'s' * (count > 1)}"
        first = {node: own[0] for node, own in parents.items() if own}
        for node in first:
            if _circles(first, node):
                yield f"node {view.ids[node]} ({view.labels[node]}) lies below itself"


def _circles(parents: Mapping[int, int], node: int) -> bool:
    above = node
    for _ in parents:
        above = parents.get(above, -1)
        if above in (node, -1):
            break
    return above == node


@dataclass(frozen=True)
class Coordination(Rule):
    """Only nodes that a role of these labels leads to have members, which share the place of the whole.

    A role of ``tree`` with the attribute ``member`` leads to a member.  Those with the attribute ``shared`` follow from
    the tree, see :func:`shared_roles`.
    """

    labels: str = ANY
    member: str = "member"
    shared: str = "effective"
    tree: Tree = Tree()

    def cases(self, view: View) -> int:
        """How many members and shared roles there are."""
        return sum(bool(role.marks) for role in view.roles)

    def violations(self, view: View) -> Iterator[str]:
        """Each member of what is no coordination, and each shared role that does not follow."""
        into = {role.target: role for role in self.tree.roles(view)}
        for role in into.values():
            if self.member in role.marks and not (
                role.source in into and matches(self.labels, into[role.source].label)
            ):
                yield f"node {view.ids[role.source]} ({view.labels[role.source]}) has a member, but is no coordination"
        parents = {role.target: role.source for role in into.values()}
        if not any(_circles(parents, node) for node in parents):
            following = shared_roles(parents, {node for node, role in into.items() if self.member in role.marks})
            for role in view.roles:
                if self.shared in role.marks:
                    place = f"{role.label} of node {view.ids[role.source]} ({view.labels[role.source]})"
                    if (role.source, role.target) not in following:
                        yield f"{place} is {self.shared}, but no coordination makes it so"
                    elif role.label != into[role.target].label:
                        yield f"{place} should be {into[role.target].label}"


def shared_roles(parents: Mapping[int, int], members: Set[int]) -> set[tuple[int, int]]:
    """The pairs of nodes that a tree with coordinations links besides its own edges.

    A member depends on what the whole coordination depends on; what depends on a coordination without being a member
    depends on each member.  ``members``: the nodes that are one.

    >>> sorted(shared_roles({1: 0, 2: 1, 3: 1, 4: 1}, members={2, 3}))  # 0 -> and(1) -> cats(2), dogs(3), old(4)
    [(0, 2), (0, 3), (2, 4), (3, 4)]
    """
    own: dict[int, list[int]] = defaultdict(list)
    for node in members:
        own[parents[node]].append(node)

    def spread(node: int) -> Iterator[int]:
        if node not in own:
            yield node
        for member in own.get(node, ()):
            yield from spread(member)

    found: set[tuple[int, int]] = set()
    for node, parent in parents.items():
        if node in own:
            continue
        top = node
        while top in members:
            top = parents[top]
        if top in parents and (node in members or parent in own):
            found.update((head, node) for head in spread(parents[top]))
    return found


@dataclass(frozen=True)
class Members(Rule):
    """A node that a role of these labels leads to has two children or more with this attribute."""

    labels: str = ANY
    mark: str = "member"

    def cases(self, view: View) -> int:
        """How many coordinations there are."""
        return len(self._wholes(view))

    def _wholes(self, view: View) -> set[int]:
        return {role.target for role in view.roles if matches(self.labels, role.label)}

    def violations(self, view: View) -> Iterator[str]:
        """Each that has none, or only one."""
        counts = Counter(role.source for role in view.roles if self.mark in role.marks)
        for node in sorted(self._wholes(view)):
            if counts[node] < 2:
                place = f"node {view.ids[node]} ({view.labels[node]})"
                yield f"{place} is a coordination, but has {counts[node] or 'no'} member{'' if counts[node] else 's'}"


Constraint: TypeAlias = (
    Connected
    | Roles
    | Unique
    | Needs
    | OneWay
    | OneRole
    | Families
    | Apart
    | Implies
    | Disjoint
    | Anchored
    | NoTwins
    | Tree
    | Coordination
    | Members
)


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
    return "role" if pattern == ANY else re.sub(r"\\d[+*]?", "N", pattern).replace("|", " or ")


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
    roles = []
    for edge in graph.edges:
        source, target, label = normal_edge(edge)
        marks = frozenset([name for name, value in edge.attributes if value]) if edge.attributes else _NO_MARKS
        roles.append(Role(places[source], places[target], label or "", marks))
    ids = [node.id for node in graph.nodes]
    anchors: list[tuple[Anchor, ...] | None] = [node.anchors for node in graph.nodes]
    if relation is not None:
        roles = _folded(labels, roles, relation)
    for place, node in enumerate(graph.nodes):
        for name, value in node.properties:
            roles.append(Role(place, len(labels), name))
            labels.append(constant(value))
            ids.append(node.id)
    tops = frozenset(places[top] for top in graph.tops)
    return View(tuple(labels), tuple(roles), tuple(ids), tuple(anchors), len(graph.components()), tops)


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
