"""Enumeration is the inverse of application: brute force over a whole small space finds the same rules."""

from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from perin.labels import AbsoluteRule, NumberRule, RuleSpace, TokenRule, apply
from perin.labels.enumeration import enumerate_rules

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
def test_brute_force_finds_the_same_rules(label, tokens, space):
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
def test_every_rule_yields_the_label_without_case(label, tokens, anchored):
    forms, lemmas = tuple(form for form, _ in tokens), tuple(lemma for _, lemma in tokens)
    for rule in enumerate_rules(label, forms, lemmas, RuleSpace(("", "_"), anchored, "eng")):
        assert apply(rule, forms, lemmas).lower() == label.lower()


def test_number_rules_are_enumerated():
    forms = ("two", "hundred", "dogs")
    anchored = list(enumerate_rules("200", forms[:2], forms[:2], RuleSpace((), True, "eng")))
    assert anchored == [AbsoluteRule("200"), NumberRule("eng", 0)]
    free = list(enumerate_rules("200", forms, forms, RuleSpace((), False, "eng")))
    assert free == [AbsoluteRule("200"), NumberRule("eng", 2)]
    groups = list(enumerate_rules("1_000", ("1000",), ("1000",), RuleSpace((), True, "eng", ("", "_"))))
    assert groups == [AbsoluteRule("1_000"), NumberRule("eng", 0, "_")]
