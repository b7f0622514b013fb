"""Native EDS text; pydelphin is the second source wherever it can read what we write."""

from __future__ import annotations

import contextlib
from collections import Counter
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest
from delphin.codecs import eds as delphin_eds
from delphin.eds import EDSSyntaxError
from hypothesis import given, settings
from hypothesis import strategies as st

from perin.errors import InputError
from perin.graphs import Anchor, Edge, Graph, Node, Property, Tolerant, dumps, load, loads
from perin.graphs.normalisation import isomorphic

TEXT = """\
# ::id 1
# ::snt Abrams barks.
{e2:
 e0:proper_q<0:6>[BV x1]
 x1:named<0:6>("Abrams"){x PERS 3, NUM sg}[]
 e2:_bark_v_1<7:13>{e TENSE pres}[ARG1 x1]
}
"""


def test_reading(abrams):
    assert loads(TEXT, "eds") == [abrams]


def test_writing(abrams):
    assert dumps(abrams, "eds") == TEXT + "\n"


@pytest.mark.parametrize(
    "text",
    [
        TEXT.replace("\n ", " ").replace(".\n{", ".\n\n{"),
        TEXT.replace("{e2:\n", "{e2: (fragmented)\n").replace(" e0:", "|e0:"),
        TEXT.replace("\n", "\r\n"),
        TEXT.replace("[BV x1]", "[ BV\tx1 ]").replace("{x PERS 3, NUM", "{ x  PERS 3 ,NUM"),
        "#1\n# ::snt Abrams barks.\n" + TEXT.split("\n", 2)[2],
        "# ::snt Abrams barks.\n#1 " + TEXT.split("\n", 2)[2],
        "# by hand\n# ::id 1 ::snt Abrams barks.\n" + TEXT.split("\n", 2)[2],
        TEXT.replace('("Abrams")', '("A\\u0062rams")'),
    ],
)
def test_other_ways_to_write_the_same(abrams, text):
    assert loads(text, "eds") == [abrams]


@pytest.mark.parametrize("head", ["{", "{:", "{ "])
def test_no_top(abrams, head):
    (graph,) = loads(TEXT.replace("{e2:", head), "eds")
    assert graph == replace(abrams, tops=())


def test_graphs_without_id_are_numbered():
    assert [graph.id for graph in loads("{}\n{}{}", "eds")] == ["1", "2", "3"]
    assert loads("", "eds") == []
    assert loads("# nothing but a comment\n", "eds") == []


def test_unknown_places_are_no_anchors():
    (graph,) = loads("{e0: e0:a<-1:-1>[] e1:b[]}", "eds")
    assert [node.anchors for node in graph.nodes] == [None, None]


def test_header_lines_keep_what_they_do_not_know():
    (graph,) = loads("# ::id 1\n# ::annotator Kim\n# ::version 1.10\n{}", "eds")
    assert graph.extra == {"annotator": "Kim"}
    assert graph.version == 1.1
    assert "# ::annotator Kim\n" in dumps(graph, "eds")


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("{e0:\n e0:a[]\n", 2, "the graph is cut short"),
        ("{e0:\n e0:a[\n}", 2, "expected a node such as"),
        ("{e0:\n e0:a[ARG1]\n}", 2, "expected a node such as"),
        ("{e0:\n e0:a[]\n e0:b[]\n}", 3, "node e0 occurs twice"),
        ("{e0:\n e0:a[ARG1 e7]\n}", 2, "points to e7, which is no node"),
        ("{e9:\n e0:a[]\n}", 3, "top e9 is no node"),
        ("{e0:\n e0:a<0#1>[]\n}", 2, "<0#1> is no range of characters"),
        ("{e0:\n e0:a<4:2>[]\n}", 1, "anchor 4:2 is no range"),
        ("# ::snt ab\n{e0:\n e0:a<0:3>[]\n}", 2, "anchor 0:3 ends after the input"),
        ('{e0:\n e0:a("\\q")[]\n}', 2, "node e0 can't be read"),
        ('{e0:\n e0:a("\\ud800")[]\n}', 2, "node e0 can't be read"),
        ("{e0:\n e0:a[]\n}\nnonsense", 4, "expected '{' or a comment, found nonsense"),
        ("# ::json [1]\n{}", 2, "no JSON object"),
        ('# ::json {"input": 5}\n{}', 2, "'input' must be a string"),
        ("# ::id a\n{}\n# ::id a\n{}", 4, "earlier graph of the same id"),
    ],
)
def test_faults(text, line, message):
    with pytest.raises(InputError) as caught:
        loads(text, "eds")
    assert message in str(caught.value)
    assert caught.value.line == line
    tolerant = Tolerant()
    assert loads(text, "eds", report=tolerant)
    assert message in tolerant.findings[0].message


def test_another_format_is_an_error_even_in_tolerant_mode():
    with pytest.raises(InputError, match="no graph in braces"):
        loads("(b / bark)\n", "eds", report=Tolerant())


ODD = [
    "a:b",
    "<",
    ">",
    "a/b",
    "[]",
    "{u A b}",
    "a b",
    "x<0:1>",
    "x<0:1>[]",
    '"',
    "\\",
    "a\nb",
    "#",
    "|",
    "",
    "\xa0",
    "}",
    "(",
    '("c")',
    "e0:",
    "a<0:1>[] e1:b",
]


@pytest.mark.parametrize("odd", ODD)
def test_odd_labels_names_and_values_survive(odd):
    properties = (Property("CARG", odd), Property("P" + odd, odd), Property("CARG", "again"))
    nodes = (Node(0, odd, properties, (Anchor(0, 1),)), Node(1, odd, (), None), Node(2, f"_{odd}_n_1", properties[:2]))
    edges = (Edge(0, 1, odd), Edge(0, 0, "SELF"), Edge(1, 2, f"R{odd}"), Edge(1, 2, odd))
    graph = Graph("1", "eds", flavor=1, input="abc", tops=(0,), nodes=nodes, edges=edges)
    assert loads(dumps(graph, "eds"), "eds") == [graph]


@pytest.mark.parametrize("tops", [(), (1,), (1, 0), (0, 0)])
def test_any_number_of_tops(tops):
    graph = Graph("1", "eds", flavor=1, tops=tops, nodes=(Node(0, "a"), Node(1, "b")))
    assert loads(dumps(graph, "eds"), "eds") == [graph]


def test_numbers_become_text():
    values = (1, 1.5, True)
    graph = Graph("1", "eds", nodes=(Node(0, "a", tuple(Property(f"P{v}", v) for v in values)),))
    (again,) = loads(dumps(graph, "eds"), "eds")
    assert [pair.value for pair in again.nodes[0].properties] == ["1", "1.5", "true"]


@pytest.mark.parametrize(
    "graph",
    [
        Graph("x", nodes=(Node(0),)),
        Graph("x", nodes=(Node(0, "a", anchors=(Anchor(0, 1), Anchor(2, 3))),)),
        Graph("x", nodes=(Node(0, "a", (Property("P", None),)),)),
        Graph("x", nodes=(Node(0, "a", extra={"own": 1}),)),
        Graph("x", nodes=(Node(0, "a"),), tops=(1,)),
        Graph("x", nodes=(Node(0, "a"),), edges=(Edge(0, 1, "A"),)),
        Graph("x", nodes=(Node(0, "a"),), edges=(Edge(0, 0),)),
        Graph("x", nodes=(Node(0, "a"),), edges=(Edge(0, 0, "A", (Property("p", 1),)),)),
        Graph("x", nodes=(Node(0, "a"),), edges=(Edge(0, 0, "A", normal="B"),)),
    ],
)
def test_what_the_format_can_not_say_is_an_error(graph):
    with pytest.raises(InputError, match=r"graph x: .* which EDS can't say"):
        dumps(graph, "eds")


def comparable(graph: Graph) -> Graph:
    """A graph as text holds it: without edge ids, empty anchor lists and node numbers, values as text."""
    nodes = tuple(replace(node, anchors=node.anchors or None) for node in graph.nodes)
    return replace(graph, flavor=1 if graph.flavor is None else graph.flavor, nodes=nodes).renumbered()


def test_any_graph_survives(graphs):
    text = st.text('ab:<>[]{}()/|"\\ ,#é\xa0\n', max_size=6)

    @given(
        graphs(
            framework="eds",
            labels=text,
            edge_labels=text,
            names=text,
            values=text,
            anchors=1,
            attributes=0,
            normals=False,
        )
    )
    @settings(deadline=None, max_examples=150)
    def check(graph):
        (again,) = loads(dumps(graph, "eds"), "eds")
        assert Counter(again.edges) == Counter(comparable(graph).edges)
        assert replace(again, edges=()) == replace(comparable(graph), edges=())

    check()


@given(
    st.lists(st.sampled_from([*TEXT.split("\n"), "}", "{", " e0:a[]", "x", "# ::id", "#a {", *ODD]), max_size=8).map(
        "\n".join
    )
)
@settings(deadline=None, max_examples=200)
def test_fuzzed_text_gives_graphs_or_input_errors(text):
    tolerant = Tolerant()
    try:
        graphs = loads(text, "eds", report=tolerant)
    except InputError:
        assert tolerant.findings
        return
    if not tolerant.findings:
        assert loads(dumps(graphs, "eds"), "eds") == graphs


@given(st.text(max_size=60), st.integers(0, len(TEXT)))
@settings(deadline=None, max_examples=150)
def test_damaged_text_gives_graphs_or_input_errors(noise, position):
    for text in (noise, TEXT[:position] + noise + TEXT[position:], TEXT[:position]):
        with contextlib.suppress(InputError):
            loads(text, "eds", report=Tolerant())


def same(graph: Graph, again: Graph) -> bool:
    """Equal in all fields, node by node, and with the same edges whatever their order."""
    return replace(graph, edges=()) == replace(again, edges=()) and Counter(graph.edges) == Counter(again.edges)


def survives(path: Path) -> int:
    graphs = list(load(path))
    again = loads(dumps(graphs, "eds"), "eds")
    assert len(graphs) == len(again)
    assert all(map(same, graphs, again))
    assert all(isomorphic(a, b, normalised=True) for a, b in zip(graphs, again, strict=True))
    return len(graphs)


def test_development_treebank_survives(shared):
    assert survives(shared / "data" / "eds-eng" / "dev.mrp.gz") == 617


@pytest.mark.slow
def test_training_treebanks_survive(shared):
    for name in ("train", "train-extra"):
        assert survives(shared / "data" / "eds-eng" / f"{name}.mrp.gz") > 5000


def test_samples_are_read_to_the_graphs_beside_them(shared):
    folder = shared / "fixtures" / "formats" / "eds"
    pairs = list(zip(load(folder / "sample.eds"), load(folder / "sample.mrp"), strict=True))
    assert len(pairs) == 6
    for found, expected in pairs:
        assert (found.id, found.input, found.framework, found.flavor) == (expected.id, expected.input, "eds", 1)
        assert found.nodes == expected.nodes
        assert Counter(found.edges) == Counter(expected.edges)
        assert found.tops == expected.tops


def by_delphin(text: str):
    """Top, nodes and edges as pydelphin reads them; it folds the case of labels, values, roles and names."""
    found = delphin_eds.decode("\n".join(line for line in text.splitlines() if not line.startswith("#")))
    nodes = sorted(
        (n.id, n.predicate, n.cfrom, n.cto, n.carg, tuple(sorted(n.properties.items()))) for n in found.nodes
    )
    return found.top, nodes, sorted(found.edges)


def by_us(graph: Graph):
    nodes = []
    for node in graph.nodes:
        ((start, end),) = node.anchors
        pairs = tuple(sorted((p.name.upper(), p.value.lower()) for p in node.properties if p.name != "CARG"))
        nodes.append((f"e{node.id}", node.label.lower(), start, end, node.get("CARG"), pairs))
    edges = sorted((f"e{edge.source}", edge.label, f"e{edge.target}") for edge in graph.edges)
    return f"e{graph.tops[0]}", sorted(nodes), edges


def agreement(path: Path, step: int, *, both_ways: bool) -> Counter[str]:
    """How pydelphin reads what we write, and how we read what it writes on one line and on several."""
    counts: Counter[str] = Counter()
    for graph in islice(load(path), 0, None, step):
        text = dumps(graph, "eds")
        try:
            theirs = by_delphin(text)
        except EDSSyntaxError:
            counts["not read"] += 1
            continue
        assert theirs == by_us(graph), graph.id
        counts["agreed"] += 1
        if not both_ways:
            continue
        folded = delphin_eds.decode(text.split("\n{", 1)[1].join(["{", ""]))
        for indent in (True, False):
            (back,) = loads(delphin_eds.encode(folded, indent=indent), "eds")
            assert by_delphin(dumps(back, "eds"))[1:] == theirs[1:], graph.id
    return counts


def test_pydelphin_reads_the_same(shared):
    assert agreement(shared / "data" / "eds-eng" / "dev.mrp.gz", 6, both_ways=True)["agreed"] > 100


@pytest.mark.slow
def test_pydelphin_reads_the_same_of_all_treebanks(shared):
    counts: Counter[str] = Counter()
    for path in sorted((shared / "data" / "eds-eng").glob("*.mrp.gz")):
        counts += agreement(path, 1, both_ways=False)
    assert counts == {"agreed": 42_445, "not read": 63}


@pytest.mark.parametrize("place", [0, 1, 2])
def test_the_constant_has_its_place_whatever_the_order_of_properties(place):
    properties = [Property("PERS", "3"), Property("NUM", "sg")]
    properties.insert(place, Property("CARG", "Abrams"))
    graph = Graph("1", "eds", tops=(0,), nodes=(Node(0, "named", tuple(properties), (Anchor(0, 6),), {"type": "x"}),))
    text = dumps(graph, "eds")
    assert 'named<0:6>("Abrams"){x PERS 3, NUM sg}[]' in text
    [node] = delphin_eds.decode(text.split("\n", 1)[1]).nodes
    assert (node.carg, node.properties) == ("Abrams", {"PERS": "3", "NUM": "sg"})
    assert '"carg": "Abrams"' in dumps(graph, "eds-json").replace('":"', '": "')
