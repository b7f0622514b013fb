"""Learn the minimal set of relative label rules of a treebank and tell how small it is.

All files of TREEBANK count as one.  Tokens are those of --tokens (one file for all of TREEBANK, or one for each),
as training sees them, or our own.  --output writes the rules as JSON.
"""

from __future__ import annotations

import argparse
import json
import sys

from perin.commands import add_threads


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``perin rules``."""
    parser.add_argument("treebank", nargs="+", metavar="TREEBANK", help="files of graphs of one framework and language")
    parser.add_argument(
        "--tokens",
        action="append",
        default=[],
        metavar="FILE",
        help="tokens of TREEBANK (CoNLL-U or companion MRP; default: our own); may be repeated",
    )
    parser.add_argument(
        "--split", action="store_true", help="split tokens where an anchor lies inside a word, as no parser can"
    )
    parser.add_argument("--coverage", metavar="DEV", help="tell how many labels of these graphs the rules can yield")
    parser.add_argument("--coverage-tokens", metavar="FILE", help="tokens of DEV (default: our own)")
    parser.add_argument("-o", "--output", metavar="FILE", help="write the rules to this file")
    add_threads(parser, "processes (default: 1)", 1)
    parser.add_argument("--cache", metavar="FOLDER", help="keep learned rules here for the next time")
    parser.add_argument("--json", action="store_true", help="print a JSON object")


def run(arguments: argparse.Namespace) -> int:
    """Print the report; see the module's text."""
    from perin.files import check_writable, write_text
    from perin.frameworks.learn import report_rules

    if arguments.output is not None:
        check_writable(arguments.output)
    report = report_rules(
        arguments.treebank,
        arguments.tokens,
        dev=arguments.coverage,
        dev_tokens=arguments.coverage_tokens,
        split=arguments.split,
        jobs=arguments.threads,
        cache=arguments.cache,
    )
    for path, ids in report.without_tokens:
        what = f"{len(ids)} graphs of {path} have no tokens in the file of tokens and got our own"
        print(f"perin rules: warning: {what}; the first is {ids[0]}", file=sys.stderr)
    if arguments.output is not None:
        with write_text(arguments.output) as stream:
            json.dump(report.learned.to_json(), stream, indent=1)
            stream.write("\n")
    print(json.dumps(report.as_json(), ensure_ascii=False) if arguments.json else report)
    return 0
