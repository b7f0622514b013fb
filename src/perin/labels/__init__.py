"""Relative label rules: the rule space, applying a rule, the minimal rule set."""

from perin.labels.rules import AbsoluteRule, NumberRule, Rule, TokenRule, apply, parse
from perin.labels.ruleset import ANY_TOKEN, Encoding, RuleSet
from perin.labels.space import Case, LabelItem, RuleSpace, fold

__all__ = [
    "ANY_TOKEN",
    "AbsoluteRule",
    "Case",
    "Encoding",
    "LabelItem",
    "NumberRule",
    "Rule",
    "RuleSet",
    "RuleSpace",
    "TokenRule",
    "apply",
    "fold",
    "parse",
]
