"""Check graphs for well-formedness.

Prints a line for each finding: file, line, graph id, what is wrong.
Exit code: 0 nothing found (notes aside), 1 findings, 2 a file that can't be read.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path

from perin.errors import InputError
from perin.graphs.codecs.registry import FORMATS, locate
from perin.graphs.faults import Finding, Tolerant
from perin.graphs.validation import findings, structural_findings


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``perin validate``."""
    parser.add_argument("files", nargs="+", metavar="FILE", help="files of graphs; - for standard input")
    parser.add_argument("--from", dest="format", choices=FORMATS, help="format of the files (default: by their names)")
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


def validate(path: str | Path, format: str | None = None) -> Iterator[Finding | int]:
    """Yield the findings of a file as it is read, and at the end the number of graphs."""
    faults = Tolerant()
    count = 0
    source = None
    for line, graph in locate(path, format, report=faults):
        count += 1
        yield from faults.findings
        source = next((finding.source for finding in faults.findings), source)
        faults.findings.clear()
        known = len(structural_findings(graph))
        yield from list(findings(graph, str(path), line))[known:]
    yield from faults.findings
    if not count and faults.findings:
        raise InputError("no graph could be read", source=str(path))
    yield count


def _validate(path: str, format: str | None, as_json: bool) -> int:
    errors = notes = count = 0
    for item in validate(path, format):
        if isinstance(item, int):
            count = item
            continue
        errors += item.severity == "error"
        notes += item.severity == "note"
        print(json.dumps(_fields(item), ensure_ascii=False) if as_json else item)
    if not count:
        print(f"perin validate: warning: {path} is empty", file=sys.stderr)
    summary = f"{path}: {count} graphs, {errors} findings, {notes} notes"
    print(summary, file=sys.stderr)
    return 1 if errors else 0


def _fields(finding: Finding) -> dict[str, object]:
    return {
        "file": finding.source,
        "line": finding.line,
        "graph": finding.graph,
        "severity": finding.severity,
        "message": finding.message,
    }
