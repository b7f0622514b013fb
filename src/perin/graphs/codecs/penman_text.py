"""The words of PENMAN text: how labels, roles and values are written so that every reader takes them for one word."""

from __future__ import annotations

import json
import re
from functools import cache

from perin.graphs.graph import Edge, Scalar
from perin.graphs.normalisation import normal_edge

PLACEHOLDER = "_"
"""Stands where PENMAN wants a label or a role and the graph has none."""

ALIGNMENT = re.compile(r"(?:[a-z]\.?)?[0-9]+(?:,[0-9]+)*")
QUOTED = r'"(?:[^"\\]|\\.)*"'
_SYMBOL = re.compile(r'[^\s"()/:~#\x00-\x1f\x7f-\x9f][^\s"()/:~\x00-\x1f\x7f-\x9f]*')
_ROLE = re.compile(r'(?!instance$)[^\s"()/:~\x00-\x1f\x7f-\x9f]+')
_NOT_ROLE = re.compile(r'[\s"()/:~\x00-\x1f\x7f-\x9f]')
_NUMBER = re.compile(r"[-+]?[0-9]+(?:\.[0-9]+)?|[-+]")
_ESCAPE = re.compile(r"\\.|[\x7f-\x9f\u2028\u2029]")
_STRING = re.compile(rf"({QUOTED})(?:~(.*))?", re.DOTALL)
_SYMBOLIC_ROLES = frozenset(("mode", "polarity", "polite"))


def concept(label: str | None) -> str:
    """A label as it stands behind the slash.

    >>> concept("dog"), concept("either/or"), concept(None)
    ('dog', '"either/or"', '_')
    """
    if label is None:
        return PLACEHOLDER
    return label if _SYMBOL.fullmatch(label) else quoted(label)


def constant(role: str, value: Scalar, of: str | None) -> str:
    """The value of a property of a node labelled ``of``: numbers, signs and moods are symbols, the rest are strings.

    >>> constant("quant", "6", "dog"), constant("op1", "6", "name"), constant("mode", "imperative", "go-01")
    ('6', '"6"', 'imperative')
    """
    text = value if type(value) is str else json.dumps(value)
    is_name = of == "name" and role.startswith("op")
    if (_NUMBER.fullmatch(text) and not is_name) or (role in _SYMBOLIC_ROLES and re.fullmatch("[a-z]{3,}", text)):
        return text
    return quoted(text)


def role(label: str | None) -> str:
    """A role that stands for a label, and is that label if PENMAN has a way to write it."""
    if label and _ROLE.fullmatch(label):
        return ":" + label
    return ":" + PLACEHOLDER + _NOT_ROLE.sub(PLACEHOLDER, label or "")


def inverse_role(edge: Edge) -> str:
    """The role under which an edge is written at its target.

    >>> inverse_role(Edge(0, 1, "ARG0")), inverse_role(Edge(0, 1, "ARG0-of")), inverse_role(Edge(0, 1, "domain"))
    (':ARG0-of', ':ARG0', ':mod')
    """
    source, _, label = normal_edge(edge)
    if source != edge.source:
        return role(label)
    return ":mod" if label == "domain" else role(label) + "-of"


@cache
def normal_label(label: str) -> str | None:
    """The label of an inverse role turned round; None for the others.

    >>> normal_label("ARG0-of"), normal_label("mod"), normal_label("prep-out-of")
    ('ARG0', 'domain', None)
    """
    normal = normal_edge(Edge(0, 1, label))[2]
    return None if normal == label else normal


def quoted(text: str) -> str:
    r"""A JSON string without ``\"``, which not all readers of PENMAN take for a part of the string.

    >>> print(quoted('say "a/b"'))
    "say \u0022a/b\u0022"
    """
    return '"' + _ESCAPE.sub(_escaped, json.dumps(text, ensure_ascii=False)[1:-1]) + '"'


def unquoted(text: str) -> str:
    """The text of a string in quotes; a backslash that escapes nothing stands for itself."""
    try:
        value = json.loads(text, strict=False)
        value.encode()
    except ValueError:  # no JSON escape, or an unpaired surrogate
        return text[1:-1].replace('\\"', '"')
    assert isinstance(value, str)
    return value


def split_alignment(text: str) -> tuple[str, str | None]:
    """A symbol or quoted string, and the alignment behind it.

    >>> split_alignment("dog~e.2"), split_alignment('"~1"~3')
    (('dog', 'e.2'), ('"~1"', '3'))
    """
    if match := _STRING.fullmatch(text):
        return match[1], match[2]
    symbol, _, alignment = text.partition("~")
    return symbol, alignment or None


def _escaped(match: re.Match[str]) -> str:
    if match[0] == '\\"':
        return "\\u0022"
    return match[0] if match[0].startswith("\\") else f"\\u{ord(match[0]):04x}"
