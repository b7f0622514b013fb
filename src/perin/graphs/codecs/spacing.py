"""From tokens to text: where the spaces of a sentence were, when a format holds its tokens only.

The rules are those of English print and know no words: closing punctuation and clitics lean left, opening brackets and
currency signs lean right, quotation marks alternate, a hyphen leans both ways.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from perin.graphs.graph import Anchor

_LEANS_LEFT = re.compile(r"[.,;:!?)\]}%…]+|['’][A-Za-z]{0,2}|n['’]t|[/—-]")
_LEANS_RIGHT = re.compile(r"[(\[{$£€#/—-]")
_QUOTATION_MARKS = frozenset('"“”„«»')


def spaced(tokens: Iterable[str]) -> tuple[str, list[Anchor]]:
    """The likely text of a sentence and the range of each of its tokens.

    >>> spaced(["Kim", "'s", "dog", "(", "Rex", ")", "barks", "."])[0]
    "Kim's dog (Rex) barks."
    """
    text = ""
    spans: list[Anchor] = []
    leaning = True
    quoting = False
    for token in tokens:
        if token in _QUOTATION_MARKS:
            left, right = quoting, not quoting
            quoting = not quoting
        else:
            left, right = bool(_LEANS_LEFT.fullmatch(token)), bool(_LEANS_RIGHT.fullmatch(token))
        if not (leaning or left):
            text += " "
        spans.append(Anchor(len(text), len(text) + len(token)))
        text += token
        leaning = right
    return text, spans


def aligned(tokens: Iterable[str], text: str) -> list[Anchor]:
    """The range of each token in a text of tokens and white space; ValueError names the first one that is not there.

    >>> aligned(["can", "not"], "I cannot")
    Traceback (most recent call last):
    ...
    ValueError: 'can' is not at character 0 of the text
    """
    spans: list[Anchor] = []
    position = 0
    for token in tokens:
        while position < len(text) and text[position].isspace():
            position += 1
        if not text.startswith(token, position):
            raise ValueError(f"{token!r} is not at character {position} of the text")
        spans.append(Anchor(position, position + len(token)))
        position += len(token)
    return spans
