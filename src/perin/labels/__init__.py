"""Relative label rules: the rule space, applying a rule, the minimal rule set."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from perin.labels.rules import AbsoluteRule, Case, LabelItem, NumberRule, Rule, RuleSpace, TokenRule, apply, fold, parse
from perin.labels.ruleset import ANY_TOKEN, LabelEncoding, RuleSet

if TYPE_CHECKING:
    from perin.labels.minimal import LearnedRules, learn_rules

_NEED_SCIPY = ("LearnedRules", "learn_rules")

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


def __getattr__(name: str) -> Any:
    """Import what needs SciPy on first use, so that applying rules costs nothing more."""
    if name in _NEED_SCIPY:
        return getattr(importlib.import_module("perin.labels.minimal"), name)
    raise AttributeError(f"module 'perin.labels' has no attribute {name!r}")
