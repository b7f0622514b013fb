"""Drawings as plain text for the terminal: a tree from the tops, every edge on a line of its own.

An edge that is turned round to hang its source somewhere has an arrow to the left; a node that several edges enter has
a number at its own place and is referred to by it elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator

from perin.graphs.drawing.lettering import columns
from perin.graphs.drawing.sketch import Link, Row, Sketch, Status, as_sketch
from perin.graphs.graph import Graph

_SIGNS = {"missing": "−", "extra": "+"}
_CODES = {"missing": "31", "extra": "34", "name": "36", "shared": "35", "top": "33;1", "quote": "2"}
_WIDEST_QUOTE = 40


def text(drawn: Graph | Sketch, *, colour: bool = False) -> str:
    """A drawing in lines of text, with colours of the terminal (ANSI) if asked for.

    >>> from perin.graphs.graph import Edge, Node
    >>> print(text(Graph("1", nodes=(Node(0, "bark"), Node(1, "dog")), edges=(Edge(0, 1, "ARG1"),), tops=(0,))), end="")
    # 1
    ▸ bark
      └─ ARG1 → dog
    """
    content = as_sketch(drawn)
    head = f"# {content.name}" + (f" ({content.framework})" if content.framework else "")
    head += f" F1 {100 * content.f1:.1f}" if content.f1 is not None else ""
    lines = [head, *([f"# {content.input}"] if content.input else []), *_Writer(content, colour).lines()]
    return "\n".join(lines) + "\n"


class _Writer:
    """Holds what all lines of one drawing need."""

    def __init__(self, content: Sketch, colour: bool) -> None:
        self.content = content
        self.colour = colour
        self.forest = content.forest
        in_tree = self.forest.arcs()
        self.others: list[list[int]] = [[] for _ in content.shapes]
        for number, link in enumerate(content.links):
            if number not in in_tree:
                self.others[link.source].append(number)
        shared = {content.links[number].target for numbers in self.others for number in numbers}
        in_order = [shape for shape in self.forest.depth_first() if shape in shared]
        self.numbers = {shape: index for index, shape in enumerate(in_order, start=1)}

    def lines(self) -> Iterator[str]:
        for root in self.forest.roots:
            top = self.content.shapes[root].top
            yield (self.painted("▸ ", "top") if top else "") + self.node(root)
            yield from self.below(root, "  " if top else "")

    def below(self, shape: int, indent: str) -> Iterator[str]:
        """The edges of a node and what hangs from them; a stack instead of recursion, since graphs can be deep."""
        stack = [(indent, self.entries(shape))]
        while stack:
            indent, entries = stack[-1]
            if not entries:
                stack.pop()
                continue
            number, child, inverse, hangs = entries.pop(0)
            link = self.content.links[number]
            branch, deeper = ("├─ ", "│  ") if entries else ("└─ ", "   ")
            arrow = "←" if inverse else "→"
            node = self.node(child) if hangs else self.reference(child)
            yield f"{indent}{branch}{self.edge(link)}{arrow} {node}"
            if hangs:
                stack.append((indent + deeper, self.entries(child)))

    def entries(self, shape: int) -> list[tuple[int, int, bool, bool]]:
        """The links to show at a node: their number, their other end, whether turned round, whether that hangs here."""
        hanging = [(branch.arc, branch.child, branch.inverse, True) for branch in self.forest.branches[shape]]
        referring = [(number, self.content.links[number].target, False, False) for number in self.others[shape]]
        return sorted(hanging + referring)

    def node(self, number: int) -> str:
        shape = self.content.shapes[number]
        parts = [self.row(row, shape.status) for row in shape.rows if row.kind != "quote"]
        if not any(row.kind == "label" for row in shape.rows):
            parts.insert(0, self.painted("□" if shape.form == "scope" else "●", shape.status))
        if number in self.numbers:
            parts.insert(0, self.painted(f"[{self.numbers[number]}]", "shared"))
        differing = [row for row in shape.rows if row.kind == "quote" and row.status in _SIGNS]
        parts += [self.painted(f"“{row.text}”", row.status) for row in differing]
        if shape.words and not differing:
            parts.append(self.painted(self.quote(shape.words), "quote"))
        return " ".join(parts)

    def reference(self, number: int) -> str:
        shape = self.content.shapes[number]
        label = next((row.text for row in shape.rows if row.kind == "label"), "□" if shape.form == "scope" else "●")
        return self.painted(f"see [{self.numbers[number]}] {label}", "shared")

    def edge(self, link: Link) -> str:
        parts = [self.row(row, link.status) for row in link.rows]
        parts += ["(remote)"] if link.remote else []
        return " ".join(parts) + " " if parts else self.painted("", link.status)

    def row(self, row: Row, status: Status) -> str:
        status = row.status if row.status in _SIGNS else status
        if status in _SIGNS:
            return self.painted(f"{row.name}={row.text}" if row.name else row.text, status)
        if row.kind == "property":
            return self.painted(f"{row.name}=", "name") + row.text if row.name else self.painted(row.text, "name")
        return row.text

    def quote(self, words: tuple[int, ...]) -> str:
        found = [self.content.words[number] for number in words]
        joined = "".join((" " if index and word.spaced else "") + word.text for index, word in enumerate(found))
        return f"“{joined}”" if columns(joined) <= _WIDEST_QUOTE else f"“{found[0].text} … {found[-1].text}”"

    def painted(self, text: str, kind: str) -> str:
        text = _SIGNS.get(kind, "") + text
        return f"\x1b[{_CODES[kind]}m{text}\x1b[0m" if self.colour and kind in _CODES and text else text
