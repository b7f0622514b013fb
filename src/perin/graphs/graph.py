"""The meaning graph: a directed, labelled multigraph over a sentence, as MRP 2020 defines it.

All types are immutable values.  A graph may hold more than its framework allows: it keeps what was read, and
:mod:`perin.graphs.validation` says what is wrong with it.
"""

from __future__ import annotations

import os
import reprlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from perin.errors import MissingDependencyError
from perin.lazy import cached_property

if TYPE_CHECKING:
    import networkx

Scalar: TypeAlias = str | int | float | bool | None
"""A JSON value that is neither list nor object."""
PROBABILITIES = frozenset(("probability", "label_probability", "top_probability", "alternatives"))
"""What a parser says of its nodes and edges in ``extra``; only MRP has a place for it."""


class Anchor(NamedTuple):
    """A range of characters of the input, ``start`` included and ``end`` excluded (MRP: ``from`` and ``to``)."""

    start: int
    end: int


class Property(NamedTuple):
    """A name and a value: a property of a node or an attribute of an edge."""

    name: str
    value: Scalar


@dataclass(frozen=True, slots=True)
class Node:
    """A node; ``anchors`` is None where the file has none and ``()`` where it has an empty list.

    ``extra`` holds the fields of the file that PERIN does not interpret; they survive reading and writing.
    """

    id: int
    label: str | None = None
    properties: tuple[Property, ...] = ()
    anchors: tuple[Anchor, ...] | None = None
    extra: Mapping[str, Any] | None = field(default=None, hash=False)

    def get(self, name: str, default: Scalar = None) -> Scalar:
        """The value of the first property of this name.

        >>> Node(0, "dog", (Property("num", "sg"),)).get("num")
        'sg'
        """
        for key, value in self.properties:
            if key == name:
                return value
        return default

    def __reduce__(self) -> tuple[type[Node], tuple[Any, ...]]:  # what dataclasses do for slots is much slower
        return Node, (self.id, self.label, self.properties, self.anchors, self.extra)


@dataclass(frozen=True, slots=True)
class Edge:
    """An edge.  ``normal`` is the un-inverted label of an inverted edge (AMR: ``ARG0`` for ``ARG0-of``)."""

    source: int
    target: int
    label: str | None = None
    attributes: tuple[Property, ...] = ()
    normal: str | None = None
    id: int | None = None
    extra: Mapping[str, Any] | None = field(default=None, hash=False)

    def get(self, name: str, default: Scalar = None) -> Scalar:
        """The value of the first attribute of this name."""
        for key, value in self.attributes:
            if key == name:
                return value
        return default

    def __reduce__(self) -> tuple[type[Edge], tuple[Any, ...]]:
        fields = (self.source, self.target, self.label, self.attributes, self.normal, self.id, self.extra)
        return Edge, fields


@dataclass(frozen=True)
class Graph:
    """A meaning graph.

    >>> graph = Graph("1", nodes=(Node(0, "bark"), Node(1, "dog")), edges=(Edge(0, 1, "ARG1"),), tops=(0,))
    >>> [child.label for child in graph.children(0)]
    ['dog']
    """

    id: str
    framework: str | None = None
    language: str | None = None
    flavor: int | None = None
    version: float | str | None = None
    time: str | None = None
    source: str | None = None
    input: str | None = None
    tops: tuple[int, ...] = ()
    nodes: tuple[Node, ...] = ()
    edges: tuple[Edge, ...] = ()
    extra: Mapping[str, Any] | None = field(default=None, hash=False)

    def __len__(self) -> int:
        """The number of nodes."""
        return len(self.nodes)

    def __bool__(self) -> bool:
        return True

    @property
    def key(self) -> tuple[str | None, str | None, str]:
        """What tells graphs of one file apart: language, framework, id."""
        return self.language, self.framework, self.id

    @cached_property
    def _nodes_by_id(self) -> dict[int, Node]:
        return {node.id: node for node in reversed(self.nodes)}

    @cached_property
    def _outgoing(self) -> dict[int, list[Edge]]:
        return _grouped(self.edges, by_source=True)

    @cached_property
    def _incoming(self) -> dict[int, list[Edge]]:
        return _grouped(self.edges, by_source=False)

    def node(self, id: int) -> Node:
        """The node of this id; KeyError if there is none."""
        return self._nodes_by_id[id]

    def outgoing(self, id: int) -> tuple[Edge, ...]:
        """The edges that leave a node, in file order."""
        return tuple(self._outgoing.get(id, ()))

    def incoming(self, id: int) -> tuple[Edge, ...]:
        """The edges that enter a node, in file order."""
        return tuple(self._incoming.get(id, ()))

    def children(self, id: int) -> tuple[Node, ...]:
        """The targets of a node's edges, each once, in file order."""
        return self._ends(edge.target for edge in self.outgoing(id))

    def parents(self, id: int) -> tuple[Node, ...]:
        """The sources of the edges into a node, each once, in file order."""
        return self._ends(edge.source for edge in self.incoming(id))

    def neighbours(self, id: int) -> tuple[Node, ...]:
        """Children, then those parents that are not children."""
        ends = [edge.target for edge in self.outgoing(id)] + [edge.source for edge in self.incoming(id)]
        return self._ends(ends)

    def roots(self) -> tuple[Node, ...]:
        """The nodes that no edge of another node enters."""
        entered = {edge.target for edge in self.edges if edge.source != edge.target}
        return tuple([node for node in self.nodes if node.id not in entered])

    def leaves(self) -> tuple[Node, ...]:
        """The nodes that no edge leaves."""
        return tuple(node for node in self.nodes if node.id not in self._outgoing)

    def reentrancies(self) -> tuple[Node, ...]:
        """The nodes that several edges enter (parallel edges from one source count once)."""
        return tuple(node for node in self.nodes if len(self.parents(node.id)) > 1)

    def depth_first(self, start: Iterable[int] | None = None) -> Iterator[Node]:
        """Nodes in depth-first pre-order from the tops, then from the roots, then whatever is left; each once."""
        seen: set[int] = set()
        roots = self.tops + tuple(node.id for node in self.roots()) + tuple(node.id for node in self.nodes)
        stack = [id for id in reversed(tuple(start if start is not None else roots)) if id in self._nodes_by_id]
        while stack:
            id = stack.pop()
            if id not in seen:
                seen.add(id)
                yield self._nodes_by_id[id]
                stack.extend(child.id for child in reversed(self.children(id)) if child.id not in seen)

    def components(self) -> list[frozenset[int]]:
        """The connected components (edge directions ignored) as sets of node ids, in order of their first node."""
        components: list[frozenset[int]] = []
        seen: set[int] = set()
        for node in self.nodes:
            if node.id in seen:
                continue
            members, stack = {node.id}, [node.id]
            while stack:
                for near in self.neighbours(stack.pop()):
                    if near.id not in members:
                        members.add(near.id)
                        stack.append(near.id)
            seen |= members
            components.append(frozenset(members))
        return components

    def subgraph(self, ids: Iterable[int]) -> Graph:
        """The graph of these nodes, with the edges between them and the tops among them."""
        keep = set(ids)
        return replace(
            self,
            tops=tuple(top for top in self.tops if top in keep),
            nodes=tuple(node for node in self.nodes if node.id in keep),
            edges=tuple(edge for edge in self.edges if edge.source in keep and edge.target in keep),
        )

    def relabelled(self, ids: Mapping[int, int]) -> Graph:
        """A copy with other node ids; ids that the mapping leaves out stay."""
        return replace(
            self,
            tops=tuple(ids.get(top, top) for top in self.tops),
            nodes=tuple(replace(node, id=ids.get(node.id, node.id)) for node in self.nodes),
            edges=tuple(
                replace(edge, source=ids.get(edge.source, edge.source), target=ids.get(edge.target, edge.target))
                for edge in self.edges
            ),
        )

    def renumbered(self) -> Graph:
        """A copy whose node ids are 0, 1, 2, … in node order."""
        return self.relabelled({node.id: index for index, node in enumerate(self.nodes)})

    def isomorphic(self, other: Graph) -> bool:
        """Whether both graphs have the same content up to node ids and the order of nodes and edges."""
        from perin.graphs.normalisation import isomorphic

        return isomorphic(self, other)

    def anchored_text(self, id: int) -> str:
        """The words that a node is anchored to, joined by spaces; empty without anchors or input."""
        anchors = self.node(id).anchors or ()
        return " ".join(self.input[anchor.start : anchor.end] for anchor in anchors) if self.input else ""

    def without_probabilities(self) -> Graph:
        """The graph without the probabilities of its nodes and edges."""
        extras = [node.extra for node in self.nodes] + [edge.extra for edge in self.edges]
        if not any(extra and not PROBABILITIES.isdisjoint(extra) for extra in extras):
            return self
        return replace(
            self,
            nodes=tuple(replace(node, extra=_certain(node.extra)) for node in self.nodes),
            edges=tuple(replace(edge, extra=_certain(edge.extra)) for edge in self.edges),
        )

    def to_json(self) -> str:
        """The graph as one line of MRP, which is a JSON object.

        >>> Graph("1", "eds", nodes=(Node(0, "_rain_v_1"),)).to_json()
        '{"id":"1","framework":"eds","tops":[],"nodes":[{"id":0,"label":"_rain_v_1"}],"edges":[]}'
        """
        from perin.graphs.codecs import dumps

        return dumps(self).rstrip("\n")

    def to_penman(self) -> str:
        """An AMR in PENMAN notation; InputError for graphs of frameworks that are not written so."""
        from perin.graphs.codecs import dumps

        return dumps(self, "umr" if self.framework == "umr" else "amr").rstrip("\n")

    def to_networkx(self) -> networkx.MultiDiGraph[int]:
        """The graph for networkx, which must be installed: nodes by id, edges keyed by label.

        Attributes of nodes: ``label``, ``anchors``, ``top`` and their properties under ``properties``; those of edges:
        ``label`` and ``attributes``.  What the graph has besides is in ``graph``: id, framework, language, input.
        """
        try:
            import networkx
        except ImportError:
            raise MissingDependencyError("networkx", "to_networkx", "networkx") from None
        found: networkx.MultiDiGraph[int] = networkx.MultiDiGraph(
            id=self.id, framework=self.framework, language=self.language, input=self.input
        )
        for node in self.nodes:
            spans = [tuple(anchor) for anchor in node.anchors or ()]
            found.add_node(
                node.id, label=node.label, anchors=spans, top=node.id in self.tops, properties=dict(node.properties)
            )
        for edge in self.edges:
            found.add_edge(edge.source, edge.target, edge.label, label=edge.label, attributes=dict(edge.attributes))
        return found

    def save(self, path: str | os.PathLike[str], format: str | None = None) -> None:
        """Write the graph to a file, as graph or picture: its name says in which format, unless that is given."""
        from perin.errors import UsageError
        from perin.graphs.codecs import PICTURE_FORMATS, dump, picture_format

        try:
            picture = next((name for name in PICTURE_FORMATS if name == format), None) or (
                picture_format(path) if format is None else None
            )
        except UsageError:
            picture = None
        if picture is None:
            dump(self, path, format)
        else:
            from perin.graphs.drawing import save

            save([self], path, picture)

    def __repr__(self) -> str:
        """One line; ``str`` draws the graph, ``to_json`` has all of it.

        >>> Graph("1", "eds", input="It rains.", nodes=(Node(0, "_rain_v_1"),))
        <Graph 1 (eds): 'It rains.', nodes: 1, edges: 0>
        """
        kind = f" ({self.framework})" if self.framework else ""
        said = f"{reprlib.repr(self.input)}, " if self.input else ""
        return f"<Graph {self.id}{kind}: {said}nodes: {len(self.nodes)}, edges: {len(self.edges)}>"

    def __str__(self) -> str:
        """The graph as text, its nodes over the words that anchor them."""
        from perin.graphs.drawing import text

        return text(self).rstrip("\n")

    def _repr_svg_(self) -> str:
        """The drawing that notebooks show."""
        from perin.graphs.drawing import svg

        return svg(self)

    def _ends(self, ids: Iterable[int]) -> tuple[Node, ...]:
        return tuple(self._nodes_by_id[id] for id in dict.fromkeys(ids) if id in self._nodes_by_id)

    def __getstate__(self) -> dict[str, Any]:
        return {name: self.__dict__[name] for name in self.__dataclass_fields__}


def _certain(extra: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    return {name: value for name, value in (extra or {}).items() if name not in PROBABILITIES} or None


def _grouped(edges: Iterable[Edge], *, by_source: bool) -> dict[int, list[Edge]]:
    groups: dict[int, list[Edge]] = {}
    for edge in edges:
        groups.setdefault(edge.source if by_source else edge.target, []).append(edge)
    return groups
