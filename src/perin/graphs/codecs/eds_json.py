"""EDS as JSON, as pydelphin calls it: a list of objects, each with its top and its nodes by name.

    [{"id": "1", "input": "It rains.", "top": "e0",
      "nodes": {"e0": {"label": "_rain_v_1", "edges": {}, "lnk": {"from": 3, "to": 8}, "type": "e"}}}]

The top-level fields of MRP stand beside ``top``; other tools skip them.  A node has at most one edge of a label.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, TextIO

from perin.errors import Finding, InputError, Report
from perin.graphs.codecs import Codec, Lines, mrp
from perin.graphs.codecs.eds import (
    CONSTANT,
    IMPLIED,
    TOPS,
    UNSPECIFIC,
    constant_first,
    node_names,
    node_type,
    unsayable,
)
from perin.graphs.codecs.mrp import Malformed
from perin.graphs.graph import Graph, Node

_SPACE = re.compile(r"[ \t\r\n]*")
_OWN = ("top", TOPS, "nodes", "edges")


def read(lines: Lines, source: str, report: Report) -> Iterator[tuple[int, Graph]]:
    """Read graphs from a list of objects, or a single object; the text is held, the graphs are not."""
    text = "\n".join(lines)
    count = 0
    try:
        for count, (line, data) in enumerate(_objects(text), start=1):
            try:
                yield line, decode(data, str(count))
            except Malformed as fault:
                report(Finding(str(fault), source, line, str(count)))
    except (ValueError, RecursionError) as error:
        message = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        fault_line = error.lineno if isinstance(error, json.JSONDecodeError) else 1
        if not count:
            raise InputError(f"no EDS in JSON: {message}", source=source, line=fault_line) from None
        report(Finding(f"no valid JSON: {message}", source, fault_line))


def _objects(text: str) -> Iterator[tuple[int, Any]]:
    """The items of a JSON list one by one, each with its line; a single object is a list of one."""
    position = _after_space(text, 0)
    if position == len(text):
        return
    if text[position] != "[":
        text, position = f"[{text}]", 0
    position = _after_space(text, position + 1)
    line = 1 + text.count("\n", 0, position)
    while not text.startswith("]", position):
        data, end = mrp.DECODER.raw_decode(text, position)
        json.dumps(data, ensure_ascii=False).encode()  # an unpaired surrogate is a ValueError
        yield line, data
        end = _after_space(text, end)
        if text.startswith(",", end):
            end = _after_space(text, end + 1)
        elif not text.startswith("]", end):
            raise json.JSONDecodeError("expected ',' or ']'", text, end)
        line += text.count("\n", position, end)
        position = end
    if _after_space(text, position + 1) < len(text):
        raise json.JSONDecodeError("expected the end of the file", text, position + 1)


def _after_space(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    return match.end() if match else position


def decode(data: Any, default_id: str) -> Graph:
    """A graph from a parsed JSON object; raises :class:`~perin.graphs.codecs.mrp.Malformed`."""
    if type(data) is not dict or type(data.get("nodes")) is not dict:
        raise Malformed("no EDS: expected an object with 'nodes' by name")
    ids = {name: id for id, name in enumerate(data["nodes"])}
    nodes, edges = [], []
    for name, item in data["nodes"].items():
        if type(item) is not dict or type(item.get("edges", {})) is not dict:
            raise Malformed(f"node {name} must be an object, and its 'edges' too")
        nodes.append(_node_fields(ids[name], name, item))
        for label, target in item.get("edges", {}).items():
            edges.append(
                {"source": ids[name], "target": _id(target, ids, f"edge {label} of node {name}"), "label": label}
            )
    tops = data.get(TOPS) if TOPS in data else [top for top in [data.get("top")] if top is not None]
    if type(tops) is not list:
        raise Malformed(f"'{TOPS}' must be a list")
    fields = {name: value for name, value in data.items() if name not in _OWN}
    graph_tops = [_id(top, ids, "the top") for top in tops]
    return mrp.decode({"id": default_id, **IMPLIED, **fields, "tops": graph_tops, "nodes": nodes, "edges": edges})


def _node_fields(id: int, name: str, item: dict[str, Any]) -> dict[str, Any]:
    """The fields of a node as MRP has them."""
    properties = item.get("properties") or {}
    lnk = item.get("lnk")
    if type(properties) is not dict or type(item.get("label")) is not str:
        raise Malformed(f"node {name} needs a string as 'label' and an object as 'properties'")
    pairs = [(CONSTANT, item["carg"])] if item.get("carg") is not None else []
    pairs += properties.items()
    fields: dict[str, Any] = {"id": id, "label": item["label"]}
    fields["properties"], fields["values"] = [key for key, _ in pairs], [value for _, value in pairs]
    if lnk is not None and lnk != {"from": -1, "to": -1}:
        fields["anchors"] = [lnk]
    if item.get("type") not in (None, UNSPECIFIC):
        fields["type"] = item["type"]
    return fields


def _id(name: Any, ids: dict[str, int], what: str) -> int:
    if type(name) is not str or name not in ids:
        raise Malformed(f"{what} is {json.dumps(name)}, which is no node")
    return ids[name]


def write(graphs: Iterable[Graph], stream: TextIO) -> None:
    """Write a list with one object per line."""
    separator = "[\n"
    for graph in graphs:
        stream.write(separator + json.dumps(encode(graph), ensure_ascii=False))
        separator = ",\n"
    stream.write("[]\n" if separator == "[\n" else "\n]\n")


def encode(graph: Graph) -> dict[str, Any]:
    """A graph as a JSON object; InputError for what the format can't say (edges of one label, property names twice)."""
    names = node_names(graph)
    fields = mrp.encode(replace(graph, tops=(), nodes=(), edges=()))
    data = {key: value for key, value in fields.items() if IMPLIED.get(key) != value and key not in _OWN}
    data["top"] = names[graph.tops[0]] if graph.tops else None
    if len(graph.tops) > 1:
        data[TOPS] = [names[top] for top in graph.tops]
    data["nodes"] = {names[node.id]: _node_object(node, names, graph) for node in graph.nodes}
    return data


def _node_object(node: Node, names: dict[int, str], graph: Graph) -> dict[str, Any]:
    edges = {edge.label: names[edge.target] for edge in graph.outgoing(node.id)}
    item: dict[str, Any] = {"label": node.label, "edges": edges}
    constant, properties = constant_first(node)
    for start, end in node.anchors or ():
        item["lnk"] = {"from": start, "to": end}
    if node_type(node):
        item["type"] = node_type(node)
    if constant is not None:
        item["carg"] = constant.value
    if properties:
        item["properties"] = dict(properties)
    if len(edges) < len(graph.outgoing(node.id)) or len(dict(properties)) < len(properties):
        raise unsayable(graph, f"node {node.id} has two edges or properties of one name")
    return item


CODEC = Codec("eds-json", "EDS in JSON, as pydelphin has it", (".eds.json",), ("eds",), read, write, "file")
