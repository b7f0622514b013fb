"""The fast enumeration of shared rules against the plain definition of the rule space."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perin.labels import LabelItem, RuleSpace, TokenRule
from perin.labels.minimal import problem
from perin.labels.minimal.occurrences import distinct_keys
from perin.labels.minimal.problem import LONGEST_LABEL, Cuts, HittingSetProblem

WORDS = st.text("abc-", min_size=0, max_size=4)
ITEMS = st.builds(
    lambda label, tokens: LabelItem(label, tuple(a for a, _ in tokens), tuple(b for _, b in tokens)),
    st.text("abc-12", max_size=4),
    st.lists(st.tuples(WORDS, WORDS), max_size=3),
)
SPACES = st.builds(RuleSpace, st.sampled_from([(), ("",), ("", "-"), ("-",), ("", "+", "-")]), st.booleans())


def coverage(enumerate_rules, keys, space):
    """Every rule of the space and the keys that it covers, by plain enumeration."""
    covered = {}
    for number, key in enumerate(keys.keys):
        for anchor in range(1) if space.anchored else range(len(key.forms)):
            for rule in enumerate_rules(key.label, key.forms[anchor:], key.lemmas[anchor:], space):
                covered.setdefault(rule, set()).add(number)
    return covered


@pytest.fixture(params=[1, 20, problem.BATCH])
def batch(request, monkeypatch):
    monkeypatch.setattr(problem, "BATCH", request.param)


@pytest.mark.usefixtures("batch")
def test_shared_rules_are_those_of_the_plain_definition(enumerate_rules):
    check(enumerate_rules)


@given(st.lists(ITEMS, max_size=7), SPACES)
@settings(deadline=None, max_examples=150)
def check(enumerate_rules, items, space):
    keys = distinct_keys(items)
    problem = HittingSetProblem.build(keys, space)
    decided = {problem.labels[label] for label in problem.decided}
    expected = {}
    for rule, covered in coverage(enumerate_rules, keys, space).items():
        undecided = {number for number in covered if keys.keys[number].label not in decided}
        if isinstance(rule, TokenRule) and len({keys.keys[number].label for number in undecided}) > 1:
            expected.setdefault(frozenset(undecided), set()).add(rule)
    first = len(problem.undecided) + len(problem.number_rules)
    found = {
        frozenset(problem.covered(element)): problem.rule(element)
        for element in range(first, first + len(problem.candidates))
    }
    assert len(found) == len(problem.candidates)
    assert found.keys() == expected.keys()
    for covered, rule in found.items():
        assert rule in expected[covered]
        assert cost(rule) == min(map(cost, expected[covered]))
    assert problem.candidates.shared == sum(map(len, expected.values()))


def cost(rule):
    dropped = rule.drop_left + rule.drop_right + max(rule.first - 1, 0)
    return dropped + rule.cut_left + rule.cut_right + len(rule.prefix + rule.suffix)


@given(st.lists(ITEMS, max_size=7), SPACES)
@settings(deadline=None, max_examples=150)
def test_decided_labels_have_a_key_that_shares_no_rule(enumerate_rules, items, space):
    keys = distinct_keys(items)
    problem = HittingSetProblem.build(keys, space)
    assert decidable(problem, keys, coverage(enumerate_rules, keys, space))


def decidable(problem, keys, covered):
    """Whether the decided labels can be decided one after the other, each because one of its keys shares nothing."""
    left = {problem.labels[label] for label in (*problem.undecided, *problem.decided)}
    waiting = {problem.labels[label] for label in problem.decided}
    while waiting:
        alone = {
            label for label in waiting if any(shares_nothing(n, keys, covered, left) for n in keys.by_label()[label])
        }
        if not alone:
            return False
        waiting -= alone
        left -= alone
    return True


def shares_nothing(number, keys, covered, labels):
    own = keys.keys[number].label
    shared = ({keys.keys[n].label for n in numbers} for numbers in covered.values() if number in numbers)
    return all(not (others - {own}) & labels for others in shared)


@given(st.sets(st.text("ab", max_size=5), max_size=6), st.data())
@settings(deadline=None)
def test_cuts_are_shared_as_by_definition(labels, data):
    ordered = sorted(labels)
    active = np.array([data.draw(st.booleans()) for _ in ordered], dtype=bool)
    cuts = Cuts(ordered)
    shared = cuts.shared_by(active)
    found = {
        (ordered[n], a, b) for n, a, b in zip(cuts.label[shared], cuts.start[shared], cuts.end[shared], strict=True)
    }
    expected = {
        (label, start, end)
        for label, on in zip(ordered, active, strict=True)
        for start in range(len(label))
        for end in range(start + 1, len(label) + 1)
        if on
        and any(
            other != label
            and is_active
            and len(other) > start + len(label) - end
            and other.startswith(label[:start])
            and other.endswith(label[end:])
            for other, is_active in zip(ordered, active, strict=True)
        )
    }
    assert found == expected


def test_longer_labels_are_not_cut():
    assert len(Cuts(["a" * LONGEST_LABEL, "b" * LONGEST_LABEL])) == 2
    assert len(Cuts(["a" * (LONGEST_LABEL + 1), "b" * (LONGEST_LABEL + 1)])) == 0
