"""The parts of an MRP graph, each checked as it is read: nodes, edges, anchors, properties."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, TypeVar

from perin.errors import InputError
from perin.graphs.graph import Anchor, Edge, Node, Property

_NODE_FIELDS = frozenset(("id", "label", "properties", "values", "anchors"))
_EDGE_FIELDS = frozenset(("source", "target", "label", "attributes", "values", "normal", "id"))
_SCALARS = frozenset((str, int, float, bool, type(None)))

_K = TypeVar("_K")
_V = TypeVar("_V")
_POOL_SIZE = 1 << 16
_SINGLE_ANCHORS: dict[tuple[int, int], tuple[Anchor, ...]] = {}
_PROPERTIES: dict[tuple[str, str], Property] = {}
_PLAIN_EDGES: dict[tuple[int, int, str], Edge] = {}

Complaint: TypeAlias = Callable[[str], None]
"""What is called with the message of a fault that leaves a usable graph."""


class Malformed(InputError):
    """A part of a JSON object that is no MRP; the message says which."""


def node(item: Any, complain: Complaint) -> Node:
    """A node from its JSON object."""
    if type(item) is not dict:
        raise Malformed(f"a node must be an object, found {shown(item)}")
    id = item.get("id")
    if type(id) is not int:
        raise Malformed(f"a node needs an integer 'id', found {shown(id)}")
    label = item.get("label")
    if label is not None and type(label) is not str:
        label = _label(label, f"node {id}")
    anchors = item.get("anchors")
    if anchors is not None:
        anchors = _anchors(anchors, id)
        if len(item) == 3 and label is not None:
            return Node(id, label, (), anchors)
    names = item.get("properties")
    return Node(
        id,
        label,
        _pairs(names, item.get("values"), f"node {id}", complain) if names else (),
        anchors,
        None if item.keys() <= _NODE_FIELDS else extra_fields(item, _NODE_FIELDS),
    )


def edge(item: Any, complain: Complaint) -> Edge:
    """An edge from its JSON object."""
    if type(item) is not dict:
        raise Malformed(f"an edge must be an object, found {shown(item)}")
    source, target, label = item.get("source"), item.get("target"), item.get("label")
    if type(source) is not int or type(target) is not int:
        raise Malformed(f"an edge needs node ids as 'source' and 'target', found {shown(source)} and {shown(target)}")
    if len(item) == 3 and type(label) is str:
        plain = source, target, label
        return _PLAIN_EDGES.get(plain) or _remembered(_PLAIN_EDGES, plain, Edge(source, target, label))
    where = f"edge {source} -> {target}"
    normal, id, names = item.get("normal"), item.get("id"), item.get("attributes")
    if label is not None and type(label) is not str:
        label = _label(label, where)
    if normal is not None and type(normal) is not str:
        normal = _label(normal, where)
    if id is not None and type(id) is not int:
        raise Malformed(f"{where}: 'id' must be an integer, found {shown(id)}")
    fields = _EDGE_FIELDS
    if names is None and "properties" in item:  # the name that MRP 2019 used
        names, fields = item["properties"], _EDGE_FIELDS | {"properties"}
    return Edge(
        source,
        target,
        label,
        _pairs(names, item.get("values"), where, complain) if names else (),
        normal,
        id,
        None if item.keys() <= fields else extra_fields(item, fields),
    )


def _pairs(names: Any, values: Any, where: str, complain: Complaint) -> tuple[Property, ...]:
    if type(names) is not list or (values is not None and type(values) is not list):
        raise Malformed(f"{where}: names and 'values' must be lists")
    if len(names) != len(values or ()):
        complain(f"{where}: {len(names)} names but {len(values or ())} values")
    pairs = []
    for name, value in zip(names, values or (), strict=False):
        if type(value) is str and type(name) is str:
            pair = name, value
            pairs.append(_PROPERTIES.get(pair) or _remembered(_PROPERTIES, pair, Property(name, value)))
        elif type(name) is str and type(value) in _SCALARS:
            pairs.append(Property(name, value))
        else:
            found = f"found {shown(name)}: {shown(value)}"
            raise Malformed(f"{where}: a name must be a string and its value no list or object, {found}")
    return tuple(pairs)


def _anchors(items: Any, id: int) -> tuple[Anchor, ...]:
    if type(items) is not list:
        raise Malformed(f"node {id}: 'anchors' must be a list, found {shown(items)}")
    if len(items) == 1:
        ends = _ends(items[0], id)
        return _SINGLE_ANCHORS.get(ends) or _remembered(_SINGLE_ANCHORS, ends, (Anchor(*ends),))
    return tuple([Anchor(*_ends(item, id)) for item in items])


def _ends(item: Any, id: int) -> tuple[int, int]:
    try:
        start, end = item["from"], item["to"]
    except (KeyError, TypeError, IndexError):
        raise Malformed(f"node {id}: an anchor needs 'from' and 'to', found {shown(item)}") from None
    if type(start) is not int or type(end) is not int:
        raise Malformed(f"node {id}: an anchor needs integers, found {shown(item)}")
    return start, end


def _remembered(pool: dict[_K, _V], key: _K, value: _V) -> _V:
    """Keep a value to be used again: anchors, properties and edges repeat, and finding is faster than making."""
    if len(pool) >= _POOL_SIZE:
        pool.clear()
    pool[key] = value
    return value


def _label(value: Any, where: str) -> str:
    if type(value) not in _SCALARS:
        raise Malformed(f"{where}: a label must be a string, found {kind(value)}")
    return str(value)


def extra_fields(data: Mapping[str, Any], known: frozenset[str]) -> dict[str, Any] | None:
    """The fields that are not known, None if there are none."""
    return {name: value for name, value in data.items() if name not in known} or None


def kind(value: object) -> str:
    """What JSON calls such a value."""
    names = {dict: "an object", list: "a list", str: "a string", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number")


def shown(value: object) -> str:
    """A JSON value as a message quotes it."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:57] + "..."
