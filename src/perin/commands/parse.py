"""Parse text to graphs: TEXT (a sentence each), a file (-i), or standard input.

A file has a sentence a line, whose number is the id of its graph; blank lines are skipped.  Files of tokens (.conllu)
and of graphs whose texts are to be parsed (.mrp) are told by their names.  Results go to standard output or to a file
(-o), in the format that its name points to, else as MRP; on a terminal they are drawn.
A sentence that can't be parsed is reported and the others go on.  Interrupted runs that write MRP go on with --resume.
Exit code: 0 all sentences parsed, 1 some not, 2 nothing could be done.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from perin.errors import InputError, UsageError
from perin.graphs.codecs.registry import FORMATS
from perin.graphs.drawing.files import PICTURE_FORMATS

if TYPE_CHECKING:
    from perin.parsing.inference import Parsed

STANDARD = "-"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``perin parse``."""
    add = parser.add_argument
    add("texts", nargs="*", metavar="TEXT", help="a sentence")
    add("-i", "--input", metavar="FILE", help="file of sentences; - for standard input (default if there is no TEXT)")
    add("-o", "--output", metavar="FILE", default=STANDARD, help="file to write (default: standard output)")
    add("--model", metavar="M", help="folder of a model, name of one in the box, or organisation/name on the hub")
    add("--revision", metavar="R", help="branch, tag or commit of a model on the hub")
    add("--offline", action="store_true", help="look for a model of the hub in the local cache only")
    add("--framework", metavar="F", help="framework, or 'all' that the model has (default: its first)")
    add("--language", metavar="L", help="language of the text, such as eng (default: the model's)")
    add("--to", choices=(*FORMATS, *PICTURE_FORMATS), help="format to write (default: by the name of the output)")
    add("--tokens", metavar="FILE", help="tokens instead of text: CoNLL-U, or MRP companion graphs")
    add("--split", action="store_true", help="lines hold running text: split it into sentences")
    add("--batch", type=count, metavar="N", help="sentences at once (for speed; results do not depend on it)")
    add_speed_options(parser)
    add("--longest", type=count, metavar="N", help="tokens of the longest sentence that is parsed (default: 500)")
    add("--probabilities", action="store_true", help="write the probability of each node, edge, label and top")
    add("--empty-on-error", action="store_true", help="write the graph of no words for a sentence that fails")
    add("--time", metavar="DATE", help="date in the graphs (default: today)")
    add("--resume", action="store_true", help="go on with an interrupted run that wrote MRP to the output")


def run(arguments: argparse.Namespace) -> int:
    """Parse; see the module's text for the exit code."""
    source = _source(arguments)
    from perin.model.batches import MOST
    from perin.model.sources import default_model
    from perin.parsing.parser import ALL, LONGEST, Parser

    framework = None if arguments.framework == ALL else arguments.framework
    parser = Parser.load(
        arguments.model or default_model(framework, arguments.language),
        revision=arguments.revision,
        offline=arguments.offline,
        threads=arguments.threads,
        longest=arguments.longest or LONGEST,
        bits=arguments.bits,
    )
    shown = arguments.output == STANDARD and sys.stdout.isatty()
    tally = parser.parse_file(
        source,
        arguments.output,
        arguments.to or ("text" if shown else None),
        arguments.framework,
        arguments.language,
        tokens=arguments.tokens is not None,
        split=arguments.split,
        resume=arguments.resume,
        empty=arguments.empty_on_error,
        probabilities=arguments.probabilities,
        time=arguments.time,
        most=arguments.batch or MOST,
        report=_report,
        progress=iter if arguments.texts or shown else _progress,
    )
    if not tally.parsed and not tally.failed and not arguments.resume:
        print("perin parse: warning: there is nothing to parse", file=sys.stderr)
    if tally.failed:
        print(f"perin parse: {tally.failed} of {tally.failed + tally.parsed} sentences failed", file=sys.stderr)
    return 1 if tally.failed else 0


def _source(arguments: argparse.Namespace) -> str | list[str]:
    given = [bool(arguments.texts), arguments.input is not None, arguments.tokens is not None]
    if sum(given) > 1:
        raise UsageError("give TEXT, a file of sentences (-i) or a file of tokens (--tokens), one of them only")
    path: str = arguments.input or arguments.tokens or STANDARD
    if path not in (STANDARD, os.devnull) and os.path.realpath(path) == os.path.realpath(arguments.output):
        raise UsageError(f"{path} can't be both read and written")
    return arguments.texts or path


def _report(error: InputError) -> None:
    from tqdm import tqdm

    tqdm.write(f"perin parse: {error}", file=sys.stderr)


def _progress(results: Iterator[Parsed]) -> Iterable[Parsed]:
    """The results, counted on a terminal while they come."""
    from tqdm import tqdm

    return tqdm(results, unit=" sentences", disable=None, smoothing=0.05, dynamic_ncols=True)


def add_speed_options(parser: argparse.ArgumentParser) -> None:
    """Add what trades speed for precision, or for other work on the same machine."""
    add = parser.add_argument
    add("--threads", type=count, metavar="N", help="cores to use (default: all)")
    add("--bits", type=int, choices=(8, 32), help="bits to compute with (default: the model's choice)")


def count(text: str) -> int:
    """The value of an argument that counts something."""
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"expected a number of at least 1, found {text!r}")
    return number
