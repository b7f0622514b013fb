"""The page of drawings, which runs nothing that the data says, and PNG and PDF, where their package is installed."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import re
import shutil
import struct
import subprocess
import sys
import warnings
from html.parser import HTMLParser
from types import SimpleNamespace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from perin.errors import MissingDependencyError, UsageError
from perin.graphs import Edge, Graph, Node
from perin.graphs.drawing import diff_sketch, pdf, png, write_html
from perin.graphs.drawing.svg import rendered

EVIL = "</script><script>alert(1)</script><img src=x onerror=alert(2)><!--"


class Page(HTMLParser):
    """Collects elements with their attributes and the text of style and script elements."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.raw, self.open = [], [], None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self.open = (tag, dict(attrs)) if tag in ("style", "script") else None

    def handle_endtag(self, tag):
        self.open = None

    def handle_data(self, data):
        if self.open:
            self.raw.append((*self.open, data))

    def graphs(self):
        return json.loads("".join(data for _, attributes, data in self.raw if attributes.get("id") == "graphs"))


def page(*drawn, title="Graphs"):
    stream = io.StringIO()
    write_html(drawn, stream, title)
    return stream.getvalue()


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_all_graphs_are_in_the_page(graphs, data):
    drawn = data.draw(st.lists(graphs(max_nodes=3), max_size=3))
    found = Page(page(*drawn)).graphs()
    assert len(found) == len(drawn)
    assert all(entry["svg"].startswith("<svg") for entry in found)


def test_a_search_finds_ids_words_and_labels():
    graph = Graph("id-7", input="Old dogs", nodes=(Node(0, "DOG"), Node(1)), edges=(Edge(0, 1, "ARG1"),))
    (entry,) = Page(page(graph)).graphs()
    assert set(entry["find"].split("\n")) == {"id-7", "old dogs", "dog", "arg1"}


def test_graphs_carry_their_frameworks():
    text = page(Graph("1", "amr", nodes=(Node(0, "a"),)), Graph("1", "eds", nodes=(Node(0, "b"),)))
    data = json.loads(re.search(r'id="graphs">(.*?)</script>', text, flags=re.DOTALL)[1])
    assert [(graph["id"], graph["framework"]) for graph in data] == [("1", "amr"), ("1", "eds")]
    assert "eds" in data[1]["find"]


def test_the_data_can_run_nothing():
    graph = Graph(EVIL, EVIL, input=EVIL, nodes=(Node(0, EVIL),), edges=(Edge(0, 0, EVIL),))
    text = page(graph, title=EVIL)
    parsed = Page(text)
    assert sum(tag == "script" for tag, _ in parsed.elements) == 2
    assert not any(tag == "img" for tag, _ in parsed.elements)
    assert not any(name.startswith("on") for _, attributes in parsed.elements for name in attributes)
    (entry,) = parsed.graphs()
    assert "<script" not in entry["svg"]
    assert "<img" not in entry["svg"]


def test_only_its_own_script_and_style_are_allowed_to_work():
    parsed = Page(page(Graph("1")))
    (policy,) = [attributes["content"] for tag, attributes in parsed.elements if "http-equiv" in attributes]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    working = [(tag, data) for tag, attributes, data in parsed.raw if attributes.get("type") != "application/json"]
    assert [tag for tag, _ in working] == ["style", "script"]
    for tag, data in working:
        digest = base64.b64encode(hashlib.sha256(data.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy


def test_nothing_is_loaded_from_elsewhere():
    text = page(Graph("1", nodes=(Node(0, "a"),)))
    assert not re.search(r"(?:src|href)\s*=|url\(|@import", text)
    assert set(re.findall(r"https?://[\w./]*", text)) == {"http://www.w3.org/2000/svg"}


def test_names_for_those_who_do_not_see():
    elements = Page(page(Graph("1"))).elements
    named = [a for tag, a in elements if tag in ("button", "input", "nav") or a.get("role") == "region"]
    assert len(named) == 7
    for attributes in named:
        assert attributes.get("aria-label") or attributes.get("title")
    assert any(attributes.get("aria-live") for _, attributes in elements)
    assert ("html", {"lang": "en"}) in elements


def test_comparisons_can_be_in_a_page():
    graph = Graph("1", nodes=(Node(0, "a"),))
    (entry,) = Page(page(diff_sketch(graph, graph, [(0, 0)]))).graphs()
    assert "perin diff" in entry["svg"]


def test_comparisons_carry_their_scores_and_the_page_a_legend():
    graph = Graph("1", nodes=(Node(0, "a"),))
    text = page(diff_sketch(graph, graph, [(0, 0)], f1=0.98765), diff_sketch(graph, graph, [(0, 0)]))
    first, second = Page(text).graphs()
    assert first["f1"] == 0.9877
    assert "f1" not in second
    assert "missing: only in gold" in text
    assert "extra: only in the system" in text
    assert [a["value"] for tag, a in Page(text).elements if tag == "option"] == ["file", "worst", "best"]


def test_graphs_are_drawn_one_at_a_time():
    """A page of a treebank must not hold all of its drawings in memory."""
    written = io.StringIO()

    def graphs():
        for number in range(3):
            assert written.getvalue().count('"svg":') == number
            yield Graph(str(number))

    write_html(graphs(), written)


@pytest.mark.slow
def test_a_browser_shows_the_graph_of_the_address(tmp_path):
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if not browser:
        pytest.skip("no Chromium here")
    path = tmp_path / "page.html"
    path.write_text(page(Graph("first", nodes=(Node(0, "alpha"),)), Graph("second", nodes=(Node(0, EVIL + "beta"),))))
    command = [browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}"]
    command += ["--disable-background-networking", "--no-first-run", "--dump-dom", f"{path.as_uri()}#second"]
    shown = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout
    assert '<span id="status" class="many" role="status" aria-live="polite">2 / 2</span>' in shown
    stage = shown[shown.index('id="stage"') : shown.index("<footer>")]
    assert "beta" in stage
    assert "alpha" not in stage
    assert "<script>alert" not in stage


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="the optional package playwright is not installed")
    path = shutil.which("chromium") or shutil.which("google-chrome")
    if not path:
        pytest.skip("no Chromium here")
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        yield chromium
        chromium.close()


@pytest.mark.slow
def test_a_page_groups_the_graphs_of_a_sentence_and_sorts_comparisons(browser, tmp_path):
    def listed(*drawn):
        path = tmp_path / "page.html"
        path.write_text(page(*drawn))
        window = browser.new_page()
        window.goto(path.as_uri())
        return window

    graphs = [Graph(id, name, input=f"Text {id}") for name in ("amr", "eds") for id in ("1", "2")]
    window = listed(*graphs)
    assert window.locator("nav button").all_inner_texts() == ["1 AMR\nText 1", "1 EDS", "2 AMR\nText 2", "2 EDS"]
    assert not window.locator("#legend").is_visible()
    graph = Graph("1", nodes=(Node(0, "a"),))
    scored = [
        diff_sketch(Graph(id, nodes=graph.nodes), graph, [(0, 0)], f1=f1)
        for id, f1 in (("a", 0.5), ("b", 0.25), ("c", 1))
    ]
    window = listed(*scored)
    assert window.locator("#legend").is_visible()
    assert "F1 50.0" in window.locator("#about").inner_text()
    window.locator("#order").select_option("worst")
    assert [text[-1] for text in window.locator("nav button").all_inner_texts()] == ["b", "a", "c"]
    assert "F1 25.0" in window.locator("#about").inner_text()


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
