"""Show what encoding and decoding lose: TREEBANK to training targets, to oracle predictions, back to graphs, scored.

Rules and classes are learned from TREEBANK itself, or from --rules (then the score is the ceiling of a parser that is
trained on those files).  Tokens are those of --tokens, as training sees them, or our own.
"""

from __future__ import annotations

import argparse
import json

from perin.commands import add_threads


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``perin roundtrip``."""
    parser.add_argument("treebank", metavar="TREEBANK", help="file of graphs of one framework and language")
    parser.add_argument(
        "--rules", nargs="+", default=[], metavar="TRAIN", help="learn rules and classes from these files"
    )
    parser.add_argument(
        "--tokens", metavar="FILE", help="tokens of TREEBANK (CoNLL-U or companion MRP; default: our own)"
    )
    parser.add_argument(
        "--split", action="store_true", help="split tokens where an anchor lies inside a word, as no parser can"
    )
    parser.add_argument(
        "--rules-tokens",
        nargs="+",
        metavar="FILE",
        help="tokens of the --rules files (default with --tokens: the .conllu beside each; without: our own)",
    )
    parser.add_argument("--queries", type=int, metavar="N", help="queries per token (default: the framework's)")
    add_threads(parser, "processes (default: 1)", 1)
    parser.add_argument("--cache", metavar="FOLDER", help="keep learned rules here for the next time")
    parser.add_argument("-o", "--output", metavar="FILE", help="also write the graphs that came back")
    parser.add_argument(
        "--json", action="store_true", help="print a JSON object: the score, and under 'roundtrip' the losses"
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the score of the graphs that came back, and what was lost."""
    from perin.frameworks.roundtrip import roundtrip

    report = roundtrip(
        arguments.treebank,
        rules=arguments.rules,
        tokens=arguments.tokens,
        split=arguments.split,
        rules_tokens=arguments.rules_tokens,
        queries=arguments.queries,
        jobs=arguments.threads,
        cache=arguments.cache,
    )
    if arguments.output is not None:
        from perin.graphs.codecs import dump

        dump((trip.graph for trip in report.trips), arguments.output)
    if arguments.json:
        print(json.dumps(report.as_json(), ensure_ascii=False))
    else:
        print(report)
    return 0
