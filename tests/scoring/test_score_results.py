"""What scoring returns: totals, blocks, means, tables, differences, intervals and paired tests, several processes."""

from __future__ import annotations

import json
import random
from dataclasses import replace

import pytest

import perin
from perin import Edge, Graph, Node, Property, UsageError
from perin.graphs.graph import Anchor
from perin.scoring import reports, score_pairs
from perin.scoring.metrics import METRICS
from perin.scoring.reports import contrast, differing_items, intervals, write_differences
from perin.scoring.result import Block, Comparison, GraphScore, Tally

TYPES = ["tops", "labels", "properties", "anchors", "edges", "attributes", "all"]
GOLD = Graph(
    "1",
    "eds",
    "eng",
    input="big dog.",
    tops=(0,),
    nodes=(Node(0, "dog", (Property("num", "sg"),), (Anchor(4, 8),)), Node(1, "big", (), (Anchor(0, 3),))),
    edges=(Edge(1, 0, "ARG1", (Property("member", True),)),),
)
SYSTEM = replace(
    GOLD,
    tops=(8,),
    nodes=(Node(7, "dog", (Property("num", "pl"),), (Anchor(4, 7),)), Node(8, "big", (), (Anchor(0, 7),))),
    edges=(Edge(8, 7, "ARG2"),),
)


def several():
    """Graphs of two frameworks and two languages: right, half right, missing."""
    amr = Graph("1", "amr", "eng", nodes=(Node(0, "a"), Node(1, "b")))
    gold = [GOLD, amr, replace(amr, language="zho"), replace(amr, id="2", language="zho")]
    return gold, [GOLD, replace(amr, nodes=amr.nodes[:1]), gold[2]]


def test_the_keys_that_other_programs_read():
    found = perin.score([GOLD], [SYSTEM]).as_json()
    assert list(found) == ["metric", "graphs", "missing", "exact", *TYPES, "seconds"]
    assert all(list(found[kind]) == ["g", "s", "c", "p", "r", "f"] for kind in TYPES)
    assert (found["metric"], found["graphs"], found["missing"], found["exact"]) == ("mrp", 1, 0, 1)
    assert json.loads(json.dumps(found)) == found


@pytest.mark.parametrize(
    ("metric", "keys"),
    [
        ("edm", ["n", "missing", "names", "arguments", "tops", "properties", "all"]),
        ("sdp", ["n", "missing", "labeled", "unlabeled"]),
        ("ucca", ["n", "missing", "labeled", "unlabeled"]),
        ("smatch", ["n", "missing", "exact", "g", "s", "c", "p", "r", "f"]),
    ],
)
def test_keys_of_other_metrics(metric, keys):
    framework = {"edm": "eds", "sdp": "dm", "ucca": "ucca", "smatch": "amr"}[metric]
    sides = [[replace(side, framework=framework)] for side in (GOLD, SYSTEM)]
    found = perin.score(*sides, metric).as_json()
    assert list(found) == ["metric", *keys, "seconds"]
    if metric == "ucca":
        assert list(found["labeled"]) == list(found["unlabeled"]) == ["primary", "remote"]


def test_each_graph_has_the_same_keys_and_its_correspondence():
    found = perin.score([GOLD], [SYSTEM]).as_json(per_graph=True)
    (graph,) = found.pop("per_graph")
    assert graph["id"] == "1"
    assert graph["correspondence"] == [[0, 7], [1, 8]]
    assert graph["objective"] == graph["bound"]
    assert graph["settled"]
    assert all(graph[key] == found[key] for key in found if key != "seconds")


def test_totals_are_sums_and_means_are_means():
    result = perin.score(*several())
    found = result.as_json()
    assert [(block["framework"], block["language"]) for block in found["blocks"]] == [
        ("eds", "eng"),
        ("amr", "eng"),
        ("amr", "zho"),
    ]
    scores = [block["all"]["f"] for block in found["blocks"]]
    assert scores == pytest.approx([1, 2 / 3, 2 / 3])
    assert found["macro"]["all"]["f"] == pytest.approx(sum(scores) / 3)
    assert found["tracks"]["cross-framework"]["all"]["f"] == pytest.approx((1 + 2 / 3) / 2)
    assert found["tracks"]["cross-lingual"]["all"]["r"] == pytest.approx(1 / 2)
    assert sum(block["all"]["c"] for block in found["blocks"]) == found["all"]["c"] == result.total.tallies["all"].c
    assert found["missing"] == 1
    assert result.f1 == found["all"]["f"]


def test_one_kind_of_graphs_has_no_blocks():
    assert not {"blocks", "macro", "tracks"} & perin.score([GOLD], [GOLD]).as_json().keys()


def test_a_result_prints_tables_and_its_repr_is_one_line():
    result = perin.score([GOLD], [SYSTEM])
    assert str(result) == reports.overview(result)
    assert repr(result) == f"<Result mrp: 1 graph, F1 {100 * result.f1:.2f}>"
    assert repr(result.blocks) == f"[<Block eds eng: 1 graph, F1 {100 * result.f1:.2f}>]"


def test_types_that_neither_side_has_get_no_score():
    lines = str(perin.score([Graph("1", "amr", nodes=(Node(0, "a"),))], [Graph("1", "amr", nodes=(Node(0, "b"),))]))
    rows = {line.split()[0]: line.split()[1:] for line in lines.splitlines()[3:]}
    assert rows["labels"] == ["1", "1", "0", "0.00", "0.00", "0.00"]
    assert rows["anchors"] == ["0", "0", "0"]


def test_frameworks_without_such_items_count_0_as_in_the_shared_task():
    gold, _ = several()
    result = perin.score(gold, gold)
    having = {key: sum(bool(block.tallies[key].g) for block in result.blocks) for key in TYPES}
    assert {key: numbers["f"] for key, numbers in result.macro().items()} == {
        key: count / len(result.blocks) for key, count in having.items()
    }
    assert having["anchors"] < having["all"]
    amr = perin.score(gold[1:], gold[1:])
    assert amr.macro()["anchors"]["f"] == 0.0
    assert reports.by_type({"same": amr}).splitlines()[1].split() == ["same", "100.00", "100.00"]


def test_overview():
    lines = reports.overview(perin.score(*several())).splitlines()
    assert lines[0].startswith("mrp: 4 graphs, 1 missing, 4 proven optimal")
    assert lines[7].split() == ["edges", "1", "1", "1", "100.00", "100.00", "100.00"]
    assert any(line.split()[:3] == ["amr", "zho", "2"] for line in lines)
    assert any(line.startswith("mean cross-lingual") and line.endswith("66.67") for line in lines)
    assert len({len(line) for line in lines[3:10]}) == 1


def test_tables_of_several_systems():
    gold, system = several()
    results = {"good": perin.score(gold, gold), "bad": perin.score(gold, system)}
    english, other = reports.by_framework(results).split("\n\n")
    assert english.splitlines()[0].split() == ["cross-framework", "eds", "eng", "amr", "eng", "mean"]
    assert english.splitlines()[2].split() == ["bad", "100.00", "66.67", "83.33"]
    assert other.splitlines()[1].split() == ["good", "100.00", "100.00"]
    types = reports.by_type(results).splitlines()
    assert types[0].split() == ["macro", "F1", *TYPES]
    assert types[2].split()[-1] == "77.78"


def test_a_line_for_each_graph():
    lines = reports.by_graph(perin.score(*several())).splitlines()
    assert len(lines) == 5
    assert lines[4].split() == ["2", "amr", "zho", "0.00", "0.00", "yes"]


def test_differences_name_the_items():
    assert differing_items(GOLD, SYSTEM, [(0, 7), (1, 8)]) == {
        "tops": {"missing": [[0]], "surplus": [[8]]},
        "properties": {"missing": [[0, "num", "sg"]], "surplus": [[7, "num", "pl"]]},
        "anchors": {"missing": [[1, [[0, 3]]]], "surplus": [[8, [[0, 3], [4, 7]]]]},
        "edges": {"missing": [[1, 0, "arg1"]], "surplus": [[8, 7, "arg2"]]},
        "attributes": {"missing": [[1, 0, "arg1", "member", "true"]], "surplus": []},
    }
    assert differing_items(GOLD, GOLD, [(0, 0), (1, 1)]) == {}


@pytest.mark.parametrize("name", ["errors.json", "errors.txt"])
def test_differences_as_json(tmp_path, name):
    pairs = [(GOLD, SYSTEM), (replace(GOLD, id="2"), None), (replace(GOLD, id="3"), GOLD)]
    scores = list(score_pairs(pairs, METRICS["mrp"]))
    write_differences(tmp_path / name, pairs, scores)
    first, second, third = json.loads((tmp_path / name).read_text())
    assert first["correspondence"] == [[0, 7], [1, 8]]
    assert first["edges"]["missing"] == [[1, 0, "arg1"]]
    assert second["labels"] == {"missing": [[0, "dog"], [1, "big"]], "surplus": []}
    assert not set(TYPES) & third.keys()


def test_counts_and_differences_agree():
    pairs = [(GOLD, SYSTEM)]
    (graph,) = score_pairs(pairs, METRICS["mrp-max"])
    differing = differing_items(GOLD, SYSTEM, graph.comparison.pairs)
    for kind in TYPES[:-1]:
        tally = graph.comparison.tallies[kind]
        lists = differing.get(kind, {"missing": [], "surplus": []})
        assert (tally.g - tally.c, tally.s - tally.c) == (len(lists["missing"]), len(lists["surplus"]))


def test_differences_as_drawings(tmp_path):
    pairs = [(GOLD, SYSTEM), (replace(GOLD, id="same"), GOLD), (replace(GOLD, id="lost"), None)]
    write_differences(tmp_path / "errors.html", pairs, score_pairs(pairs, METRICS["mrp"]))
    page = (tmp_path / "errors.html").read_text()
    assert page.startswith("<!DOCTYPE html>")
    assert '"lost"' in page
    assert '"same"' not in page


def test_several_processes_give_the_same_in_the_same_order():
    gold, system = several()
    one, two = perin.score(gold, system), perin.score(gold, system, jobs=2)
    assert [graph.comparison for graph in one.graphs] == [graph.comparison for graph in two.graphs]
    assert [graph.id for graph in two.graphs] == [graph.id for graph in gold]


def test_progress_sees_every_graph():
    gold, system = several()
    seen = []

    def progress(stream, total):
        assert total == len(gold)
        for each in stream:
            seen.append(each.id)
            yield each

    perin.score(gold, system, progress=progress)
    assert seen == ["1", "1", "1", "2"]


def test_correspondence():
    assert perin.correspondence(GOLD, SYSTEM) == ((0, 7), (1, 8))
    assert perin.correspondence(GOLD, replace(GOLD, nodes=(), edges=(), tops=())) == ()
    assert perin.correspondence(GOLD, SYSTEM, "smatch") == ((0, 7), (1, 8))


def test_nodes_that_share_nothing_do_not_correspond():
    lonely = Graph("1", nodes=(Node(0, "a"), Node(1, "b")))
    assert perin.correspondence(lonely, replace(lonely, nodes=(Node(5, "b"), Node(6, "c")))) == ((1, 5),)


@pytest.mark.parametrize("metric", ["edm", "nonsense"])
def test_metrics_without_correspondence(metric):
    with pytest.raises(UsageError, match=metric):
        perin.correspondence(GOLD, SYSTEM, metric)


def test_impossible_requests():
    with pytest.raises(UsageError, match="unknown metric"):
        perin.score([GOLD], [GOLD], "bleu")
    with pytest.raises(UsageError, match="positive"):
        perin.score([GOLD], [GOLD], jobs=0)


def test_a_graph_needs_no_list():
    assert perin.score(GOLD, SYSTEM).as_json()["all"] == perin.score([GOLD], [SYSTEM]).as_json()["all"]


@pytest.mark.parametrize("wrong", [5, None, [GOLD, 5]])
def test_wrong_types_say_what_is_wanted(wrong):
    with pytest.raises(UsageError, match=r"score takes files or graphs, not (int|None)"):
        perin.score([GOLD], wrong)
    with pytest.raises(UsageError, match=r"correspondence takes two graphs, not (int|None|list)"):
        perin.correspondence(GOLD, wrong)


def block(counts):
    metric = METRICS["smatch"]
    graphs = [
        GraphScore(str(number), "amr", "eng", False, Comparison({"all": Tally(*count)}), 0.0)
        for number, count in enumerate(counts)
    ]
    return Block(metric, graphs)


def sampled(share, count=200, seed=1):
    draw = random.Random(seed)
    return block([(10, 10, sum(draw.random() < share for _ in range(10))) for _ in range(count)])


def test_the_interval_holds_the_score_and_shrinks_with_more_graphs():
    few, many = sampled(0.7, 50), sampled(0.7, 800)
    small, large = intervals(many)["all"], intervals(few)["all"]
    assert small.low < many.f1 < small.high
    assert large.low < few.f1 < large.high
    assert small.high - small.low < (large.high - large.low) / 2


def test_the_interval_is_that_of_the_normal_distribution():
    """F1 of equally large sides is a mean of independent graphs, so theory gives the width."""
    scores = sampled(0.7, 400)
    shares = [graph.comparison.tallies["all"].c / 10 for graph in scores.graphs]
    mean = sum(shares) / len(shares)
    deviation = (sum((share - mean) ** 2 for share in shares) / len(shares)) ** 0.5 / len(shares) ** 0.5
    found = intervals(scores, 95)["all"]
    assert found.low == pytest.approx(mean - 1.96 * deviation, abs=0.1 * deviation)
    assert found.high == pytest.approx(mean + 1.96 * deviation, abs=0.1 * deviation)


def test_a_higher_confidence_is_a_wider_interval():
    scores = sampled(0.5)
    narrow, wide = intervals(scores, 50)["all"], intervals(scores, 99)["all"]
    assert wide.low < narrow.low < narrow.high < wide.high


def test_the_same_numbers_every_time():
    assert intervals(sampled(0.5)) == intervals(sampled(0.5))
    assert contrast(sampled(0.5), sampled(0.6, seed=2)) == contrast(sampled(0.5), sampled(0.6, seed=2))


def test_equal_systems_do_not_differ():
    same = contrast(sampled(0.5), sampled(0.5))
    assert same.difference == same.interval.low == same.interval.high == 0
    assert same.p == 1


def test_different_systems_differ():
    found = contrast(sampled(0.5), sampled(0.7, seed=2))
    assert 0 < found.interval.low < found.difference < found.interval.high
    assert found.p < 0.001


def test_chance_is_not_significance():
    """Under the hypothesis that systems do not differ, small p are rare."""
    small = sum(contrast(sampled(0.5, 40, seed), sampled(0.5, 40, seed + 100)).p < 0.1 for seed in range(40))
    assert small <= 10


def test_one_graph_and_no_items():
    assert intervals(block([(0, 0, 0)]))["all"].high == 0


@pytest.mark.parametrize("confidence", [0, 100, -5])
def test_impossible_confidence(confidence):
    with pytest.raises(UsageError, match="confidence"):
        intervals(sampled(0.5), confidence)


def test_systems_on_different_graphs():
    with pytest.raises(UsageError, match="same gold graphs"):
        contrast(sampled(0.5, 10), sampled(0.5, 11))
