"""The minimal rule set: the fewest rules such that every node has at least one (the paper's section of that name)."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import perin
from perin.errors import InputError
from perin.files import read_cached, write_cached
from perin.labels.minimal.hitting import NODE_LIMIT, minimum_hitting_set
from perin.labels.minimal.occurrences import Key, Keys, distinct_keys, spelled
from perin.labels.minimal.problem import HittingSetProblem
from perin.labels.rules import AbsoluteRule, LabelItem, Rule, RuleSpace, apply
from perin.labels.ruleset import RuleSet

# Learned rule sets on disk, by the content that they were learned from.


Result = TypeVar("Result")

VERSION = 1
"""To be raised when the same input would give another result."""


class RuleCache:
    """The place of one result in a folder of results, named after a hash of all that the result depends on.

    A file appears only when it is complete, so that an interrupted run leaves nothing behind.
    """

    def __init__(self, folder: str | os.PathLike[str], keys: Keys, space: RuleSpace, node_limit: int) -> None:
        content = hashlib.sha256(json.dumps([perin.__version__, VERSION, node_limit, space.to_json()]).encode())
        for key, spellings in zip(keys.keys, keys.spellings, strict=True):
            content.update(json.dumps([*key, sorted(spellings.items())]).encode())
        self.path = Path(folder) / f"rules-{content.hexdigest()[:32]}.json"

    def load(self, decode: Callable[[Any], Result]) -> Result | None:
        """The result that is kept, or None; a file that is damaged counts as missing."""
        content = read_cached(self.path)
        try:
            return None if content is None else decode(json.loads(content))
        except (ValueError, InputError):
            return None

    def store(self, data: Any) -> None:
        """Keep a result, where the folder can be written."""
        write_cached(self.path, json.dumps(data).encode())


_FIELDS = ("nodes", "labels", "candidates", "lower_bound", "seconds")


@dataclass(frozen=True)
class LearnedRules:
    """A minimal rule set and what is known about it."""

    rules: RuleSet
    nodes: int
    labels: int
    """Distinct labels, without case."""
    candidates: int
    """The rules that could belong to a minimal set: absolute ones, and others that yield at least two labels."""
    lower_bound: int
    """No set of fewer rules covers all nodes: proven."""
    seconds: float
    """Wall time of learning."""

    @property
    def optimal(self) -> bool:
        """Whether the set is proven to be minimal."""
        return self.lower_bound == len(self.rules)

    def to_json(self) -> dict[str, Any]:
        """As a JSON object."""
        return {**self.rules.to_json(), **{name: getattr(self, name) for name in _FIELDS}}

    @classmethod
    def from_json(cls, data: Any) -> LearnedRules:
        """From :meth:`to_json`; :class:`~perin.errors.InputError` if it is none."""
        rules = RuleSet.from_json(data)
        try:
            return cls(rules, *(data[name] for name in _FIELDS))
        except KeyError as error:
            raise InputError(f"no learned rule set: {error} is missing; learn it again") from None


def learn_rules(
    items: Iterable[LabelItem],
    space: RuleSpace,
    *,
    processes: int = 1,
    progress: bool = False,
    cache: str | os.PathLike[str] | None = None,
    node_limit: int = NODE_LIMIT,
) -> LearnedRules:
    """The smallest rule set of the space that covers all items; always the same for the same items in any order.

    ``processes`` share the search in the tokens; ``progress`` shows a bar on standard error.  ``cache`` is a folder
    where the result is kept for the next time that the same items are asked for.  ``node_limit`` bounds the search of
    the integer program: where it is hit, the set may be larger than the lower bound.
    """
    start = time.perf_counter()
    keys = distinct_keys(items)
    space = space.with_capitals(keys.capitals[False], keys.capitals[True])
    place = None if cache is None else RuleCache(cache, keys, space, node_limit)
    known = None if place is None else place.load(LearnedRules.from_json)
    if known is not None:
        return known
    problem = HittingSetProblem.build(keys, space, processes=processes, progress=progress)
    hitting = minimum_hitting_set(problem.sets(), problem.cost, node_limit=node_limit)
    chosen = {problem.rule(element): problem.covered(element) for element in hitting.elements}
    chosen.update(problem.absolute())
    chosen.update(_uncovered(chosen, keys, space))
    learned = LearnedRules(
        RuleSet(space, spelled(chosen, keys)),
        sum(keys.nodes),
        len(problem.labels),
        problem.size,
        hitting.lower_bound + len(problem.absolute()),
        time.perf_counter() - start,
    )
    if place is not None:
        place.store(learned.to_json())
    return learned


def _uncovered(chosen: Mapping[Rule, Sequence[int]], keys: Keys, space: RuleSpace) -> dict[Rule, Sequence[int]]:
    """Absolute rules for the labels of keys that no chosen rule yields.

    There are none unless two rules had the same hash (see :mod:`perin.labels.minimal.candidates`).
    """
    by_key: dict[int, list[Rule]] = {}
    for rule, numbers in chosen.items():
        for number in numbers:
            by_key.setdefault(number, []).append(rule)
    missed = {
        key.label: AbsoluteRule(key.label)
        for number, key in enumerate(keys.keys)
        if not any(_yields(rule, key, space) for rule in by_key.get(number, ()))
    }
    by_label = keys.by_label()
    return {rule: by_label[label] for label, rule in missed.items()}


def _yields(rule: Rule, key: Key, space: RuleSpace) -> bool:
    """Whether a rule yields the label of a key from the tokens that it may see."""
    if isinstance(rule, AbsoluteRule):
        return rule.label == key.label
    anchors = range(1 if space.anchored else len(key.forms))
    return any(apply(rule, key.forms[anchor:], key.lemmas[anchor:]) == key.label for anchor in anchors)
