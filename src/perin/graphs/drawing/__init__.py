"""Pictures of graphs: SVG, HTML, PNG, PDF and plain text.

    sketch (what to show) -> layers, order, positions -> layout (where) -> SVG -> page, PNG, PDF

Every function takes a graph or a :class:`Sketch`, which :func:`diff_sketch` makes of two graphs.
"""

from perin.graphs.drawing.diff import diff_sketch
from perin.graphs.drawing.files import pdf, png, write_html
from perin.graphs.drawing.sketch import Sketch, sketch
from perin.graphs.drawing.svg import svg
from perin.graphs.drawing.text import text

__all__ = ["Sketch", "diff_sketch", "pdf", "png", "sketch", "svg", "text", "write_html"]
