"""PENMAN: every graph of the treebanks survives, odd graphs survive or are refused, bad text is found and located."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import amr as smatch_amr
import penman
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from penman.models.amr import model as amr_model

from perin.errors import InputError, strict
from perin.graphs import Anchor, Edge, Graph, Node, Property, Tolerant, dumps, load, loads
from perin.graphs.codecs import amr
from perin.graphs.normalisation import isomorphic, normal_edge

TREEBANKS = ["amr-eng/dev", "amr-eng/train", "amr-zho/dev", "amr-zho/train"]
HEADER = ("id", "framework", "language", "flavor", "version", "time", "source", "input", "extra")
SAMPLE = """\
# ::id a.1 ::date 2020-01-01 ::preferred
# ::snt The dogs of Kim want to bark .
(w / want-01~e.4
      :ARG0 (d / dog
            :quant 2
            :poss (p / person :wiki -
                  :name (n / name :op1 "Kim")))
      :ARG1 (b / bark-01 :polarity -
            :ARG0 d)
      :mod (o / only))

# ::id a.2
# ::snt Run!
(r / run-02 :mode imperative
      :ARG0 (y / you :ARG0-of (h / hear-01)))
"""


def normal_form(graph: Graph) -> Graph:
    """The graph with inverse edges turned round, so that layout does not count."""
    edges = []
    for edge in graph.edges:
        source, target, label = normal_edge(edge)
        edges.append(Edge(source, target, label, edge.attributes))
    return replace(graph, edges=tuple(edges))


def extras(graph: Graph) -> Counter[str]:
    return Counter(json.dumps(part.extra, sort_keys=True) for part in (*graph.nodes, *graph.edges))


def survives(graph: Graph) -> None:
    text = dumps(graph, "amr")
    (back,) = loads(text, "amr")
    assert isomorphic(normal_form(graph), normal_form(back)), text
    assert isomorphic(graph, back, normalised=True), text
    assert extras(graph) == extras(back), text
    assert [getattr(graph, name) for name in HEADER] == [getattr(back, name) for name in HEADER], text


@pytest.mark.parametrize("treebank", TREEBANKS)
def test_treebank_survives(shared: Path, treebank: str) -> None:
    graphs = list(load(shared / "data" / f"{treebank}.mrp.gz"))
    back = loads(dumps(graphs, "amr"), "amr")
    assert len(graphs) == len(back) > 100
    for graph, other in zip(graphs, back, strict=True):
        assert isomorphic(normal_form(graph), normal_form(other)), graph.id
        assert isomorphic(graph, other, normalised=True), graph.id
        assert [getattr(graph, name) for name in HEADER] == [getattr(other, name) for name in HEADER]


@pytest.mark.parametrize("treebank", ["amr-eng/dev", "amr-zho/dev"])
def test_other_tools_read_the_same_graph(shared: Path, treebank: str) -> None:
    for graph in load(shared / "data" / f"{treebank}.mrp.gz"):
        text = dumps(graph, "amr")
        decoded = penman.decode(text, model=amr_model)
        assert Counter(triple.target for triple in decoded.instances()) == Counter(node.label for node in graph.nodes)
        assert len(decoded.attributes()) == sum(len(node.properties) for node in graph.nodes)
        labels = {triple.source: triple.target for triple in decoded.instances()}
        found = Counter()
        for source, role, target in decoded.edges():
            edge = normal_edge(Edge(0, 1, role[1:]))
            ends = (labels[source], labels[target])
            found[edge[2], ends if edge[0] == 0 else ends[::-1]] += 1
        wanted = Counter()
        for edge in graph.edges:
            source, target, label = normal_edge(edge)
            wanted[label, (graph.node(source).label, graph.node(target).label)] += 1
        assert found == wanted, graph.id
        parsed = smatch_parsed(text)
        assert len(parsed.nodes) == len(graph.nodes)
        assert sum(map(len, parsed.relations)) == len(graph.edges)
        kept = [name for node in graph.nodes for name, _ in node.properties if name != "mod"]  # smatch loses ":mod 1"
        top = 1  # smatch counts the top as an attribute
        assert sum(map(len, parsed.attributes)) == len(kept) + top


def smatch_parsed(text: str) -> smatch_amr.AMR:
    line = smatch_amr.AMR.get_amr_line(io.StringIO(text))
    parsed = smatch_amr.AMR.parse_AMR_line(line)
    assert parsed is not None, text
    return parsed


def test_english_sample_differs_from_its_graphs_in_case_and_wiki_only(shared: Path) -> None:
    """The treebank was lower-cased and its ``:wiki`` dropped; ids were changed and fields of the task added."""
    folder = shared / "fixtures" / "formats" / "amr"
    wikis = 0
    for graph, wanted in zip(load(folder / "sample.amr"), load(folder / "sample.mrp"), strict=True):
        nodes = []
        for node in graph.nodes:
            kept = [(name, value) for name, value in node.properties if name != "wiki"]
            wikis += len(node.properties) - len(kept)
            properties = tuple(Property(name, str(value).lower()) for name, value in kept)
            nodes.append(replace(node, label=str(node.label).lower(), properties=properties))
        assert replace(graph, nodes=tuple(nodes)).isomorphic(wanted)
        assert (graph.input, graph.framework, graph.flavor) == (wanted.input, "amr", 2)
    assert wikis == 1


def test_chinese_sample_is_read_to_its_graphs(shared: Path) -> None:
    folder = shared / "fixtures" / "formats" / "camr"
    for graph, wanted in zip(load(folder / "sample.amr"), load(folder / "sample.mrp"), strict=True):
        assert graph.isomorphic(wanted)
        assert (graph.input, graph.language, graph.flavor) == (wanted.input, "zho", 2)
        survives(graph)


def test_fields_roles_and_constants() -> None:
    first, second = loads(SAMPLE, "amr")
    assert (first.id, first.extra) == ("a.1", {"date": "2020-01-01", "preferred": ""})
    assert first.input == "The dogs of Kim want to bark ."
    assert [node.label for node in first.nodes] == ["want-01", "dog", "person", "name", "bark-01", "only"]
    assert first.nodes[0].extra == {"alignment": "e.4"}
    assert first.nodes[1].properties == (Property("quant", "2"),)
    assert first.nodes[2].get("wiki") == "-"
    assert first.nodes[3].get("op1") == "Kim"
    assert Edge(4, 1, "ARG0") in first.edges
    assert Edge(0, 5, "mod", normal="domain") in first.edges
    assert Edge(1, 2, "ARG0-of", normal="ARG0") in second.edges
    text = dumps([first, second], "amr")
    assert ":wiki -" in text
    assert ':op1 "Kim"' in text
    assert ":quant 2" in text
    assert ":mode imperative" in text
    assert "want-01~e.4" in text
    assert loads(text, "amr") == [first, second]


def test_unreachable_nodes_are_written_with_inverse_roles() -> None:
    nodes = tuple(Node(id, label) for id, label in enumerate(["dog", "bark-01", "loud", "night"]))
    edges = (Edge(1, 0, "ARG0"), Edge(2, 1, "domain"), Edge(3, 1, "time-of", normal="time"), Edge(3, 0, "prep-at"))
    graph = Graph("1", "amr", flavor=2, nodes=nodes, edges=edges, tops=(0,))
    text = dumps(graph, "amr")
    assert "(d / dog\n      :ARG0-of (b / bark-01\n            :mod (l / loud)" in text
    survives(graph)
    assert penman.decode(text).top == "d"


@pytest.mark.parametrize(
    "value",
    [
        *(
            "",
            " ",
            '"',
            '\\"',
            "a\\",
            "\\n",
            "a b",
            "(x",
            ")",
            ":mod",
            "a/b",
            "~e.1",
            "<i>",
            "#",
            "x~1",
            "\n",
            "\u2028",
            "\x85",
        ),
        *("b", "b2", "x1_x2", "-", "+", "6", "6.50", "1e3", "imperative", "é", "狗", 6, 6.5, 1.0, True, False, None),
    ],
)
def test_values_and_labels_survive(value: object) -> None:
    label = value if type(value) is str else None
    nodes = (Node(0, "b"), Node(1, label, (Property("op1", value), Property("op1", value), Property("mode", value))))  # type: ignore[arg-type]
    graph = Graph("1", "amr", flavor=2, nodes=nodes, edges=(Edge(0, 1, "ARG0"),), tops=(0,))
    survives(graph)
    smatch_parsed(dumps(graph, "amr"))
    penman.decode(dumps(graph, "amr"))


@pytest.mark.parametrize(
    "edge",
    [
        Edge(0, 1, None),
        Edge(0, 1, ""),
        Edge(0, 1, "a b"),
        Edge(0, 1, "instance"),
        Edge(0, 1, "consist-of"),
        Edge(0, 1, "consist-of", normal=""),
        Edge(0, 1, "subset-of", normal="subset"),
        Edge(0, 1, "prep-out-of"),
        Edge(0, 1, "prep-with"),
        Edge(0, 1, "mod", normal=""),
        Edge(0, 1, "mod", normal="domain"),
        Edge(0, 1, "x", normal="y"),
        Edge(0, 1, "x", normal="x"),
        Edge(0, 1, "ARG0-of-of"),
        Edge(0, 1, "ARG0", (Property("remote", True), Property("a", None))),
        Edge(0, 1, "ARG0", extra={"anchors": [{"from": 0, "to": 1}]}),
    ],
    ids=str,
)
@pytest.mark.parametrize("top", [0, 1])
def test_edges_survive_in_both_directions(edge: Edge, top: int) -> None:
    graph = Graph("1", "amr", flavor=2, nodes=(Node(0, "a"), Node(1, "b")), edges=(edge, Edge(0, 1, "z")), tops=(top,))
    survives(graph)
    smatch_parsed(dumps(graph, "amr"))


@pytest.mark.parametrize(
    "fields",
    [
        {"input": "two\nlines"},
        {"input": " spaces "},
        {"input": "a ::b c"},
        {"input": "a :: b"},
        {"input": ""},
        {"id": "an id"},
        {"id": ""},
        {"framework": None},
        {"flavor": None},
        {"flavor": 1},
        {"version": "1.1"},
        {"version": 1},
        {"extra": {"annotator": "Kim", "json": "x", "snt": "y", "list": [1, {"a": None}], "a b": ""}},
        {"tops": ()},
        {"tops": (1, 0)},
        {"tops": (1, 1)},
    ],
    ids=str,
)
def test_fields_survive(fields: dict[str, object]) -> None:
    graph = Graph("1", "amr", flavor=2, nodes=(Node(0, "a"), Node(1, "b")), edges=(Edge(0, 1, "ARG0"),), tops=(0,))
    survives(replace(graph, **fields))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (Graph("7", "amr"), "no nodes"),
        (Graph("7", "eds", nodes=(Node(0, "a"),)), "holds amr only"),
        (Graph("7", "amr", nodes=(Node(0, "a"), Node(1, "b"))), "2 parts"),
        (Graph("7", "amr", nodes=(Node(0, "a"), Node(0, "b"))), "same id"),
        (Graph("7", "amr", nodes=(Node(0, "a"),), tops=(1,)), "top 1"),
        (Graph("7", "amr", nodes=(Node(0, "a"),), edges=(Edge(0, 1, "x"),)), "edge 0 -> 1"),
        (Graph("7", "amr", nodes=(Node(0, "a"),), extra={"mrp": "x"}), "'mrp'"),
        (
            Graph(
                "7",
                "amr",
                nodes=tuple(Node(id, "a") for id in range(5000)),
                edges=tuple(Edge(id, id + 1, "ARG0") for id in range(4999)),
            ),
            "too deep",
        ),
    ],
)
def test_what_penman_cannot_carry_is_refused(graph: Graph, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        dumps(graph, "amr")
    assert caught.value.graph == "7"


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("(a / b", 1, "1 parentheses are not closed"),
        ("(a / b\n\n(c / d)", 1, "1 parentheses are not closed"),
        ("(a / b\n# ::id 2\n(c / d)", 1, "1 parentheses are not closed"),
        ("(a / b))", 1, r"expected '\(' or a comment, found '\)'"),
        ("(a / b)\n  :ARG0 (c / d))", 2, "expected .* found ':ARG0"),
        ("\nno graph", 2, "found 'no graph'"),
        ("(a / b\n  :ARG0 x2)", 1, "x2, which no node defines"),
        ("(a / b :ARG0 (a / c))", 1, "variable a is defined twice"),
        ("(a / b\n  :ARG0 (c / d :))\n)", 1, "has no value"),
        ("(a / b\n  :ARG0)", 1, ":ARG0 of a has no value"),
        ("(a / )", 1, "no concept"),
        ("(a / b :instance c)", 1, "or several"),
        ("(x1 / 去 :arg0() (x2 / 他) :arg1() (x2 / 她))", 1, "variable x2 is defined twice"),
        ("()", 1, "no variable"),
        ("(a\n / b ::x /)", 2, "no PENMAN at '/"),
        ('(a / b\n :op1 "c)', 2, "a string is not closed"),
        ('(a / b\n :op1 "c\n)', 2, "a string is not closed"),
        ('(a / b :op1 "' + '\\"' * 100_000 + "\n)", 1, "a string is not closed"),
        ("# ::id 1\n\n# ::id 2\n(a / b)", 3, "no graph stands below"),
        ("# ::id 1\n(a / b)\n# ::id 2", 3, "no graph stands below"),
        ("# ::id 1\n# ::anchors z=0:1\n(a / b)", 3, "'z=0:1'"),
        ("# ::id 1\n# ::anchors a=0:x\n(a / b)", 3, "'a=0:x'"),
        ("# ::id 1\n# ::mrp {\n(a / b)", 3, "does not fit"),
        ('# ::id 1\n# ::mrp {"edges": {"4": {}}}\n(a / b)', 3, "does not fit"),
        ("# ::id 1\n# ::version []\n# ::json [\n(a / b)", 4, "no JSON object"),
        ("(a / b :x " * 4000 + ")" * 4000, 1, "nested too deeply"),
        ("(x5 / 去 :arg0() (x1 / x9))", 1, "x9, which no node defines"),
    ],
)
def test_faults_are_located(text: str, line: int, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        loads(text, "amr")
    assert caught.value.line == line
    tolerant = Tolerant()
    loads(text, "amr", report=tolerant)
    assert tolerant.findings


def test_the_library_prints_nothing() -> None:
    code = "from perin.graphs import Tolerant, loads; loads('(a / b :ARG0 :ARG1)(c / )', 'amr', report=Tolerant())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert (done.stdout, done.stderr) == (b"", b"")


def test_the_library_is_loaded_when_it_is_needed() -> None:
    code = "import sys, perin.graphs.codecs.amr; sys.exit('penman' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_tolerant_reading_keeps_the_sound_graphs() -> None:
    tolerant = Tolerant()
    text = "# ::id 1\n(a / b\n\n# ::id 2\n(c / d :ARG0 e)\n\n# ::id 3\n(f / g / h)\n\n# ::id 4\n(i / j)\n"
    graphs = loads(text, "amr", report=tolerant)
    assert [graph.id for graph in graphs] == ["2", "4"]
    assert graphs[0].nodes[0].properties == (Property("ARG0", "e"),)
    assert [(finding.line, finding.graph) for finding in tolerant.findings] == [(2, "1"), (5, "2"), (8, "3")]


def test_graphs_without_ids_or_blank_lines_between() -> None:
    text = "# a header; of a file\n\n(a / b) (c / d\n  :op1 e~e.3 :mod~e.1 (e / f)) # no\n".replace(" # no", "")
    tolerant = Tolerant()
    first, second = loads(text + "(g / h)(i / j)", "amr", report=tolerant)[:2]
    assert (first.id, second.id) == ("1", "2")
    assert second.edges == (Edge(0, 1, "op1"), Edge(0, 1, "mod", normal="domain"))
    assert [(finding.severity, finding.message) for finding in tolerant.findings] == [
        ("note", "2 alignments of roles and constants are not kept")
    ]
    assert len(loads(text + "(g / h)(i / j)", "amr")) == 4


def test_a_sentence_may_hold_colons_and_the_last_comment_counts() -> None:
    (graph,) = loads("# ::id 1 ::snt no\n# ::snt a ::b c\n# ::tok a ::b\n(a / b)", "amr")
    assert (graph.input, graph.extra) == ("a ::b c", {"tok": "a ::b"})


def test_graphs_are_read_one_by_one() -> None:
    def lines():  # type: ignore[no-untyped-def]
        yield from SAMPLE.split("\n")[:12]
        raise AssertionError("read on")

    line, graph = next(amr.read(lines(), "-", strict))
    assert (line, graph.id) == (3, "a.1")


CHINESE = """\
# ::id 1 ::2016-06-05 23:42:47
# ::snt 他 没有 看 完 这 本 书 就 把 它 还 了
# ::wid x1_他 x2_没有
(x11 / 还-01
      :arg0()  (x1 / 他)
      :arg1(x9)  (x10 / x7)
      :time(x8)  (x3_x4 / 看完-01
            :polarity()  (x2_1 / -)
            :arg0()  (x1 / 他
                  :name()  (x90 / name :op1 x1/他 ))
            :arg1()  (x7 / 书
                  :mod()  (x5 / 这))))
"""


def test_chinese_variables_count_words() -> None:
    (graph,) = loads(CHINESE, "amr")
    anchors = {node.label: [graph.input[start:end] for start, end in node.anchors or ()] for node in graph.nodes}  # type: ignore[index]
    assert anchors == {
        "还-01": ["还"],
        "他": ["他"],
        "看完-01": ["看", "完"],
        "-": ["没"],
        "name": [],
        "书": ["书", "它"],
        "这": ["这"],
    }
    assert graph.node(4).properties == (Property("op1", "他"),)
    assert {(edge.label, graph.input[edge.extra["anchors"][0]["from"]]) for edge in graph.edges if edge.extra} == {  # type: ignore[index]
        ("arg1", "把"),
        ("time", "就"),
    }
    assert graph.extra == {"2016-06-05": "23:42:47", "wid": "x1_他 x2_没有"}
    survives(graph)


def test_chinese_count_that_is_plainly_off_is_mended() -> None:
    text = "# ::snt 看 书 的 人 看 书\n(x5 / 人 :arg0() (x7 / 书) :mod() (x1 / 书) :degree() (x2 / 画))"
    (graph,) = loads(text, "amr")
    assert [node.anchors for node in graph.nodes] == [
        (Anchor(6, 7),),
        (Anchor(10, 11),),
        (Anchor(2, 3),),
        (Anchor(2, 3),),
    ]


@pytest.mark.parametrize(
    ("comments", "anchors"),
    [
        ("# ::snt 书", (Anchor(0, 1),)),
        ("# ::id 1 ::2016-06-05 23:42:47\n# ::snt I", (Anchor(0, 1),)),
        ("# ::snt I", None),
    ],
)
def test_chinese_graph_of_one_node(comments: str, anchors: tuple[Anchor, ...] | None) -> None:
    (graph,) = loads(f"{comments}\n(x1 / {comments[-1]})", "amr")
    assert graph.nodes[0].anchors == anchors


words = st.one_of(
    st.sampled_from(
        ["dog", "bark-01", "name", "", " ", "a b", '"', "x~1", "#a", "-", "6", ":a", "a/b", "(", "狗", "\n"]
    ),
    st.text(max_size=4),
)
labels = st.one_of(
    st.none(),
    st.sampled_from(
        ["ARG0", "ARG0-of", "mod", "domain", "consist-of", "prep-out-of", "prep-to", "op1-of-of", "instance"]
    ),
    words,
)
scalars = st.one_of(words, st.integers(-99, 99), st.floats(allow_nan=False), st.booleans(), st.none())
properties = st.lists(
    st.builds(Property, st.one_of(st.sampled_from(["op1", "wiki", "mode"]), words), scalars), max_size=3
)
fields = st.one_of(st.none(), st.dictionaries(st.sampled_from(["alignment", "other"]), scalars, min_size=1, max_size=2))


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """Connected graphs with whatever MRP can say."""
    size = draw(st.integers(1, 6))
    ids = draw(st.permutations(range(10, 10 + size)))
    anchor = st.builds(Anchor, st.integers(0, 4), st.integers(5, 9))
    anchors = st.one_of(st.none(), st.lists(anchor, max_size=2).map(tuple))
    nodes = tuple(
        Node(id, draw(st.one_of(st.none(), words)), tuple(draw(properties)), draw(anchors), draw(fields)) for id in ids
    )
    ends = [(ids[place], ids[draw(st.integers(0, place - 1))]) for place in range(1, size)]
    ends += draw(st.lists(st.tuples(st.sampled_from(ids), st.sampled_from(ids)), max_size=4))
    edges = []
    for pair in ends:
        source, target = pair if draw(st.booleans()) else pair[::-1]
        normal = draw(st.one_of(st.none(), st.none(), labels))
        edges.append(Edge(source, target, draw(labels), tuple(draw(properties)), normal, extra=draw(fields)))
    return Graph(
        draw(words),
        draw(st.sampled_from(["amr", None])),
        draw(st.one_of(st.none(), words)),
        draw(st.sampled_from([2, 1, None])),
        draw(st.sampled_from([None, 1, 1.1, "1.1", "x"])),
        input=draw(st.one_of(st.none(), words.map(lambda word: word + "0123456789" + word))),
        tops=tuple(draw(st.lists(st.sampled_from(ids), max_size=2))),
        nodes=nodes,
        edges=tuple(edges),
        extra=draw(
            st.one_of(st.none(), st.dictionaries(st.text("abc d:", max_size=3), scalars, min_size=1, max_size=2))
        ),
    )


@settings(deadline=None, max_examples=300)
@given(graphs())
def test_any_connected_graph_survives_and_other_tools_read_it(graph: Graph) -> None:
    survives(graph)
    text = dumps(graph, "amr")
    assert len(penman.decode(text).instances()) == len(graph.nodes)
    assert len(smatch_parsed(text).nodes) == len(graph.nodes)
