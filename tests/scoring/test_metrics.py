"""The metrics against other people's code, brute force and hand-made cases: Smatch, UMR's, EDM, SDP, UCCA."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace

import pytest
import smatch as hill_climber
from hypothesis import given, settings
from hypothesis import strategies as st

from perin.graphs import dumps, load, loads
from perin.graphs.graph import Anchor, Edge, Graph, Node, Property
from perin.graphs.normalisation import normal_anchors
from perin.scoring import score
from perin.scoring.metrics import METRICS
from perin.scoring.result import Tally

PLENTY = 1e6
GOLD = """
(b / bark-01
   :ARG0 (d / dog :mod (b2 / big) :name (n / name :op1 "Rex") :wiki "Rex")
   :polarity -
   :ARG1-of (c / cause-01 :ARG0 d))
"""
SYSTEM = """
(b / bark-02
   :ARG0 (d / cat :mod (b2 / big) :name (n / name :op1 "Rex") :wiki "Tom")
   :time (t / now)
   :polarity -)
"""


def graph(text):
    return loads(f"# ::id 1\n{text.strip()}\n", "amr")[0]


def climbed(first, second, restarts):
    """The best of many restarts: matches, triples of the first graph, of the second."""
    hill_climber.match_triple_dict.clear()
    hill_climber.iteration_num = restarts
    random.seed(1)
    return hill_climber.get_amr_match(" ".join(first.split()), " ".join(second.split()))


@st.composite
def penman(draw):
    """A random tree with some reentrancies."""
    count = draw(st.integers(1, 6))
    children = {i: [] for i in range(count)}
    for i in range(1, count):
        children[draw(st.integers(0, i - 1))].append(i)
    roles = st.sampled_from(("ARG0", "ARG1", "ARG0-of", "mod", "time"))

    def part(i):
        inner = [f":{draw(roles)} {part(child)}" for child in children[i]]
        if draw(st.booleans()):
            inner.append(f":polarity {draw(st.sampled_from('-+'))}")
        if i and draw(st.booleans()):
            inner.append(f":{draw(st.sampled_from(('ARG2', 'ARG3')))} v0")
        return " ".join([f"(v{i} / {draw(st.sampled_from(('a', 'b-01', 'b-02')))}", *inner]) + ")"

    return part(0)


@given(first=penman(), second=penman())
@settings(max_examples=60, deadline=None)
def test_never_below_the_hill_climber(first, second):
    tally = METRICS["smatch"].compare(graph(first), graph(second), PLENTY).tallies["all"]
    matched, gold, system = climbed(first, second, restarts=10)
    assert (tally.g, tally.s) == (gold, system)
    assert tally.c >= matched


@given(first=penman(), second=penman())
@settings(max_examples=25, deadline=None)
def test_brute_force(first, second, brute):
    gold, system = graph(first), graph(second)
    if len(gold) + len(system) <= 10:
        compared = METRICS["smatch"].compare(gold, system, PLENTY)
        assert compared.tallies["all"].c == compared.bound == brute.best_map(gold, system, "mrp-max").all


def countable(each):
    """The package does not count the triple of ``:mod 1``."""
    return not any(node.get("mod") for node in each.nodes)


@pytest.mark.slow
def test_sentences_compared_with_their_neighbours(shared):
    graphs = [each for each in load(shared / "data" / "amr-eng" / "dev.mrp.gz") if len(each) <= 15 and countable(each)]
    better = 0
    for gold, system in itertools.pairwise(graphs[:40]):
        texts = [dumps(each, "amr").split("\n(", 1)[1] for each in (gold, system)]
        matched, first, second = climbed(f"({texts[0]}", f"({texts[1]}", restarts=20)
        tally = METRICS["smatch"].compare(gold, system, PLENTY).tallies["all"]
        assert (tally.g, tally.s) == (first, second)
        assert tally.c >= matched
        better += tally.c > matched
    assert better < 20


def test_case_and_trailing_underscores_do_not_count():
    first, second = graph("(a / Dog_ :ARG0 (b / cat))"), graph("(a / dog :arg0_ (b / CAT__))")
    assert METRICS["smatch"].compare(first, second, PLENTY).tallies["all"] == Tally(4, 4, 4)


def test_a_top_matches_whatever_its_label():
    tally = METRICS["smatch"].compare(graph("(a / dog)"), graph("(a / cat)"), PLENTY).tallies["all"]
    assert tally == Tally(2, 2, 1)


def test_fine_grained_scores():
    tallies = METRICS["smatch-fine"].compare(graph(GOLD), graph(SYSTEM), PLENTY).tallies
    assert tallies["concepts"] == Tally(5, 5, 2)  # big, name
    assert tallies["named_entities"] == Tally(1, 1, 0)  # dog, cat
    assert tallies["negation"] == Tally(1, 1, 0)  # bark-01, bark-02
    assert tallies["wikification"] == Tally(1, 1, 0)
    assert tallies["no_senses"].c == tallies["all"].c + 1
    # The parents of dog are bark, cause and, as mod is the inverse of domain, big; those of cat are bark and big.
    assert tallies["reentrancies"] == Tally(4 + 3, 3 + 2, 3)
    assert tallies["srl"].g == 3 + 3
    assert tallies["unlabeled"].c >= tallies["all"].c


def test_fine_grained_scores_of_the_same_graph():
    tallies = METRICS["smatch-fine"].compare(graph(GOLD), graph(GOLD), PLENTY).tallies
    assert all(tally.equal for tally in tallies.values())
    assert all(tally.g for tally in tallies.values())


UMR_GOLD = f"""# document = czech_umr-7.umr
{"#" * 80}
# :: snt1
Index: 1    2
Words: Petr přišel

# sentence level graph:
(s1p1 / přijít-001 :ARG0 (s1p2 / Petr) :aspect performance)

# alignment:
s1p1: 2-2
s1p2: 1-1

# document level annotation:
(s1s0 / sentence :modal ((author :full-affirmative s1p1)))

{"#" * 80}
# :: snt2
Index: 1  2
Words: On spal

# sentence level graph:
(s2s1 / spát-001 :ARG0 (s2e1 / entity))

# alignment:
s2s1: 2-2
s2e1: 1-1

# document level annotation:
(s2s0 / sentence :coref ((s2e1 :same-entity s1p2)))
"""


def test_gold_against_itself_is_right_whatever_the_variables():
    gold = loads(UMR_GOLD, "umr")
    system = loads(UMR_GOLD.replace("s1p2", "s1z9").replace("s2e1", "s2x4"), "umr")
    tallies = score(gold, system).total.tallies
    assert {name: tally.f1 for name, tally in tallies.items() if tally.g} == dict.fromkeys(
        ("tops", "labels", "properties", "anchors", "edges", "all", "smatch", "alignment", "coref", "modal"), 1.0
    )


def test_what_is_wrong_is_counted():
    gold = loads(UMR_GOLD, "umr")
    changed = UMR_GOLD.replace("s1p1: 2-2", "s1p1: 1-2").replace("(s2e1 :same-entity s1p2)", "(s2e1 :same-entity s1p1)")
    tallies = score(gold, loads(changed, "umr")).total.tallies
    assert tallies["alignment"] == Tally(4, 5, 4)
    assert tallies["coref"] == Tally(1, 1, 0)
    assert tallies["modal"] == Tally(1, 1, 1)
    assert score(gold, loads(changed, "umr"), "mrp").metric.name == "mrp"


def test_missing_sentence_has_no_triples():
    gold = loads(UMR_GOLD, "umr")
    assert score(gold, gold[:1]).total.tallies["coref"] == Tally(1, 0, 0)


TEXT = "Kim sleeps well."
KIM, SLEEPS, WELL, DOT = (Anchor(0, 3),), (Anchor(4, 10),), (Anchor(11, 15),), (Anchor(11, 16),)
EDS = Graph(
    "1",
    "eds",
    input=TEXT,
    tops=(1,),
    nodes=(
        Node(0, "named", (Property("CARG", "Kim"),), KIM),
        Node(1, "_sleep_v", (Property("TENSE", "pres"),), SLEEPS),
        Node(2, "_well_a", (), WELL),
    ),
    edges=(Edge(1, 0, "ARG1"), Edge(2, 1, "ARG1")),
)
UCCA = Graph(
    "1",
    "ucca",
    input=TEXT,
    tops=(0,),
    nodes=(Node(0), Node(1, anchors=KIM), Node(2, anchors=SLEEPS), Node(3, anchors=WELL), Node(4)),
    edges=(
        Edge(0, 1, "A"),
        Edge(0, 4, "P"),
        Edge(4, 2, "C"),
        Edge(4, 3, "E"),
        Edge(4, 1, "A", (Property("remote", True),)),
    ),
)


def tallies(metric, gold, system):
    return METRICS[metric].compare(gold, system, 1.0).tallies


def test_edm_by_hand():
    system = replace(
        EDS,
        tops=(0,),
        nodes=(EDS.nodes[0], replace(EDS.nodes[1], label="_sleep_n"), replace(EDS.nodes[2], anchors=DOT)),
        edges=(Edge(1, 0, "arg1"), Edge(2, 1, "ARG2")),
    )
    assert tallies("edm", EDS, system) == {
        "names": Tally(3, 3, 2),
        "arguments": Tally(2, 2, 1),
        "tops": Tally(1, 1, 0),
        "properties": Tally(2, 2, 2),
        "all": Tally(8, 8, 5),
    }


def test_edm_merges_nodes_of_the_same_span():
    system = replace(EDS, nodes=(*EDS.nodes, Node(3, "_WELL_a", (), DOT)), edges=(*EDS.edges, Edge(3, 1, "ARG1")))
    assert all(tally.equal for tally in tallies("edm", EDS, system).values())


def test_edm_by_ranges_where_an_input_is_missing():
    bare = replace(EDS, input=None)
    assert all(tally.equal for tally in tallies("edm", EDS, bare).values())
    split = replace(bare, nodes=(*bare.nodes[:2], replace(bare.nodes[2], anchors=DOT)))
    assert tallies("edm", EDS, split)["names"] == Tally(3, 3, 2)


def test_ucca_by_hand():
    moved = Edge(0, 3, "D")
    system = replace(UCCA, edges=(UCCA.edges[0], Edge(0, 4, "S"), UCCA.edges[2], moved))
    # Without "well", unit 4 covers "sleeps" only, as its child does.
    assert tallies("ucca", UCCA, system) == {
        "labeled.primary": Tally(4, 4, 1),
        "labeled.remote": Tally(1, 0, 0),
        "unlabeled.primary": Tally(4, 4, 1),
        "unlabeled.remote": Tally(1, 0, 0),
    }
    relabelled = replace(UCCA, edges=(Edge(0, 1, "X"), *UCCA.edges[1:]))
    assert tallies("ucca", UCCA, relabelled)["labeled.primary"] == Tally(4, 4, 3)
    assert tallies("ucca", UCCA, relabelled)["unlabeled.primary"] == Tally(4, 4, 4)


def test_ucca_with_a_cycle_ends():
    cyclic = replace(UCCA, edges=(*UCCA.edges, Edge(4, 0, "A")))
    assert tallies("ucca", cyclic, cyclic)["labeled.primary"].equal


def test_sdp_by_hand():
    bilexical = replace(EDS, framework="dm", flavor=0)
    system = replace(bilexical, tops=(1, 2), edges=(Edge(1, 0, "ARG1"), Edge(2, 1, "ARG2")))
    assert tallies("sdp", bilexical, system) == {"labeled": Tally(3, 4, 2), "unlabeled": Tally(3, 4, 3)}


def test_sdp_counts_graphs_that_are_equal():
    graphs = [replace(EDS, id=str(number), framework="dm") for number in range(4)]
    system = [*graphs[:3], replace(graphs[3], tops=())]
    found = score(graphs, system, "sdp").as_json()
    assert found["n"] == 4
    assert found["labeled"]["m"] == found["unlabeled"]["m"] == 0.75


def numbers(metric, gold, system):
    return {key: (tally.g, tally.s, tally.c) for key, tally in tallies(metric, gold, system).items()}


def counted(first, second):
    return {key: (len(first[key]), len(second[key]), len(first[key] & second[key])) for key in first}


@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_edm_by_loops_over_nodes_and_edges(data, brute):
    def elements(graph):
        spans = {node.id: normal_anchors(node.anchors, graph.input) for node in graph.nodes}
        return {
            "names": {(spans[node.id], node.label) for node in graph.nodes if node.label is not None},
            "arguments": {(spans[edge.source], spans[edge.target], edge.label) for edge in graph.edges},
            "tops": {spans[top] for top in graph.tops},
            "properties": {(spans[node.id], *pair) for node in graph.nodes for pair in node.properties},
        }

    gold, system = (data.draw(brute.random_graph("eds", most=6)) for _ in range(2))
    expected = counted(elements(gold), elements(system))
    expected["all"] = tuple(sum(column) for column in zip(*expected.values(), strict=True))
    assert numbers("edm", gold, system) == expected


@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_sdp_by_loops_over_edges(data, brute):
    trimmed = {Anchor(0, 3): (0, 3), Anchor(9, 15): (9, 15), Anchor(3, 4): (4, 4)}  # of "Kim, who sleeps (well)."

    def dependencies(graph):
        words = {node.id: node.anchors and tuple(trimmed[anchor] for anchor in node.anchors) for node in graph.nodes}
        found = {(words[edge.source], words[edge.target], edge.label) for edge in graph.edges}
        found |= {("top", words[top], None) for top in graph.tops}
        return {"labeled": found, "unlabeled": {each[:2] for each in found}}

    gold, system = (data.draw(brute.random_graph("dm", most=6)) for _ in range(2))
    assert numbers("sdp", gold, system) == counted(dependencies(gold), dependencies(system))


@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_ucca_by_passing_text_upwards(data, brute):
    def units(graph):
        remote = {id(edge) for edge in graph.edges if edge.attributes}
        text = {node.id: normal_anchors(node.anchors, graph.input) or frozenset() for node in graph.nodes}
        for _ in graph.nodes:
            for edge in graph.edges:
                if id(edge) not in remote:
                    text[edge.source] |= text[edge.target]
        found = {}
        for kind in ("primary", "remote"):
            edges = [edge for edge in graph.edges if (id(edge) in remote) == (kind == "remote")]
            found[f"labeled.{kind}"] = {(text[edge.source], text[edge.target], edge.label) for edge in edges}
            found[f"unlabeled.{kind}"] = {(text[edge.source], text[edge.target]) for edge in edges}
        return found

    def distinct(graph):
        """Of edges that differ in attributes only, the first."""
        edges = {(edge.source, edge.target, edge.label): edge for edge in reversed(graph.edges)}
        return replace(graph, edges=tuple(edges.values()))

    gold, system = (distinct(data.draw(brute.random_graph("ucca", most=6))) for _ in range(2))
    assert numbers("ucca", gold, system) == counted(units(gold), units(system))
    assert any(edge.attributes for edge in gold.edges) == bool(tallies("ucca", gold, system)["labeled.remote"].g)


@pytest.mark.parametrize("metric", ["edm", "ucca", "sdp"])
def test_graphs_without_anchors_are_told(metric):
    full = replace(EDS, framework={"edm": "eds", "ucca": "ucca", "sdp": "dm"}[metric])
    bare = replace(full, id="2", nodes=tuple(replace(node, anchors=None) for node in full.nodes))
    (finding,) = score([full, bare], [full, bare], metric).findings
    assert (
        str(finding)
        == f"graph 2: {metric} identifies nodes by their anchors, and 1 gold graph has none; use mrp or smatch"
    )
    assert not score([full, bare], [full, bare]).findings
