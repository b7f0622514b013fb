"""Parse text to graphs: TEXT (a sentence each), a file (its name instead of TEXT, or -i), or standard input.

A file has one sentence per line; blank lines are skipped, and the id of a graph is the number of its line.  By their
names, files of tokens (.conllu) and files of graphs (.mrp), whose texts are parsed, are recognized.  Results go to
standard output or to a file (-o), in the format that its name points to, else as MRP; on a terminal they are drawn.
A sentence that can't be parsed is reported, and the others are parsed.  --resume continues an interrupted run.
Exit code: 0 all sentences parsed, 1 some not, 2 nothing could be done.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from perin.commands import add_threads, count, frameworks, is_file, output_format
from perin.errors import InputError, UsageError
from perin.files import check_distinct

if TYPE_CHECKING:
    from perin.parsing.streaming import Parsed

STANDARD = "-"
SAMPLE = 10
"""Sentences whose language is looked at."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``perin parse``."""
    add = parser.add_argument
    add("texts", nargs="*", metavar="TEXT", help="a sentence, or the name of a file of sentences")
    add("-i", "--input", metavar="FILE", help="file of sentences; - for standard input (default if there is no TEXT)")
    add("-o", "--output", metavar="FILE", default=STANDARD, help="file to write (default: standard output)")
    add("--model", metavar="M", help="folder of a model, name of one in the box, or organisation/name on the hub")
    add("--revision", metavar="R", help="branch, tag or commit of a model on the hub")
    add("--offline", action="store_true", help="look for a model of the hub in the local cache only")
    add(
        "--framework",
        type=frameworks,
        metavar="F",
        help="framework, several with commas between them, or 'all' (default: the format's, else the model's first)",
    )
    add("--language", metavar="L", help="language of the text, such as eng (default: the model's)")
    add("--to", type=output_format, metavar="FORMAT", help="format to write (default: by the name of the output)")
    add("--tokens", metavar="FILE", help="tokens instead of text: CoNLL-U, or MRP companion graphs")
    add("--split", action="store_true", help="the text is running text, hard-wrapped or not: split it into sentences")
    add("--batch", type=count, metavar="N", help="sentences at once (for speed; results do not depend on it)")
    add_speed_options(parser)
    add("--free", action="store_true", help="graphs need not obey their framework's rules (to study the network)")
    add("--longest", type=count, metavar="N", help="tokens of the longest sentence that is parsed (default: 500)")
    add("--probabilities", action="store_true", help="write the probability of each node, edge, label and top")
    add("--empty-on-error", action="store_true", help="write the graph of no words for a sentence that fails")
    add("--time", metavar="DATE", help="date in the graphs (default: today)")
    add("--resume", action="store_true", help="continue an interrupted run that wrote MRP to the output")


def run(arguments: argparse.Namespace) -> int:
    """Parse; see the module's text for the exit code."""
    source = _source(arguments)
    from perin.model import default_model
    from perin.model.batches import MAX_BATCH_SIZE
    from perin.parsing.parser import ALL, LONGEST, Parser

    asked = arguments.framework or _framework_of_format(arguments)
    wanted = asked[0] if isinstance(asked, list) else None if asked == ALL else asked
    parser = Parser.load(
        arguments.model or default_model(wanted, arguments.language),
        revision=arguments.revision,
        offline=arguments.offline,
        threads=arguments.threads,
        longest=arguments.longest or LONGEST,
        bits=arguments.bits,
        constraints=not arguments.free,
    )
    shown = arguments.output == STANDARD and sys.stdout.isatty()
    tally = parser.parse_file(
        source,
        arguments.output,
        arguments.to or ("text" if shown else None),
        asked,
        arguments.language,
        tokens=arguments.tokens is not None,
        split=arguments.split,
        resume=arguments.resume,
        empty=arguments.empty_on_error,
        probabilities=arguments.probabilities,
        time=arguments.time,
        max_batch_size=arguments.batch or MAX_BATCH_SIZE,
        report=_report,
        progress=lambda results: watched(
            iter(results) if arguments.texts or shown else _progress(results),
            parser.language(asked, arguments.language),
        ),
    )
    if not tally.parsed and not tally.failed and not arguments.resume:
        _warn("there is nothing to parse")
    if tally.failed:
        print(f"perin parse: {tally.failed} of {tally.failed + tally.parsed} sentences failed", file=sys.stderr)
    return 1 if tally.failed else 0


def _source(arguments: argparse.Namespace) -> str | list[str]:
    given = [bool(arguments.texts), arguments.input is not None, arguments.tokens is not None]
    if sum(given) > 1:
        raise UsageError("give TEXT, a file of sentences (-i) or a file of tokens (--tokens), one of them only")
    files = [text for text in arguments.texts if is_file(text, "perin parse")]
    if files and len(arguments.texts) == 1:
        arguments.input, arguments.texts = files[0], []
    elif files and files == arguments.texts:
        raise UsageError("these are several files; parse them one at a time")
    path: str = arguments.input or arguments.tokens or STANDARD
    check_distinct(None if arguments.texts else path, arguments.output)
    return arguments.texts or path


def _framework_of_format(arguments: argparse.Namespace) -> str | None:
    """The framework that the format to be written is for; None if it holds several, or all."""
    from perin.graphs.codecs import FORMATS, codec
    from perin.parsing.writing import format_of

    try:
        format = arguments.to or format_of(arguments.output)
    except UsageError:  # told when the output is looked at more closely
        return None
    fitting = codec(format).frameworks if format in FORMATS else ()
    return fitting[0] if len(fitting) == 1 else None


def watched(results: Iterable[Parsed], language: str | None) -> Iterator[Parsed]:
    """The results; a warning if the first sentences are clearly not in the language."""
    from perin.text.languages import LANGUAGES, identify

    results = iter(results)
    first = list(itertools.islice(results, SAMPLE))
    found = identify("\n".join(parsed.sentence.text for parsed in first))
    if None not in (found, language) and found != language:
        hint = f"try --language {found}" if found in LANGUAGES else f"no model in the box is for {found}"
        _warn(f"the text looks like {found}, but the model is for {language}; {hint}")
    yield from first
    yield from results


def _warn(message: str) -> None:
    print(f"perin parse: warning: {message}", file=sys.stderr)


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
    add_threads(parser, "cores to use (default: all)")
    add("--bits", type=int, choices=(8, 32), help="bits to compute with (default: the model's choice)")
