"""What a score must not depend on."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perin import Graph, UsageError
from perin.scoring import score
from perin.scoring.metrics import METRICS

PLENTY = 1e6
ALL_METRICS = sorted(METRICS)
quick = settings(max_examples=40, deadline=None)


def permuted(data, graph):
    """The same graph: nodes and edges in another order, other ids."""
    ids = data.draw(st.permutations(range(100, 100 + len(graph))))
    names = {node.id: new for node, new in zip(graph.nodes, ids, strict=True)}
    nodes = tuple(data.draw(st.permutations(graph.nodes)))
    edges = tuple(data.draw(st.permutations(unique(graph.edges))))
    return replace(graph, nodes=nodes, edges=edges).relabelled(names)


def unique(edges):
    """Without duplicates, of which the first counts and so their order matters."""
    return list({(edge.source, edge.target, edge.label): edge for edge in reversed(edges)}.values())


def tallies(metric, gold, system):
    return METRICS[metric].compare(gold, system, PLENTY).tallies


@pytest.mark.parametrize(("metric", "framework"), [("mrp", "amr"), ("mrp-max", "ucca"), ("mrp-max", "dm")])
@given(data=st.data())
@quick
def test_order_and_ids_do_not_count(data, metric, framework, brute):
    gold, system = (data.draw(brute.random_graph(framework, most=6)) for _ in range(2))
    gold, system = replace(gold, edges=tuple(unique(gold.edges))), replace(system, edges=tuple(unique(system.edges)))
    expected = tallies(metric, gold, system)
    assert tallies(metric, permuted(data, gold), permuted(data, system)) == expected


@pytest.mark.parametrize("metric", ["smatch", "smatch-fine", "edm", "ucca", "sdp"])
@given(data=st.data())
@settings(max_examples=15, deadline=None)
def test_order_and_ids_do_not_count_in_other_metrics(data, metric, brute):
    gold, system = (data.draw(brute.random_graph("ucca" if metric == "ucca" else "amr", most=6)) for _ in range(2))
    gold, system = replace(gold, edges=tuple(unique(gold.edges))), replace(system, edges=tuple(unique(system.edges)))
    expected = tallies(metric, gold, system)
    assert tallies(metric, permuted(data, gold), permuted(data, system)) == expected


@pytest.mark.parametrize("metric", ALL_METRICS)
@given(data=st.data())
@quick
def test_isomorphic_graphs_are_equal(data, metric, brute):
    framework = data.draw(st.sampled_from(("amr", "ucca", "eds")))
    graph = data.draw(brute.random_graph(framework, most=7))
    other = graph if metric == "mrp" and framework == "ucca" else permuted(data, graph)
    if other is not graph:
        graph = replace(graph, edges=tuple(unique(graph.edges)))
    assert all(tally.equal for tally in tallies(metric, graph, other).values())


@given(data=st.data())
@quick
def test_the_same_bilexical_graph_is_equal(data, brute):
    graph = data.draw(brute.random_graph("dm", most=7))
    assert all(tally.equal for tally in tallies("mrp", graph, graph).values())


@pytest.mark.parametrize(("metric", "framework"), [("mrp", "amr"), ("mrp-max", "amr"), ("mrp-max", "ucca")])
@given(data=st.data())
@quick
def test_gold_and_system_can_be_exchanged(data, metric, framework, brute):
    gold, system = (data.draw(brute.random_graph(framework, most=6)) for _ in range(2))
    there, back = tallies(metric, gold, system), tallies(metric, system, gold)
    kinds = there if metric == "mrp-max" else ("all",)
    for kind in kinds:
        assert (there[kind].g, there[kind].s, there[kind].c) == (back[kind].s, back[kind].g, back[kind].c)
        assert (there[kind].precision, there[kind].recall) == (back[kind].recall, back[kind].precision)


@given(data=st.data())
@quick
def test_dropping_the_restrictions_never_lowers_the_score(data, brute):
    framework = data.draw(st.sampled_from(("amr", "ucca", "dm")))
    gold, system = (data.draw(brute.random_graph(framework, most=6)) for _ in range(2))
    assert tallies("mrp-max", gold, system)["all"].c >= tallies("mrp", gold, system)["all"].c


@given(data=st.data())
@quick
def test_what_is_reported_is_what_the_correspondence_gives(data, brute):
    gold, system = (data.draw(brute.random_graph(most=6)) for _ in range(2))
    compared = METRICS["mrp"].compare(gold, system, PLENTY)
    assert len(dict(compared.pairs)) == len({second for _, second in compared.pairs}) == len(compared.pairs)
    labels = {node.id: node.label for node in gold.nodes}, {node.id: node.label for node in system.nodes}
    same = sum(labels[0][i] is not None and labels[0][i] == labels[1][j] for i, j in compared.pairs)
    assert compared.tallies["labels"].c == same


@given(data=st.data(), budget=st.sampled_from((1e-9, 1e-3, 1.0)))
@settings(max_examples=20, deadline=None)
def test_out_of_time_the_truth_is_still_between_found_and_bound(data, budget, brute):
    framework = data.draw(st.sampled_from(("amr", "ucca", "dm")))
    gold, system = (data.draw(brute.random_graph(framework, most=7)) for _ in range(2))
    hurried = METRICS["mrp"].compare(gold, system, budget)
    patient = METRICS["mrp"].compare(gold, system, PLENTY)
    assert patient.exact
    assert hurried.objective <= patient.objective <= hurried.bound


def test_no_budget_is_an_error():
    with pytest.raises(UsageError, match="positive"):
        score([Graph("1")], [], budget=0)
