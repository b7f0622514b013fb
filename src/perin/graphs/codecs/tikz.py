r"""TikZ pictures for LaTeX documents, laid out as ``perin draw`` does.  Written only.

The file compiles by itself, one page per graph, and each ``tikzpicture`` can be copied into a paper that has the
preamble's ``\tikzset``.  pdfLaTeX sets Latin script; for other scripts use LuaLaTeX with a font that has them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import TextIO

from perin.graphs.codecs import Codec
from perin.graphs.drawing.layered import SMALL, WORD, Line, drawable
from perin.graphs.drawing.layout import DrawingLayout, arrange
from perin.graphs.drawing.routing import Box, Route
from perin.graphs.drawing.sketch import Link, Shape, Sketch, sketch
from perin.graphs.graph import Graph

_PREAMBLE = r"""\documentclass[tikz,border=2mm]{standalone}
\usepackage{iftex}
\ifPDFTeX\usepackage[T1]{fontenc}\else\usepackage{fontspec}\fi
\usetikzlibrary{arrows.meta}
\tikzset{
  meaning graph/.style={x=0.75pt, y=-0.75pt, font=\sffamily\small, >={Latex[length=4pt]}},
  node text/.style={align=center, inner sep=2pt},
  box/.style={node text, draw=black!40, fill=black!3, rounded corners=3pt},
  relation/.style={node text, fill=teal!10, rounded corners=6pt, font=\sffamily\small\itshape},
  scope/.style={draw=black!60, fill=blue!8, inner sep=0pt},
  dot/.style={circle, fill=black!60, inner sep=0pt},
  shared/.style={draw=violet, fill=violet!6},
  top/.style={draw=orange!80!black, fill=orange!12, very thick},
  shared dot/.style={fill=violet},
  top dot/.style={fill=orange!80!black},
  edge/.style={draw=black!65},
  reentrant/.style={draw=violet},
  remote/.style={dashed},
  membership/.style={draw=black!40, dotted},
  stem/.style={draw=black!20},
  edge label/.style={node text, fill=white, inner sep=1pt, font=\sffamily\footnotesize},
  word/.style={inner sep=0pt, anchor=base},
  caption/.style={inner sep=0pt, anchor=base west},
}
\begin{document}
"""
_END = "\\end{document}\n"
_ESCAPES = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "{": r"\{",
        "}": r"\}",
        "$": r"\$",
        "&": r"\&",
        "#": r"\#",
        "_": r"\_",
        "%": r"\%",
        "^": r"\textasciicircum{}",
        "~": r"\textasciitilde{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        '"': r"\textquotedbl{}",
        "`": r"\textasciigrave{}",
        "'": r"\textquotesingle{}",
        "-": "-{}",
        ",": ",{}",
    }
)
"""What LaTeX would take for a command, or would join with its neighbour to another character."""


def write(graphs: Iterable[Graph], stream: TextIO) -> None:
    """Write a LaTeX document with one picture per graph."""
    stream.write(_PREAMBLE)
    for graph in graphs:
        stream.writelines(f"{line}\n" for line in _picture(sketch(graph)))
    stream.write(_END)


def escaped(text: str) -> str:
    r"""Text in which LaTeX takes every character for itself.

    >>> print(escaped("50% of {a_b}"))
    50\% of \{a\_b\}
    """
    return text.translate(_ESCAPES)


def _picture(content: Sketch) -> Iterator[str]:
    content = drawable(content)
    layout = arrange(content)
    yield f"% {content.name}"
    yield r"\begin{tikzpicture}[meaning graph]"
    for stem in layout.stems:
        yield rf"  \draw[stem] {_path(stem)};"
    for number, (shape, box) in enumerate(zip(content.shapes, layout.boxes, strict=True)):
        size = f"minimum width={_points(box.width)}, minimum height={_points(box.height)}"
        text = r"\\{}".join(map(_line, layout.blocks[number].lines))
        yield rf"  \node[{_style(shape)}, {size}] (n{number}) at {_middle(box)} {{{text}}};"
    for number, link in enumerate(content.links):
        yield from _link(link, layout, number)
    for word, box in zip(content.words, layout.words, strict=True):
        yield rf"  \node[word] at {_point(box.middle, _baseline(box))} {{{escaped(word.text)}}};"
    for line, box in layout.caption:
        yield rf"  \node[caption] at {_point(box.x, _baseline(box))} {{{escaped(line)}}};"
    yield r"\end{tikzpicture}"


def _style(shape: Shape) -> str:
    suffix = " dot" if shape.form == "dot" else ""
    return ", ".join([shape.form] + [f"shared{suffix}"] * shape.reentrant + [f"top{suffix}"] * shape.top)


def _link(link: Link, layout: DrawingLayout, number: int) -> Iterator[str]:
    flags = {"reentrant": link.reentrant, "remote": link.remote, "membership": link.membership}
    style = ", ".join(["edge", *(name for name, flag in flags.items() if flag)])
    route, label = layout.routes[number], layout.labels[number]
    if route:
        upward = layout.boxes[link.source].y > layout.boxes[link.target].y
        yield rf"  \draw[{style}, {'<-' if upward else '->'}] {_path(route)};"
    else:
        yield rf"  \draw[{style}, ->] (n{link.source}) edge[loop right] (n{link.source});"
    if label:
        text = r"\\{}".join(map(_line, layout.texts[number].lines))
        yield rf"  \node[edge label] at {_middle(label)} {{{text}}};"


def _path(route: Route) -> str:
    """Straight down at the stations of a route, an S-curve with upright ends from one to the next.

    No stretch is empty: TikZ would not know where an arrow at its end points.
    """
    points = [_point(route[0].x, route[0].top)]
    parts = [points[0]]
    for here, there in pairwise(route):
        swing = (there.top - here.bottom) * 0.55
        controls = f"{_point(here.x, here.bottom + swing)} and {_point(there.x, there.top - swing)}"
        for way, end in (("--", (here.x, here.bottom)), (f".. controls {controls} ..", (there.x, there.top))):
            if _point(*end) != points[-1]:
                points.append(_point(*end))
                parts.append(f"{way} {points[-1]}")
    last = _point(route[-1].x, route[-1].bottom)
    return " ".join(parts if last == points[-1] else [*parts, f"-- {last}"])


def _line(line: Line) -> str:
    text = f"{escaped(line.name)} {escaped(line.text.rstrip())}" if line.name else escaped(line.text.rstrip())
    return rf"{{\footnotesize {text}}}" if line.size == SMALL else text


def _middle(box: Box) -> str:
    return _point(box.middle, box.y + box.height / 2)


def _baseline(box: Box) -> float:
    return box.y + box.height / 2 + 0.35 * WORD


def _point(x: float, y: float) -> str:
    return f"({x:.1f},{y:.1f})"


def _points(pixels: float) -> str:
    return f"{pixels * 0.75:.1f}pt"


CODEC = Codec("tikz", "TikZ pictures in a LaTeX document", (".tex", ".tikz"), (), None, write)
