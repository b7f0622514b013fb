"""Rule sets: which rules yield a label from which token, distributions, anchors, JSON."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import perin.labels
from perin.errors import InputError
from perin.labels import ANY_TOKEN, AbsoluteRule, LabelEncoding, LabelItem, RuleSet, RuleSpace, apply, fold, parse

TOKENS = st.lists(st.tuples(st.text("abA-", max_size=3), st.text("ab-", max_size=3)), max_size=4)


def rule_set(*texts, anchored=True, separators=("", "-")):
    return RuleSet(RuleSpace(separators, anchored, "eng"), map(parse, texts))


@given(st.data(), st.booleans())
@settings(deadline=None, max_examples=150)
def test_encodings_are_what_application_says(enumerate_rules, data, anchored):
    space = RuleSpace(("", "-"), anchored, "eng")
    rules = {}
    for label, tokens in data.draw(st.lists(st.tuples(st.text("abA-1", min_size=1, max_size=4), TOKENS), max_size=3)):
        enumerated = list(enumerate_rules(label, [form for form, _ in tokens], [lemma for _, lemma in tokens], space))
        rules.update(dict.fromkeys(data.draw(st.lists(st.sampled_from(enumerated), max_size=12))))
    learned = RuleSet(space, rules)
    label, tokens = data.draw(st.tuples(st.text("abA-1", max_size=4), TOKENS))
    item = LabelItem(label, tuple(form for form, _ in tokens), tuple(lemma for _, lemma in tokens))
    expected = []
    for number, rule in enumerate(learned, start=1):
        if isinstance(rule, AbsoluteRule):
            expected += [LabelEncoding(ANY_TOKEN, number)] * (rule.label.lower() == label.lower())
            continue
        for token in [0] if anchored else range(len(tokens)):
            yielded = apply(rule, item.forms[token:], item.lemmas[token:])
            if yielded is not None and fold(yielded) == fold(label):
                expected.append(LabelEncoding(ANY_TOKEN if anchored else token, number))
    assert learned.encodings(item) == expected


def test_numbers_start_at_one():
    rules = rule_set('absolute("a")', 'absolute("b")')
    assert (rules[1], rules[2]) == (AbsoluteRule("a"), AbsoluteRule("b"))
    for number in (0, 3, -1):
        with pytest.raises(IndexError):
            rules[number]


def test_encodings_are_in_order_of_rule_and_token():
    rules = rule_set(
        'token_first(1, "", 0, 0, "", "-01")', 'lemma_first(1, "", 0, 0, "", "-01")', 'absolute("x")', anchored=False
    )
    item = LabelItem("go-01", ("Go", "go", "went"), ("go", "go", "go"))
    assert rules.encodings(item) == [(0, 1), (1, 1), (0, 2), (1, 2), (2, 2)]
    assert rules.anchors(item) == (0, 1, 2)


def test_a_node_with_absolute_rules_only_has_no_anchors():
    rules = rule_set('absolute("person")', anchored=False)
    item = LabelItem("person", ("They",), ("they",))
    assert rules.encodings(item) == [(ANY_TOKEN, 1)]
    assert rules.anchors(item) == ()


def test_case_follows_the_space():
    space = RuleSpace(("",), True, None, label_case="lower", value_case="token")
    rules = RuleSet(space, [parse('token(0, 0, "", 0, 0, "_", "_n_1")'), parse('token(0, 0, "", 0, 0, "", "")')])
    assert rules.apply(1, ("Algorithm",), ("algorithm",)) == "_algorithm_n_1"
    assert rules.apply(2, ("Hilbert",), ("hilbert",), value=True) == "Hilbert"


def test_application_starts_at_the_anchor():
    rules = rule_set('token_first(2, "-", 0, 0, "", "")', anchored=False)
    assert rules.apply(1, ("a", "b", "c"), ("a", "b", "c"), anchor=1) == "b-c"
    assert rules.apply(1, ("a", "b", "c"), ("a", "b", "c"), anchor=2) is None


def test_json_there_and_back():
    rules = rule_set('absolute("ČR\\u0001")', 'token(0, 1, "+", 0, 0, "_", "")', 'number("eng", 0, "")')
    assert RuleSet.from_json(json.loads(json.dumps(rules.to_json()))) == rules


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        {},
        {"rules": []},
        {"space": {}, "rules": []},
        {"space": RuleSpace().to_json(), "rules": ["nonsense"]},
        {"space": RuleSpace().to_json(), "rules": [1]},
        {"space": {**RuleSpace().to_json(), "other": 1}, "rules": []},
    ],
)
def test_what_is_no_rule_set_is_an_error(data):
    with pytest.raises(InputError, match=r"no rule set|no label rule"):
        RuleSet.from_json(data)


def test_all_names_exist():
    assert sorted(perin.labels.__all__, key=str.lower) == sorted(set(perin.labels.__all__), key=str.lower)
    for name in perin.labels.__all__:
        assert getattr(perin.labels, name) is not None


def test_other_names_do_not():
    with pytest.raises(AttributeError, match="nonsense"):
        perin.labels.nonsense  # noqa: B018


def test_applying_rules_needs_no_numpy():
    program = "import sys, perin.labels; sys.exit(bool({'numpy', 'scipy'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
