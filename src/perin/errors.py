"""The errors that PERIN raises.

    PerinError
    ├── InputError              a file, a line or a graph that can't be used
    ├── UsageError              a request that makes no sense, whatever the data
    ├── MissingDependencyError  an optional package that is not installed
    └── ModelError              a model folder that can't be used

Every message says what is wrong, where, and what to do.  The command line prints it on one line, with exit code 2.
Strict reading raises the first fault in the input; tolerant reading collects them all as findings.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias


class PerinError(Exception):
    """Base of all errors that PERIN raises on purpose."""


class InputError(PerinError):
    """Input that can't be used.

    ``source`` is a file name (``<stdin>`` for standard input), ``line`` counts from 1, ``graph`` is the id of a graph
    or sentence.
    """

    def __init__(
        self, message: str, source: str | None = None, line: int | None = None, graph: str | None = None
    ) -> None:
        super().__init__(message, source, line, graph)
        self.message = message
        self.source = source
        self.line = line
        self.graph = graph

    def __str__(self) -> str:
        return message_line(f"{place(self.source, self.line, self.graph)}{self.message}")


class UsageError(PerinError):
    """A request that makes no sense, whatever the data."""


class MissingDependencyError(PerinError):
    """An optional package that is needed here and not installed."""

    def __init__(self, package: str, purpose: str, extra: str | None = None) -> None:
        super().__init__(package, purpose, extra)
        self.package = package
        self.purpose = purpose
        self.extra = extra

    def __str__(self) -> str:
        wanted = f"perin[{self.extra}]" if self.extra else self.package
        remedy = f"{_pip()} install '{wanted}'"
        return f"{self.purpose} needs the package {self.package}, which is not installed; run: {remedy}"


def _pip() -> str:
    """The pip of this Python: a virtual environment that nobody has activated (that of scripts/perin) needs its own."""
    active = sys.prefix == sys.base_prefix or os.environ.get("VIRTUAL_ENV") == sys.prefix
    return "pip" if active else f"{shlex.quote(sys.executable)} -m pip"


class ModelError(PerinError):
    """A model folder that is missing something, corrupt, or of a newer format version."""


def place(source: str | None, line: int | None, graph: str | None) -> str:
    """The prefix that locates a message: ``file:line: graph ID: ``, whatever of it is known.

    >>> place("dev.mrp", 3, "20001")
    'dev.mrp:3: graph 20001: '
    """
    where = source or ""
    if line is not None:
        where += f":{line}" if where else f"line {line}"
    if where:
        where += ": "
    return where + (f"graph {graph}: " if graph is not None else "")


def wrong_type(function: str, wanted: str, found: object) -> UsageError:
    """The error for an argument of another type than a function takes.

    >>> str(wrong_type("dumps", "graphs", 5))
    'dumps takes graphs, not int (5)'
    """
    shown = repr(found)
    shown = "" if found is None or len(shown) > 40 else f" ({shown})"
    return UsageError(f"{function} takes {wanted}, not {'None' if found is None else type(found).__name__}{shown}")


LONGEST_MESSAGE = 600
"""Characters of a message about input; more of what it quotes is left out."""


def message_line(text: str) -> str:
    """A message on one line that can be read, however much of the input it quotes."""
    if len(text) > LONGEST_MESSAGE:
        half = LONGEST_MESSAGE // 2
        text = f"{text[:half]} … {text[-half:]}"
    return one_line(text)


def one_line(text: str) -> str:
    r"""The text with line ends and other control characters made visible, whatever it quotes.

    >>> print(one_line("label 'a\nb'"))
    label 'a\nb'
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


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
