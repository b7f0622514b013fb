"""Probabilities beside what is right, and temperatures that make them truer."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from perin.graphs.graph import Edge, Graph, Node
from perin.model.folder import CALIBRATED
from perin.parsing.calibration import (
    ENOUGH,
    Decisions,
    at_temperature,
    best_temperatures,
    calibrate,
    collect_decisions,
)
from perin.parsing.streaming import parse_batch
from perin.text import tokenize


def drawn(count=20_000, sharpness=1.0):
    """Decisions of a network that says sigmoid(sharpness * x) where sigmoid(x) would be right."""
    random = np.random.default_rng(0)
    x = random.normal(scale=2, size=count)
    return Decisions(1 / (1 + np.exp(-sharpness * x)), random.random(count) < 1 / (1 + np.exp(-x)))


def test_true_probabilities_have_no_error_and_need_no_temperature():
    assert drawn().error < 0.01
    assert drawn().best_temperature() == pytest.approx(1, abs=0.05)


@pytest.mark.parametrize("sharpness", [0.4, 3.0])
def test_a_temperature_undoes_sharpness(sharpness):
    decisions = drawn(sharpness=sharpness)
    assert decisions.error > 0.05
    temperature = decisions.best_temperature()
    assert temperature == pytest.approx(sharpness, rel=0.1)
    assert decisions.at(temperature).error < 0.02


def test_errors_by_hand():
    """Two ranges: .9 where half is right, and .1 where nothing is."""
    decisions = Decisions(np.array([0.9, 0.9, 0.1, 0.1]), np.array([True, False, False, False]))
    assert decisions.error == pytest.approx((0.4 * 2 + 0.1 * 2) / 4)
    assert Decisions(np.zeros(0), np.zeros(0, dtype=bool)).error == 0


def test_few_decisions_choose_nothing():
    few = drawn(ENOUGH - 1, sharpness=3.0)
    assert few.best_temperature() == 1
    assert best_temperatures({"node": few, "edge": drawn(ENOUGH, sharpness=3.0)}).keys() == {"edge"}


def test_extreme_probabilities_stay_finite():
    for temperature in (0.05, 1.0, 50.0):
        found = at_temperature(np.array([0.0, 1e-9, 0.5, 1.0]), temperature)
        assert ((found > 0) & (found < 1)).all()
        assert (np.diff(found) >= 0).all()
        assert found[2] == pytest.approx(0.5)


def test_decisions_of_a_pair_of_graphs():
    def node(number, label, p, q, top):
        return Node(number, label, extra={"probability": p, "label_probability": q, "top_probability": top})

    gold = Graph("1", "eds", nodes=(Node(0, "a"), Node(1, "b")), edges=(Edge(0, 1, "X"),), tops=(0,))
    system = Graph(
        "1",
        "eds",
        nodes=(node(5, "a", 0.9, 0.8, 0.7), node(6, "b", 0.6, 0.5, 0.2), node(7, "c", 0.55, 0.3, 0.1)),
        edges=(
            Edge(5, 6, "Y", extra={"probability": 0.95, "label_probability": 0.4}),
            Edge(6, 7, "X", extra={"probability": 0.65, "label_probability": 0.9}),
        ),
        tops=(5,),
    )
    found = collect_decisions([(gold, system)], budget=1.0)
    listed = {
        kind: list(zip(each.probabilities.tolist(), each.right.tolist(), strict=True)) for kind, each in found.items()
    }
    assert listed == {
        "node": [(0.9, True), (0.6, True), (0.55, False)],
        "label": [(0.8, True), (0.5, True)],
        "top": [(0.7, True), (0.2, False)],
        "edge": [(0.95, True), (0.65, False)],
        "edge_label": [(0.4, False)],
    }


def test_temperatures_change_probabilities_and_nothing_else(model, texts):
    warm = {name: replace(each, temperatures=dict.fromkeys(CALIBRATED, 2.0)) for name, each in model.treebanks.items()}
    sentences = [tokenize(text, "eng", str(number)) for number, text in enumerate(texts)]
    names = list(warm)
    options = {"probabilities": True, "alternatives": 2}
    cold_graphs = parse_batch(model, sentences, names, **options)
    warm_graphs = parse_batch(replace(model, treebanks=warm), sentences, names, **options)
    changed = 0
    for one, two in zip(cold_graphs, warm_graphs, strict=True):
        for left, right in zip(one.graphs, two.graphs, strict=True):
            assert left.without_probabilities() == right.without_probabilities()
            for before, after in zip((*left.nodes, *left.edges), (*right.nodes, *right.edges), strict=True):
                if before.extra and "probability" in before.extra:
                    p, q = before.extra["probability"], after.extra["probability"]
                    assert abs(q - 0.5) <= abs(p - 0.5)
                    changed += p != q
                    assert [name for name, _ in before.extra.get("alternatives", ())] == [
                        name for name, _ in after.extra.get("alternatives", ())
                    ]
    assert changed > 20
    graph = cold_graphs[0].graphs[0]
    assert calibrate(graph, {}) is graph
