"""Properties whose values a lexicon lists by node label: valency frames of PTG.

A frame such as ``v#v-w8671f1`` names an entry of the lexicon (``w8671``) and a frame in it (``f1``).  The entry follows
from the label, so the class that the network learns is the frame alone, unless the label has two such frames.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from perin.frameworks.vocabulary import Lexicon

_FRAME = re.compile(r"f[^f]*$")

Uses: TypeAlias = Mapping[str, Counter[str]]
"""By label: how often each value occurs."""


def lexicon(uses: Uses) -> Lexicon:
    """The lexicon of a treebank; values of a label by frequency, then alphabetically."""
    return {
        label: tuple(sorted(counts, key=lambda value: (-counts[value], value)))
        for label, counts in sorted(uses.items())
    }


def class_name(value: str, listed: Iterable[str]) -> str:
    """The class of a value of a label for which the lexicon lists these values.

    >>> class_name("v#v-w8671f1", ["v#v-w8671f1", "v#v-w8671f2"])
    'f1'
    >>> class_name("v#v-w1f1", ["v#v-w1f1", "v#v-w2f1"])
    'v#v-w1f1'
    """
    ending = frame(value)
    return ending if sum(frame(other) == ending for other in listed) <= 1 else value


def frame(value: str) -> str:
    """The part of a value from its last ``f`` on; a value without one is its own frame."""
    found = _FRAME.search(value)
    return found.group() if found else value


def class_numbers(listed: Sequence[str], classes: Sequence[str]) -> list[int]:
    """Of each listed value the class that speaks for it: its own, else its frame's, else 0.

    >>> class_numbers(["v#v-w1f1", "v#v-w2f1", "v#v-w2f3"], ["f1", "v#v-w2f1"])
    [1, 2, 0]
    """
    numbers = {name: number for number, name in enumerate(classes, start=1)}
    return [numbers.get(value, numbers.get(frame(value), 0)) for value in listed]


def merged(first: Lexicon, second: Lexicon) -> Lexicon:
    """All values of both lexica; those of the first come first.

    >>> merged({"jet": ("f1",)}, {"jet": ("f2", "f1"), "spát": ("f1",)})
    {'jet': ('f1', 'f2'), 'spát': ('f1',)}
    """
    labels = dict.fromkeys((*first, *second))
    return {label: tuple(dict.fromkeys((*first.get(label, ()), *second.get(label, ())))) for label in labels}
