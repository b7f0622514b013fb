"""SVG: well-formed, complete, harmless, the same each time."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from perin.errors import UsageError
from perin.graphs import Anchor, Edge, Graph, Node, Property
from perin.graphs.drawing import svg
from perin.graphs.drawing.layered import WORD
from perin.graphs.drawing.lettering import printable, text_width
from perin.graphs.drawing.svg import _DARK, _LIGHT, bare_svg, rendered, style_sheet

SVG = "{http://www.w3.org/2000/svg}"
DOGS = Graph(
    "1",
    "eds",
    input="Old dogs bark.",
    tops=(1,),
    nodes=(
        Node(0, "old", anchors=(Anchor(0, 3),)),
        Node(1, "bark", (Property("TENSE", "pres"),), (Anchor(9, 14),)),
        Node(2, "dog", (Property("NUM", "pl"),), (Anchor(4, 8),)),
        Node(3, "udef_q", anchors=(Anchor(0, 8),)),
    ),
    edges=(Edge(0, 2, "ARG1"), Edge(1, 2, "ARG1"), Edge(3, 2, "BV"), Edge(1, 0, "extra")),
)


def parsed(picture):
    return ET.fromstring(picture)


def classes(element):
    return element.get("class", "").split()


def texts(element):
    """Text of each text element without white space, which wrapping may change."""
    return ["".join("".join(found.itertext()).split()) for found in element.iter(SVG + "text")]


def squeezed(value):
    return "".join(printable(str(value)).split())


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_well_formed_and_complete(graphs, data):
    graph = data.draw(graphs(framework=data.draw(st.sampled_from([None, "drg", "ptg"])), max_nodes=7))
    root = parsed(svg(graph))
    shown = "".join(texts(root))
    for node in graph.nodes:
        assert squeezed(node.label or "") in shown
        for name, value in node.properties:
            assert squeezed(name) + ("" if value is True else squeezed(value)) in shown
    for edge in graph.edges:
        assert squeezed(edge.label or "") in shown
    assert len([group for group in root.iter(SVG + "g") if "node" in classes(group)]) == len(graph.nodes)
    assert len([group for group in root.iter(SVG + "g") if "link" in classes(group)]) == len(graph.edges)


def test_long_labels_are_broken_not_cut():
    label = "incomprehensibility" * 40
    root = parsed(svg(Graph("1", nodes=(Node(0, label),))))
    assert "".join(texts(root)) == label
    assert float(root.get("width")) < 400


def test_markup_in_the_data_is_text():
    evil = "</text><script>alert(1)</script><text onload='x'>&\"]]>"
    graph = Graph(evil, evil, input=evil, nodes=(Node(0, evil, (Property(evil, evil),)),), edges=(Edge(0, 0, evil),))
    picture = svg(graph)
    root = parsed(picture)
    assert {element.tag for element in root.iter()} <= {
        SVG + name for name in ("svg", "style", "rect", "g", "title", "path", "text", "tspan")
    }
    assert not [name for element in root.iter() for name in element.attrib if name.startswith("on")]
    assert "<script" not in picture


def test_the_same_graph_gives_the_same_bytes():
    assert svg(DOGS) == svg(DOGS)
    assert DOGS._repr_svg_() == svg(DOGS)


def test_pointing_at_a_node_tells_all_about_it():
    titles = ["".join(title.itertext()) for title in parsed(svg(DOGS)).iter(SVG + "title")]
    assert "node 1 (top), bark, TENSE = pres, “bark.”" in titles
    assert "node 3, udef_q, “Old dogs”" in titles


def test_the_words_of_a_sentence_are_as_wide_in_any_font_as_they_were_laid_out():
    words = [each for each in parsed(svg(DOGS)).iter(f"{SVG}text") if "word" in classes(each)]
    assert [each.get("textLength") for each in words] == [
        f"{round(text_width(each.text, WORD), 1):g}" for each in words
    ]
    bare = Graph("1", "amr", input="Old dogs bark.", nodes=(Node(0, "bark"),))
    [caption] = [each for each in parsed(svg(bare)).iter(f"{SVG}text") if "caption" in classes(each)]
    assert caption.get("textLength") == f"{round(text_width('Old dogs bark.', WORD), 1):g}"


def test_a_reader_without_eyes_gets_the_sentence():
    root = parsed(svg(DOGS))
    assert root.get("role") == "img"
    assert root.get("aria-label") == "eds graph 1: Old dogs bark."


def found(graph, tag, *wanted):
    return [element for element in parsed(svg(graph)).iter(SVG + tag) if set(wanted) <= set(classes(element))]


def test_tops_reentrancies_remote_edges_and_scopes_look_different():
    assert [group.get("data-n") for group in found(DOGS, "g", "node", "top")] == ["1"]
    assert len(found(DOGS, "g", "link", "shared")) == 1
    assert len(found(DOGS, "g", "node", "shared")) == 1
    ucca = Graph("1", "ucca", nodes=(Node(0), Node(1)), edges=(Edge(0, 1, "A", (Property("remote", True),)),))
    assert len(found(ucca, "g", "link", "remote")) == 1
    assert len(found(ucca, "g", "dot")) == 2
    drg_nodes = (Node(0), Node(1, "be.v.01"), Node(2, "Theme"), Node(3, '"now"'))
    drg = Graph("1", "drg", nodes=drg_nodes, edges=(Edge(0, 1, "in"), Edge(1, 2), Edge(2, 3)), tops=(0,))
    assert [group.get("data-n") for group in found(drg, "g", "scope")] == ["0"]
    assert [group.get("data-n") for group in found(drg, "g", "relation")] == ["2"]
    assert len(found(drg, "g", "membership")) == 1


def test_a_node_that_stretches_over_words_quotes_them():
    assert "“Olddogs”" in texts(parsed(svg(DOGS)))


def test_themes():
    automatic, light, dark = (svg(DOGS, theme) for theme in ("auto", "light", "dark"))
    assert "prefers-color-scheme:dark" in automatic
    assert "@media" not in light + dark
    assert "#ffffff" in light
    assert "#ffffff" not in dark
    assert "<style" not in bare_svg(DOGS)


def test_several_graphs_stand_one_below_the_other():
    both, one = rendered([DOGS, DOGS], "auto"), rendered(DOGS, "auto")
    assert (both.width, both.height) == (one.width, 2 * one.height)
    assert len([text for text in texts(parsed(both.text)) if text == "udef_q"]) == 2
    parsed(svg([]))


def test_wide_characters_ask_for_a_font_that_has_them():
    graph = Graph("1", nodes=(Node(0, "小王子"), Node(1, "kůň")))
    assert ["".join(element.itertext()) for element in found(graph, "text", "wide")] == ["小王子"]


@pytest.mark.parametrize("label", ["a\x00b", "a\ud800b", "a\uffffb", "a\nb"])
def test_characters_that_xml_forbids(label):
    assert texts(parsed(svg(Graph("1", nodes=(Node(0, label),)))))[0] == printable(label)


def test_colours_of_both_palettes_can_be_read():
    """Contrast of text against the page or its box, by the formula of WCAG 2; 4.5 is what it asks of small text."""

    def luminance(colour):
        channels = [int(colour[index : index + 2], 16) / 255 for index in (1, 3, 5)]
        linear = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in channels]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    pairs = "ink/page ink/box ink/topbox ink/sharedbox ink/relation muted/page muted/box name/box name/page shared/page"
    pairs += (
        " missing/page missing/missingbox extra/page extra/extrabox missing/box extra/box name/topbox name/sharedbox"
    )
    for palette in (_LIGHT, _DARK):
        for pair in pairs.split():
            bright, dim = sorted((luminance(palette[name]) for name in pair.split("/")), reverse=True)
            assert (bright + 0.05) / (dim + 0.05) >= 4.5, pair


def test_every_class_of_the_style_sheet_is_used_somewhere():

    styled = set(re.findall(r"\.([a-z]+)", re.sub(r"\{[^}]*\}", "", style_sheet("light"))))
    source = "".join(map(str, [svg(DOGS), svg(Graph("1", nodes=(Node(0, "小"),)))]))
    known = set(re.findall(r'class="([^"]*)"', source)) | {"dot", "scope", "relation", "remote", "membership", "diff"}
    assert styled <= {name for group in known for name in group.split()} | {"missing", "extra", "caption"}


@pytest.mark.parametrize("wrong", ["x", [5]])
def test_wrong_types_say_what_is_wanted(wrong):
    with pytest.raises(UsageError, match=r"drawing takes graphs or sketches, not (str|int)"):
        svg(wrong)
