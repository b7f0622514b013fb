"""Parse a corpus of any size into a folder of shards, on one machine or many.

IN are files or globs of text (one sentence per line), JSON lines, CoNLL-U or Parquet, gzipped or not; OUT is a folder.
Both may be URLs that fsspec knows (s3://…).  A shard is done when its file and the mark beside it are in place: the
same command again, after a kill or on another machine with the same folder, does what is missing.  Of W machines that
share the folder, number R (--rank R --world W) does every W-th shard.
Exit code: 0 all sentences parsed, 1 some failed (the marks, *.done, say which), 2 shards could not be done.
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from perin.commands import count, frameworks

if TYPE_CHECKING:
    from perin.bulk import Progress

FORMATS = ("mrp", "mrp.gz", "parquet")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``perin parse-corpus``."""
    add = parser.add_argument
    add("inputs", nargs="+", metavar="IN", help="file, URL or glob")
    add("output", metavar="OUT", help="folder or URL")
    add("--model", metavar="M", help="folder of a model, name of one in the box, or organisation/name on the hub")
    add("--revision", metavar="R", help="branch, tag or commit of a model on the hub")
    add("--offline", action="store_true", help="look for a model of the hub in the local cache only")
    add("--framework", type=frameworks, metavar="F", help="framework, several with commas, or 'all' that the model has")
    add("--language", metavar="L", help="language of the text, such as eng (default: the model's)")
    add("--to", choices=FORMATS, default="mrp", help="format to write (default: mrp)")
    add("--shards", type=count, metavar="N", help="pieces of the corpus (default: of 10,000 sentences)")
    add("--rank", type=int, default=0, metavar="R", help="number of this machine, counted from 0")
    add("--world", type=count, default=1, metavar="W", help="number of machines")
    processes = "processes (default: one per core; with Ray, of the cluster)"
    add("--workers", "--threads", "--jobs", type=count, metavar="N", help=processes)
    add("--engine", choices=("local", "ray"), default="local", help="processes of this machine, or a Ray cluster")
    add("--address", metavar="A", help="address of the Ray cluster (default: the one of this machine, else a new one)")
    add("--column", metavar="C", help="field of the sentences in JSON lines and Parquet (default: text)")
    add("--longest", type=count, metavar="N", help="tokens of the longest sentence that is parsed")
    add("--probabilities", action="store_true", help="write the probability of each node, edge, label and top")
    add("--empty-on-error", action="store_true", help="write the graph of no words for a sentence that fails")
    add("--time", metavar="DATE", help="date in the graphs (default: the day on which the folder was begun)")


def run(arguments: argparse.Namespace) -> int:
    """Parse; see the module's text for the exit code."""
    from perin.bulk import parse_corpus

    summary = parse_corpus(
        arguments.inputs,
        arguments.output,
        model=arguments.model,
        framework=arguments.framework,
        language=arguments.language,
        format=arguments.to,
        shards=arguments.shards,
        rank=arguments.rank,
        world=arguments.world,
        workers=arguments.workers,
        engine=arguments.engine,
        address=arguments.address,
        column=arguments.column,
        probabilities=arguments.probabilities,
        empty=arguments.empty_on_error,
        longest=arguments.longest,
        time=arguments.time,
        revision=arguments.revision,
        offline=arguments.offline,
        progress=_bar(),
    )
    for line in summary.lines():
        print(f"perin parse-corpus: {line}", file=sys.stderr)
    return summary.exit_code


def _bar() -> Progress:
    from tqdm import tqdm

    from perin.bulk import Progress
    from perin.bulk.shards import FailedShard, Mark

    class Bar(Progress):
        """Sentences of all shards on a terminal."""

        def begin(self, sentences: int, shards: int, done: int) -> None:
            self.done, self.shards = done, shards
            self.bar = tqdm(total=sentences, unit=" sentences", disable=None, smoothing=0.05, dynamic_ncols=True)
            self.bar.set_postfix_str(f"shards {done}/{shards}")

        def sentences(self, count: int) -> None:
            self.bar.update(count)

        def shard(self, result: Mark | FailedShard) -> None:
            if isinstance(result, FailedShard):
                tqdm.write(f"perin parse-corpus: shard {result.shard}: {result.reason}", file=sys.stderr)
            self.done += isinstance(result, Mark)
            self.bar.set_postfix_str(f"shards {self.done}/{self.shards}")

        def end(self) -> None:
            self.bar.close()

    return Bar()
