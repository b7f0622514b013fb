"""Graphs that are large or all alike: scoring keeps to its budget and to a bound of memory."""

from __future__ import annotations

import itertools
import json
import random

import pytest

from perin.graphs import Anchor, Edge, Graph, Node, dump
from perin.scoring import score, solver
from perin.scoring.items import items

TIME = "2020-01-01"


def clique(count: int, seed: int) -> Graph:
    """Every two nodes joined by like edges."""
    order = random.Random(seed).sample(range(count), count)
    edges = tuple(Edge(order[i], order[j], "x") for i in range(count) for j in range(i))
    return Graph("1", framework="amr", time=TIME, nodes=tuple(Node(i, "a") for i in range(count)), edges=edges)


def tangle(count: int, edges: int, seed: int, framework: str = "amr") -> Graph:
    """Like nodes, like edges at random."""
    chance = random.Random(seed)
    ends = (chance.sample(range(count), 2) for _ in range(edges))
    return Graph(
        "1",
        framework=framework,
        flavor=0 if framework == "dm" else None,
        time=TIME,
        nodes=tuple(Node(i, "a") for i in range(count)),
        edges=tuple(Edge(source, target, "x") for source, target in ends),
    )


def chain(count: int, seed: int) -> Graph:
    """UCCA in which every node is below all before it."""
    order = random.Random(seed).sample(range(count), count)
    return Graph(
        "1",
        framework="ucca",
        time=TIME,
        input="word " * count,
        tops=(order[0],),
        nodes=tuple(Node(i, anchors=(Anchor(5 * i, 5 * i + 4),)) for i in range(count)),
        edges=tuple(Edge(upper, lower, "A") for upper, lower in itertools.pairwise(order)),
    )


HOSTILE = {
    "4,950 like edges": lambda seed: clique(100, seed),
    "1,225 like edges": lambda seed: clique(50, seed),
    "900 like edges at random": lambda seed: tangle(100, 900, seed),
    "2,000 like nodes": lambda seed: tangle(2000, 900, seed),
    "10,000 like nodes": lambda seed: tangle(10_000, 20_000, seed),
    "10,000 like words": lambda seed: tangle(10_000, 20_000, seed, "dm"),
    "300 nodes, each below the others": lambda seed: chain(300, seed),
    "10,000 nodes, each below the others": lambda seed: chain(10_000, seed),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_scoring_stays_within_its_budget_and_memory(kind, tmp_path, limited):
    for seed, name in enumerate(("gold.mrp", "system.mrp")):
        dump([HOSTILE[kind](seed)], tmp_path / name)
    done = limited("score", "gold.mrp", "system.mrp", "--json", "--budget", "2", gigabytes=2, seconds=30)
    assert done.returncode == 0, done.stderr[-1000:]
    found = json.loads(done.stdout)
    assert found["all"]["c"] >= 0
    assert "Traceback" not in done.stderr
    if not found["exact"]:
        assert "warning: graph 1: " in done.stderr


def test_unproven_scores_do_not_depend_on_the_clock():
    """The budget counts work: a search that is interrupted stops at the same step every time."""
    sides = [tangle(60, 300, seed) for seed in range(2)]
    found = [score([sides[0]], [sides[1]], budget=0.05).graphs[0].comparison for _ in range(2)]
    assert not found[0].exact
    assert found[0] == found[1]
    more = score([sides[0]], [sides[1]], budget=1).graphs[0].comparison
    assert more.bound <= found[0].bound
    assert more.objective >= found[0].objective


def test_large_graphs_that_are_equal_are_proven():
    graph = tangle(10_000, 20_000, 0)
    found = score([graph], [graph], "mrp").graphs[0].comparison
    assert found.exact
    assert found.tallies["all"].equal


@pytest.mark.parametrize("framework", ["amr", "dm", "ucca"])
def test_a_rough_correspondence_obeys_the_restrictions(framework):
    gold, system = ((chain(10, seed) if framework == "ucca" else tangle(10, 12, seed, framework)) for seed in range(2))
    best = score([gold], [system]).graphs[0].comparison
    assert best.exact
    rough = solver.rough_correspondence(
        items(gold), items(system), monotone=framework == "dm", ucca=framework == "ucca"
    )
    assert len({j for _, j in rough.pairs}) == len({i for i, _ in rough.pairs}) == len(rough.pairs)
    assert not rough.exact
    assert rough.objective <= rough.bound
    if framework == "dm":
        assert [j for _, j in rough.pairs] == sorted(j for _, j in rough.pairs)
    assert rough.objective <= best.tallies["all"].c


def test_a_rough_correspondence_finds_an_isomorphic_graph():
    gold = clique(40, 0)
    order = random.Random(5).sample(range(40), 40)
    twin = gold.relabelled(dict(enumerate(order)))
    twin = Graph("1", framework="amr", nodes=tuple(sorted(twin.nodes, key=lambda node: node.id)), edges=twin.edges)
    rough = solver.rough_correspondence(items(gold), items(twin))
    assert rough.objective == sum(items(gold).counts.values())


def test_anchors_over_and_over_are_refused(tmp_path, limited):
    text = "word " * 20_000
    nodes = tuple(Node(i, "a", anchors=(Anchor(i, len(text) - i),)) for i in range(1000))
    graph = Graph("1", framework="eds", time=TIME, input=text, nodes=nodes)
    dump([graph], tmp_path / "large.mrp")
    dump([Graph("1", framework="eds", time=TIME, input="a", nodes=(Node(0, "a"),))], tmp_path / "small.mrp")
    done = limited("score", "large.mrp", "small.mrp", gigabytes=1.5)
    assert done.returncode == 2
    assert "graph 1: the nodes cover 99001000 characters in all; at most 4000000" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    done = limited("score", "small.mrp", "large.mrp", gigabytes=1.5)
    assert done.returncode == 1
    assert "the graph is ignored" in done.stderr


def test_ids_print_no_control_characters(tmp_path, limited):
    line = {"id": "1\x1b[31m", "framework": "amr", "time": TIME, "nodes": [{"id": 0, "label": "a"}]}
    (tmp_path / "gold.mrp").write_text(json.dumps(line) + "\n")
    done = limited("score", "gold.mrp", "gold.mrp", "--per-graph")
    assert done.returncode == 0
    assert "\x1b" not in done.stdout + done.stderr
    assert "1\\x1b[31m" in done.stdout
