from __future__ import annotations

import contextlib
import tracemalloc
import xml.etree.ElementTree as ET
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perin.errors import InputError
from perin.graphs import Anchor, Edge, Graph, Node, Property, Tolerant, dump, dumps, load, loads
from perin.graphs.normalisation import isomorphic

XML = """\
<root passageID="7" annotationID="0">
  <attributes userID="1"/>
  <layer layerID="0">
    <node ID="0.1" type="Word"><attributes text="Dogs" paragraph="1" paragraph_position="1"/></node>
    <node ID="0.2" type="Word"><attributes text="run" paragraph="1" paragraph_position="2"/></node>
    <node ID="0.3" type="Word"><attributes text="and" paragraph="1" paragraph_position="3"/></node>
    <node ID="0.4" type="Word"><attributes text="bark" paragraph="1" paragraph_position="4"/></node>
    <node ID="0.5" type="Punctuation"><attributes text="." paragraph="1" paragraph_position="5"/></node>
  </layer>
  <layer layerID="1">
    <node ID="1.1" type="FN"><attributes/>
      <edge toID="1.2" type="H"><attributes/><category tag="H"/></edge>
      <edge toID="1.9" type="L"><attributes/></edge>
      <edge toID="1.3" type="H"><attributes/><category tag="H" slot="1" layer_name="x"/></edge>
      <edge toID="1.8" type="U"><attributes/><category tag="U"/></edge>
    </node>
    <node ID="1.2" type="FN"><attributes/>
      <edge toID="1.4" type="A"><attributes/><category tag="A"/></edge>
      <edge toID="1.5" type="P"><attributes/><category tag="P"/><category tag="D"/></edge>
    </node>
    <node ID="1.3" type="FN"><attributes/>
      <edge toID="1.4" type="A"><attributes remote="True"/><category tag="A"/></edge>
      <edge toID="1.6" type="P"><attributes/><category tag="P"/></edge>
      <edge toID="1.7" type="A"><attributes/><category tag="A"/></edge>
    </node>
    <node ID="1.4" type="FN"><edge toID="0.1" type="Terminal"><category tag="Terminal"/></edge></node>
    <node ID="1.5" type="FN"><edge toID="0.2" type="Terminal"/></node>
    <node ID="1.6" type="FN"><edge toID="0.4" type="Terminal"/></node>
    <node ID="1.7" type="FN"><attributes implicit="True"/><extra remarks="?"/></node>
    <node ID="1.8" type="PNCT"><edge toID="0.5" type="Terminal"/></node>
    <node ID="1.9" type="FN"><edge toID="0.3" type="Terminal"/></node>
  </layer>
</root>
"""
GRAPH = Graph(
    "7",
    "ucca",
    flavor=1,
    input="Dogs run and bark.",
    tops=(0,),
    nodes=(
        Node(0),
        Node(1),
        Node(2, extra={"implicit": [{"id": 0, "labels": ["A"]}]}),
        Node(3, anchors=(Anchor(0, 4),)),
        Node(4, anchors=(Anchor(5, 8),)),
        Node(5, anchors=(Anchor(13, 17),)),
        Node(6, anchors=(Anchor(17, 18),)),
        Node(7, anchors=(Anchor(9, 12),)),
    ),
    edges=(
        Edge(0, 1, "H"),
        Edge(0, 7, "L"),
        Edge(0, 2, "H"),
        Edge(0, 6, "U"),
        Edge(1, 3, "A"),
        Edge(1, 4, "P"),
        Edge(1, 4, "D"),
        Edge(2, 3, "A", (Property("remote", True),)),
        Edge(2, 5, "P"),
    ),
)


def test_reading():
    assert loads(XML, "ucca") == [GRAPH]


def test_writing_and_reading_again():
    assert loads(dumps(GRAPH, "ucca"), "ucca") == [GRAPH]


def test_one_graph_is_a_document_of_the_standard_form():
    root = ET.fromstring(dumps(GRAPH, "ucca"))
    assert (root.tag, root.get("passageID")) == ("root", "7")
    words, units = root.findall("layer")
    assert [word.find("attributes").get("text") for word in words.findall("node")] == [
        "Dogs",
        "run",
        "and",
        "bark",
        ".",
    ]
    assert [word.get("type") for word in words.findall("node")] == ["Word"] * 4 + ["Punctuation"]
    by_id = {unit.get("ID"): unit for unit in units.findall("node")}
    assert by_id["1.1"].get("type") == "FN"
    assert [edge.get("type") for edge in by_id["1.1"].findall("edge")] == ["H", "L", "H", "U"]
    assert [c.get("tag") for c in by_id["1.2"].findall("edge")[1].findall("category")] == ["P", "D"]
    assert by_id["1.7"].get("type") == "PNCT"
    remote, _, to_implicit = by_id["1.3"].findall("edge")
    assert remote.find("attributes").get("remote") == "True"
    assert by_id[to_implicit.get("toID")].find("attributes").get("implicit") == "True"


def test_an_empty_file_has_no_graphs():
    assert loads("", "ucca") == []
    assert loads(" \n\n", "ucca") == []


@pytest.mark.parametrize("count", [0, 2, 3])
def test_several_graphs_stand_in_a_wrapper(count):
    graphs = [replace(GRAPH, id=str(number)) for number in range(count)]
    text = dumps(graphs, "ucca")
    root = ET.fromstring(text)
    assert (root.tag, len(root)) == ("corpus", count)
    assert loads(text, "ucca") == graphs


def test_a_folder_of_documents_is_read_in_the_order_of_names(tmp_path):
    for name in ("b.xml", "a.xml.gz", "c.xml"):
        dump(replace(GRAPH, id=name), tmp_path / name)
    (tmp_path / "notes.txt").write_text("no graph")
    assert [graph.id for graph in load(tmp_path)] == ["a.xml.gz", "b.xml", "c.xml"]


def test_text_is_aligned_where_it_is_known_and_guessed_where_not():
    known = XML.replace("<layer", '<extra snt="Dogs  run and bark ."/><layer', 1)
    (graph,) = loads(known, "ucca")
    assert graph.input == "Dogs  run and bark ."
    assert graph.nodes[4].anchors == (Anchor(6, 9),)
    wrong = known.replace("and bark .", "but bark .")
    with pytest.raises(InputError, match="the tokens do not make up the text: 'and' is not at character 10"):
        loads(wrong, "ucca")


def test_units_may_own_words_beside_children():
    xml = XML.replace(
        '<node ID="1.3" type="FN"><attributes/>', '<node ID="1.3" type="FN"><edge toID="0.3" type="Terminal"/>'
    )
    (graph,) = loads(xml, "ucca")
    assert graph.nodes[2].anchors == (Anchor(9, 12),)
    assert loads(dumps(graph, "ucca"), "ucca") == [graph]


LEFT_OUT = [
    (
        '<node ID="1.99" type="LKG"><edge toID="1.9" type="LR"/><edge toID="1.2" type="LA"/></node></layer>',
        "linkage 1.99 is left out: MRP graphs have none",
    ),
    (
        '<node ID="1.98" type="FN"><attributes implicit="true"/></node></layer>',
        "implicit unit 1.98 is left out: it has no parent",
    ),
    ('</layer><layer layerID="2"><node ID="2.1" type="X"/></layer>', "layer 2 is left out"),
]


@pytest.mark.parametrize(("end", "message"), LEFT_OUT, ids=["linkage", "implicit", "layer"])
def test_what_graphs_have_no_place_for_is_left_out_with_a_note(end, message):
    tolerant = Tolerant()
    text = XML.replace("  </layer>\n</root>", f"{end}</root>")
    assert loads(text, "ucca") == loads(text, "ucca", report=tolerant) == [GRAPH]
    (finding,) = tolerant.findings
    assert (finding.severity, finding.message) == ("note", message)


def test_two_units_may_share_an_implicit_one():
    shared_unit = XML.replace(
        '<category tag="D"/></edge>',
        '<category tag="D"/></edge><edge toID="1.7" type="A"><attributes remote="true"/></edge>',
    )
    (graph,) = loads(shared_unit, "ucca")
    entry = {"id": 0, "labels": ["A"]}
    assert graph.nodes[1].extra == {"implicit": [{**entry, "attributes": {"remote": True}}]}
    assert graph.nodes[2].extra == {"implicit": [entry]}
    assert loads(dumps(graph, "ucca"), "ucca") == [graph]


def test_deep_nesting_takes_little_memory():
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match="no well-formed XML"):
            loads("<root>" + "<a>" * 20_000, "ucca")
        assert tracemalloc.get_traced_memory()[1] < 20e6
    finally:
        tracemalloc.stop()


ENTITIES = [
    '<!DOCTYPE root [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]><root passageID="&b;"/>',
    '<!DOCTYPE root [<!ENTITY x SYSTEM "file:///etc/passwd">]><root passageID="1"><extra snt="&x;"/></root>',
    '<!DOCTYPE root SYSTEM "http://localhost/evil.dtd"><root/>',
]


@pytest.mark.parametrize("text", ENTITIES)
def test_document_types_and_their_entities_are_refused(text):
    for report in (Tolerant(), None):
        with pytest.raises(InputError, match="a document type declaration is not allowed"):
            loads(text, "ucca", **({"report": report} if report else {}))


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("<!-- nothing -->", 1, "no well-formed XML: no element found"),
        ("{}", 1, "no well-formed XML"),
        ("<svg/>", 1, "the outermost element is <svg>, expected <root> or <corpus>"),
        (XML[: XML.index("toID")], 12, "no well-formed XML"),
        ('<root passageID="&b;"/>', 1, "no well-formed XML: undefined entity"),
    ],
)
def test_what_is_no_ucca_is_an_error_even_in_tolerant_mode(text, line, message):
    for report in (Tolerant(), None):
        with pytest.raises(InputError) as caught:
            loads(text, "ucca", **({"report": report} if report else {}))
        assert message in str(caught.value)
        assert caught.value.line == line


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("<root/>", 1, "the passage has no layer 1"),
        (XML.replace('toID="1.2"', 'toID="1.77"'), 12, "edge 1.1 -> 1.77 ends at no terminal and no unit"),
        (XML.replace('ID="1.5"', 'ID="1.4"'), 27, "node 1.4 occurs twice"),
        (XML.replace("<layer", '<extra tops="1.1 1.55"/><layer', 1), 1, "top 1.55 is no unit"),
        (XML.replace("<layer", '<extra json="[]"/><layer', 1), 1, "no JSON object"),
        (XML.replace("<attributes userID", '<extra flavor="x"/><attributes userID'), 1, "'flavor' must be"),
        (f"<corpus>{XML}{XML}</corpus>", 34, "earlier graph of the same id"),
        (f"<corpus>{XML}<root", 34, "no well-formed XML"),
    ],
)
def test_faults(text, line, message):
    with pytest.raises(InputError) as caught:
        loads(text, "ucca")
    assert message in str(caught.value)
    assert caught.value.line == line
    tolerant = Tolerant()
    assert loads(text, "ucca", report=tolerant)
    assert message in tolerant.findings[0].message


@pytest.mark.parametrize(
    "graph",
    [
        Graph("x", nodes=(Node(0, "label"),)),
        Graph("x", nodes=(Node(0, properties=(Property("p", 1),)),)),
        Graph("x", nodes=(Node(0, extra={"own": 1}),)),
        Graph("x", nodes=(Node(0, extra={"implicit": [{"id": 0, "labels": [5]}]}),)),
        Graph("x", nodes=(Node(0, extra={"implicit": [{"id": 0}]}),)),
        Graph("x", nodes=(Node(0),), tops=(1,)),
        Graph("x", nodes=(Node(0),), edges=(Edge(0, 1, "A"),)),
        Graph("x", nodes=(Node(0),), edges=(Edge(0, 0, "A", normal="B"),)),
        Graph("x", nodes=(Node(0),), edges=(Edge(0, 0, "\x00"),)),
        Graph("x", nodes=(Node(0),), edges=(Edge(0, 0, "A", (Property("a b", True),)),)),
        Graph("x", nodes=(Node(0),), edges=(Edge(0, 0, "A", (Property("a", None),)),)),
        Graph("x", nodes=(Node(0),), edges=(Edge(0, 0, "A", (Property("a", 1), Property("a", 2))),)),
    ],
)
def test_what_the_format_can_not_say_is_an_error(graph):
    with pytest.raises(InputError, match=r"graph x: .* which UCCA XML can't say"):
        dumps(graph, "ucca")


def test_any_graph_survives(graphs):
    names = st.sampled_from(["remote", "implicit", "a.b-c"])
    labels = st.one_of(st.none(), st.text('AB<>&"\n\t é', max_size=3))

    @given(
        graphs(
            framework="ucca",
            labels=st.none(),
            edge_labels=labels,
            properties=0,
            values=st.one_of(st.booleans(), st.text('xy<&"\n é', max_size=3)),
            attribute_names=names,
            normals=False,
        )
    )
    @settings(deadline=None, max_examples=150)
    def check(graph):
        (again,) = loads(dumps(graph, "ucca"), "ucca")
        nodes = tuple(replace(node, anchors=tuple(sorted(node.anchors or ())) or None) for node in graph.nodes)
        assert isomorphic(replace(graph, nodes=nodes), again)
        expected = replace(graph, flavor=1 if graph.flavor is None else graph.flavor, nodes=(), edges=(), tops=())
        assert replace(again, nodes=(), edges=(), tops=()) == expected

    check()


@given(st.integers(0, len(XML)), st.integers(0, 60), st.text('<>/="& aID01.\n', max_size=12))
@settings(deadline=None, max_examples=250)
def test_damaged_documents_give_graphs_or_input_errors(position, length, noise):
    with contextlib.suppress(InputError):
        for graph in loads(XML[:position] + noise + XML[position + length :], "ucca", report=Tolerant()):
            with contextlib.suppress(InputError):
                loads(dumps(graph, "ucca"), "ucca", report=Tolerant())


PLACES = ["root", "layer", "node", "edge", "category", "attributes", "extra", "corpus", "other"]
ATTRIBUTES = st.dictionaries(
    st.sampled_from(
        ["passageID", "layerID", "ID", "type", "toID", "tag", "text", "implicit", "from", "to", "json", "tops"]
    ),
    st.sampled_from(["", "0", "1", "1.1", "0.1", "True", "x", "[]", "{}"]),
    max_size=3,
)
ELEMENT = st.recursive(
    st.builds(lambda name, attributes: ET.Element(name, attributes), st.sampled_from(PLACES), ATTRIBUTES),
    lambda inner: st.builds(
        lambda name, attributes, children: _element(name, attributes, children),
        st.sampled_from(PLACES),
        ATTRIBUTES,
        st.lists(inner, max_size=3),
    ),
    max_leaves=12,
)


def _element(name: str, attributes: dict[str, str], children: list[ET.Element]) -> ET.Element:
    element = ET.Element(name, attributes)
    element.extend(children)
    return element


@given(ELEMENT)
@settings(deadline=None, max_examples=200)
def test_elements_in_any_arrangement_give_graphs_or_input_errors(element):
    root = _element("corpus", {}, [_element("root", {}, [_element("layer", {"layerID": "1"}, [element])]), element])
    with contextlib.suppress(InputError):
        loads(ET.tostring(root, encoding="unicode"), "ucca", report=Tolerant())


def survives(path: Path) -> int:
    graphs = list(load(path))
    again = loads(dumps(graphs, "ucca"), "ucca")
    for graph, copy in zip(graphs, again, strict=True):
        assert replace(graph, nodes=(), edges=(), tops=()) == replace(copy, nodes=(), edges=(), tops=())
        assert isomorphic(graph, copy)
        assert isomorphic(graph, copy, normalised=True)
    return len(graphs)


def test_development_treebank_survives(shared):
    assert survives(shared / "data" / "ucca-deu" / "dev.mrp.gz") == 434


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ucca-deu/train", "ucca-eng/dev", "ucca-eng/train"])
def test_all_treebanks_survive(shared, name):
    assert survives(shared / "data" / f"{name}.mrp.gz") > 1000


def without_spaces(graph: Graph) -> Graph:
    """The graph over its text without white space: what remains the same however tokens are joined."""
    position, kept = [0], ""
    for character in graph.input:
        kept += character if not character.isspace() else ""
        position.append(len(kept))
    nodes = tuple(
        replace(
            node, extra=None, anchors=node.anchors and tuple(Anchor(position[a], position[b]) for a, b in node.anchors)
        )
        for node in graph.nodes
    )
    return replace(graph, input=kept, nodes=nodes)


def test_samples_are_read_to_the_graphs_beside_them(shared):
    """UCCA XML holds no spaces; of the five samples, one has a dash between spaces that the guess makes a hyphen."""
    folder = shared / "fixtures" / "formats" / "ucca"
    guessed = Counter()
    for expected in load(folder / "sample.mrp"):
        (found,) = load(folder / f"{expected.id}.xml")
        assert without_spaces(found).isomorphic(without_spaces(expected))
        assert without_spaces(found).input == without_spaces(expected).input
        guessed[found.input == expected.input and found.isomorphic(expected)] += 1
        implicit = [entry for node in found.nodes for entry in (node.extra or {}).get("implicit", ())]
        assert len(implicit) == (folder / f"{expected.id}.xml").read_text().count('implicit="True"')
        with_text = (folder / f"{expected.id}.xml").read_text()
        header = ET.Element("extra", {"snt": expected.input})
        with_text = with_text.replace("<layer", ET.tostring(header, encoding="unicode") + "<layer", 1)
        (aligned,) = loads(with_text, "ucca")
        assert aligned.input == expected.input
        assert aligned.isomorphic(expected)
    assert guessed == {True: 4, False: 1}
