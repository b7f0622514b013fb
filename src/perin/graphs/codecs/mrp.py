"""MRP 2020: one graph per line, as a JSON object.

Fields that PERIN does not interpret are kept in ``extra``.  A label given as a number or boolean is read as its text.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NoReturn, TextIO, TypeAlias, TypeVar

from perin.errors import Finding, InputError, Report
from perin.graphs.codecs import Codec, Lines
from perin.graphs.graph import Anchor, Edge, Graph, Node, Property, Scalar

GRAPH_FIELDS = frozenset(
    ("id", "framework", "language", "flavor", "version", "time", "source", "input", "tops", "nodes", "edges")
)


def read(lines: Lines, source: str, report: Report) -> Iterator[tuple[int, Graph]]:
    """Read graphs from JSON lines; blank lines at the end are allowed, elsewhere they are a fault.

    A file without a single line of JSON is another kind of file: an InputError, even when faults are collected.
    """
    blank = faulty = 0
    parsed = False
    for number, line in enumerate(lines, start=1):
        if not line or line.isspace():
            blank = blank or number
            continue
        if blank:
            report(Finding("a blank line between graphs", source, blank))
            blank = 0
        try:
            data = _parsed(line)
        except (ValueError, RecursionError) as error:
            faulty = faulty or number
            report(Finding(_json_fault(error, line), source, number))
            continue
        parsed = True
        graph = _decoded(data, source, number, report)
        if graph is not None:
            yield number, graph
    if faulty and not parsed:
        raise InputError("no line of the file is JSON; is this another format?", source=source, line=faulty)


def _decoded(data: Any, source: str, line: int, report: Report) -> Graph | None:
    """A graph, or None after a report."""
    id = data.get("id") if type(data) is dict else None
    name = None if id is None else str(id)
    try:
        return decode(data, lambda message: report(Finding(message, source, line, name)))
    except Malformed as fault:
        report(Finding(str(fault), source, line, name))
        return None


def write(graphs: Iterable[Graph], stream: TextIO) -> None:
    """Write one JSON object per line."""
    for graph in graphs:
        stream.write(encode_line(graph) + "\n")


def encode_line(graph: Graph) -> str:
    """A graph as one line of MRP, without the line end."""
    return json.dumps(encode(graph), ensure_ascii=False, separators=(",", ":"))


def decode(data: object, complain: Complaint | None = None) -> Graph:
    """A graph from a parsed JSON object; without ``complain`` every fault raises :class:`Malformed`."""
    if type(data) is not dict:
        raise Malformed(f"expected a JSON object, found {kind(data)}")
    id = data.get("id")
    if type(id) is int:
        id = str(id)
    if type(id) is not str:
        raise Malformed("no graph: the field 'id' is missing or no string")
    complain = complain or _raise
    nodes = tuple([node(item, complain) for item in _list(data, "nodes")])
    edges = tuple([edge(item, complain) for item in _list(data, "edges")])
    tops = tuple(_list(data, "tops"))
    for top in tops:
        if type(top) is not int:
            raise Malformed(f"a top must be a node id, found {shown(top)}")
    flavor = data.get("flavor")
    if flavor is not None and type(flavor) is not int:
        raise Malformed(f"'flavor' must be 0, 1 or 2, found {shown(flavor)}")
    version = data.get("version")
    if version is not None and type(version) not in (int, float, str):
        raise Malformed(f"'version' must be a number, found {shown(version)}")
    return Graph(
        id,
        _text(data, "framework"),
        _text(data, "language"),
        flavor,
        version,
        _text(data, "time"),
        _text(data, "source"),
        _text(data, "input"),
        tops,
        nodes,
        edges,
        None if data.keys() <= GRAPH_FIELDS else extra_fields(data, GRAPH_FIELDS),
    )


def encode(graph: Graph) -> dict[str, Any]:
    """A graph as a JSON object, fields in the customary order, empty optional ones left out."""
    data: dict[str, Any] = {"id": graph.id}
    for name in ("flavor", "framework", "version", "time", "language", "source", "input"):
        value = getattr(graph, name)
        if value is not None:
            data[name] = value
    if graph.extra:
        data.update(graph.extra)
    data["tops"] = list(graph.tops)
    data["nodes"] = [_encoded_node(node) for node in graph.nodes]
    data["edges"] = [_encoded_edge(edge) for edge in graph.edges]
    return data


def _list(data: Mapping[str, Any], name: str) -> list[Any]:
    value = data.get(name)
    if value is None:
        return []
    if type(value) is not list:
        raise Malformed(f"'{name}' must be a list, found {kind(value)}")
    return value


def _text(data: Mapping[str, Any], name: str) -> str | None:
    value = data.get(name)
    if value is not None and type(value) is not str:
        raise Malformed(f"'{name}' must be a string, found {shown(value)}")
    return value


def _encoded_node(node: Node) -> dict[str, Any]:
    data: dict[str, Any] = {"id": node.id}
    if node.label is not None:
        data["label"] = node.label
    if node.properties:
        data["properties"], data["values"] = _split(node.properties)
    if node.anchors is not None:
        data["anchors"] = [{"from": anchor.start, "to": anchor.end} for anchor in node.anchors]
    if node.extra:
        data.update(node.extra)
    return data


def _encoded_edge(edge: Edge) -> dict[str, Any]:
    data: dict[str, Any] = {} if edge.id is None else {"id": edge.id}
    data["source"], data["target"] = edge.source, edge.target
    if edge.label is not None:
        data["label"] = edge.label
    if edge.normal is not None:
        data["normal"] = edge.normal
    if edge.attributes:
        data["attributes"], data["values"] = _split(edge.attributes)
    if edge.extra:
        data.update(edge.extra)
    return data


def _split(pairs: tuple[Property, ...]) -> tuple[list[str], list[Scalar]]:
    return [pair.name for pair in pairs], [pair.value for pair in pairs]


def _raise(message: str) -> None:
    raise Malformed(message)


def _parsed(line: str) -> Any:
    """The JSON value of a line; ValueError also for what only Python's JSON takes: NaN, an unpaired surrogate."""
    data = DECODER.decode(line)
    if "\\ud" in line or "\\uD" in line:
        json.dumps(data, ensure_ascii=False).encode()
    return data


def _no_number(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON number")


DECODER = json.JSONDecoder(parse_constant=_no_number)


def _json_fault(error: Exception, line: str) -> str:
    if isinstance(error, json.JSONDecodeError):
        if error.pos >= len(line.rstrip()):
            return "the JSON object is cut short"
        return f"no valid JSON at character {error.pos + 1}: {error.msg}"
    if isinstance(error, RecursionError):
        return "no graph: the JSON is nested too deeply"
    return f"no valid JSON: {error}"


# The parts of an MRP graph, each checked as it is read: nodes, edges, anchors, properties.


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


CODEC = Codec(
    "mrp",
    "JSON lines of the shared tasks MRP 2019 and 2020, all frameworks",
    (".mrp", ".jsonl"),
    (),
    read,
    write,
    unit="line",
)
