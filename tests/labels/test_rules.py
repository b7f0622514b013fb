"""Rules, their text form and the labels that they yield; enumeration is the inverse of application."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perin.errors import InputError
from perin.labels import AbsoluteRule, NumberRule, RuleSpace, TokenRule, apply, fold, parse

TEXTS = st.text(st.characters(), max_size=6)  # lone surrogates and control characters included
SMALL = st.integers(0, 9)
RULES = st.one_of(
    st.builds(AbsoluteRule, TEXTS),
    st.builds(NumberRule, st.sampled_from(["eng", "deu", "ces", "zho"]), SMALL, TEXTS),
    st.builds(TokenRule, st.sampled_from(["token", "lemma"]), SMALL, SMALL, TEXTS, SMALL, SMALL, TEXTS, TEXTS),
    st.builds(
        TokenRule,
        st.sampled_from(["token", "lemma"]),
        st.just(0),
        st.just(0),
        TEXTS,
        SMALL,
        SMALL,
        TEXTS,
        TEXTS,
        st.integers(1, 9),
    ),
)


@given(RULES)
@settings(deadline=None, max_examples=300)
def test_text_form_can_be_parsed_and_written_to_a_file(rule):
    text = str(rule)
    assert parse(text) == rule
    assert parse(text.encode("utf-8").decode("utf-8")) == rule
    assert "\n" not in text


@given(RULES, RULES)
@settings(deadline=None)
def test_different_rules_have_different_texts(first, second):
    assert (str(first) == str(second)) == (first == second)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "absolute",
        "absolute()",
        'absolute("a"',
        'absolute("a", "b")',
        "absolute(a)",
        "absolute(1)",
        'relative("a")',
        'token(0, 0, "", 0, 0, "")',
        'token(0, -1, "", 0, 0, "", "")',
        'token(0, true, "", 0, 0, "", "")',
        'token(0, 0.0, "", 0, 0, "", "")',
        'token_first(0, "", 0, 0, "", "")',
        'number("eng")',
        'absolute("a") ',
        ' absolute("a")',
        'absolute("a"] + [")',
    ],
)
def test_what_is_no_rule_is_an_error(text):
    with pytest.raises(InputError, match="no label rule"):
        parse(text)


@pytest.mark.parametrize(
    ("rule", "forms", "lemmas", "label"),
    [
        (
            'token(0, 1, "+", 0, 0, "_", "_a_1")',
            ("at", "the", "very", "least", ","),
            ("",) * 5,
            "_at+the+very+least_a_1",
        ),
        ('token(0, 0, "", 0, 3, "", "e")', ("diving",), ("x",), "dive"),
        ('lemma(0, 0, "", 0, 0, "_", "_v_1")', ("went",), ("go",), "_go_v_1"),
        ('lemma(1, 0, "", 0, 0, "", "")', ("a", "b"), ("c", "d"), "d"),
        ('token_first(2, "~", 0, 0, "", ".n.01")', ("ice", "cream", "melts"), ("",) * 3, "ice~cream.n.01"),
        ('number("eng", 0, "")', ("forty", "two"), (), "42"),
        ('number("eng", 2, "")', ("two", "hundred", "dogs"), (), "200"),
        ('number("eng", 0, "_")', ("1234567",), (), "1_234_567"),
        ('number("eng", 0, "_")', ("999",), (), "999"),
        ('absolute("udef_q")', (), (), "udef_q"),
    ],
)
def test_rules_yield_labels(rule, forms, lemmas, label):
    assert apply(parse(rule), forms, lemmas) == label


@pytest.mark.parametrize(
    ("rule", "forms"),
    [
        ('token(0, 0, "", 0, 0, "", "")', ()),
        ('token(1, 0, "", 0, 0, "", "")', ("a",)),
        ('token(0, 2, "", 0, 0, "", "")', ("a",)),
        ('token(0, 0, "", 1, 0, "x", "y")', ("a",)),
        ('token(0, 0, "", 1, 1, "", "")', ("ab",)),
        ('token(0, 0, "", 5, 1, "", "")', ("ab",)),
        ('token(0, 0, "", 0, 0, "x", "")', ("",)),
        ('token_first(2, "", 0, 0, "", "")', ("a",)),
        ('token_first(2, "", 2, 0, "", "")', ("ab", "cd")),
        ('token_first(2, "", 0, 2, "", "")', ("ab", "cd")),
        ('number("eng", 0, "")', ()),
        ('number("eng", 3, "")', ("two", "hundred")),
        ('number("eng", 0, "")', ("dog",)),
    ],
)
def test_rules_that_do_not_fit_are_undefined(rule, forms):
    assert apply(parse(rule), forms, forms) is None


def test_case_of_kept_characters_is_chosen_and_affixes_stay():
    rule = parse('token(0, 0, "", 0, 0, "_", "/NN_u_unknown")')
    assert apply(rule, ("Perin",), ("perin",)) == "_Perin/NN_u_unknown"
    assert apply(rule, ("Perin",), ("perin",), case="lower") == "_perin/NN_u_unknown"


@given(st.text(max_size=8))
@settings(deadline=None)
def test_folding_keeps_positions(text):
    assert len(fold(text)) == len(text)
    assert fold(fold(text)) == fold(text)
    assert fold(text) == "".join(map(fold, text))


ALPHABET = "ab-"
WORDS = st.text(ALPHABET, max_size=3)
SPACES = st.builds(RuleSpace, st.sampled_from([(), ("",), ("", "-"), ("-", "ab")]), st.booleans())


def affixes(longest):
    return ["".join(letters) for length in range(longest + 1) for letters in product(ALPHABET, repeat=length)]


def whole_space(space, count, longest_text, longest_affix):
    """Every token and lemma rule up to these sizes; a separator that is never used is the first one."""
    if space.anchored:
        spans = [(left, right, 0, s) for left in range(count) for right in range(count) for s in space.separators]
    else:
        spans = [(0, 0, first, s) for first in range(1, count + 2) for s in space.separators]
        spans = [span for span in spans if span[2] > 1 or span[3] == space.separators[0]]
    cuts = range(longest_text + 1)
    for source in ("token", "lemma"):
        for left, right, first, separator in spans:
            for cut_left, cut_right in product(cuts, cuts):
                for prefix, suffix in product(affixes(longest_affix), repeat=2):
                    yield TokenRule(source, left, right, separator, cut_left, cut_right, prefix, suffix, first)


@given(st.text(ALPHABET, min_size=1, max_size=3), st.lists(st.tuples(WORDS, WORDS), max_size=2), SPACES)
@settings(deadline=None, max_examples=25)
def test_brute_force_finds_the_same_rules(enumerate_rules, label, tokens, space):
    forms, lemmas = tuple(form for form, _ in tokens), tuple(lemma for _, lemma in tokens)
    longest = max((len("ab".join(words)) for words in (forms, lemmas)), default=0)
    expected = {
        rule for rule in whole_space(space, len(tokens), longest, len(label) - 1) if apply(rule, forms, lemmas) == label
    }
    found = list(enumerate_rules(label, forms, lemmas, space))
    assert len(found) == len(set(found))
    assert set(found) == expected | {AbsoluteRule(label)}


@given(
    st.text("abAB_1", max_size=8),
    st.lists(st.tuples(st.text("abAB", max_size=5), st.text("ab", max_size=5)), max_size=4),
    st.booleans(),
)
@settings(deadline=None, max_examples=200)
def test_every_rule_yields_the_label_without_case(enumerate_rules, label, tokens, anchored):
    forms, lemmas = tuple(form for form, _ in tokens), tuple(lemma for _, lemma in tokens)
    for rule in enumerate_rules(label, forms, lemmas, RuleSpace(("", "_"), anchored, "eng")):
        assert apply(rule, forms, lemmas).lower() == label.lower()


def test_number_rules_are_enumerated(enumerate_rules):
    forms = ("two", "hundred", "dogs")
    anchored = list(enumerate_rules("200", forms[:2], forms[:2], RuleSpace((), True, "eng")))
    assert anchored == [AbsoluteRule("200"), NumberRule("eng", 0)]
    free = list(enumerate_rules("200", forms, forms, RuleSpace((), False, "eng")))
    assert free == [AbsoluteRule("200"), NumberRule("eng", 2)]
    groups = list(enumerate_rules("1_000", ("1000",), ("1000",), RuleSpace((), True, "eng", ("", "_"))))
    assert groups == [AbsoluteRule("1_000"), NumberRule("eng", 0, "_")]
