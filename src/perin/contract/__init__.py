"""What rooms hand to each other: the sentence here; the training target and the prediction in ``heads``.

``frameworks`` turns a graph into a :class:`~perin.contract.heads.Target` and a
:class:`~perin.contract.heads.Prediction` into a graph; the network learns the one and gives the other.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Token:
    """A token; ``start`` and ``end`` index the characters of its sentence's text, ``end`` excluded."""

    form: str
    lemma: str
    start: int
    end: int

    def __reduce__(self) -> tuple[type[Token], tuple[str, str, int, int]]:  # faster than what dataclasses do for slots
        return Token, (self.form, self.lemma, self.start, self.end)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A text and its tokens, in order and without overlap; ``language`` is an ISO 639-3 code such as ``eng``."""

    text: str
    tokens: tuple[Token, ...]
    id: str | None = None
    language: str | None = None

    def __len__(self) -> int:
        """The number of tokens."""
        return len(self.tokens)
