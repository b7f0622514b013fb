"""PNG and PDF, where the optional package is installed."""

from __future__ import annotations

import struct
import sys
import warnings
from types import SimpleNamespace

import pytest

from perin.errors import MissingDependencyError, UsageError
from perin.graphs import Edge, Graph, Node
from perin.graphs.drawing import pdf, png
from perin.graphs.drawing.svg import rendered

GRAPH = Graph(
    "1", input="Psi štěkají 小王子", nodes=(Node(0, "štěkat"), Node(1, "pes")), edges=(Edge(0, 1, "ACT"),), tops=(0,)
)


pytestmark = pytest.mark.filterwarnings("ignore:no font with Chinese")


@pytest.fixture
def typst():
    return pytest.importorskip("typst", reason="the optional package typst is not installed")


def size(picture):
    return struct.unpack(">II", picture[16:24])


@pytest.mark.usefixtures("typst")
def test_a_png_has_two_pixels_for_each_of_the_drawing():
    picture = png(GRAPH)
    drawing = rendered(GRAPH, "light")
    assert picture.startswith(b"\x89PNG\r\n\x1a\n")
    assert size(picture) == (2 * drawing.width, 2 * drawing.height)
    assert size(png([GRAPH, GRAPH])) == (2 * drawing.width, 4 * drawing.height)


@pytest.mark.usefixtures("typst")
def test_a_pdf_has_a_page_for_each_graph():
    document = pdf([GRAPH, GRAPH, GRAPH])
    assert document.startswith(b"%PDF-")
    assert b"/Count 3" in document
    assert b"/Count 1" in pdf(GRAPH)


@pytest.mark.usefixtures("typst")
def test_the_same_graph_gives_the_same_bytes():
    assert png(GRAPH) == png(GRAPH)
    assert pdf(GRAPH) == pdf(GRAPH)


@pytest.mark.usefixtures("typst")
def test_a_png_is_light_unless_asked_otherwise():
    assert png(GRAPH) == png(GRAPH, "light")
    assert png(GRAPH) != png(GRAPH, "dark")


@pytest.mark.usefixtures("typst")
def test_nothing_to_draw_is_a_picture_of_nothing():
    assert png([]).startswith(b"\x89PNG")
    assert pdf([]).startswith(b"%PDF-")
    assert png(Graph("1")).startswith(b"\x89PNG")


@pytest.mark.usefixtures("typst")
def test_too_large_a_png_is_refused():
    wide = Graph("1", nodes=tuple(Node(id, "incomprehensibility " * 300) for id in range(60)))
    with pytest.raises(UsageError, match=r"\d+ by \d+ pixels"):
        png([wide] * 2)


def test_a_missing_font_is_worth_a_warning(typst, monkeypatch):
    monkeypatch.setattr(typst, "Fonts", lambda: SimpleNamespace(families=lambda: ["Liberation Sans"]))
    with pytest.warns(UserWarning, match="Noto Sans CJK SC"):
        png(GRAPH)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        png(Graph("1", nodes=(Node(0, "štěkat"),)))


@pytest.mark.parametrize("draw", [png, pdf])
def test_without_the_package_the_message_says_what_to_install(draw, monkeypatch):
    monkeypatch.setitem(sys.modules, "typst", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'perin\[draw\]'"):
        draw(GRAPH)


def test_letters_are_set_in_the_font_of_the_package(typst, monkeypatch):
    """Fonts of the system are looked for only where the package's own lacks a letter."""
    asked = []

    def compile_with(*arguments, _compile=typst.compile, **options):
        asked.append(options["ignore_system_fonts"])
        return _compile(*arguments, **options)

    monkeypatch.setattr(typst, "compile", compile_with)
    latin = Graph("1", input="Psi “štěkají” …", nodes=(Node(0, "štěkat"), Node(1, "пес")), edges=(Edge(0, 1, "ACT"),))
    assert b"LiberationSans" in pdf(latin)
    assert b"LiberationSans" in pdf(GRAPH)
    assert asked == [True, False]
