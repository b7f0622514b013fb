"""From a graph to PENMAN: a tree is laid over the graph, and what it can't say goes into comment lines."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from perin.errors import InputError
from perin.graphs.codecs import header, mrp
from perin.graphs.codecs.amr_reader import ANCHORS, IMPLIED, PATCH, Tree, graph_from_tree
from perin.graphs.codecs.penman_text import ALIGNMENT, concept, constant, inverse_role, role
from perin.graphs.graph import Edge, Graph, Node
from perin.graphs.normalisation import normal_edge

INDENT = 6


_Branch: TypeAlias = tuple[int, bool]
"""The number of an edge of the graph, and whether it is written at its target."""


@dataclass
class _Layout:
    """A tree over a graph, and in the order of its text the nodes with their variables and the edges."""

    tree: Tree
    variables: dict[int, str] = field(default_factory=dict)
    edges: list[_Branch] = field(default_factory=list)


def encode(graph: Graph) -> str:
    """A graph as PENMAN with its comment lines; InputError for one that is empty or in pieces."""
    _check(graph)
    layout = _lay_out(graph)
    pairs = header.pairs(graph, **IMPLIED)
    for name in (ANCHORS, PATCH):
        if name in pairs:
            raise _unsayable(
                graph, f"it has a field '{name}', which is a name that comment lines use; rename the field"
            )
    if any(node.anchors is not None for node in graph.nodes):
        pairs[ANCHORS] = _anchors(graph, layout)
    patch = _patch(graph, layout, graph_from_tree(layout.tree, pairs, _raise))
    if patch:
        pairs[PATCH] = json.dumps(patch, ensure_ascii=True).replace("::", ":\\u003a")
    return "\n".join([*header.comment_lines(pairs), _formatted(layout.tree, graph)])


def _check(graph: Graph) -> None:
    if not graph.nodes:
        raise _unsayable(graph, "it has no nodes")
    ids = {node.id for node in graph.nodes}
    if len(ids) < len(graph.nodes):
        raise _unsayable(graph, "several of its nodes have the same id")
    for id in graph.tops:
        if id not in ids:
            raise _unsayable(graph, f"top {id} is no node")
    for edge in graph.edges:
        if edge.source not in ids or edge.target not in ids:
            raise _unsayable(graph, f"edge {edge.source} -> {edge.target} has an end that is no node")


def _lay_out(graph: Graph) -> _Layout:
    top = graph.tops[0] if graph.tops else (graph.roots() or graph.nodes)[0].id
    branches = _oriented(graph, top)
    names = _variables(graph.nodes)
    layout = _Layout(_node_tree(graph.node(top), names))
    layout.variables[top] = names[top]
    stack: list[tuple[Tree, Iterator[_Branch]]] = [(layout.tree, iter(branches[top]))]
    while stack:
        tree, rest = stack[-1]
        for number, is_inverse in rest:
            layout.edges.append((number, is_inverse))
            edge = graph.edges[number]
            other = edge.source if is_inverse else edge.target
            name = inverse_role(edge) if is_inverse else role(edge.label)
            if other in layout.variables:
                tree[1].append((name, names[other]))
                continue
            layout.variables[other] = names[other]
            child = _node_tree(graph.node(other), names)
            tree[1].append((name, child))
            stack.append((child, iter(branches[other])))
            break
        else:
            stack.pop()
    return layout


def _oriented(graph: Graph, top: int) -> dict[int, list[_Branch]]:
    """By node the edges to be written there, such that all nodes can be reached from the top.

    An edge stays at its source unless its source could not be reached otherwise.
    """
    branches: dict[int, list[_Branch]] = {node.id: [] for node in graph.nodes}
    incoming: dict[int, list[int]] = {node.id: [] for node in graph.nodes}
    for number, edge in enumerate(graph.edges):
        branches[edge.source].append((number, False))
        incoming[edge.target].append(number)
    order = [node.id for node in graph.depth_first([top])]
    reached = set(order)
    for id in order:  # grows on the way
        for number in incoming[id]:
            source = graph.edges[number].source
            if source not in reached:
                branches[source].remove((number, False))
                branches[id].append((number, True))
                fresh = [node.id for node in graph.depth_first([source]) if node.id not in reached]
                order += fresh
                reached.update(fresh)
    if len(reached) < len(graph.nodes):
        raise _unsayable(graph, f"it falls into {len(graph.components())} parts")
    return branches


def _variables(nodes: Sequence[Node]) -> dict[int, str]:
    """The first letter of the label, numbered from the second such node on, as is the custom."""
    counts: dict[str, int] = {}
    names = {}
    for node in nodes:
        letter = (node.label or "")[:1].lower()
        letter = letter if letter.isascii() and letter.isalpha() else "x"
        counts[letter] = counts.get(letter, 0) + 1
        names[node.id] = letter + (str(counts[letter]) if counts[letter] > 1 else "")
    return names


def _node_tree(node: Node, names: dict[int, str]) -> Tree:
    branches = [("/", concept(node.label) + _alignment(node))]
    branches += [(role(name), constant(name, value, node.label)) for name, value in node.properties]
    return names[node.id], branches


def _alignment(node: Node) -> str:
    alignment = node.extra.get("alignment") if node.extra else None
    return f"~{alignment}" if type(alignment) is str and ALIGNMENT.fullmatch(alignment) else ""


def _anchors(graph: Graph, layout: _Layout) -> str:
    items = []
    for id, variable in layout.variables.items():
        anchors = graph.node(id).anchors
        if anchors is not None:
            items.append(f"{variable}=" + ",".join(f"{start}:{end}" for start, end in anchors))
    return " ".join(items)


def _patch(graph: Graph, layout: _Layout, read: Graph) -> dict[str, Any]:
    """What of a graph is lost when its text is read back without a patch."""
    wanted, found = mrp.encode(graph), mrp.encode(read)
    names = layout.variables
    patch = _differing(wanted, found, ("tops", "nodes", "edges"))
    if graph.tops != (next(iter(names)),):
        patch["tops"] = [names[top] for top in graph.tops]
    by_id = {node["id"]: node for node in wanted["nodes"]}
    nodes, edges = {}, {}
    for id, other in zip(names, found["nodes"], strict=True):
        if fields := _differing(by_id[id], other, ("id",)):
            nodes[names[id]] = fields
    for place, (number, is_inverse) in enumerate(layout.edges):
        edge = graph.edges[number]
        ignored = ("id", "source", "target", "label", "normal")
        fields = _differing(wanted["edges"][number], found["edges"][place], ignored)
        if not _same(edge, read.edges[place], is_inverse, list(names)):
            ends = {"source": names[edge.source], "target": names[edge.target]} if is_inverse else {}
            fields |= {"label": edge.label, "normal": edge.normal} | ends
        if fields:
            edges[str(place)] = fields
    return patch | ({"nodes": nodes} if nodes else {}) | ({"edges": edges} if edges else {})


def _same(edge: Edge, read: Edge, is_inverse: bool, ids: list[int]) -> bool:
    """Whether an edge as it is read back has the same label, or if it was turned round the same normal form."""
    source, target, label = normal_edge(read)
    is_normal = normal_edge(edge) == (ids[source], ids[target], label)
    return is_normal and (is_inverse or edge.label == read.label)


def _differing(wanted: dict[str, Any], found: dict[str, Any], ignored: tuple[str, ...]) -> dict[str, Any]:
    names = [name for name in {**wanted, **found} if name not in ignored]
    return {name: wanted.get(name) for name in names if _json(wanted, name) != _json(found, name)}


def _json(data: dict[str, Any], name: str) -> str | None:
    return json.dumps(data[name], sort_keys=True) if name in data else None


def _formatted(tree: Tree, graph: Graph) -> str:
    import penman

    try:
        return penman.format(penman.Tree(tree), indent=INDENT)  # type: ignore[no-any-return]
    except RecursionError:
        raise _unsayable(graph, "its nodes stand too deep below each other") from None


def _unsayable(graph: Graph, why: str) -> InputError:
    return InputError(f"the graph can't be written as PENMAN: {why}", graph=graph.id)


def _raise(message: str, severity: str) -> None:
    raise AssertionError(message)
