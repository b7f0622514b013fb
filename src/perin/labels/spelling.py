"""The case of rules: they are learned without case and written as most of the labels are that they yield."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from perin.labels.keys import Keys
from perin.labels.rules import AbsoluteRule, NumberRule, Rule


def spelled(chosen: Mapping[Rule, Sequence[int]], keys: Keys) -> list[Rule]:
    """Rules with the usual case of their affixes or labels, the rules of the most nodes first.

    ``chosen`` are rules in lower case with the keys that they cover.
    """
    counts = {rule: sum(keys.nodes[number] for number in numbers) for rule, numbers in chosen.items()}
    ordered = sorted(chosen, key=lambda rule: (-counts[rule], str(rule)))
    return [_spelled(rule, chosen[rule], keys) for rule in ordered]


def _spelled(rule: Rule, numbers: Sequence[int], keys: Keys) -> Rule:
    if isinstance(rule, NumberRule):
        return rule
    labels: Counter[str] = Counter()
    for number in numbers:
        labels.update(keys.spellings[number])
    if isinstance(rule, AbsoluteRule):
        return AbsoluteRule(_most_common(labels))
    before, after = len(rule.prefix), len(rule.suffix)
    affixes: Counter[tuple[str, str]] = Counter()
    for label, count in labels.items():
        affixes[label[:before], label[len(label) - after :]] += count
    prefix, suffix = min(affixes, key=lambda pair: (-affixes[pair], pair))
    return replace(rule, prefix=prefix, suffix=suffix)


def _most_common(labels: Counter[str]) -> str:
    return min(labels, key=lambda label: (-labels[label], label))
