"""Exact Smatch against the package smatch, a hill climber, and brute force; fine-grained scores; UMR's documents."""

from __future__ import annotations

import itertools
import random

import pytest
import smatch as hill_climber
from hypothesis import given, settings
from hypothesis import strategies as st

from perin.graphs import dumps, load, loads
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
