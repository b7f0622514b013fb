"""Chinese AMR: variables that count words (``x4_x5``: words 4 and 5), and the words of relations (``:arg0(x3)``).

    # ::snt 他 没有 来
    (x3 / 来-01 :polarity(x2) (x2_1 / -) :arg0() (x1 / 他))

``x2_1`` is the first character of word 2.  A number beyond the sentence is a concept that no word stands for.  A
variable may be written out several times, always with the same concept; ``(x7 / x2)`` says that word 7 means what x2
means.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from perin.errors import Severity
from perin.graphs.codecs.penman_text import QUOTED
from perin.graphs.graph import Anchor

WORDS = "\ue000"
"""Parts the role from the words of the relation in rewritten text; a private character, which no role holds."""

_INDEX = r"x[0-9]{1,6}(?:_x?[0-9]{1,6})*"
_NOTATION = re.compile(
    rf"{QUOTED}"
    r'|(?P<role>:[^\s()":/~]+)\((?P<words>[^()":]*)\)(?=\s*[^\s):])'
    rf"|(?P<before>:[^\s()\":/~]+\s+){_INDEX}/(?P<value>[^\s()\"]+)"
)
_VARIABLE = re.compile(_INDEX)
_WORD = re.compile(r"x([0-9]{1,6})((?:_[0-9]{1,6})*)")
_HAN = re.compile("[\u3400-\u9fff]")
_CHINESE_HEADER = re.compile("wid|[0-9]{4}-[0-9]{2}-[0-9]{2}")
_SENSE = re.compile(r"-[0-9]{2}$")


@dataclass(frozen=True)
class Words:
    """A sentence and the ranges of its words, which are parted by spaces."""

    text: str
    ranges: tuple[Anchor, ...]


def words(text: str) -> Words:
    """The words that variables count.

    >>> words("他 来").ranges
    (Anchor(start=0, end=1), Anchor(start=2, end=3))
    """
    return Words(text, tuple(Anchor(*match.span()) for match in re.finditer(r"\S+", text)))


def plain(body: Sequence[str]) -> list[str] | None:
    """The lines of a graph as plain PENMAN, words of relations moved into the roles; None if this is no Chinese AMR."""
    text = "\n".join(body)
    rewritten = _NOTATION.sub(_plain_part, text)
    return None if rewritten == text else rewritten.split("\n")


def counts_word(variable: str, pairs: Mapping[str, str]) -> bool:
    """Whether the variable of a graph without relations, which would tell, counts a word: the comment lines tell then.

    Chinese text does, or a line of word numbers (``::wid``), or a bare date as the treebank has it (``::2016-06-05``).
    """
    is_chinese = any(_CHINESE_HEADER.fullmatch(name) for name in pairs) or _HAN.search(pairs.get("snt", ""))
    return bool(is_chinese and _VARIABLE.fullmatch(variable))


def coreferent(labels: Mapping[str, str | None]) -> dict[str, str]:
    """By variable that only refers to another one (``x7 / x2``), the one that is referred to in the end."""
    same = {}
    for variable in labels:
        other, seen = variable, {variable}
        while (label := labels[other]) is not None and label in labels and label not in seen:
            other = label
            seen.add(other)
        if other != variable and labels[other] not in seen:
            same[variable] = other
    return same


def resolve(
    labels: Mapping[str, str | None], words: Words, fault: Callable[[str, Severity], None]
) -> dict[str, tuple[Anchor, ...]]:
    """The anchors of all variables; one that others refer to has theirs too."""
    if not words.ranges:
        fault("no sentence (# ::snt) stands above the graph, so that its variables count nothing", "note")
    same = coreferent(labels)
    found: dict[str, set[Anchor]] = {}
    for variable, label in labels.items():
        if variable not in same and label is not None and _VARIABLE.fullmatch(label):
            fault(f"variable {variable} refers to {label}, which no node defines", "error")
        spans = anchors(variable, words) if variable in same else _nearest(variable, label or "", words)
        found.setdefault(same.get(variable, variable), set()).update(spans)
    return {variable: tuple(sorted(spans)) for variable, spans in found.items() if spans}


def anchors(variable: str, words: Words) -> tuple[Anchor, ...]:
    """The words, or the characters of words, that a variable counts; what is beyond the sentence is left out.

    >>> anchors("x1_x2_2", words("他 没有"))
    (Anchor(start=0, end=1), Anchor(start=3, end=4))
    """
    spans = []
    for number, characters in _WORD.findall(variable):
        if not 0 < int(number) <= len(words.ranges):
            continue
        start, end = words.ranges[int(number) - 1]
        inside = [start + int(character) - 1 for character in characters.split("_")[1:]]
        spans += [Anchor(at, at + 1) for at in inside if start <= at < end] if inside else [Anchor(start, end)]
    return tuple(spans)


def _nearest(variable: str, label: str, words: Words) -> tuple[Anchor, ...]:
    """What a variable counts, unless the count is plainly off.

    Where the sentence was segmented anew after annotation, the counted words share no character with a Chinese label
    that stands elsewhere in the sentence.  Then the node is anchored there, at the occurrence that is nearest.
    """
    counted = anchors(variable, words) if _VARIABLE.fullmatch(variable) else ()
    form = _SENSE.sub("", label)
    characters = {words.text[at] for start, end in counted for at in range(start, end)}
    if not form or form.isascii() or characters & set(form):
        return counted
    place = counted[0].start if counted else len(words.text)
    found = [match.start() for match in re.finditer(f"(?={re.escape(form)})", words.text)]
    if not found:
        return counted
    start = min(found, key=lambda at: abs(at - place))
    return (Anchor(start, start + len(form)),)


def _plain_part(match: re.Match[str]) -> str:
    if match["role"] is not None:
        counted = "_".join(word[0] for word in _WORD.finditer(match["words"]))
        return match["role"] + (WORDS + counted if counted else "") + " "
    if match["value"] is not None:
        return match["before"] + json.dumps(match["value"], ensure_ascii=False)
    return match[0]
