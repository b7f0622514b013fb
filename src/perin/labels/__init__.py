"""Relative label rules: the rule space, applying a rule, the minimal rule set."""
