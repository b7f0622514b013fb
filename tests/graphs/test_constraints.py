"""Rules of frameworks: what each kind finds, and that gold graphs break none of the hard ones."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from perin.graphs import Anchor, Edge, Graph, Node, Property, findings, load
from perin.graphs.constraints import (
    Anchored,
    Apart,
    Disjoint,
    Families,
    Needs,
    NoTwins,
    OneRole,
    OneWay,
    Roles,
    Unique,
    view,
)
from perin.graphs.framework_rules import RELATION_NODE, RULES, broken

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
WORDS = (Anchor(0, 4), Anchor(5, 9))
GRAPH = Graph(
    "1",
    "eds",
    "eng",
    1,
    input="dogs bark",
    nodes=(
        Node(10, "udef_q", anchors=WORDS[:1]),
        Node(11, "_dog_n_1", (Property("NUM", "pl"),), WORDS[:1]),
        Node(12, "_bark_v_1", (Property("TENSE", "pres"),), WORDS[1:]),
    ),
    edges=(Edge(10, 11, "BV"), Edge(12, 11, "ARG1")),
    tops=(12,),
)


def with_edges(*edges: Edge) -> Graph:
    return replace(GRAPH, edges=(*GRAPH.edges, *edges))


def with_properties(id: int, *pairs: tuple[str, str]) -> Graph:
    more = tuple(Property(*pair) for pair in pairs)
    nodes = (replace(node, properties=node.properties + more) if node.id == id else node for node in GRAPH.nodes)
    return replace(GRAPH, nodes=tuple(nodes))


def errors(graph: Graph) -> list[str]:
    return [finding.message for finding in findings(graph) if finding.severity == "error"]


MEMBER, SHARED = (Property("member", True),), (Property("effective", True),)
TREE = Graph(
    "2",
    "ptg",
    "ces",
    1,
    nodes=(Node(0), Node(1, "bark"), Node(2, "and"), Node(3, "dog"), Node(4, "wolf"), Node(5, "old")),
    edges=(
        Edge(0, 1, "PRED"),
        Edge(1, 2, "CONJ"),
        Edge(2, 3, "ACT", MEMBER),
        Edge(2, 4, "ACT", MEMBER),
        Edge(2, 5, "RSTR"),
        Edge(1, 3, "ACT", SHARED),
        Edge(1, 4, "ACT", SHARED),
        Edge(3, 5, "RSTR", SHARED),
        Edge(4, 5, "RSTR", SHARED),
    ),
    tops=(0,),
)
"""Old dogs and wolves bark."""


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        (TREE.edges, None),
        ((*TREE.edges, Edge(4, 3, "coref.text")), None),
        ((*TREE.edges, Edge(1, 5, "RSTR")), "node 5 (old) has 2 parents"),
        (TREE.edges[1:], "node 1 (bark) has no parent"),
        ((Edge(5, 1, "PRED"), *TREE.edges[1:], Edge(0, 3, "coref.text")), "node 1 (bark) lies below itself"),
        ((*TREE.edges, Edge(0, 3, "ACT", SHARED)), "ACT of node 0 () is effective, but no coordination makes it so"),
        ((*TREE.edges[:5], Edge(1, 3, "PAT", SHARED)), "PAT of node 1 (bark) should be ACT"),
        ((*TREE.edges[:1], Edge(1, 2, "PAT"), *TREE.edges[2:]), "node 2 (and) has a member, but is no coordination"),
    ],
)
def test_a_tree_with_coordination(edges: tuple[Edge, ...], message: str | None) -> None:
    found = errors(replace(TREE, edges=edges))
    assert found == [] if message is None else message in found


def test_notes_about_coordination_and_arguments() -> None:
    found = findings(replace(TREE, edges=(*TREE.edges[:1], *(Edge(1, id, "ACT") for id in (2, 3, 4, 5)))))
    assert [each.message for each in found if each.severity == "note"] == ["node 1 (bark) has ACT 4 times"]
    found = findings(replace(TREE, edges=(*TREE.edges[:3], Edge(2, 4, "ACT"), Edge(2, 5, "RSTR"))))
    assert [each.message for each in found if each.severity == "note"] == [
        "node 2 (and) is a coordination, but has 1 member"
    ]


def test_a_sound_graph_breaks_nothing() -> None:
    assert list(findings(GRAPH)) == []


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (with_edges(Edge(12, 10, "ARG1")), "node 12 (_bark_v_1) has ARG1 2 times"),
        (with_edges(Edge(12, 11, "BV")), "node 12 (_bark_v_1) can't have BV"),
        (with_properties(12, ("NUM", "sg")), "node 12 (_bark_v_1) can't have NUM"),
        (with_properties(11, ("PERS", "1")), "node 11 (_dog_n_1) can't have PERS"),
        (with_properties(12, ("SF", "past")), 'SF of node 12 can\'t be "past"'),
        (replace(GRAPH, nodes=(*GRAPH.nodes[:1], Node(11, "named"), GRAPH.nodes[2])), "node 11 (named) has no CARG"),
    ],
)
def test_the_validator_finds_what_eds_never_has(graph: Graph, message: str) -> None:
    assert message in errors(graph)


def test_what_is_rare_in_gold_is_a_note() -> None:
    loose = replace(GRAPH, edges=GRAPH.edges[1:])
    assert errors(loose) == []
    assert "node 10 (udef_q) has no BV" in [finding.message for finding in findings(loose)]


def test_inverse_edges_are_seen_in_their_normal_direction() -> None:
    graph = Graph(
        "1",
        "amr",
        "eng",
        2,
        nodes=(Node(0, "boy"), Node(1, "want-01"), Node(2, "girl")),
        edges=(Edge(0, 1, "ARG0-of", normal="ARG0"), Edge(1, 2, "ARG0")),
        tops=(0,),
    )
    assert [message for _, message in broken(graph)] == ["node 1 (want-01) has ARG0 2 times"]


def test_arguments_of_amr_leave_frames() -> None:
    nodes, edges = (Node(0, "person"), Node(1, "love-01")), (Edge(0, 1, "ARG1"),)
    said = [message for _, message in broken(Graph("1", "amr", nodes=nodes, edges=edges, tops=(0,)))]
    assert said == ["node 0 (person) can't have ARG1"]


def test_two_nodes_are_linked_in_one_direction() -> None:
    back = with_edges(Edge(11, 12, "ARG2"))
    assert list(OneWay().violations(view(GRAPH))) == []
    assert list(OneWay().violations(view(back))) == ["nodes 11 and 12 have roles of each other"]
    assert list(OneWay().violations(view(with_edges(Edge(11, 12, "ARG2-of", normal="ARG2"))))) == []
    assert OneWay().cases(view(back)) == OneWay().cases(view(GRAPH))


def test_two_nodes_have_one_role() -> None:
    twice = with_edges(Edge(12, 11, "ARG2"))
    assert list(OneRole().violations(view(GRAPH))) == []
    assert list(OneRole().violations(view(twice))) == ["node 11 is both ARG1 and ARG2 of node 12"]
    assert list(OneRole().violations(view(with_edges(Edge(11, 12, "ARG2"))))) == []
    assert OneRole().cases(view(twice)) == OneRole().cases(view(GRAPH))


def test_the_units_below_a_unit_are_of_one_family() -> None:
    remote = (Property("remote", True),)

    def unit(*labels: str, attributes: tuple[Property, ...] = ()) -> list[str]:
        nodes = tuple(Node(number) for number in range(len(labels) + 1))
        edges = [Edge(0, number, label) for number, label in enumerate(labels, start=1)]
        edges[-1] = replace(edges[-1], attributes=attributes)
        graph = Graph("1", "ucca", "eng", 1, nodes=nodes, edges=tuple(edges), tops=(0,))
        return [message for rule, message in broken(graph) if isinstance(rule, Families)]

    assert unit("A", "P", "D", "F", "U", "R") == unit("H", "L", "U") == unit("C", "E", "F", "Q") == []
    assert unit("A", "P", "C") == ["node 0 () has A and C side by side"]
    assert unit("H", "P") == ["node 0 () has H and P side by side"]
    assert unit("A", "P", "C", attributes=remote) == []


def test_relation_nodes_are_roles() -> None:
    nodes = (Node(0), Node(1, "see.v.01"), Node(2, "dog.n.01"), Node(3, "Agent"), Node(4, "Agent"))
    edges = [Edge(0, 1, "in"), Edge(0, 2, "in")]
    edges += [edge for relation in (3, 4) for edge in (Edge(1, relation), Edge(relation, 2))]
    graph = Graph("1", "drg", "eng", 2, nodes=nodes, edges=tuple(edges), tops=(0,))
    assert [role.label for role in view(graph, RELATION_NODE).roles] == ["in", "in", "@Agent", "@Agent"]
    assert errors(graph) == ["node 1 (see.v.01) has @Agent 2 times"]


@pytest.mark.parametrize(
    ("role", "value", "sound"),
    [
        ("MonthOfYear", '"5"', True),
        ("MonthOfYear", '"mai"', False),
        ("DayOfMonth", '"now"', False),
        ("ClockTime", '"20:30"', True),
        ("ClockTime", '"late"', False),
        ("YearOfCentury", '"?"', True),
        ("EQU", '"now"', False),
        ("TAB", '"now"', True),
    ],
)
def test_times_of_drg(role: str, value: str, sound: bool) -> None:
    """A time that precedes now is not now; months and days are numbers."""
    labels = (None, "time.n.08", '"now"', value, "TPR", role)
    links = [(0, 1, "in"), (0, 4, "in"), (0, 5, "in"), (1, 4, None), (4, 2, None), (1, 5, None), (5, 3, None)]
    graph = Graph(
        "1",
        "drg",
        "eng",
        2,
        nodes=tuple(Node(number, label) for number, label in enumerate(labels)),
        edges=tuple(Edge(*link) for link in links),
        tops=(0,),
    )
    assert [message for rule, message in broken(graph) if not rule.rate] == [] or not sound
    assert any(role in message for rule, message in broken(graph) if not rule.rate) != sound


def test_each_kind_counts_its_cases() -> None:
    seen = view(GRAPH)
    assert Unique(0, "ARG1|BV").cases(seen) == 2
    assert Roles(0, "ARG.*").cases(seen) == 1
    assert Needs(0, ".*_q", "BV").cases(seen) == 1
    assert Apart(0, "NUM", "TENSE").cases(seen) == 2
    assert Disjoint().cases(seen) == 3
    assert Anchored().cases(seen) == 2
    assert NoTwins(0, "(_.*)_[a-z]_.*").cases(seen) == 2


def test_twins_are_readings_of_the_same_words() -> None:
    twin = replace(GRAPH, nodes=(*GRAPH.nodes, Node(13, "_bark_v_cause", anchors=WORDS[1:])))
    rule = NoTwins(0, "(_.+_[a-z])_.*")
    assert list(rule.violations(view(twin))) == ["nodes 12 and 13 both are _bark_v of the same words"]
    elsewhere = replace(GRAPH, nodes=(*GRAPH.nodes, Node(13, "_bark_v_cause", anchors=WORDS[:1])))
    assert list(rule.violations(view(elsewhere))) == []


def test_words_in_two_leaves() -> None:
    nodes = (Node(0), Node(1, anchors=WORDS), Node(2, anchors=WORDS[1:]))
    graph = Graph("1", "ucca", "eng", 1, input="dogs bark", nodes=nodes, tops=(0,))
    graph = replace(graph, edges=(Edge(0, 1, "A"), Edge(0, 2, "P")))
    assert errors(graph) == ["nodes 1 and 2 are both anchored to character 5"]


@pytest.mark.parametrize(
    "name", ["amr-eng", "amr-zho", "drg-deu", "drg-eng", "eds-eng", "ptg-ces", "ptg-eng", "ucca-deu"]
)
def test_gold_breaks_no_hard_rule(name: str) -> None:
    path = DATA / name / "dev.mrp.gz"
    if not path.exists():
        pytest.skip(f"needs {path}")
    assert name.split("-")[0] in RULES
    for graph in list(load(path))[:200]:
        assert [message for rule, message in broken(graph) if not rule.rate] == []
