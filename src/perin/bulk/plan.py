"""Which sentences make which shard.

A plan depends on the files and on the number of shards, not on who does them.  Shards are consecutive: their outputs,
one after the other, are in the order of the files and lines.  The plan is the first thing in the folder of the output,
and whoever comes later follows it, so that nothing is cut or dated in two ways.
"""

from __future__ import annotations

import dataclasses
import datetime
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from perin.bulk.reading import Extent, Part, kind, measure
from perin.bulk.storage import Folder, LockedError, short_names, size_of
from perin.errors import InputError, UsageError

FORMATS = {"mrp": ".mrp", "mrp.gz": ".mrp.gz", "parquet": ".parquet"}
"""What shards are written as, with the ends of their names."""
SENTENCES_A_SHARD = 10_000
"""By default: some minutes of work."""
PLAN = "plan.json"
_VERSION = 1
_PATIENCE = 0.5
"""Seconds between looks at what others are doing."""


@dataclass(frozen=True)
class Settings:
    """What the output depends on besides the input."""

    model: str
    framework: str | None = None
    """Several have commas between them."""
    language: str | None = None
    format: str = "mrp"
    column: str | None = None
    probabilities: bool = False
    empty: bool = False
    longest: int | None = None
    time: str | None = None

    @property
    def frameworks(self) -> str | list[str] | None:
        """The framework, or several, as parsers take them."""
        names = (self.framework or "").split(",")
        return names if len(names) > 1 else self.framework


@dataclass(frozen=True)
class Plan:
    """The files of a corpus and its shards, each a list of parts of files."""

    settings: Settings
    names: tuple[str, ...]
    sizes: tuple[int | None, ...]
    """In bytes; None for a file that could not be read to its end, and may be mended."""
    sentences: tuple[int, ...]
    """Of each shard; of a file that could not be read to its end, those that could."""
    shards: tuple[tuple[Part, ...], ...]

    def name(self, shard: int) -> str:
        """The name of the output of a shard."""
        return f"shard-{shard:05}-of-{len(self.shards):05}{FORMATS[self.settings.format]}"

    def mark(self, shard: int) -> str:
        """The name of the file that marks a shard as done."""
        return f"shard-{shard:05}-of-{len(self.shards):05}.done"

    def encode(self) -> bytes:
        """As it is written to the folder of the output."""
        data = {
            "version": _VERSION,
            "settings": dataclasses.asdict(self.settings),
            "names": self.names,
            "sizes": self.sizes,
            "sentences": self.sentences,
            "shards": [[(part.file, part.start, part.stop, part.line) for part in shard] for shard in self.shards],
        }
        return (json.dumps(data) + "\n").encode()

    @classmethod
    def decode(cls, content: bytes, source: str) -> Plan:
        """From what :meth:`encode` wrote."""
        try:
            data: dict[str, Any] = json.loads(content)
            if data.pop("version") != _VERSION:
                raise InputError("is the plan of another version of PERIN; write to another folder", source)
            shards = tuple(tuple(Part(*part) for part in shard) for shard in data["shards"])
            names, sizes, sentences = (tuple(data[key]) for key in ("names", "sizes", "sentences"))
            return cls(Settings(**data["settings"]), names, sizes, sentences, shards)
        except (ValueError, TypeError, KeyError, AttributeError):
            raise InputError("is no plan of a corpus; write to another folder", source) from None


def agreed_plan(output: str, folder: Folder, paths: Sequence[str], settings: Settings, shards: int | None) -> Plan:
    """The plan in a folder, checked against what is asked for; if there is none, one that is made now.

    If several processes start at once, one makes the plan and the others wait.
    """
    while folder.size(PLAN) is None:
        try:
            with folder.create(PLAN) as file:
                if folder.size(PLAN) is None:
                    file.write(make_plan(paths, settings, shards).encode())
                else:
                    file.write(folder.read(PLAN))
        except LockedError:
            time.sleep(_PATIENCE)
    plan = Plan.decode(folder.read(PLAN), f"{output}/{PLAN}")
    _check(plan, output, paths, settings, shards)
    return plan


def make_plan(paths: Sequence[str], settings: Settings, shards: int | None = None) -> Plan:
    """Read through the files and cut them into shards of about the same number of sentences."""
    extents = [measure(path, settings.column) for path in paths]
    total = sum(map(_weight, extents))
    count = max(1, min(shards or -(-total // SENTENCES_A_SHARD), total))
    parts: list[list[Part]] = [[] for _ in range(count)]
    sentences = [0] * count
    before = 0
    for file, extent in enumerate(extents):
        weight = _weight(extent)
        if weight == 0:
            continue
        inside = range(before * count // total + 1, (before + weight - 1) * count // total + 1)
        starts = _starts(extent, [-(-shard * total // count) - before for shard in inside])
        for start, stop in zip(starts, [*starts[1:], weight], strict=True):
            shard = (before + start) * count // total
            byte, line = extent.marks[start // extent.stride]
            end = extent.marks[stop // extent.stride][0] if stop < weight else extent.end
            parts[shard].append(Part(file, byte, end if extent.error is None else None, line))
            sentences[shard] += stop - start
        before += weight
    today = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
    return Plan(
        dataclasses.replace(settings, time=settings.time or today),
        tuple(short_names(paths)),
        tuple(extent.bytes if extent.error is None else None for extent in extents),
        tuple(sentences),
        tuple(map(tuple, parts)),
    )


def _weight(extent: Extent) -> int:
    return extent.sentences if extent.error is None else max(1, extent.sentences)


def _starts(extent: Extent, wanted: list[int]) -> list[int]:
    """The sentences of a file at which a part begins: the first, and the marks at or after those that are wanted.

    A file that can't be read to its end stays whole, so that it can be mended.
    """
    if extent.error is not None:
        return [0]
    rounded = {-(-sentence // extent.stride) * extent.stride for sentence in wanted}
    return [0, *sorted(start for start in rounded if start < extent.sentences)]


def _check(plan: Plan, output: str, paths: Sequence[str], settings: Settings, shards: int | None) -> None:
    """Raise an error if the folder has the plan of another task."""
    asked = dataclasses.asdict(settings)
    for name, value in dataclasses.asdict(plan.settings).items():
        if asked[name] != value and not (name == "time" and asked[name] is None):
            raise UsageError(f"{output} was begun with {name} {value}, not {asked[name]}; write to another folder")
    if shards is not None and shards != len(plan.shards) and len(plan.shards) < sum(plan.sentences):
        raise UsageError(f"{output} was begun with {len(plan.shards)} shards, not {shards}; write to another folder")
    names = short_names(paths)
    if list(plan.names) != names:
        other = sorted(set(names) ^ set(plan.names)) or names
        raise UsageError(f"{output} was begun with other files (see {other[0]}); write to another folder")
    for path, size in zip(paths, plan.sizes, strict=True):
        if size is not None and size_of(path) != size:
            raise InputError(f"has changed since {output} was begun with it; write to another folder", path)


def check_paths(paths: Sequence[str], settings: Settings) -> None:
    """Raise an error for what can be seen before anything is read."""
    if settings.format not in FORMATS:
        raise UsageError(f"unknown format {settings.format!r}; known are: {', '.join(FORMATS)}")
    if settings.column is not None and all(kind(path) in ("text", "conllu") for path in paths):
        raise UsageError("a column is for JSON lines and Parquet; there are none among the files")
