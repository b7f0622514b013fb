"""One shard after the other: read, parse, write, mark as done.

This is all that a worker does, whoever has started it.  Marks say how the sentences fared; a summary adds them up.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import re
from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, replace
from typing import Any, BinaryIO, Protocol

from perin.bulk.plan import Plan, Settings
from perin.bulk.reading import Record, read_part
from perin.bulk.storage import Folder, open_folder
from perin.errors import InputError, MissingDependencyError, one_line
from perin.graphs.codecs.mrp import encode_line
from perin.graphs.graph import Graph

ROWS = 1024
"""Rows of a Parquet file that are kept in memory and written as one group."""


ATTEMPTS = 3
"""Deaths of a process after which the shard that it parsed is given up."""
_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True)
class Failure:
    """A sentence that could not be parsed."""

    id: str
    file: str
    line: int
    reason: str


@dataclass
class Mark:
    """What the completion mark of a shard says: the size of its output, and how its sentences fared."""

    shard: int
    size: int = 0
    parsed: int = 0
    failures: list[Failure] = field(default_factory=list)

    def encode(self) -> bytes:
        """As it is written beside the output of the shard."""
        return (json.dumps(asdict(self), ensure_ascii=False) + "\n").encode("utf-8", "replace")

    @classmethod
    def decode(cls, content: bytes) -> Mark | None:
        """From what :meth:`encode` wrote; None from anything else."""
        try:
            data = json.loads(content)
            failures = [Failure(**failure) for failure in data.pop("failures")]
            return cls(failures=failures, **data)
        except (ValueError, TypeError, KeyError, AttributeError):
            return None


@dataclass(frozen=True)
class FailedShard:
    """A shard that could not be done, and why."""

    shard: int
    reason: str


@dataclass
class Summary:
    """What is done of the shards of a rank, this time or earlier."""

    shards: int
    done: int = 0
    parsed: int = 0
    failed: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    """How many sentences failed for which reason; numbers in reasons are replaced by N."""
    bad: dict[int, str] = field(default_factory=dict)
    """What is wrong with shards that could not be done."""

    def add(self, mark: Mark) -> None:
        """Count a shard that is done."""
        self.done += 1
        self.parsed += mark.parsed
        self.failed += len(mark.failures)
        self.reasons.update(_NUMBER.sub("N", failure.reason) for failure in mark.failures)

    @property
    def exit_code(self) -> int:
        """0: all sentences are parsed; 1: some of them failed; 2: shards could not be done."""
        return 2 if self.done < self.shards else 1 if self.failed else 0

    def lines(self) -> Iterator[str]:
        """The summary in words."""
        yield f"{self.done} of {self.shards} shards done: {self.parsed} sentences parsed, {self.failed} failed"
        for reason, count in self.reasons.most_common():
            yield f"{count} failed: {one_line(reason)}"
        for shard, reason in sorted(self.bad.items()):
            yield f"shard {shard} not done: {one_line(reason)}"


class Parsed(Protocol):
    """What a parser says about a sentence."""

    @property
    def graphs(self) -> tuple[Graph, ...]:
        """Its graphs, one of each framework."""

    @property
    def error(self) -> InputError | None:
        """What was wrong with it."""


class ParsesStreams(Protocol):
    """What is needed of a :class:`perin.Parser`."""

    def stream(
        self,
        texts: Any,
        framework: str | list[str] | None = None,
        language: str | None = None,
        *,
        probabilities: bool = True,
        empty: bool = False,
        time: str | None = None,
    ) -> Iterator[Any]:
        """Parse sentences in their order."""

    def language(self, framework: str | list[str] | None, language: str | None) -> str | None:
        """The language that texts are taken to be in."""


Loader = Callable[[], ParsesStreams]


@dataclass(frozen=True)
class Job:
    """Everything that a worker needs."""

    plan: Plan
    paths: tuple[str, ...]
    output: str
    load: Loader

    def start(self) -> ShardParser:
        """Load the parser."""
        return ShardParser(self, self.load())


@dataclass(frozen=True)
class ModelLoader:
    """Loads a model for one core, in the process that is to use it."""

    name: str
    options: tuple[tuple[str, Any], ...] = ()

    def __call__(self) -> ParsesStreams:
        """Load the model."""
        import perin

        return perin.load(self.name, threads=1, **dict(self.options))


class ShardParser:
    """Parses shards of a job."""

    def __init__(self, job: Job, parser: ParsesStreams) -> None:
        self.job = job
        self.parser = parser
        self.folder = open_folder(job.output)

    def parse(self, shard: int, progress: Callable[[int], None] = lambda sentences: None) -> Mark:
        """Parse a shard, unless that is done; :class:`~perin.bulk.storage.LockedError` if another process is at it.

        ``progress`` is called with the number of sentences after each of them.
        """
        plan = self.job.plan
        with self.folder.create(plan.mark(shard)) as lease:
            done = finished_mark(self.folder, plan, shard)
            if done is None:
                done = Mark(shard)
                with self.folder.create(plan.name(shard)) as file, WRITERS[plan.settings.format](file) as write:
                    for record, parsed in self._parsed(shard):
                        _count(done, record, parsed)
                        write(record, parsed)
                        progress(done.parsed + len(done.failures))
                done.size = self.folder.size(plan.name(shard)) or 0
            lease.write(done.encode())
        self.folder.sweep(plan.name(shard))
        return done

    def _parsed(self, shard: int) -> Iterator[tuple[Record, Parsed]]:
        waiting: deque[Record] = deque()
        settings = self.job.plan.settings

        def contents() -> Iterator[Any]:
            for part in self.job.plan.shards[shard]:
                path, name = self.job.paths[part.file], self.job.plan.names[part.file]
                for record in read_part(path, name, part, column=settings.column, language=self._language):
                    waiting.append(record)
                    yield record.content

        for parsed in parse_stream(self.parser, contents(), settings):
            yield waiting.popleft(), parsed

    @property
    def _language(self) -> str | None:
        """The language whose lemmatizer completes files of tokens."""
        settings = self.job.plan.settings
        return self.parser.language(settings.frameworks, settings.language)


def finished_mark(place: Folder, plan: Plan, shard: int) -> Mark | None:
    """What the mark of a shard says if the shard is done."""
    if place.size(plan.mark(shard)) is None:
        return None
    mark = Mark.decode(place.read(plan.mark(shard)))
    return mark if mark is not None and mark.size == place.size(plan.name(shard)) else None


def parse_stream(parser: ParsesStreams, texts: Iterator[Any], settings: Settings) -> Iterator[Parsed]:
    """Parse as the settings say."""
    return parser.stream(
        texts,
        settings.frameworks,
        settings.language,
        probabilities=settings.probabilities,
        empty=settings.empty,
        time=settings.time,
    )


def _count(mark: Mark, record: Record, parsed: Parsed) -> None:
    if parsed.error is None:
        mark.parsed += 1
    else:
        mark.failures.append(Failure(record.id, record.file, record.line, parsed.error.message))


def mrp_lines(id: str, parsed: Parsed) -> list[str]:
    """The graphs of a sentence under its id in the corpus."""
    return [encode_line(replace(graph, id=id)) for graph in parsed.graphs]


Write = Callable[[Record, Parsed], None]


@contextlib.contextmanager
def _mrp(file: BinaryIO) -> Iterator[Write]:
    def write(record: Record, parsed: Parsed) -> None:
        file.write("".join(line + "\n" for line in mrp_lines(record.id, parsed)).encode())

    yield write


@contextlib.contextmanager
def _gzipped_mrp(file: BinaryIO) -> Iterator[Write]:
    with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as stream, _mrp(stream) as write:  # type: ignore[arg-type]
        yield write


@contextlib.contextmanager
def _parquet(file: BinaryIO) -> Iterator[Write]:
    """One row per sentence; ``graphs`` are lines of MRP, ``error`` is null where all went well."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingDependencyError("pyarrow", "writing Parquet", "bulk") from None
    text = pyarrow.string()
    schema = pyarrow.schema(
        {"id": text, "file": text, "line": pyarrow.int64(), "graphs": pyarrow.list_(text), "error": text}
    )
    rows: list[dict[str, Any]] = []
    writer = pyarrow.parquet.ParquetWriter(file, schema)

    def write(record: Record, parsed: Parsed) -> None:
        error = None if parsed.error is None else parsed.error.message
        graphs = mrp_lines(record.id, parsed)
        rows.append({"id": record.id, "file": record.file, "line": record.line, "graphs": graphs, "error": error})
        if len(rows) == ROWS:
            flush()

    def flush() -> None:
        writer.write_table(pyarrow.Table.from_pylist(rows, schema))
        rows.clear()

    try:
        yield write
        if rows:
            flush()
        writer.close()
    except BaseException:
        with contextlib.suppress(OSError, pyarrow.ArrowException):
            writer.close()  # here rather than whenever it is collected
        raise


WRITERS: dict[str, Callable[[BinaryIO], contextlib.AbstractContextManager[Write]]] = {
    "mrp": _mrp,
    "mrp.gz": _gzipped_mrp,
    "parquet": _parquet,
}
