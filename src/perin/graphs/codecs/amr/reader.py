"""From parsed PENMAN to a graph: variables become nodes, constants properties, roles edges."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from perin.errors import Severity
from perin.graphs.codecs import header, mrp
from perin.graphs.codecs.amr import chinese
from perin.graphs.codecs.mrp import Malformed
from perin.graphs.codecs.penman_text import normal_label, split_alignment, unquoted
from perin.graphs.graph import Anchor, Edge, Graph, Node, Property

IMPLIED = {"framework": "amr", "flavor": 2}
ANCHORS = "anchors"
"""Name of the comment line of anchors, ``variable=start:end,start:end``, as characters of the sentence."""
PATCH = "mrp"
"""Name of the comment line of what PENMAN has no words for: MRP fields as JSON, by variable and by number of edge."""

Tree: TypeAlias = tuple[str | None, list[tuple[str, Any]]]
"""A node of a parsed tree: variable and branches, each a role and a symbol, a string in quotes, None or a tree."""

Fault: TypeAlias = Callable[[str, Severity], None]

_VARIABLE = re.compile(r"[a-z]|[a-z]{1,2}[0-9]+|s[0-9]+[a-z]+[0-9]*|x[0-9]+(?:_x?[0-9]+)+")
_LIST_ITEM = "li"
_CONCEPT_ROLES = ("/", ":instance")
_SPAN = re.compile(r"(-?[0-9]{1,9}):(-?[0-9]{1,9})")


@dataclass
class _Draft:
    """What a tree says, by variable, in the order of the text.

    ``is_chinese``: a variable may be written out several times, and what is said again is said once.
    """

    top: str
    is_chinese: bool
    labels: dict[str, str | None] = field(default_factory=dict)
    properties: dict[str, list[Property]] = field(default_factory=dict)
    edges: list[tuple[str, str, str]] = field(default_factory=list)
    """Source, target, role without its colon."""
    alignments: dict[str, str] = field(default_factory=dict)
    said: set[tuple[str, str, str]] = field(default_factory=set)

    def is_new(self, variable: str, role: str, value: str) -> bool:
        """Whether a branch adds something; in other AMR than Chinese each does."""
        if not self.is_chinese:
            return True
        count = len(self.said)
        self.said.add((variable, role, value))
        return len(self.said) > count


def graph_from_tree(tree: Tree, pairs: Mapping[str, str], fault: Fault, words: chinese.Words | None = None) -> Graph:
    """A graph from a tree and the names and values of its comment lines.

    ``words``: the words that the variables of Chinese AMR count.  Raises :class:`Malformed` if there is no graph.
    """
    draft = _Draft(tree[0] or "", is_chinese=words is not None)
    _define(draft, tree, fault)
    _connect(draft, tree, fault)
    own = {name: value for name, value in pairs.items() if name not in (ANCHORS, PATCH)}
    anchors = _given_anchors(pairs[ANCHORS], draft, fault) if ANCHORS in pairs else {}
    if words is not None:
        own.setdefault("language", "zho")
        anchors = chinese.resolve(draft.labels, words, fault)
    graph = _assembled(header.graph(own, **IMPLIED), draft, anchors, words)
    return _patched(graph, pairs[PATCH], list(draft.labels)) if PATCH in pairs else graph


def _define(draft: _Draft, tree: Tree, fault: Fault) -> None:
    for variable, branches in _nodes(tree):
        if variable is None:
            raise Malformed("a node has no variable")
        label = _label(variable, branches, draft, fault)
        before = draft.labels.get(variable)
        if None not in (before, label) and not (draft.is_chinese and before == label):
            fault(f"variable {variable} is defined twice", "error")
        draft.labels[variable] = label if before is None else before
        draft.properties.setdefault(variable, [])


def _connect(draft: _Draft, tree: Tree, fault: Fault) -> None:
    dropped = 0
    for variable, role, target in _branches(tree):
        name, role_alignment = split_alignment(role.removeprefix(":"))
        if target is None:
            fault(f"role :{name} of {variable} has no value", "error")
            continue
        is_node = type(target) is tuple
        value, alignment = (target[0], None) if is_node else split_alignment(target)
        dropped += (role_alignment is not None) + (alignment is not None)
        if not draft.is_new(variable, name, value):
            continue
        if is_node or value in draft.labels:
            draft.edges.append((variable, value, name))
        else:
            draft.properties[variable].append(_property(variable, name, value, fault))
    if dropped:
        fault(f"{dropped} alignments of roles and constants are not kept", "note")


def _label(variable: str, branches: Sequence[tuple[str, Any]], draft: _Draft, fault: Fault) -> str | None:
    concepts = [target for role, target in branches if role in _CONCEPT_ROLES]
    if not concepts:
        return None
    if len(concepts) > 1 or type(concepts[0]) is not str:
        fault(f"variable {variable} has no concept behind its slash, or several", "error")
    if type(concepts[0]) is not str:
        return None
    text, alignment = split_alignment(concepts[0])
    if alignment is not None:
        draft.alignments[variable] = alignment
    return unquoted(text) if text.startswith('"') else text


def _property(variable: str, name: str, value: str, fault: Fault) -> Property:
    if value.startswith('"'):
        value = unquoted(value)
    elif _VARIABLE.fullmatch(value) and name != _LIST_ITEM:
        fault(f"role :{name} of {variable} points to {value}, which no node defines", "error")
    return Property(name.partition(chinese.WORDS)[0], value)


def _nodes(tree: Tree) -> Iterator[Tree]:
    """The nodes of a tree in the order of the text."""
    stack = [tree]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(target for _, target in reversed(node[1]) if type(target) is tuple)


def _branches(tree: Tree) -> Iterator[tuple[str, str, Any]]:
    """Variable, role and target of all branches but concepts, in the order of the text."""
    stack = [(tree[0], iter(tree[1]))]
    while stack:
        variable, rest = stack[-1]
        for role, target in rest:
            if role not in _CONCEPT_ROLES:
                yield variable or "", role, target
            if type(target) is tuple:
                stack.append((target[0], iter(target[1])))
                break
        else:
            stack.pop()


def _assembled(
    graph: Graph, draft: _Draft, anchors: Mapping[str, tuple[Anchor, ...]], words: chinese.Words | None
) -> Graph:
    """Nodes are numbered in the order of their definitions; coreferent variables of Chinese AMR share a number."""
    same = chinese.coreferent(draft.labels) if words is not None else {}
    kept = [variable for variable in draft.labels if variable not in same]
    ids = {variable: id for id, variable in enumerate(kept)}
    ids.update({variable: ids[other] for variable, other in same.items()})
    properties: dict[int, list[Property]] = {id: [] for id in ids.values()}
    for variable, pairs in draft.properties.items():
        properties[ids[variable]] += pairs
    nodes = [
        Node(
            ids[variable],
            draft.labels[variable],
            tuple(properties[ids[variable]]),
            anchors.get(variable),
            {"alignment": draft.alignments[variable]} if variable in draft.alignments else None,
        )
        for variable in kept
    ]
    edges = []
    for source, target, role in draft.edges:
        name, _, relation = role.partition(chinese.WORDS)
        spans = chinese.anchors(relation, words) if words is not None else ()
        extra = {"anchors": [{"from": start, "to": end} for start, end in spans]} if spans else None
        edges.append(Edge(ids[source], ids[target], name or None, normal=normal_label(name), extra=extra))
    return replace(graph, tops=(ids[draft.top],), nodes=tuple(nodes), edges=tuple(edges))


def _given_anchors(text: str, draft: _Draft, fault: Fault) -> dict[str, tuple[Anchor, ...]]:
    anchors = {}
    for item in text.split():
        variable, separator, spans = item.partition("=")
        matches = [_SPAN.fullmatch(span) for span in spans.split(",") if span]
        if not separator or variable not in draft.labels or None in matches:
            fault(f"'{item}' in the line ::{ANCHORS} is no variable with ranges such as b=0:4,6:9", "error")
        else:
            anchors[variable] = tuple(Anchor(int(match[1]), int(match[2])) for match in matches if match)
    return anchors


def _patched(graph: Graph, text: str, variables: Sequence[str]) -> Graph:
    ids = {variable: id for id, variable in enumerate(variables)}
    data = mrp.encode(graph)
    try:
        patch = json.loads(text)
        json.dumps(patch, ensure_ascii=False).encode()
        for variable, fields in patch.pop("nodes", {}).items():
            data["nodes"][ids[variable]].update(fields)
        for number, fields in patch.pop("edges", {}).items():
            ends = {end: ids[fields[end]] for end in ("source", "target") if end in fields}
            data["edges"][int(number)].update(fields | ends)
        if "tops" in patch:
            patch["tops"] = [ids[top] for top in patch["tops"]]
        data.update(patch)
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError):
        raise Malformed(f"the line ::{PATCH} does not fit the graph; it was not written for it") from None
    return mrp.decode(data)
