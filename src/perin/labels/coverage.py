"""How many labels of other text a rule set can yield, beside what a plain list of labels would."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from perin.labels.ruleset import RuleSet
from perin.labels.space import LabelItem, fold


@dataclass(frozen=True)
class Coverage:
    """Numbers of nodes: all, those whose label a rule yields from the right tokens, those whose label was seen before.

    ``with_case``: a rule yields the label with every letter in the right case.
    """

    nodes: int
    rules: int
    with_case: int
    vocabulary: int

    def share(self, nodes: int) -> float:
        """A part of all nodes, from 0 to 1; of no nodes everything."""
        return nodes / self.nodes if self.nodes else 1.0


def coverage(rules: RuleSet, labels: Collection[str], items: Iterable[LabelItem]) -> Coverage:
    """The coverage of items by a rule set and by the folded ``labels`` of its training data."""
    nodes = covered = with_case = known = 0
    for item, count in Counter(items).items():
        encodings = rules.encodings(item)
        nodes += count
        covered += count * bool(encodings)
        known += count * (fold(item.label) in labels)
        with_case += count * any(
            rules.apply(number, item.forms, item.lemmas, max(token, 0), value=item.value) == item.label
            for token, number in encodings
        )
    return Coverage(nodes, covered, with_case, known)
