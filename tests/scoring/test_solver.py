"""The exact search and its parts (relaxations, bounds, climbing, the linear program) against all maps there are."""

from __future__ import annotations

import itertools
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from perin import Edge, Graph, Node
from perin.scoring import solver
from perin.scoring.items import TYPES, items
from perin.scoring.metrics import METRICS, MRP_LEVELS, MRP_MAX_LEVELS
from perin.scoring.solver.features import shared_features, ucca_restrictions
from perin.scoring.solver.problem import CAPACITY, Incumbent, Work, _bases, build
from perin.scoring.solver.program import Program, Proof
from perin.scoring.solver.search import Ascent, best_map, climb, relax

FRAMEWORKS = ("amr", "ucca", "dm")
PLENTY = 1e6


@pytest.fixture(params=("branching", "programs", "both"), scope="module")
def way(request):
    """How the search goes: by branching alone, by linear programs alone, or as usual."""
    patch = pytest.MonkeyPatch()
    if request.param != "both":
        cases = 0 if request.param == "programs" else sys.maxsize
        patch.setattr(solver, "CASES", cases)
        patch.setattr(solver, "DEMANDING_CASES", cases)
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


some = settings(max_examples=40, deadline=None)
shapes = st.tuples(st.integers(1, 4), st.integers(1, 4))
weights = shapes.flatmap(lambda shape: arrays(np.float64, shape, elements=st.integers(0, 5).map(float)))
ENOUGH = Work(1e6)


def images(shape, brute):
    for mapped in brute.maps(*shape):
        yield np.array([mapped.get(i, -1) for i in range(shape[0])])


def worth(cells, image):
    return sum(cells[i, j] for i, j in enumerate(image) if j >= 0)


@pytest.mark.parametrize("monotone", [False, True])
@given(cells=weights)
@some
def test_relaxation_is_the_best_and_its_prices_bound_every_map(cells, monotone, brute):
    allowed = cells > 0
    relaxed = relax(cells, allowed, monotone=monotone)
    assert worth(cells, relaxed.image) == relaxed.bound
    assert worth(cells, best_map(cells, allowed, monotone=monotone)) == relaxed.bound
    for image in images(cells.shape, brute):
        partners = [j for j in image if j >= 0]
        if monotone and partners != sorted(partners):
            continue
        assert worth(cells, image) <= relaxed.bound - worth(relaxed.slack, image)
        for i, j in enumerate(image):
            assert j < 0 or worth(cells, image) <= relaxed.through[i, j]


def problem(data, brute, framework):
    gold, system = (items(data.draw(brute.random_graph(framework))) for _ in range(2))
    features = shared_features(gold, system, dict.fromkeys(name for level in MRP_LEVELS for name in level))
    allowed, dominance = ucca_restrictions(gold, system) if framework == "ucca" else (None, None)
    shape = len(gold.ids), len(system.ids)
    return build(features, MRP_LEVELS, shape, monotone=framework == "dm", allowed=allowed, dominance=dominance)


def lawful(each, image):
    partners = [j for j in image if j >= 0]
    if each.monotone and partners != sorted(partners):
        return False
    if any(j >= 0 and not each.allowed[i, j] for i, j in enumerate(image)):
        return False
    return each.dominance is None or not each.dominance.violated(image).any()


@pytest.mark.parametrize("framework", ["amr", "ucca", "dm"])
@given(data=st.data())
@some
def test_ascent_forbids_no_cell_of_a_better_map(data, framework, brute):
    each = problem(data, brute, framework)
    every = [image for image in images(each.shape, brute) if lawful(each, image)]
    values = [each.value(image) for image in every]
    known = data.draw(st.sampled_from(sorted({0.0, *values})))
    ascent = Ascent(each, ENOUGH)
    tightened = ascent.tighten(ascent.start(), known, rounds=data.draw(st.integers(1, 6)))
    for image, value in zip(every, values, strict=True):
        if value > known:
            assert tightened is not None
            part, relaxed = tightened
            assert value <= relaxed.bound
            assert all(j < 0 or part.allowed[i, j] for i, j in enumerate(image))


@pytest.mark.parametrize("framework", ["amr", "dm"])
@given(data=st.data())
@some
def test_more_rounds_never_raise_the_bound(data, framework, brute):
    each = problem(data, brute, framework)
    ascent = Ascent(each, ENOUGH)
    bounds = []
    for rounds in (1, 2, 4, 8):
        tightened = ascent.tighten(ascent.start(), 0.0, rounds)
        bounds.append(tightened[1].bound if tightened else 0.0)
    assert bounds == sorted(bounds, reverse=True)


@pytest.mark.parametrize("framework", ["amr", "ucca", "dm"])
@given(data=st.data())
@some
def test_climbing_ends_at_a_lawful_map_no_worse_than_its_start(data, framework, brute):
    each = problem(data, brute, framework)
    start = data.draw(st.sampled_from([image for image in images(each.shape, brute) if lawful(each, image)]))
    image, value = climb(each, start, ENOUGH)
    assert lawful(each, image)
    assert value == each.value(image) >= each.value(start)


@pytest.mark.parametrize("framework", ["amr", "ucca"])
@given(data=st.data())
@some
def test_every_lawful_map_is_a_point_of_the_linear_program(data, framework, brute):
    each = problem(data, brute, framework)
    if not each.levels:
        return
    program = Program(each, each.allowed)
    image = data.draw(st.sampled_from([image for image in images(each.shape, brute) if lawful(each, image)]))
    used = {i * each.shape[1] + j for i, j in enumerate(image) if j >= 0}
    for level in range(min(2, len(each.levels))):
        program.set_level(level)
        bound = program.solve(ENOUGH).bound
        program.fix({column: float(cell in used) for column, cell in enumerate(program.cells)})
        point = program.solve(ENOUGH).bound
        program.fix({})
        value = each.level_value(image, level)
        if all(weight >= 0 for weight in each.levels[level].values()):
            assert point == pytest.approx(value)
        assert bound >= value - 1e-6


@given(data=st.data())
@some
def test_demands_hold_and_forbidden_columns_stay_out(data, brute):
    each = problem(data, brute, "amr")
    if not each.levels:
        return
    program = Program(each, each.allowed)
    program.set_level(0)
    best = program.solve(ENOUGH)
    program.demand(0, round(best.bound) + 1)
    assert program.solve(ENOUGH).bound == -np.inf
    program = Program(each, each.allowed)
    program.set_level(0)
    program.forbid(np.ones(len(best.reduced_costs), dtype=bool))
    assert program.solve(ENOUGH).bound == pytest.approx(0)


def test_a_map_outside_the_cells_in_question_may_be_the_best():
    """A proof over cells that hold nothing better ends at once."""
    gold = items(Graph("1", nodes=(Node(0, "a"), Node(1, "b"))))
    features = shared_features(gold, gold, ["labels"])
    each = build(features, [{"labels": 1}], (2, 2))
    incumbent = Incumbent(each)
    incumbent.offer(np.array([0, 1]), each.value(np.array([0, 1])))
    proof = Proof(each, np.array([[True, False], [False, False]]), incumbent, ENOUGH)
    assert proof.run() == 1
    assert proof.bound == 1


@given(
    ranges=st.lists(st.integers(0, 400), min_size=8, max_size=8),
    pairs=st.lists(st.tuples(*[st.integers(0, 3)] * 8), min_size=2, max_size=2),
)
@some
def test_weights_order_maps_by_levels(ranges, pairs):
    """Whatever counts two maps have, the sum of weights compares as the levels one after the other do."""
    names = ("tops", "labels", "properties", "anchors", "edges", "attributes", "edge loops", "attribute loops")
    most = dict(zip(names, map(float, ranges), strict=True))
    counts = [{name: min(most[name], each[number]) for number, name in enumerate(names)} for each in pairs]
    levels, bases, grain = _bases(MRP_MAX_LEVELS, most)
    values = [[sum(level[name] * count[name] for name in level) for level in levels] for count in counts]
    sums = [sum(base * value for base, value in zip(bases, each, strict=True)) for each in values]
    assert (sums[0] < sums[1]) == (values[0] < values[1])
    assert all(total % grain == 0 and total < CAPACITY for total in sums)


def test_the_finest_levels_give_way_when_numbers_get_too_large():
    huge = dict.fromkeys(("tops", "labels", "properties", "anchors", "edges", "attributes"), 1e5)
    levels, bases, _ = _bases(MRP_MAX_LEVELS, huge)
    assert 1 <= len(levels) < len(MRP_MAX_LEVELS)
    assert bases[0] * 6e5 <= CAPACITY


def test_swaps_are_judged_by_the_arcs_between_the_two_nodes():
    """Two nodes with an arc between them, started the wrong way round: only a swap mends it."""
    graph = Graph("1", nodes=(Node(0, "a"), Node(1, "a")), edges=(Edge(0, 1, "x"), Edge(0, 1, "y")))
    content = items(graph)
    each = build(shared_features(content, content, ["labels", "edges"]), [{"labels": 1, "edges": 1}], (2, 2))
    image, value = climb(each, np.array([1, 0]), ENOUGH)
    assert image.tolist() == [0, 1]
    assert value == 4 * each.bases[0]


def test_all_permutations_of_a_small_assignment():
    cells = np.array([[7.0, 5, 1], [6, 5, 1], [5, 5, 1]])
    best = max(sum(cells[i, j] for i, j in enumerate(order)) for order in itertools.permutations(range(3)))
    assert relax(cells, cells > 0, monotone=False).bound == best
