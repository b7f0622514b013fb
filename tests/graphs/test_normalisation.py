"""Expected values are those of docs on the metric: inverse roles, trimmed anchors, folded case."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perin.graphs import Anchor, Edge, Property, load
from perin.graphs.normalisation import PUNCTUATION, SPACE, folded, normal_anchors, normal_attributes, normal_edge


@pytest.mark.parametrize(
    ("label", "normal", "expected"),
    [
        ("ARG0", None, (0, 1, "ARG0")),
        ("ARG0-of", None, (1, 0, "ARG0")),
        ("mod", None, (1, 0, "domain")),
        ("Mod", None, (0, 1, "Mod")),
        ("ARG0-OF", None, (0, 1, "ARG0-OF")),
        ("consist-of", None, (1, 0, "consist")),
        ("consist-of-of", None, (1, 0, "consist-of")),
        ("prep-out-of", None, (0, 1, "prep-out-of")),
        ("prep-out-of-of", None, (1, 0, "prep-out-of")),
        ("ARG0-of", "quant", (1, 0, "quant")),
        ("ARG0-of", "", (0, 1, "ARG0-of")),
        ("", None, (0, 1, None)),
        (None, None, (0, 1, None)),
    ],
)
def test_inverse_edges(label, normal, expected):
    assert normal_edge(Edge(0, 1, label, normal=normal)) == expected


def test_default_attributes_are_dropped():
    pairs = [Property("remote", False), Property("Remote", "FALSE"), Property("member", True), Property("other", False)]
    assert normal_attributes(pairs) == [("member", "true"), ("other", "false")]


@pytest.mark.parametrize(
    ("value", "expected"), [("AbC", "abc"), (1, "1"), (1.5, "1.5"), (True, "true"), (None, "none")]
)
def test_folding(value, expected):
    assert folded(value) == expected


TEXT = "Kim (a cat), sleeps . . ."


@pytest.mark.parametrize(
    ("anchors", "characters"),
    [
        ([(0, 3)], "Kim"),
        ([(0, 4)], "Kim"),
        ([(4, 12)], "acat"),
        ([(0, 3), (13, 19)], "Kimsleeps"),
        ([(20, 25)], ""),
        ([(0, 4), (5, 6)], "Kima"),
        ([(-5, 2)], "Ki"),
        ([(13, 99)], "sleeps"),
    ],
)
def test_anchors_as_characters(anchors, characters):
    positions = normal_anchors([Anchor(*ends) for ends in anchors], TEXT)
    assert "".join(TEXT[position] for position in sorted(positions)) == characters


def test_no_anchors_and_no_input():
    assert normal_anchors(None, TEXT) is None
    assert normal_anchors([], TEXT) is None
    assert normal_anchors([Anchor(3, 3)], TEXT) is None
    assert normal_anchors([Anchor(2, 4), Anchor(4, 5), Anchor(9, 9)], None) == ((2, 5),)


def by_characters(anchors: list[Anchor], text: str) -> frozenset[int]:
    """The definition of the metric, character by character."""
    covered = sorted({position for start, end in anchors for position in range(start, end)})
    runs: list[list[int]] = []
    for position in covered:
        if runs and (position == runs[-1][-1] + 1 or all(c in SPACE for c in text[runs[-1][-1] : position])):
            runs[-1].append(position)
        else:
            runs.append([position])
    kept: set[int] = set()
    for run in runs:
        inside = list(range(max(run[0], 0), min(run[-1] + 1, len(text))))
        while inside and text[inside[0]] in PUNCTUATION:
            inside.pop(0)
        while inside and text[inside[-1]] in PUNCTUATION:
            inside.pop()
        kept.update(position for position in inside if text[position] not in SPACE)
    return frozenset(kept)


@given(st.text("ab .,\t—", min_size=1, max_size=12), st.data())
@settings(deadline=None, max_examples=300)
def test_anchors_agree_with_the_definition(text, data):
    end = st.integers(0, len(text))
    ranges = data.draw(st.lists(st.tuples(end, end), min_size=1, max_size=4))
    anchors = [Anchor(min(ends), max(ends)) for ends in ranges]
    expected = by_characters(anchors, text)
    found = normal_anchors(anchors, text)
    assert found == expected or (found is None and all(start == end for start, end in anchors))


CASES = [
    "anchors-discontinuous-trim-each",
    "anchors-internal-punctuation-counts",
    "anchors-internal-space-ignored",
    "anchors-merge-before-trim",
    "anchors-non-ascii-not-trimmed",
    "anchors-out-of-range",
    "anchors-punctuation-only-empty-set",
    "anchors-split-equals-joined",
    "anchors-trim",
]


@pytest.mark.parametrize("case", CASES)
def test_anchors_agree_with_the_official_scorer(shared, case):
    """With one node a side, the scorer counts a correct anchor exactly if both normal forms are equal."""
    folder = shared / "fixtures" / "edge_cases" / case
    expected = json.loads((folder / "expected.json").read_text())["anchors"]
    sides = []
    for name in ("gold.mrp", "system.mrp"):
        (graph,) = load(folder / name, report=lambda finding: None)
        sides.append([normal_anchors(node.anchors, graph.input) for node in graph.nodes])
    gold, system = sides
    assert expected["g"] == sum(side is not None for side in gold)
    assert expected["s"] == sum(side is not None for side in system)
    if len(gold) == len(system) == 1:
        assert expected["c"] == (gold == system)
