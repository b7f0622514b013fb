"""``perin VERB …``: finds the module of the verb, parses its arguments, runs it, turns errors into exit code 2.

A verb's module has ``configure(parser)``, which adds its arguments, and ``run(arguments) -> int``, the exit code.
Only the module of the given verb is imported.
"""

from __future__ import annotations

import argparse
import importlib
import logging
import os
import sys
import warnings
from collections.abc import Sequence
from concurrent.futures import BrokenExecutor
from functools import partial

import perin
from perin.errors import PerinError, one_line

VERBS = {
    "parse": "parse text to graphs",
    "parse-corpus": "parse a corpus into shards, on one machine or many",
    "models": "list the models in the box",
    "bench": "measure the speed of a model",
    "convert": "change the format of graphs",
    "draw": "draw graphs as text, SVG, HTML, PNG or PDF",
    "tokens": "split text into tokens with lemmas and character ranges",
    "roundtrip": "show what encoding and decoding a treebank lose",
    "score": "score graphs against gold, exactly",
    "rules": "learn the minimal set of label rules of a treebank",
    "validate": "check graphs for well-formedness",
    "serve": "serve models over HTTP, with a page to look at graphs",
    "train": "train a parser by a recipe",
    "evaluate": "parse a treebank with a model and score the graphs",
    "package": "make the folder of a model that can be shipped",
}

EXIT_ERROR = 2
EXIT_INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    if argv is None:  # this process is the program: its child processes, too, import nothing from the current folder
        os.environ["PYTHONSAFEPATH"] = "1"
    arguments = list(sys.argv[1:] if argv is None else argv)
    verb = arguments[0] if arguments else ""
    if verb not in VERBS:
        return _no_verb(arguments)
    module = importlib.import_module(f"perin.commands.{verb.replace('-', '_')}")
    parser = argparse.ArgumentParser(
        prog=f"perin {verb}",
        description=module.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    module.configure(parser)
    logging.basicConfig(format="perin: %(message)s")
    logging.getLogger("perin.hub").setLevel(logging.INFO)
    try:
        given = parser.parse_intermixed_args(arguments[1:])
        with warnings.catch_warnings():
            warnings.showwarning = partial(_show_warning, verb)
            code: int = module.run(given)
        sys.stdout.flush()
        return code
    except PerinError as error:
        return _failed(verb, error)
    except KeyboardInterrupt:
        print(f"perin {verb}: interrupted", file=sys.stderr)
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # The reader of our output has gone (perin … | head): nothing is wrong, and nothing more can be printed.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except MemoryError:
        print(
            f"perin {verb}: error: there is not enough memory for this input; give it in smaller parts", file=sys.stderr
        )
        return EXIT_ERROR
    except BrokenExecutor:
        reason = "one of the processes that shared the work has died, perhaps out of memory"
        print(f"perin {verb}: error: {reason}; try again with --threads 1", file=sys.stderr)
        return EXIT_ERROR
    except OSError as error:
        return _failed(verb, error)


def _show_warning(verb: str, message: Warning | str, *where: object) -> None:
    """Print a warning of Python like any other of ours, without the line of code that it comes from."""
    print(f"perin {verb}: warning: {one_line(str(message))}", file=sys.stderr)


def _failed(verb: str, error: Exception) -> int:
    """Print an error on one line, without the control characters of what it quotes."""
    print(f"perin {verb}: error: {one_line(' '.join(str(error).splitlines()))}", file=sys.stderr)
    return EXIT_ERROR


def _no_verb(arguments: list[str]) -> int:
    listing = "\n".join(f"  {verb:<14}{summary}" for verb, summary in VERBS.items())
    parser = argparse.ArgumentParser(
        prog="perin",
        usage="perin [-h] [--version] VERB ...",
        description="Meaning graphs: AMR, DRG, EDS, PTG, UCCA, UMR.",
        epilog=f"verbs:\n{listing}\n\n'perin VERB --help' explains a verb.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"perin {perin.__version__}")
    if not arguments:
        parser.print_help(sys.stderr)
        return EXIT_ERROR
    _, rest = parser.parse_known_args(arguments)
    parser.error(f"unknown verb {rest[0]!r}; known are: {', '.join(VERBS)}")
