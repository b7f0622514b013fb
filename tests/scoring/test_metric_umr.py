"""The metric of UMR: alignments and document-level triples over corresponding nodes."""

from perin.graphs.codecs import loads
from perin.scoring import score
from perin.scoring.metrics.metric import Tally

GOLD = f"""# document = czech_umr-7.umr
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
    gold = loads(GOLD, "umr")
    system = loads(GOLD.replace("s1p2", "s1z9").replace("s2e1", "s2x4"), "umr")
    tallies = score(gold, system).total.tallies
    assert {name: tally.f1 for name, tally in tallies.items() if tally.g} == dict.fromkeys(
        ("tops", "labels", "properties", "anchors", "edges", "all", "smatch", "alignment", "coref", "modal"), 1.0
    )


def test_what_is_wrong_is_counted():
    gold = loads(GOLD, "umr")
    changed = GOLD.replace("s1p1: 2-2", "s1p1: 1-2").replace("(s2e1 :same-entity s1p2)", "(s2e1 :same-entity s1p1)")
    tallies = score(gold, loads(changed, "umr")).total.tallies
    assert tallies["alignment"] == Tally(4, 5, 4)
    assert tallies["coref"] == Tally(1, 1, 0)
    assert tallies["modal"] == Tally(1, 1, 1)
    assert score(gold, loads(changed, "umr"), "mrp").metric.name == "mrp"


def test_missing_sentence_has_no_triples():
    gold = loads(GOLD, "umr")
    assert score(gold, gold[:1]).total.tallies["coref"] == Tally(1, 0, 0)
