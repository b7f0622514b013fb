from __future__ import annotations

import gzip
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perin.commands.validate import validate
from perin.errors import InputError, Tolerant
from perin.graphs.codecs import dumps, load, loads
from perin.graphs.graph import Anchor, Edge, Graph, Node, Property

DATA = Path(__file__).parents[2] / ".." / "shared" / "data"
LINE = "#" * 80

TEXT = f"""# document = czech_umr-7.umr
{LINE}
# meta-info :: type = partial_conversion :: sent_id = u_tree-cs-s1-root
# :: snt1
Index: 1  2      3 4    5    6
Words: S  výzvou k fair play ,

# sentence level graph:
(s1e1 / event
        :companion (s1v1 / výzva
            :ARG1 (s1x1 / #Forn
                :FPHR (s1f1 / fair)
                :mod (s1p1 / play))
            :refer-number singular)
        :ARG0 s1k1
        :ARG1-of (s1k1 / /
            :op2 s1e1
            :op1 "Fair Play")
        :aspect state)

# alignment:
s1e1: 0-0
s1v1: 1-2
s1x1: 0-0
s1f1: 4-4
s1p1: 5-5
s1k1: 3-3,5-6

# document level annotation:
(s1s0 / sentence
    :coref ((s1x1 :same-entity s1v1)
            (s1f1 :same-entity s1p1)))

{LINE}
# meta-info :: sent_id = last
# :: snt2
Index: 1
Words: -

# sentence level graph:

# alignment:

# document level annotation:

"""


def test_sentence_becomes_graph() -> None:
    first, second = loads(TEXT, "umr")
    assert (first.id, first.framework, first.language, first.flavor) == ("czech_umr-7-s1", "umr", "ces", 1)
    assert first.input == "S výzvou k fair play ,"
    assert [node.label for node in first.nodes] == ["event", "výzva", "#Forn", "fair", "play", "/"]
    assert first.tops == (0,)
    assert first.node(0).properties == (Property("aspect", "state"),)
    assert first.node(5).properties == (Property("op1", "Fair Play"),)
    assert (second.id, len(second), second.tops, second.flavor) == ("czech_umr-7-s2", 0, (), 2)


def test_alignment_becomes_an_anchor_a_word() -> None:
    graph = loads(TEXT, "umr")[0]
    assert graph.node(0).anchors == ()
    assert graph.node(1).anchors == (Anchor(0, 1), Anchor(2, 8))
    assert [graph.anchored_text(id) for id in range(6)] == ["", "S výzvou", "", "fair", "play", "k play ,"]


def test_inverse_roles_have_a_normal_form_and_mod_is_none() -> None:
    edges = {(edge.source, edge.target, edge.label): edge.normal for edge in loads(TEXT, "umr")[0].edges}
    assert edges[0, 5, "ARG1-of"] == "ARG1"
    assert edges[2, 4, "mod"] == ""
    assert edges[0, 5, "ARG0"] is None
    assert edges[5, 0, "op2"] is None


def test_document_level_travels_with_the_sentence() -> None:
    fields = (loads(TEXT, "umr")[0].extra or {})["umr"]
    assert fields["document"] == "czech_umr-7.umr"
    assert fields["level"]["coref"] == [["s1x1", "same-entity", "s1v1"], ["s1f1", "same-entity", "s1p1"]]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (":aspect state)", ":aspect state", "1 parentheses are not closed"),
        (":aspect state)", ":aspect state))", "follows the closed graph"),
        (":aspect state", ":aspect", ":aspect of s1e1 has no value"),
        ("(s1p1 / play)", "(s1f1 / play)", "s1f1 is defined twice"),
        (":op2 s1e1", ":op2 s1e9", "points to s1e9, which no node defines"),
        ("s1v1: 1-2", "s1v1: one", "no alignment such as"),
        ("(s1e1 / event", "event", "begins with event"),
    ],
)
def test_faults_stop_strict_reading_and_are_told_in_tolerant_reading(old: str, new: str, message: str) -> None:
    text = TEXT.replace(old, new, 1)
    with pytest.raises(InputError, match=message):
        loads(text, "umr")
    report = Tolerant()
    assert len(loads(text, "umr", report=report)) == 2
    assert any(message in finding.message and finding.graph == "czech_umr-7-s1" for finding in report.findings)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("s1v1: 1-2", "s1v1: 1-7", "aligned to 1-7, but the words are 1 to 6"),
        ("s1v1: 1-2", "s1w1: 1-2", "the alignment names s1w1"),
        ("(s1s0 / sentence", "(s1s0 / paragraph", "the document level"),
    ],
)
def test_doubtful_things_are_noted(old: str, new: str, message: str) -> None:
    report = Tolerant()
    loads(TEXT.replace(old, new, 1), "umr", report=report)
    assert any(message in finding.message and finding.severity == "note" for finding in report.findings)


def test_what_was_read_is_written_as_it_was() -> None:
    graphs = loads(TEXT, "umr")
    assert dumps(graphs, "umr").split() == TEXT.split()
    assert loads(dumps(graphs, "umr"), "umr") == graphs
    assert loads(dumps(loads(dumps(graphs, "mrp"))), "mrp") == graphs
    assert loads(dumps(loads(dumps(graphs, "mrp")), "umr"), "umr") == graphs


ODD = """# document = a.umr
# a line of its own
# :: snt4
Index: 1 2
Words: a b
Morphemes: a b
Translation: Somebody (said) "a".

# sentence level graph:
(s4a/ a-01 :wiki - :op1 Kim :op2 "3" :mode "imperative" :quote s9x
    :op3 "(b" :domain-of (s4b /b :prep-out-of s4a :op4 ":x")
    # a comment
# alignment:
s4b:2-2
s4a: -1--1
s4z: 1-1
# document level annotation:
(s4s0 / sentence :coref ((s4a :same-entity s1b) Kim) :modal ((root :modal author)))
"""


def test_odd_text_survives_too() -> None:
    report = Tolerant()
    graphs = loads(ODD, "umr", report=report)
    assert len(report.findings) > 4
    assert loads(dumps(graphs, "umr"), "umr", report=report) == graphs
    assert [edge.normal for edge in graphs[0].edges] == ["domain", None]
    assert 'Translation: Somebody (said) "a".' in dumps(graphs, "umr")


def test_graph_of_a_parser_gets_words_variables_and_a_document() -> None:
    text = "Petr přišel."
    nodes = (
        Node(4, "přijít-001", (Property("aspect", "performance"),), (Anchor(5, 11),)),
        Node(2, "Petr", (), (Anchor(0, 4),)),
        Node(3, "#Gen", (), None),
        Node(5, "přítel"),
    )
    edges = (
        Edge(4, 2, "ARG0"),
        Edge(3, 2, "domain"),
        Edge(4, 3, "domain-of", normal="domain"),
        Edge(2, 5, "mod", normal=""),
    )
    graph = Graph("x 7", "umr", "ces", 1, input=text, tops=(4,), nodes=nodes, edges=edges)
    written = dumps([graph, replace(graph, id="8")], "umr")
    assert "Index: 1    2      3\nWords: Petr přišel ." in written
    assert "(s1p1 / přijít-001" in written
    assert "(s2s0 / sentence)" in written
    assert ":domain-of (s1x1 / #Gen" in written
    first, second = loads(written, "umr")
    assert (first.id, first.input, first.language, second.id) == ("x 7", text, "ces", "8")
    assert replace(first, extra=None).isomorphic(graph)
    assert [node.anchors for node in first.nodes if node.label == "Petr"] == [(Anchor(0, 4),)]


@pytest.mark.parametrize("label", ["a b", '"', "(", ")", "/", ":op1", "#x", "", "s1a1", "\\", "\n", '"a"', "a(b"])
def test_labels_and_values_survive(label: str) -> None:
    graph = Graph("1", "umr", nodes=(Node(0, label, (Property("op1", label), Property("mode", label))),), tops=(0,))
    (found,) = loads(dumps(graph, "umr"), "umr")
    assert (found.nodes[0].label, found.nodes[0].properties) == (label, graph.nodes[0].properties)


def test_graph_in_pieces_is_refused() -> None:
    with pytest.raises(InputError, match="falls into 2 parts"):
        dumps(Graph("1", "umr", nodes=(Node(0, "a"), Node(1, "b")), tops=(0,)), "umr")


pieces = st.one_of(st.text('()/:"\\# \n=,-s1x0', max_size=9), st.sampled_from([LINE, "# document = b", ":op1 s1f1"]))


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_damaged_text_is_read_and_survives(data: st.DataObject) -> None:
    text = data.draw(st.sampled_from([TEXT, ODD]))
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text)))
        text = text[:start] + data.draw(pieces) + text[start + data.draw(st.integers(0, 20)) :]
    graphs = loads(text, "umr", report=Tolerant())
    assert loads(dumps(graphs, "umr"), "umr", report=Tolerant()) == graphs


@pytest.mark.skipif(not DATA.exists(), reason="no treebanks in ../shared/data")
@pytest.mark.parametrize(("name", "graphs"), [("umr-ces", 551), ("umr-eng", 266)])
def test_treebanks_survive(name: str, graphs: int) -> None:
    path = DATA / name / "dev.umr.gz"
    found = list(load(path))
    assert len({graph.id for graph in found}) == graphs
    assert {graph.language for graph in found} == {name[-3:]}
    written = dumps(found, "umr")
    assert loads(written, "umr") == found
    if name == "umr-ces":
        assert written == gzip.decompress(path.read_bytes()).decode()


def test_documents_are_validated(tmp_path: Path) -> None:
    path = tmp_path / "x.umr"
    path.write_text(TEXT, encoding="utf-8")
    report = Tolerant()
    assert validate(path, report) == 2
    assert [finding.message for finding in report.findings if "roles that" in finding.message] == [
        "roles that the guidelines do not know: FPHR"
    ]
    wrong = TEXT.replace("(s1x1 :same-entity s1v1)", "(s1x1 :same-entity s1v7) (s9a1 :same-entity s1v1)")
    wrong = wrong.replace("# sentence level graph:\n\n", "# sentence level graph:\n(s1p1 / play :aspect slow)\n")
    path.write_text(wrong, encoding="utf-8")
    report = Tolerant()
    validate(path, report)
    messages = "\n".join(finding.message for finding in report.findings)
    assert "points to s1v7, which no node of the document defines" in messages
    assert "variable s1p1 is also one of czech_umr-7-s1" in messages
    assert "slow is no value of :aspect" in messages
    assert "s9a1" not in messages
