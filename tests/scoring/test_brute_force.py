"""The exact search against all maps there are, on graphs of up to six nodes."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perin.scoring.items import TYPES
from perin.scoring.metrics import METRICS
from perin.scoring.solver import solve

FRAMEWORKS = ("amr", "ucca", "dm")
PLENTY = 1e6


@pytest.fixture(params=("branching", "programs", "both"), scope="module")
def way(request):
    """How the search goes: by branching alone, by linear programs alone, or as usual."""
    patch = pytest.MonkeyPatch()
    if request.param != "both":
        cases = 0 if request.param == "programs" else sys.maxsize
        patch.setattr(solve, "CASES", cases)
        patch.setattr(solve, "DEMANDING_CASES", cases)
    yield request.param
    patch.undo()


def agrees(gold, system, metric, brute):
    compared = METRICS[metric].compare(gold, system, PLENTY)
    best = brute.best_map(gold, system, metric)
    found = {kind: compared.tallies[kind].c for kind in TYPES}
    assert (compared.objective, compared.bound) == (best.objective, best.objective)
    assert compared.settled
    assert found == best.types
    assert compared.tallies["all"].c == best.all


@pytest.mark.parametrize("framework", FRAMEWORKS)
@pytest.mark.parametrize("metric", ["mrp", "mrp-max"])
@given(data=st.data())
@settings(max_examples=25, deadline=None)
def test_unrelated_graphs(data, way, framework, metric, brute):
    gold, system = (data.draw(brute.random_graph(framework)) for _ in range(2))
    agrees(gold, system, metric, brute)


@pytest.mark.parametrize("framework", FRAMEWORKS)
@pytest.mark.parametrize("metric", ["mrp", "mrp-max"])
@given(data=st.data())
@settings(max_examples=10, deadline=None)
def test_changed_graphs(data, way, framework, metric, brute):
    gold = data.draw(brute.random_graph(framework, most=5))
    agrees(gold, data.draw(brute.changed(gold)), metric, brute)


@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_loops(data, brute):
    gold, system = (data.draw(brute.random_graph(most=3, loops=True)) for _ in range(2))
    agrees(gold, system, "mrp", brute)
    agrees(gold, system, "mrp-max", brute)


@pytest.mark.parametrize("framework", FRAMEWORKS)
@given(data=st.data())
@settings(max_examples=20, deadline=None)
def test_the_same_graph(data, framework, brute):
    gold = data.draw(brute.random_graph(framework, loops=framework == "amr"))
    agrees(gold, gold, "mrp", brute)
    agrees(gold, gold, "mrp-max", brute)


@pytest.mark.slow
@pytest.mark.parametrize("framework", FRAMEWORKS)
@pytest.mark.parametrize("metric", ["mrp", "mrp-max"])
@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_six_nodes(data, way, framework, metric, brute):
    gold, system = (data.draw(brute.random_graph(framework, most=6)) for _ in range(2))
    agrees(gold, system, metric, brute)
