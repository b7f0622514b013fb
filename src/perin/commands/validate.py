"""Check graphs for well-formedness.

Prints a line for each finding: file, line, graph id, what is wrong.
Exit code: 0 nothing found (notes aside), 1 findings, 2 a file that can't be read.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import Counter

from perin.commands import add_format
from perin.errors import Finding, InputError, Report
from perin.graphs.codecs import locate
from perin.graphs.codecs.umr import Documents
from perin.graphs.validation import framework_findings


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``perin validate``."""
    parser.add_argument("files", nargs="+", metavar="FILE", help="files or folders of graphs; - for standard input")
    add_format(parser)
    parser.add_argument("--json", action="store_true", help="print each finding as a JSON object")


def run(arguments: argparse.Namespace) -> int:
    """Validate all files; see the module's text for the exit code."""
    worst = 0
    for path in arguments.files:
        try:
            worst = max(worst, _validate(path, arguments.format, arguments.json))
        except InputError as error:
            print(f"perin validate: error: {error}", file=sys.stderr)
            worst = 2
    return worst


def validate(path: str | os.PathLike[str], report: Report, format: str | None = None) -> int:
    """Report the findings of a file as it is read; returns the number of graphs, InputError if it can't be read."""
    count = 0
    documents = Documents()
    for source, line, graph in locate(path, format, report=report):
        count += 1
        for finding in documents.check(graph, source, line):
            report(finding)
        for finding in framework_findings(graph, source, line):
            report(finding)
    for finding in documents.end():
        report(finding)
    return count


def _validate(path: str, format: str | None, as_json: bool) -> int:
    severities: Counter[str] = Counter()

    def report(finding: Finding) -> None:
        severities[finding.severity] += 1
        print(json.dumps(_fields(finding), ensure_ascii=False) if as_json else finding)

    count = validate(path, report, format)
    if not count and not severities:
        print(f"perin validate: warning: {path} is empty", file=sys.stderr)
    numbers = {"graph": count, "finding": severities["error"], "note": severities["note"]}
    counts = ", ".join(f"{number} {name}{'' if number == 1 else 's'}" for name, number in numbers.items())
    print(f"{path}: {counts}", file=sys.stderr)
    return 1 if severities["error"] else 0


def _fields(finding: Finding) -> dict[str, object]:
    return {
        "file": finding.source,
        "line": finding.line,
        "graph": finding.graph,
        "severity": finding.severity,
        "message": finding.message,
    }
