"""SBN: samples against their graphs, all ways to write the same graph, what can be written and what can't, faults."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import perin
from perin.errors import InputError, strict
from perin.graphs import Anchor, Edge, Graph, Node, Property, Tolerant, dumps, findings, load, loads
from perin.graphs.codecs import sbn, writable
from perin.model import bundled

SAMPLE = """\
%%% ::id 7
%%% Kim doubts that she won .
person.n.01 Name "Kim Lee"               % Kim    [0-3]
doubt.v.01  Experiencer -1 Proposition >1 Time +1 % doubts that [4-15]
time.n.08   EQU now
            CONTINUATION <0
female.n.02 ANA -3                       % she [16-19]
            NEGATION <1                  %
win.v.01    Agent -1 Score -1 Value -1 Theme "-1"  % won [20-23]
            CONTRAST <2
rain.v.01                                % . [23-24]
"""


def triples(graph: Graph) -> Counter[tuple[str | None, str | None, str | None]]:
    """Labels of source, role and target of all roles."""
    found: Counter[tuple[str | None, str | None, str | None]] = Counter()
    for node in graph.nodes:
        for out in graph.outgoing(node.id):
            sources = [edge.source for edge in graph.incoming(node.id) if edge.label is None]
            if out.label is None and (node.label or "-")[0].isupper():
                found[graph.node(sources[0]).label, node.label, graph.node(out.target).label] += 1
    return found


def in_notation_3(
    roles: Counter[tuple[str | None, str | None, str | None]],
) -> Iterator[tuple[str | None, str | None, str | None]]:
    """What the treebank of release 3 notation makes of the sample: speakers are constants, names are small letters."""
    person = next((target for _, role, target in roles if role == "EQU" and target in ('"speaker"', '"hearer"')), None)
    for source, role, target in roles.elements():
        if role == "Name":
            target = str(target).lower().replace(" ", "~")
        if person and role == "Attribute":
            source, target = target, source
        if person and target == "person.n.01":
            target = person
        if not (person and role == "EQU" and target == person):
            yield source, role, target


def test_samples_say_what_their_graphs_say(shared: Path) -> None:
    """The graphs were brought to the notation of release 3, which has boxes for presuppositions, too."""
    folder = shared / "fixtures" / "formats" / "sbn"
    sentences = (folder / "sample.deu.txt").read_text(encoding="utf-8").splitlines()
    treebank = {graph.input: graph for graph in load(shared / "data" / "drg-deu" / "dev.mrp.gz")}
    for sentence, graph in zip(sentences, load(folder / "sample.deu.sbn"), strict=True):
        assert Counter(in_notation_3(triples(graph))) == triples(treebank[sentence])
        assert not list(findings(graph))


def test_concepts_roles_boxes_and_pointers() -> None:
    tolerant = Tolerant()
    (graph,) = loads(SAMPLE, "sbn", report=tolerant)
    assert not tolerant.findings
    assert (graph.id, graph.input) == ("7", "Kim doubts that she won.")
    boxes = [node.id for node in graph.nodes if node.label is None]
    names = {node.id: node.label or f"box {boxes.index(node.id)}" for node in graph.nodes}
    labelled = {(names[edge.source], edge.label, names[edge.target]) for edge in graph.edges if edge.label}
    assert labelled == {
        ("box 0", "in", "person.n.01"),
        ("box 0", "in", "doubt.v.01"),
        ("box 0", "in", "time.n.08"),
        ("box 1", "in", "female.n.02"),
        ("box 1", "NEGATION", "box 2"),
        ("box 2", "in", "win.v.01"),
        ("box 1", "CONTRAST", "box 3"),
        ("box 3", "in", "rain.v.01"),
    }
    assert triples(graph) == Counter(
        [
            ("person.n.01", "Name", '"Kim Lee"'),
            ("doubt.v.01", "Experiencer", "person.n.01"),
            ("doubt.v.01", "Proposition", None),
            ("doubt.v.01", "Time", "time.n.08"),
            ("time.n.08", "EQU", '"now"'),
            ("female.n.02", "ANA", "person.n.01"),
            ("win.v.01", "Agent", "female.n.02"),
            ("win.v.01", "Score", "female.n.02"),
            ("win.v.01", "Value", "female.n.02"),
            ("win.v.01", "Theme", '"-1"'),
        ]
    )
    assert graph.tops == (boxes[0],)


def test_lines_are_a_matter_of_taste() -> None:
    (lines,) = loads(SAMPLE, "sbn")
    words = [line.partition(" %")[0] for line in SAMPLE.splitlines()[2:]]
    one_line = " ".join(" ".join(words).split())
    old = one_line.replace("<1", "-1").replace("<2", "-2")
    graphs = loads(f"rain.v.01\n{one_line}\n{old}\nsnow.v.01\n", "sbn")
    assert [len(graph.nodes) for graph in graphs] == [2, len(lines.nodes), len(lines.nodes), 2]
    assert graphs[1].isomorphic(lines)
    assert graphs[2].isomorphic(lines)
    assert [graph.id for graph in graphs] == ["1", "2", "3", "4"]


def test_comments_above_a_graph_in_one_line_are_its_own() -> None:
    text = "%%% ::id a ::snt It rains.\nrain.v.01 Time +1 time.n.08 EQU now\n%%% ::id b\nsnow.v.01 Time +1 time.n.08\n"
    assert [(graph.id, graph.input) for graph in loads(text, "sbn")] == [("a", "It rains."), ("b", None)]


def test_what_is_read_is_written() -> None:
    (graph,) = loads(SAMPLE, "sbn")
    text = dumps(graph, "sbn")
    assert text == (
        "%%% ::id 7\n"
        "%%% ::snt Kim doubts that she won.\n"
        'person.n.01  Name "Kim Lee"\n'
        "doubt.v.01   Experiencer -1 Proposition >1 Time +1\n"
        "time.n.08    EQU now\n"
        "             CONTINUATION <0\n"
        "female.n.02  ANA -3\n"
        "             NEGATION <1\n"
        'win.v.01     Agent -1 Score -1 Value -1 Theme "-1"\n'
        "             CONTRAST <2\n"
        "rain.v.01\n\n"
    )
    assert loads(text, "sbn") == [graph]


def test_an_inverse_role_holds_where_it_is_written() -> None:
    text = "dog.n.01 NEGATION <1 old.a.01 AttributeOf -1 AttributeOf speaker PartOf -1"
    (graph,) = loads(text, "sbn")
    assert triples(graph) == Counter(
        [
            ("dog.n.01", "Attribute", "old.a.01"),
            ('"speaker"', "Attribute", "old.a.01"),
            ("old.a.01", "PartOf", "dog.n.01"),
        ]
    )
    boxes = [node.id for node in graph.nodes if node.label is None]
    roles = {node.id: node.label for node in graph.nodes if node.label in ("Attribute", "PartOf")}
    inside = [(edge.source, roles[edge.target]) for edge in graph.edges if edge.label == "in" and edge.target in roles]
    assert inside == [(boxes[1], "Attribute")] * 2
    assert dumps(graph, "sbn").endswith("old.a.01  AttributeOf -1 AttributeOf speaker PartOf -1\n\n")
    assert loads(dumps(graph, "sbn"), "sbn")[0].isomorphic(graph)


def test_an_inverse_role_within_a_box_is_written_forward() -> None:
    (graph,) = loads("dog.n.01 old.a.01 AttributeOf -1", "sbn")
    assert dumps(graph, "sbn") == "%%% ::id 1\ndog.n.01  Attribute +1\nold.a.01\n\n"


PRESUPPOSED = """\
%%% ::id 1
b1 REF x1
b1 male "n.02" x1
b1 Name x1 "tom"
b2 REF x2
b2 dog "n.01" x2
b2 Owner x2 x1
b3 NEGATION b4
b4 REF x3
b4 see "v.01" x3
b4 Agent x3 x1
b4 Theme x3 x2
b1 PRESUPPOSITION b2
b1 PRESUPPOSITION b4
b2 PRESUPPOSITION b4
"""


def test_presuppositions_are_taken_out_and_put_back() -> None:
    """Tom did not see his dog: SBN has no boxes for Tom and his dog, so a comment keeps them."""
    (graph,) = loads(PRESUPPOSED, "drg")
    text = dumps(graph, "sbn")
    assert text == (
        "%%% ::id 1\n"
        "%%% ::presuppositions 0>3,1 1>1\n"
        'male.n.02  Name "tom"\n'
        "dog.n.01   Owner -1\n"
        "           NEGATION <1\n"
        "see.v.01   Agent -2 Theme -1\n\n"
    )
    (back,) = loads(text, "sbn")
    assert back.isomorphic(graph)
    assert back.extra is None
    (without,) = loads(text.replace("%%% ::presuppositions 0>3,1 1>1\n", ""), "sbn")
    assert len(without.tops) == 1


def test_a_box_that_presupposes_and_more_keeps_its_place() -> None:
    (graph,) = loads("dog.n.01 PRESUPPOSITION <1 bark.v.01 NEGATION <2 cat.n.01", "sbn")
    assert "presuppositions" not in dumps(graph, "sbn")
    assert loads(dumps(graph, "sbn"), "sbn")[0].isomorphic(graph)


@pytest.mark.parametrize("damaged", ["0>9", "7>0", "0", "0>", "a>0", ">-1"])
def test_presuppositions_of_nothing(damaged: str) -> None:
    with pytest.raises(InputError, match="is not a presupposition") as caught:
        loads(f"%%% ::presuppositions {damaged}\ndog.n.01\n", "sbn")
    assert caught.value.line == 1
    (graph,) = loads(f"%%% ::presuppositions {damaged}\ndog.n.01\n", "sbn", report=Tolerant())
    assert [node.label for node in graph.nodes] == [None, "dog.n.01"]


@pytest.mark.parametrize(("treebank", "share"), [("drg-eng/dev", 0.94), ("drg-deu/dev", 0.94)])
def test_most_treebank_graphs_survive_and_others_are_refused(shared: Path, treebank: str, share: float) -> None:
    written = refused = 0
    for graph in load(shared / "data" / f"{treebank}.mrp.gz"):
        try:
            text = dumps(graph, "sbn")
        except InputError:
            refused += 1
        else:
            (back,) = loads(text, "sbn")
            assert back.isomorphic(graph), text
            assert replace(back, tops=(), nodes=(), edges=()) == replace(graph, tops=(), nodes=(), edges=())
            written += 1
    assert written > share * (written + refused)
    assert refused


@pytest.mark.skipif("eng" not in bundled(), reason="the model eng is not in the box")
def test_most_parsed_graphs_can_be_written(shared: Path) -> None:
    texts = [graph.input or "" for graph in islice(load(shared / "data" / "drg-eng" / "dev.mrp.gz"), 30)]
    graphs = [graph.without_probabilities() for graph in perin.load("eng").parse(texts, "drg")]
    refused: list[InputError] = []
    for graph in writable(graphs, "sbn", refused.append):
        assert loads(dumps(graph, "sbn"), "sbn")[0].isomorphic(graph)
    assert len(refused) <= 4
    assert all(error.message.startswith("can't be written as SBN: ") for error in refused)


def changed(graph: Graph, number: int, **fields: object) -> Graph:
    nodes = list(graph.nodes)
    nodes[number] = replace(nodes[number], **fields)  # type: ignore[arg-type]
    return replace(graph, nodes=tuple(nodes))


BASE = loads("dog.n.01 Name kim bark.v.01 Agent -1 NEGATION <1 CONTRAST <1", "sbn")[0]
ROLE = next(node.id for node in BASE.nodes if node.label == "Agent")


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (replace(BASE, framework="eds"), "holds drg only"),
        (replace(BASE, nodes=(*BASE.nodes, BASE.nodes[0])), "same id"),
        (Graph("1", "drg"), "it has none"),
        (changed(BASE, 3, properties=(Property("a", "b"),)), "has properties"),
        (changed(BASE, 3, anchors=(Anchor(0, 1),)), "anchors"),
        (changed(BASE, 3, label="dog"), "'dog'"),
        (changed(BASE, 3, label='"a"b"'), "is no concept"),
        (changed(BASE, ROLE, label="RELATION"), "'RELATION'"),
        (replace(BASE, edges=(*BASE.edges, Edge(0, 2, "CONTRAST"))), "several relations lead to box 2"),
        (replace(BASE, edges=(*BASE.edges, Edge(0, ROLE, "in"))), "not in the box of a concept"),
        (replace(BASE, edges=(*BASE.edges, Edge(0, ROLE, "NEGATION"))), "leads from a box to a role"),
        (replace(BASE, edges=(*BASE.edges, Edge(1, 3, "in"))), "in several boxes"),
        (replace(BASE, edges=(*BASE.edges, Edge(3, ROLE))), "does not link one node to another"),
        (replace(BASE, edges=(*BASE.edges, Edge(0, 99, "in"))), "to nothing"),
        (replace(BASE, edges=(*BASE.edges, Edge(2, 0, "CONTRAST"))), "its tops are not"),
        (replace(BASE, edges=(*BASE.edges, Edge(2, 0, "CONTRAST")), tops=()), "in a circle"),
        (replace(BASE, edges=(*BASE.edges[:-1], replace(BASE.edges[-1], extra={"a": 1}))), "fields of its own"),
        (replace(BASE, nodes=(*BASE.nodes, Node(99, '"kim"'))), "a constant is there twice"),
        (replace(BASE, nodes=(*BASE.nodes, Node(99, '"lee"'))), "no value of a role"),
        (replace(BASE, tops=()), "its tops are not"),
        (changed(BASE, ROLE, label="ThemeOf"), "would be read as Theme turned round"),
        (replace(BASE, extra={"presuppositions": "0>1"}), "field 'presuppositions' of its own"),
        (loads('b1 REF x1\nb1 dog "n.01" x1\nb1 TPR "now" x1', "drg")[0], "an operator can't be turned round"),
        (loads('b1 Agent "a" "b"', "drg")[0], "not in the box of a concept that could carry it"),
    ],
)
def test_what_the_notation_cannot_say_is_refused(graph: Graph, message: str) -> None:
    with pytest.raises(InputError, match=message):
        dumps(graph, "sbn")


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("dog.n.01\nbark", 2, "expected a concept, a role or a relation, found 'bark'"),
        ("dog.n.01 Name", 1, "Name has no value"),
        ("Name kim\ndog.n.01", 1, "Name stands before the first concept"),
        ('dog.n.01\nbark.v.01 Name "a', 2, "are not closed"),
        ("dog.n.01\nNEGATION\nbark.v.01", 2, "NEGATION needs an index"),
        ("dog.n.01\nNEGATION <2\nbark.v.01", 2, "NEGATION points to a box that does not exist"),
        ("dog.n.01 Proposition >1\nbark.v.01", 1, ">1 points to a box that does not exist"),
        ("%%% a\n%\n", 1, "there is no concept"),
        ("\x00\x01", 1, "expected a concept"),
        ("%%% ::json [\ndog.n.01", 1, "no JSON object"),
    ],
)
def test_faults_are_located(text: str, line: int, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        loads(text, "sbn")
    assert caught.value.line == line
    tolerant = Tolerant()
    assert loads(text + "\n\ndog.n.01\n", "sbn", report=tolerant)[-1].nodes[1].label == "dog.n.01"
    assert tolerant.findings[0].line == line


def test_notes() -> None:
    tolerant = Tolerant()
    (graph,) = loads("dog.n.01 Value -3\nATTRIBUTION <0\nbark.v.01", "sbn", report=tolerant)
    assert [finding.severity for finding in tolerant.findings] == ["note", "note"]
    assert '"-3"' in [node.label for node in graph.nodes]
    assert loads(dumps(graph, "sbn"), "sbn") == [graph]


def test_graphs_are_read_one_by_one() -> None:
    def lines() -> Iterator[str]:
        yield "rain.v.01"
        yield "rain.v.01 Time +1 time.n.08"
        raise AssertionError("read on")

    read = sbn.read(lines(), "-", strict)
    assert [next(read)[0], next(read)[0]] == [1, 2]


constants = st.one_of(
    st.sampled_from(["now", "+", "-1", "<1", "%", "a b", "", "A", "NEGATION", "dog.n.01", "Agent", "é"]),
    st.text(st.characters(exclude_categories=("C", "Zl", "Zp"), exclude_characters='"\\'), max_size=4),
)


@st.composite
def sequences(draw: st.DrawFn) -> str:
    """SBN in one line, written the simplest way, with all constants in quotes."""
    count = draw(st.integers(1, 5))
    boxes = 0
    words = []
    for place in range(count):
        for _ in range(draw(st.integers(0, 2))):
            boxes += 1
            back = draw(st.integers(0, boxes))
            words.append(f"{draw(st.sampled_from(['NEGATION', 'CONTRAST'])) if back else 'CONTINUATION'} <{back}")
        words.append(draw(st.sampled_from(["dog.n.01", "o'clock.r.01", "3d.a.02", "tom_&_jerry.n.01"])))
        for role in draw(
            st.lists(
                st.sampled_from(["Agent", "Co-Theme", "Name", "EQU", "SY1", "AgentOf", "PartOf", "Of"]), max_size=3
            )
        ):
            kind = draw(st.integers(0, 3))
            if kind == 0:
                words.append(f"{role} {draw(st.integers(-place, count - 1 - place)):+d}")
            elif kind == 1:
                words.append(f"{role} <{draw(st.integers(0, boxes))}")
            else:
                words.append(f'{role} "{draw(constants)}"')
    return " ".join(words) + "  rain.v.01"


@settings(deadline=None, max_examples=300)
@given(sequences())
def test_any_sequence_survives(text: str) -> None:
    (graph,) = loads(text, "sbn")
    (back,) = loads(dumps(graph, "sbn"), "sbn")
    assert back.isomorphic(graph), dumps(graph, "sbn")
