"""What rules are learned from: labels with their tokens, and the space of rules that a framework allows."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, NamedTuple, TypeAlias

Case: TypeAlias = Literal["token", "lower"]
"""Where the case of the kept characters comes from: as the token has it, or lower case."""

_FEW_CAPITALS = 0.01


class LabelItem(NamedTuple):
    """A node's label and the tokens that its rules see.

    In an anchored rule space these are the tokens that the node is anchored to (none: only absolute rules apply);
    otherwise all tokens of the sentence, each of which may be the anchor.  ``value`` marks names and property values,
    whose case follows ``RuleSpace.value_case``.
    """

    label: str
    forms: tuple[str, ...] = ()
    lemmas: tuple[str, ...] = ()
    value: bool = False


@dataclass(frozen=True, slots=True)
class RuleSpace:
    """The rules that a framework allows; absolute rules always belong to the space.

    ``separators`` join several tokens in token and lemma rules (without any there are no such rules).  If not
    ``anchored``, a rule sees the tokens from its anchor to the end of the sentence and may take the first k of them.
    ``number_language`` (ISO 639-3) allows number rules; ``number_groups`` may stand between groups of three digits.
    ``label_case`` and ``value_case`` say how kept characters are written in labels and in names and property values;
    learning makes that lower case where a treebank has hardly any capitals.
    """

    separators: tuple[str, ...] = ("",)
    anchored: bool = True
    number_language: str | None = None
    number_groups: tuple[str, ...] = ("",)
    label_case: Case = "token"
    value_case: Case = "token"

    def case(self, value: bool) -> Case:
        """The case of kept characters in a label, or in a name or property value."""
        return self.value_case if value else self.label_case

    def with_capitals(self, labels: float, values: float) -> RuleSpace:
        """The space of a treebank in which such shares of labels and of values have capitals."""
        return replace(
            self,
            label_case=self.label_case if labels >= _FEW_CAPITALS else "lower",
            value_case=self.value_case if values >= _FEW_CAPITALS else "lower",
        )

    def to_json(self) -> dict[str, Any]:
        """As a JSON object."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> RuleSpace:
        """From :meth:`to_json`."""
        fields = dict(data, separators=tuple(data["separators"]), number_groups=tuple(data["number_groups"]))
        return cls(**fields)


def fold(text: str) -> str:
    """Lower case, character by character, so that lengths and positions stay as they are.

    >>> fold("İNES")
    'İnes'
    """
    if text.isascii():
        return text.lower()
    return "".join([low if len(low := character.lower()) == 1 else character for character in text])
