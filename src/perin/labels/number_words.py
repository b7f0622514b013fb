"""The number rules that yield the labels of a treebank."""

from __future__ import annotations

from collections.abc import Sequence

from perin.labels.enumeration import number_rules
from perin.labels.keys import Key
from perin.labels.rules import NumberRule, apply
from perin.labels.space import RuleSpace


def number_coverage(keys: Sequence[Key], space: RuleSpace) -> dict[NumberRule, list[int]]:
    """The numbers of the keys that each number rule covers, for the rules that yield at least two labels."""
    if space.number_language is None:
        return {}
    by_text: dict[tuple[str, ...], list[int]] = {}
    for number, key in enumerate(keys):
        if may_be_number(key.label):
            by_text.setdefault(key.forms, []).append(number)
    covered: dict[NumberRule, set[int]] = {}
    for forms, numbers in by_text.items():
        for anchor in range(1 if space.anchored else len(forms)):
            seen = forms[anchor:]
            for rule in number_rules(len(seen), space):
                yielded = apply(rule, seen, ())
                if yielded is not None:
                    covered.setdefault(rule, set()).update(n for n in numbers if keys[n].label == yielded)
    shared = {rule: found for rule, found in covered.items() if len({keys[number].label for number in found}) > 1}
    return {rule: sorted(shared[rule]) for rule in sorted(shared, key=str)}


def may_be_number(label: str) -> bool:
    """Whether a label begins as the result of a number rule does."""
    return label[:1].isdigit() or label[:1] == "-"
