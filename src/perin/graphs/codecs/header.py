"""Names and values above a graph: how formats without such fields carry id, input and the other top-level fields.

PENMAN, EDS and their like write them as comment lines, ``# ::name value``; UCCA XML writes them as attributes.
A field that does not fit on such a line (line breaks, lists, …) goes into one JSON object under the name ``json``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from perin.graphs.codecs import mrp
from perin.graphs.graph import Graph

_NAMES = {"input": "snt"}
_FIELDS = {name: field for field, name in _NAMES.items()}
_JSON = "json"
_NUMERIC = ("flavor", "version")
_SAFE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
_UNSAFE_VALUE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff]|^\s|\s$|(?:^|\s)::|^$")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,8})(?:\.[0-9]{1,9})?")
_PAIR = re.compile(r"(?:^|\s)::(\S+)")


def pairs(graph: Graph, **implied: Any) -> dict[str, str]:
    """The top-level fields of a graph as safe names and one-line values, without those that the format implies.

    >>> pairs(Graph("1", "eds", input="Dogs bark."), framework="eds")
    {'id': '1', 'snt': 'Dogs bark.'}
    """
    data = mrp.encode(replace(graph, tops=(), nodes=(), edges=()))
    fields = {name: value for name, value in data.items() if name not in ("tops", "nodes", "edges")}
    lines: dict[str, str] = {}
    rest: dict[str, Any] = {}
    for name, value in fields.items():
        if name in implied and implied[name] == value:
            continue
        if _is_plain(name, value):
            lines[_NAMES.get(name, name)] = str(value)
        else:
            rest[name] = value
    if rest:
        lines[_JSON] = json.dumps(rest).replace("::", ":\\u003a")
    return lines


def graph(pairs: Mapping[str, str], **implied: Any) -> Graph:
    """A graph without nodes from names and values; raises :class:`~perin.graphs.codecs.mrp.Malformed` for a wrong type.

    >>> graph({"id": "1", "snt": "Dogs bark.", "annotator": "Kim"}, framework="eds").extra
    {'annotator': 'Kim'}
    """
    data: dict[str, Any] = dict(implied)
    for name, value in pairs.items():
        if name != _JSON:
            data[_FIELDS.get(name, name)] = _typed(name, value)
    if _JSON in pairs:
        try:
            rest = json.loads(pairs[_JSON])
            json.dumps(rest, ensure_ascii=False).encode()  # an unpaired surrogate is a ValueError
        except (ValueError, RecursionError):
            rest = None
        if type(rest) is not dict:
            raise mrp.Malformed(f"the field '{_JSON}' of the header is no JSON object")
        data.update(rest)
    for name in ("tops", "nodes", "edges"):
        if name in data:
            raise mrp.Malformed(f"the header can't hold a field '{name}'")
    return mrp.decode(data)


def comment_lines(pairs: Mapping[str, str]) -> Iterable[str]:
    """The lines ``# ::name value``."""
    return (f"# ::{name} {value}" for name, value in pairs.items())


def comment_pairs(line: str) -> dict[str, str]:
    """The names and values of a comment line, which may hold several; a comment of another kind has none.

    >>> comment_pairs("# ::id 20001 ::date 2020-01-01"), comment_pairs("# checked by hand")
    ({'id': '20001', 'date': '2020-01-01'}, {})
    """
    text = line.lstrip("#").strip()
    if not text.startswith("::"):
        return {}
    parts = _PAIR.split(text)
    return dict(zip(parts[1::2], (value.strip() for value in parts[2::2]), strict=True))


def _is_plain(name: str, value: Any) -> bool:
    if name in _NUMERIC:
        return type(value) in (int, float) and bool(_NUMBER.fullmatch(str(value)))
    if type(value) is not str or _UNSAFE_VALUE.search(value):
        return False
    return name in mrp.GRAPH_FIELDS or bool(_SAFE_NAME.fullmatch(name) and name not in _FIELDS and name != _JSON)


def _typed(name: str, value: str) -> str | int | float:
    if name not in _NUMERIC or not _NUMBER.fullmatch(value):
        return value
    return float(value) if "." in value else int(value)
