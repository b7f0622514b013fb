"""What to do with faults in the input: strict reading stops at the first, tolerant reading collects them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from perin.errors import InputError, message_line, place

Severity: TypeAlias = Literal["error", "note"]


@dataclass(frozen=True, slots=True)
class Finding:
    """Something wrong (``error``) or merely worth knowing (``note``) about a graph or a line of a file."""

    message: str
    source: str | None = None
    line: int | None = None
    graph: str | None = None
    severity: Severity = "error"

    def __str__(self) -> str:
        note = "note: " if self.severity == "note" else ""
        return message_line(f"{place(self.source, self.line, self.graph)}{note}{self.message}")


Report: TypeAlias = Callable[[Finding], None]
"""What a reader calls for each fault.  If it returns, the reader goes on with what can be kept."""


def strict(finding: Finding) -> None:
    """Raise :class:`~perin.errors.InputError` for the first error; notes pass."""
    if finding.severity == "error":
        raise InputError(finding.message, source=finding.source, line=finding.line, graph=finding.graph)


@dataclass
class Tolerant:
    """Collects findings; an instance is a :data:`Report`."""

    findings: list[Finding] = field(default_factory=list)

    def __call__(self, finding: Finding) -> None:
        """Keep a finding."""
        self.findings.append(finding)
