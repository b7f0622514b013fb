from __future__ import annotations

from pathlib import Path

import pytest

from perin.errors import InputError
from perin.graphs.codecs.registry import load, loads
from perin.graphs.faults import Tolerant
from perin.graphs.graph import Anchor, Property

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
            :op1 "Fair Play"
            :op2 s1e1)
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


@pytest.mark.skipif(not DATA.exists(), reason="no treebanks in ../shared/data")
@pytest.mark.parametrize(("name", "graphs"), [("umr-ces", 551), ("umr-eng", 266)])
def test_treebanks_are_read(name: str, graphs: int) -> None:
    found = list(load(DATA / name / "dev.umr.gz"))
    assert len({graph.id for graph in found}) == graphs
    assert {graph.language for graph in found} == {name[-3:]}
