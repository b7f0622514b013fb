"""What became of the sentences and shards of a corpus."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field

from perin.errors import one_line

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
        """For people."""
        yield f"{self.done} of {self.shards} shards done: {self.parsed} sentences parsed, {self.failed} failed"
        for reason, count in self.reasons.most_common():
            yield f"{count} failed: {one_line(reason)}"
        for shard, reason in sorted(self.bad.items()):
            yield f"shard {shard} not done: {one_line(reason)}"
