"""Bootstrap intervals and paired tests."""

from __future__ import annotations

import random

import pytest

from perin import UsageError
from perin.scoring.metrics import METRICS, Comparison
from perin.scoring.metrics.metric import Tally
from perin.scoring.result import Block, GraphScore
from perin.scoring.statistics import contrast, intervals


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
