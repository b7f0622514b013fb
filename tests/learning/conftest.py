"""Random targets, small networks and hidden states for the tests of learning."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
import torch

from perin.contract.heads import Target
from perin.network.heads import Heads, TreebankHeads
from perin.network.layers import Layout
from perin.network.network import Hidden
from perin.network.settings import HeadSizes, NetworkSettings

WIDTH = 12

SIZES = {
    "amr": HeadSizes(queries=3, rules=9, edge_labels=5, multi_label=True, properties=True, tops=True),
    "drg": HeadSizes(queries=4, rules=6, edge_labels=4, multi_label=True, properties=True),
    "eds": HeadSizes(queries=2, rules=8, edge_labels=3, anchors=True, properties=True, tops=True),
    "ptg": HeadSizes(
        queries=3,
        rules=7,
        edge_labels=4,
        anchors=True,
        edge_attributes=3,
        property_classes=(("sempos", 4), ("tfa", 3)),
    ),
    "ucca": HeadSizes(queries=2, rules=2, edge_labels=4, multi_label=True, anchors=True, edge_attributes=2),
    "umr": HeadSizes(
        queries=3,
        rules=9,
        edge_labels=5,
        multi_label=True,
        properties=True,
        property_classes=(("aspect", 4), ("mode", 2)),
        tops=True,
    ),
}
"""Heads as the six frameworks have them, with few classes."""

SETTINGS = NetworkSettings(
    encoder="characters",
    mixture=3,
    anchor_width=5,
    presence_width=6,
    edge_label_width=5,
    attribute_width=4,
    scratch_width=WIDTH,
    scratch_layers=1,
    scratch_heads=2,
    buckets=64,
    gram_width=8,
    layers=1,
    heads=2,
    feedforward=16,
)


@pytest.fixture(params=SIZES, scope="session")
def sizes(request: pytest.FixtureRequest) -> HeadSizes:
    """The heads of each framework in turn."""
    return SIZES[request.param]


@pytest.fixture(scope="session")
def all_sizes() -> dict[str, HeadSizes]:
    return SIZES


@pytest.fixture(scope="session")
def settings() -> NetworkSettings:
    return SETTINGS


@pytest.fixture(scope="session")
def make_target() -> Callable[..., Target]:
    """A random target; ``kinds`` is the number of different nodes as far as labels and anchors go."""
    return random_target


@pytest.fixture(scope="session")
def make_heads() -> Callable[[HeadSizes, int], TreebankHeads]:
    """Heads with random weights, biaffine ones too, in evaluation mode."""

    def make(sizes: HeadSizes, seed: int = 0) -> TreebankHeads:
        torch.manual_seed(seed)
        heads = Heads(SETTINGS, WIDTH, {"treebank": sizes}).eval()
        with torch.no_grad():
            for parameter in heads.parameters():
                parameter.normal_(std=0.5)
        return heads.of("treebank", sizes)

    return make


@pytest.fixture(scope="session")
def make_hidden() -> Callable[..., Hidden]:
    """Random hidden states of queries and tokens."""

    def make(tokens: Sequence[int], queries: int, seed: int = 0) -> Hidden:
        generator = torch.Generator().manual_seed(seed)
        layout = Layout(tokens)
        return Hidden(
            torch.randn(layout.rows * queries, WIDTH, generator=generator, requires_grad=True),
            layout.repeated(queries),
            torch.randn(layout.rows, WIDTH, generator=generator, requires_grad=True),
            layout,
        )

    return make


def random_target(seed: int, sizes: HeadSizes, nodes: int, tokens: int, kinds: int | None = None) -> Target:
    rng = np.random.default_rng(seed)
    kinds = max(1, nodes) if kinds is None else kinds
    kind = rng.integers(kinds, size=nodes)
    kind_anchors = rng.random((kinds, tokens)) < 0.4
    rules = random_rules(rng, sizes, tokens, min(kinds, sizes.rules))
    entries = [(node, token, rule) for node in range(nodes) for token, rule in rules[kind[node] % len(rules)]]
    table = np.array(entries, dtype=np.int64).reshape(-1, 3)
    anchors = kind_anchors[kind]
    mask = anchors.copy()
    if not sizes.anchors:  # as the frameworks without anchors do it: where a rule for one token holds
        mask[:] = False
        mask[table[table[:, 1] >= 0, 0], table[table[:, 1] >= 0, 1]] = True
    mask[~mask.any(axis=1)] = True
    pairs = [(a, b) for a in range(nodes) for b in range(nodes) if a != b and rng.random() < 0.3]
    labels = rng.random((len(pairs), sizes.edge_labels)) < 0.3
    labels[np.arange(len(pairs)), rng.integers(sizes.edge_labels, size=len(pairs))] = True
    tops = np.zeros(nodes, dtype=np.bool_)
    tops[: min(1, nodes)] = True
    return Target(
        table[:, 0],
        table[:, 1],
        table[:, 2],
        mask,
        np.array(pairs, dtype=np.int64).reshape(-1, 2),
        labels,
        anchors if sizes.anchors else None,
        rng.integers(sizes.edge_attributes, size=len(pairs)) if sizes.edge_attributes else None,
        rng.random(nodes) < 0.5 if sizes.properties else None,
        {name: rng.integers(count, size=nodes) for name, count in sizes.property_classes},
        tops if sizes.tops else None,
    )


def random_rules(rng: np.random.Generator, sizes: HeadSizes, tokens: int, labels: int) -> list[list[tuple[int, int]]]:
    """Of some labels the (token, rule) that yield each: no two labels share one, for a rule yields one label there.

    Rules are for any token if the treebank has anchors, else some for any and some for one token.
    """
    parts = np.array_split(rng.permutation(np.arange(1, sizes.rules + 1)), labels)
    return [
        [(-1 if sizes.anchors or rng.random() < 0.5 else int(rng.integers(tokens)), int(rule)) for rule in part]
        for part in parts
    ]
