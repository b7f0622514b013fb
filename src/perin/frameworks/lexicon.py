"""Properties whose values a lexicon lists by node label: valency frames of PTG.

A frame such as ``v#v-w8671f1`` names an entry of the lexicon (``w8671``) and a frame in it (``f1``).  The entry follows
from the label, so the class that the network learns is the frame alone, unless the label has two such frames.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias
from xml.etree import ElementTree

from perin.errors import InputError
from perin.frameworks.vocabulary import Lexicon
from perin.labels.rules import fold

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


# Reader of valency lexica in XML: PDT-Vallex, EngVallex and the two halves of CzEngVallex.
#
# Written from the public description of the PDT-Vallex file; not tried on an original file, which is not free to pass
# on. A ``word`` element has a ``lemma`` and holds ``frame`` elements with an ``id`` each.


def read_vallex(path: str | os.PathLike[str], prefix: str = "v#") -> Lexicon:
    """The frames of each lemma in file order, with the prefix that the treebank puts before frame ids.

    Spaces in lemmas are underscores in graphs (``bát se``, ``bát_se``).
    """
    entries: dict[str, dict[str, None]] = {}
    try:
        for _, element in ElementTree.iterparse(path):
            if element.tag == "word":
                lemma = fold(element.get("lemma", "").replace(" ", "_"))
                frames = entries.setdefault(lemma, {})
                frames.update({prefix + id: None for frame in element.iter("frame") if (id := frame.get("id"))})
                element.clear()
    except ElementTree.ParseError as error:
        raise InputError(
            f"no XML ({error}); expected a Vallex file", source=os.fspath(path), line=error.position[0]
        ) from None
    except OSError as error:
        raise InputError(f"can't be read: {error.strerror or error}", source=os.fspath(path)) from None
    lexicon = {lemma: tuple(frames) for lemma, frames in entries.items() if frames}
    if not lexicon:
        raise InputError("no word with a frame in it; expected a Vallex file", source=os.fspath(path))
    return lexicon


def usual_prefix(lexicon: Lexicon) -> str:
    """What most values of a treebank's lexicon have before the id of the frame: all up to ``#``.

    >>> usual_prefix({"go": ("en-v#ev-w1f1", "en-v#ev-w1f2"), "be": ("2",)})
    'en-v#'
    """
    prefixes = Counter(value[: value.rfind("#") + 1] for values in lexicon.values() for value in values)
    return prefixes.most_common(1)[0][0] if prefixes else ""
