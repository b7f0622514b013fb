"""Relative label rules: the rule space, applying a rule, the minimal rule set."""

from __future__ import annotations

from typing import TYPE_CHECKING

from perin.labels.rules import AbsoluteRule, Case, LabelItem, NumberRule, Rule, RuleSpace, TokenRule, apply, fold, parse
from perin.labels.ruleset import ANY_TOKEN, LabelEncoding, RuleSet
from perin.lazy import imported_on_use

if TYPE_CHECKING:
    from perin.labels.minimal import LearnedRules, learn_rules

__all__ = [
    "ANY_TOKEN",
    "AbsoluteRule",
    "Case",
    "LabelEncoding",
    "LabelItem",
    "LearnedRules",
    "NumberRule",
    "Rule",
    "RuleSet",
    "RuleSpace",
    "TokenRule",
    "apply",
    "fold",
    "learn_rules",
    "parse",
]

# These need SciPy, whose import takes longer than all that a parser needs.
__getattr__ = imported_on_use("perin.labels", dict.fromkeys(("LearnedRules", "learn_rules"), "perin.labels.minimal"))
