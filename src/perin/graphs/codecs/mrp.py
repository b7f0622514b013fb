"""MRP 2020: one graph a line, as a JSON object.

Fields that PERIN does not interpret are kept in ``extra``.  A label given as a number or boolean is read as its text.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NoReturn, TextIO

from perin.errors import InputError
from perin.graphs.codecs.codec import Codec, Lines
from perin.graphs.codecs.mrp_parts import Complaint, edge, extra_fields, kind, node, shown
from perin.graphs.codecs.mrp_parts import Malformed as Malformed
from perin.graphs.faults import Finding, Report
from perin.graphs.graph import Edge, Graph, Node, Property, Scalar

GRAPH_FIELDS = frozenset(
    ("id", "framework", "language", "flavor", "version", "time", "source", "input", "tops", "nodes", "edges")
)


def read(lines: Lines, source: str, report: Report) -> Iterator[tuple[int, Graph]]:
    """Read graphs from JSON lines; blank lines at the end are allowed, elsewhere they are a fault.

    A file without a single line of JSON is an InputError, however faults are reported: it is something else.
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
    """Write one JSON object a line."""
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
    """The JSON value of a line; ValueError also for what only Python's JSON takes: NaN, half a surrogate pair."""
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


CODEC = Codec(
    "mrp", "JSON lines of the shared tasks MRP 2019 and 2020, all frameworks", (".mrp", ".jsonl"), (), read, write
)
